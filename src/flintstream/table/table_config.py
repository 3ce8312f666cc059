"""The configuration of a table environment; mirrors ``pyflink.table.table_config``."""

from __future__ import annotations

from flintstream.common.configuration import Configuration

__all__ = ["TableConfig"]


class TableConfig:
    """Settings of a table environment, which are those of its streams.

    >>> TableConfig().set("table.local-time-zone", "UTC").get_local_timezone()
    'UTC'
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Take the configuration of an environment."""
        self._configuration = configuration or Configuration()

    def get_configuration(self) -> Configuration:
        """Return the configuration."""
        return self._configuration

    def set(self, key: str, value: str) -> TableConfig:
        """Set an option."""
        self._configuration.set_string(key, value)
        return self

    def get(self, key: str, default_value: str) -> str:
        """Return an option."""
        return self._configuration.get_string(key, default_value)

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the time zone of the session."""
        self.set("table.local-time-zone", timezone_id)

    def get_local_timezone(self) -> str:
        """Return the time zone of the session."""
        return self.get("table.local-time-zone", "UTC")

    def __repr__(self) -> str:
        """Name the class."""
        return "TableConfig()"
