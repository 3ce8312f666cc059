"""The sink into databases; mirrors ``pyflink.datastream.connectors.jdbc``.

SQLite needs nothing more; PostgreSQL the extra ``postgresql``, MySQL and MariaDB ``mysql``, others ``jdbc``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.jdbc.jdbc_url import without_secrets
from flintstream.connectors.jdbc.urls import database_of
from flintstream.connectors.jdbc.writer import JdbcOutput, JdbcWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import MAX_INT, MAX_LONG, Settings, check_integer
from flintstream.datastream.functions import SinkFunction
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.database import Database
    from flintstream.connectors.sink import SinkWriter, WriterContext

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]


class JdbcSink(Sink, SinkFunction):
    """Executes a statement for each record, in batches; made by :meth:`sink`, for ``add_sink``.

    At least once: records are in the database before a checkpoint counts on them, and those that came after it are
    written again when the job goes back to it. With a statement that may be repeated, an upsert, that is as good as
    once.
    """

    def __init__(self, output: JdbcOutput) -> None:
        """Take what :meth:`sink` made."""
        if not isinstance(output, JdbcOutput):
            raise TypeError("a JdbcSink is made by JdbcSink.sink()")
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
            type_info: of the records: a row or tuple, whose fields are the values in order, or a single value.
            jdbc_connection_options: where the database is.
            jdbc_execution_options: how large batches are, and how often they are tried again.

        Raises:
            PlanError: The statement does not go with the type, or a type has no counterpart in the database.
            MissingDependencyError: The driver of the database is not installed.
        """
        if not isinstance(jdbc_connection_options, JdbcConnectionOptions):
            raise TypeError(f"JdbcConnectionOptions are needed, got {jdbc_connection_options!r}")
        execution = JdbcExecutionOptions.defaults() if jdbc_execution_options is None else jdbc_execution_options
        if not isinstance(execution, JdbcExecutionOptions):
            raise TypeError(f"JdbcExecutionOptions are needed, got {execution!r}")
        database = jdbc_connection_options._database  # noqa: SLF001 - the same module
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

    def create_writer(self, context: WriterContext) -> SinkWriter:  # noqa: ARG002
        """Return a writer."""
        return JdbcWriter(self._output)


class JdbcConnectionOptions:
    """Where a database is, and who connects; built by :class:`JdbcConnectionOptionsBuilder`. Shows no password."""

    def __init__(
        self, database: Database, url: str, driver_name: str | None, user_name: str | None, password: str | None
    ) -> None:
        """Take what the builder made."""
        self._database = database
        self._url = url
        self._driver_name = driver_name
        self._user_name = user_name
        self._password = password

    def __repr__(self) -> str:
        return f"JdbcConnectionOptions(url={without_secrets(self._url)!r}, user_name={self._user_name!r})"

    def get_db_url(self) -> str:
        """Return the URL as it was given."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the name of Java's driver, which has no effect; None if none was given."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the user; None if none was given."""
        return self._user_name

    def get_password(self) -> str | None:
        """Return the password; None if none was given."""
        return self._password

    class JdbcConnectionOptionsBuilder:
        """Builds :class:`JdbcConnectionOptions`; a URL is needed."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None
            self._timeout = 60

        def with_url(self, url: str) -> Self:
            """Say where the database is: a URL of JDBC, or of SQLAlchemy."""
            self._url = _text(url, "the URL")
            return self

        def with_driver_name(self, driver_name: str) -> Self:
            """Name the driver in Java: the URL alone decides which one in Python is used, so this has no effect."""
            self._driver_name = _text(driver_name, "the name of the driver")
            return self

        def with_user_name(self, user_name: str) -> Self:
            """Say who connects."""
            self._user_name = _text(user_name, "the user's name")
            return self

        def with_password(self, password: str) -> Self:
            """Set the password."""
            if not isinstance(password, str):
                raise TypeError(f"the password must be a text, got one of type {type(password).__name__}")
            self._password = password
            return self

        def with_connection_check_timeout_seconds(self, connection_check_timeout_seconds: int) -> Self:
            """Say how long (s) to wait for a connection, and at most between tries; 60 by default (Java has this)."""
            self._timeout = check_integer(connection_check_timeout_seconds, "the connection timeout (s)", minimum=1)
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises:
                PlanError: There is no URL, or it is not known, or a part of it is wrong.
            """
            if self._url is None:
                raise PlanError("JdbcConnectionOptions need a URL: with_url('jdbc:...')")
            database = database_of(self._url, self._user_name, self._password, self._timeout, self._driver_name)
            return JdbcConnectionOptions(database, self._url, self._driver_name, self._user_name, self._password)


class JdbcExecutionOptions(Settings):
    """How large batches are, and how often they are tried again."""

    def __init__(self, batch_interval_ms: int = 0, batch_size: int = 5000, max_retries: int = 3) -> None:
        """Take what the builder made."""
        self._batch_interval_ms = batch_interval_ms
        self._batch_size = batch_size
        self._max_retries = max_retries

    def get_batch_interval_ms(self) -> int:
        """Return after how many milliseconds a batch is written; 0, the default, if time does not matter."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return after how many records a batch is written, by default 5000; 0 or less for any number."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often a batch that failed is tried again, by default 3 times."""
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
            """Set after how many records a batch is written; 0 or less for no bound, as in Flink."""
            self._built["batch_size"] = check_integer(size, "the batch size", minimum=-MAX_INT)
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> Self:
            """Set after how many milliseconds a batch is written; 0 for any time."""
            self._built["batch_interval_ms"] = check_integer(
                interval_ms, "the batch interval (ms)", minimum=0, maximum=MAX_LONG
            )
            return self

        def with_max_retries(self, max_retries: int) -> Self:
            """Set how often a batch that failed is tried again."""
            self._built["max_retries"] = check_integer(max_retries, "the number of retries", minimum=0)
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options."""
            return JdbcExecutionOptions(**self._built)


def _text(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a text, got {value!r}")
    return value
