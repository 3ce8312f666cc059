"""The configuration of a table environment; mirrors ``pyflink.table.table_config``."""

from __future__ import annotations

from datetime import timedelta

from flintstream.common.configuration import Configuration
from flintstream.options.execution import PYTHON_EXECUTABLE
from flintstream.options.tables import DIALECT, LOCAL_TIME_ZONE, STATE_TTL
from flintstream.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]


class TableConfig:
    """Settings of a table environment, which are those of its streams.

    >>> TableConfig().set("table.local-time-zone", "UTC").get_local_timezone()
    'UTC'

    >>> from datetime import timedelta
    >>> config = TableConfig.get_default()
    >>> config.set_local_timezone("Europe/Zurich")
    >>> config.get("table.local-time-zone", "UTC"), config.get_local_timezone()
    ('Europe/Zurich', 'Europe/Zurich')
    >>> config.set_idle_state_retention(timedelta(hours=1))
    >>> config.get_idle_state_retention() == timedelta(hours=1)
    True
    >>> config.add_configuration(Configuration.from_dict({"parallelism.default": "2"}))
    >>> sorted(config.to_map()), config.get_configuration().get_integer("parallelism.default", 1)
    (['parallelism.default', 'table.exec.state.ttl', 'table.local-time-zone'], 2)
    >>> config.set_python_executable("/opt/python/bin/python3")
    >>> config.get_python_executable()
    '/opt/python/bin/python3'

    One setting has no effect:

    >>> config.set_max_generated_code_length(5_000)
    >>> config.get_max_generated_code_length()
    5000

    >>> config.set_sql_dialect(SqlDialect.HIVE)
    >>> config.get("table.sql-dialect", "default"), config.get_sql_dialect() == SqlDialect.HIVE
    ('hive', True)
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
        self.set(LOCAL_TIME_ZONE.key, timezone_id)

    def get_local_timezone(self) -> str:
        """Return the time zone of the session."""
        return self.get(LOCAL_TIME_ZONE.key, "UTC")

    def add_configuration(self, configuration: Configuration) -> None:
        """Set all options of a configuration."""
        self._configuration.add_all(configuration)

    def to_map(self) -> dict[str, str]:
        """Return the options by key."""
        return self._configuration.to_dict()

    def set_idle_state_retention(self, duration: timedelta) -> None:
        """Set how long state is kept that nothing has changed: ``table.exec.state.ttl``."""
        self.set(STATE_TTL.key, f"{int(duration.total_seconds() * 1000)} ms")

    def get_idle_state_retention(self) -> timedelta:
        """Return how long state is kept; 0 for no limit."""
        return timedelta(milliseconds=self._configuration.get(STATE_TTL))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set an option without effect: there is no code for the JVM."""
        self.set("table.generated-code.max-length", str(max_generated_code_length))

    def get_max_generated_code_length(self) -> int:
        """Return an option without effect."""
        return int(self.get("table.generated-code.max-length", "4000"))

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Choose the dialect of SQL: ``table.sql-dialect``. Statements in Hive's are refused when they run."""
        self.set(DIALECT.key, "hive" if sql_dialect == SqlDialect.HIVE else "default")

    def get_sql_dialect(self) -> int:
        """Return the dialect of SQL."""
        return SqlDialect.HIVE if self._configuration.get(DIALECT) == "hive" else SqlDialect.DEFAULT

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python of the tasks: ``python.executable``."""
        self._configuration.set(PYTHON_EXECUTABLE, python_exec)

    def get_python_executable(self) -> str:
        """Return the Python of the tasks."""
        return self.get(PYTHON_EXECUTABLE.key, "python")

    @staticmethod
    def get_default() -> TableConfig:
        """Return a configuration without options."""
        return TableConfig()

    def __repr__(self) -> str:
        """Name the class."""
        return "TableConfig()"
