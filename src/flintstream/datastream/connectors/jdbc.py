"""The sink for databases; mirrors ``pyflink.datastream.connectors.jdbc``.

SQLite needs no extra, PostgreSQL needs ``postgresql``, MySQL and MariaDB need ``mysql``, others need ``jdbc``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._text.secrets import without_secrets
from flintstream.connectors.jdbc.urls import database_of
from flintstream.connectors.jdbc.writer import JdbcOutput, JdbcWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import MAX_INT, MAX_LONG, Settings, check_integer
from flintstream.datastream.functions import SinkFunction
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.database import Database
    from flintstream.connectors.sink import SinkWriter, WriterContext

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]


class JdbcSink(Sink, SinkFunction):
    """Executes a statement for each record, in batches. Create it with :meth:`sink` and pass it to ``add_sink``.

    The guarantee is at least once: records are in the database before a checkpoint completes, and later records are
    written again if the job restarts from it. With a repeatable statement, an upsert, the effect is exactly once.

    >>> import sqlite3
    >>> from contextlib import closing
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import Types
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    >>> row = Types.ROW([Types.STRING(), Types.LONG()])
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "shop.db")
    ...     with closing(sqlite3.connect(path)) as database:
    ...         _ = database.execute("CREATE TABLE sold (item TEXT PRIMARY KEY, n INTEGER)")
    ...     options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{path}").build()
    ...     sink = JdbcSink.sink("INSERT INTO sold VALUES (?, ?)", row, options)
    ...     _ = env.from_collection([("tea", 3), ("milk", 5)], row).add_sink(sink)
    ...     _ = env.execute()
    ...     with closing(sqlite3.connect(path)) as database:
    ...         database.execute("SELECT * FROM sold ORDER BY n").fetchall()
    [('tea', 3), ('milk', 5)]
    """

    def __init__(self, output: JdbcOutput) -> None:
        """Take the settings; programs call :meth:`sink` instead."""
        if not isinstance(output, JdbcOutput):
            raise TypeError("create a JdbcSink with JdbcSink.sink()")
        self._output = output

    @staticmethod
    def sink(
        sql: str,
        type_info: TypeInformation,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink.

        >>> from flintstream.common import Types
        >>> options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:/shop.db").build()
        >>> sink = JdbcSink.sink(
        ...     "INSERT INTO sold (item, n) VALUES (?, ?) ON CONFLICT (item) DO UPDATE SET n = excluded.n",
        ...     Types.ROW([Types.STRING(), Types.LONG()]),
        ...     options,
        ...     JdbcExecutionOptions.builder().with_batch_interval_ms(200).with_batch_size(1000).build(),
        ... )

        Args:
            sql: an insert, upsert, update or delete, with a ``?`` for each value.
            type_info: the type of the records: a row or tuple, whose fields are the values in order, or a single value.
            jdbc_connection_options: the address of the database.
            jdbc_execution_options: the size of batches, and the number of retries.

        Raises:
            PlanError: The statement does not match the type, or a type has no counterpart in the database.
            MissingDependencyError: The driver of the database is not installed.
        """
        if not isinstance(jdbc_connection_options, JdbcConnectionOptions):
            raise TypeError(f"expected JdbcConnectionOptions, got {jdbc_connection_options!r}")
        execution = JdbcExecutionOptions.defaults() if jdbc_execution_options is None else jdbc_execution_options
        if not isinstance(execution, JdbcExecutionOptions):
            raise TypeError(f"expected JdbcExecutionOptions, got {execution!r}")
        database = jdbc_connection_options._database
        database.check()
        return JdbcSink(
            JdbcOutput(
                sql,
                type_info,
                database,
                batch_size=execution.get_batch_size(),
                interval_ms=execution.get_batch_interval_ms(),
                max_retries=execution.get_max_retries(),
            )
        )

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return JdbcWriter(self._output)


