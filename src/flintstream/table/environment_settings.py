"""Settings of a table environment; mirrors ``pyflink.table.environment_settings``."""

from __future__ import annotations

from flintstream.common.configuration import Configuration
from flintstream.options.execution import RUNTIME_MODE
from flintstream.table._catalog.catalog import CATALOG, DATABASE

__all__ = ["EnvironmentSettings"]

_CATALOG = "table.builtin-catalog-name"
_DATABASE = "table.builtin-database-name"


class EnvironmentSettings:
    """Whether tables are streams or batches, and a configuration.

    >>> EnvironmentSettings.in_batch_mode().is_streaming_mode()
    False

    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> settings.is_streaming_mode(), EnvironmentSettings.in_streaming_mode().is_streaming_mode()
    (False, True)
    >>> settings.get_configuration().get_string("flintstream.engine", "spark")
    'inline'
    >>> settings.get_built_in_catalog_name(), settings.get_built_in_database_name()
    ('default_catalog', 'default_database')
    """

    class Builder:
        """Builds settings."""

        def __init__(self) -> None:
            """Start with streaming mode."""
            self._configuration = Configuration()
            self._streaming = True
            self._names: dict[str, str] = {}

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the catalog, ``default_catalog`` by default."""
            self._names[_CATALOG] = built_in_catalog_name
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the database, ``default_database`` by default."""
            self._names[_DATABASE] = built_in_database_name
            return self

        def use_blink_planner(self) -> EnvironmentSettings.Builder:
            """Change nothing: programs for releases before 1.14 chose a planner."""
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Choose streaming mode."""
            self._streaming = True
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Choose batch mode."""
            self._streaming = False
            return self

        def with_configuration(self, configuration: Configuration) -> EnvironmentSettings.Builder:
            """Add settings; ``execution.runtime-mode`` chooses the mode, unless a later call does."""
            self._configuration = configuration
            if RUNTIME_MODE.key in configuration.to_dict():
                self._streaming = configuration.get(RUNTIME_MODE).upper() == "STREAMING"
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            configuration = Configuration()
            configuration.add_all(self._configuration)
            for key, name in self._names.items():
                configuration.set_string(key, name)
            return EnvironmentSettings(configuration, streaming=self._streaming)

    def __init__(self, configuration: Configuration | None = None, *, streaming: bool = True) -> None:
        """Take the configuration and the mode."""
        self._configuration = Configuration()
        if configuration is not None:
            self._configuration.add_all(configuration)
        self._streaming = streaming
        self._configuration.set_string(RUNTIME_MODE.key, "STREAMING" if streaming else "BATCH")

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return settings for streams."""
        return EnvironmentSettings(streaming=True)

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return settings for batches."""
        return EnvironmentSettings(streaming=False)

    def is_streaming_mode(self) -> bool:
        """Return whether tables are streams."""
        return self._streaming

    def get_configuration(self) -> Configuration:
        """Return the configuration."""
        return self._configuration

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self._configuration.get_string(_CATALOG, CATALOG)

    def get_built_in_database_name(self) -> str:
        """Return the name of the database."""
        return self._configuration.get_string(_DATABASE, DATABASE)
