"""Settings of a table environment; mirrors ``pyflink.table.environment_settings``."""

from __future__ import annotations

from flintstream.common.configuration import Configuration
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.tables import CATALOG_NAME, DATABASE_NAME

__all__ = ["EnvironmentSettings"]


class EnvironmentSettings:
    """Whether tables are streams or batches, and a configuration.

    >>> EnvironmentSettings.in_batch_mode().is_streaming_mode()
    False

    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> settings.is_streaming_mode(), EnvironmentSettings.in_streaming_mode().is_streaming_mode()
    (False, True)
    >>> batch = Configuration.from_dict({"execution.runtime-mode": "BATCH"})
    >>> EnvironmentSettings.new_instance().with_configuration(batch).build().is_streaming_mode()
    False
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

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the catalog, ``default_catalog`` by default."""
            self._configuration.set(CATALOG_NAME, built_in_catalog_name)
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the database, ``default_database`` by default."""
            self._configuration.set(DATABASE_NAME, built_in_database_name)
            return self

        def use_blink_planner(self) -> EnvironmentSettings.Builder:
            """Change nothing: programs for releases before 1.14 chose a planner."""
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Choose streaming mode."""
            self._configuration.set(RUNTIME_MODE, "STREAMING")
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Choose batch mode."""
            self._configuration.set(RUNTIME_MODE, "BATCH")
            return self

        def with_configuration(self, configuration: Configuration) -> EnvironmentSettings.Builder:
            """Add settings. Of those with the same key, the last one counts: ``execution.runtime-mode`` is the mode."""
            self._configuration.add_all(configuration)
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings.

            Raises:
                ValueError: The mode is AUTOMATIC, which tables do not have.
            """
            configuration = Configuration()
            configuration.add_all(self._configuration)
            return EnvironmentSettings(configuration)

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Take the configuration."""
        self._configuration = Configuration()
        if configuration is not None:
            self._configuration.add_all(configuration)
        if self._configuration.get(RUNTIME_MODE) == "AUTOMATIC":
            raise ValueError(f"tables need the '{RUNTIME_MODE.key}' BATCH or STREAMING, got 'AUTOMATIC'")
        self._configuration.set(RUNTIME_MODE, self._configuration.get(RUNTIME_MODE))

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return settings for streams."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return settings for batches."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()

    def is_streaming_mode(self) -> bool:
        """Return whether tables are streams."""
        return self._configuration.get(RUNTIME_MODE) != "BATCH"

    def get_configuration(self) -> Configuration:
        """Return the configuration."""
        return self._configuration

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self._configuration.get(CATALOG_NAME)

    def get_built_in_database_name(self) -> str:
        """Return the name of the database."""
        return self._configuration.get(DATABASE_NAME)