class JdbcConnectionOptions:
    """Address of and credentials for a database, from :class:`JdbcConnectionOptionsBuilder`. Hides the password.

    >>> builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:/shop.db")
    >>> options = builder.with_driver_name("org.sqlite.JDBC").with_user_name("ann").with_password("secret").build()
    >>> options
    JdbcConnectionOptions(url='jdbc:sqlite:/shop.db', user_name='ann')
    >>> options.get_db_url(), options.get_driver_name(), options.get_user_name(), options.get_password()
    ('jdbc:sqlite:/shop.db', 'org.sqlite.JDBC', 'ann', 'secret')
    """

    def __init__(
        self, database: Database, url: str, driver_name: str | None, user_name: str | None, password: str | None
    ) -> None:
        """Take the settings from the builder."""
        self._database = database
        self._url = url
        self._driver_name = driver_name
        self._user_name = user_name
        self._password = password

    def __repr__(self) -> str:
        return f"JdbcConnectionOptions(url={without_secrets(self._url)!r}, user_name={self._user_name!r})"

    def get_db_url(self) -> str:
        """Return the URL as given."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the name of the Java driver, which has no effect; None if none was given."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the user; None if none was given."""
        return self._user_name

    def get_password(self) -> str | None:
        """Return the password; None if none was given."""
        return self._password

    class JdbcConnectionOptionsBuilder:
        """Builds :class:`JdbcConnectionOptions`. It needs a URL."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None
            self._timeout = 60

        def with_url(self, url: str) -> Self:
            """Set the JDBC or SQLAlchemy URL of the database."""
            self._url = _text(url, "the URL")
            return self

        def with_driver_name(self, driver_name: str) -> Self:
            """Set the name of the Java driver. It has no effect, because the URL alone selects the Python driver."""
            self._driver_name = _text(driver_name, "the name of the driver")
            return self

        def with_user_name(self, user_name: str) -> Self:
            """Set the user."""
            self._user_name = _text(user_name, "the user's name")
            return self

        def with_password(self, password: str) -> Self:
            """Set the password."""
            if not isinstance(password, str):
                raise TypeError(f"the password must be a str, got a value of type {type(password).__name__}")
            self._password = password
            return self

        def with_connection_check_timeout_seconds(self, connection_check_timeout_seconds: int) -> Self:
            """Set how long (s) to wait for a connection, and at most between retries; 60 by default (Java only)."""
            self._timeout = check_integer(connection_check_timeout_seconds, "the connection timeout (s)", minimum=1)
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises:
                PlanError: The URL is missing, unknown, or partly invalid.
            """
            if self._url is None:
                raise PlanError("JdbcConnectionOptions need a URL: with_url('jdbc:...')")
            database = database_of(self._url, self._user_name, self._password, self._timeout, self._driver_name)
            return JdbcConnectionOptions(database, self._url, self._driver_name, self._user_name, self._password)


class JdbcExecutionOptions(Settings):
    """The size of batches, and the number of retries.

    >>> options = JdbcExecutionOptions.builder().with_batch_interval_ms(200).with_batch_size(1000).build()
    >>> options.get_batch_interval_ms(), options.get_batch_size(), options.get_max_retries()
    (200, 1000, 3)
    >>> JdbcExecutionOptions.defaults().get_batch_size()
    5000
    """

    def __init__(self, batch_interval_ms: int = 0, batch_size: int = 5000, max_retries: int = 3) -> None:
        """Take the settings from the builder."""
        self._batch_interval_ms = batch_interval_ms
        self._batch_size = batch_size
        self._max_retries = max_retries

    def get_batch_interval_ms(self) -> int:
        """Return the age (ms) at which a batch is written; 0, the default, for no limit."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return the number of records at which a batch is written, 5000 by default; 0 or less for no limit."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often a failed batch is retried, 3 times by default."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return the default options."""
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Return a builder."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Builds :class:`JdbcExecutionOptions`."""

        def __init__(self) -> None:
            self._built: dict[str, int] = {}

        def with_batch_size(self, size: int) -> Self:
            """Set the number of records at which a batch is written; 0 or less for no limit, as in Flink."""
            self._built["batch_size"] = check_integer(size, "the batch size", minimum=-MAX_INT)
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> Self:
            """Set the age (ms) at which a batch is written; 0 for no limit."""
            self._built["batch_interval_ms"] = check_integer(
                interval_ms, "the batch interval (ms)", minimum=0, maximum=MAX_LONG
            )
            return self

        def with_max_retries(self, max_retries: int) -> Self:
            """Set how often a failed batch is retried."""
            self._built["max_retries"] = check_integer(max_retries, "the number of retries", minimum=0)
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options."""
            return JdbcExecutionOptions(**self._built)


def _text(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a str, got {value!r}")
    return value
