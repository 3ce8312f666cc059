"""Results of statements; mirrors ``pyflink.table.table_result``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from flintstream.common._text.leaving import write_text
from flintstream.common._text.notebook import FIRST, PATIENCE_SECONDS, table_html
from flintstream.datastream._streams.collect import caption
from flintstream.options.tables import COLUMN_WIDTH
from flintstream.table._logical.planned import describe_columns
from flintstream.table._results.printing import NULL, answer_lines, print_lines, texts
from flintstream.table._results.rows import collect_rows, refuse_lacking, rows_by_clock
from flintstream.table.catalog import resolve_schema
from flintstream.table.result_kind import ResultKind
from flintstream.table.table_schema import TableSchema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from flintstream.common.job_client import JobClient
    from flintstream.common.types import Row
    from flintstream.table._expressions.expr import Column
    from flintstream.table.catalog import ResolvedSchema

__all__ = ["CloseableIterator", "TableResult"]


class CloseableIterator:
    """Iterates over the rows of a result. Closing it cancels the job if it is still running.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.get_config().set("flintstream.engine", "inline")
    TableConfig()
    >>> with t_env.execute_sql("SELECT 1 AS n").collect() as rows:
    ...     list(rows)
    [<Row(1)>]

    >>> from flintstream.common import Configuration
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> rows = TableEnvironment.create(settings).from_elements([(1,), (2,)], ["n"]).execute().collect()
    >>> rows.next()
    <Row(1)>
    >>> rows.close()
    """

    def __init__(self, rows: Iterator[Any], close: Any) -> None:
        """Iterate over ``rows``."""
        self._rows = rows
        self._close = close

    def __iter__(self) -> Self:
        """Return self."""
        return self

    def __next__(self) -> Any:
        """Wait for the next row, and return it."""
        return next(self._rows)

    def next(self) -> Any:
        """Return the next row."""
        return self.__next__()

    def close(self) -> None:
        """Stop reading, and cancel the job if it is still running."""
        self._close()

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the iterator."""
        self.close()


class TableResult:
    """The result of a statement or table.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.execute_sql("SHOW CURRENT DATABASE").print()
    +-----------------------+
    | current database name |
    +-----------------------+
    |      default_database |
    +-----------------------+
    1 row in set

    >>> from flintstream.common import Configuration
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> t_env = TableEnvironment.create(settings)
    >>> result = t_env.from_elements([(1, "pear")], ["id", "name"]).execute()
    >>> result.get_resolved_schema().get_column_names(), result.get_table_schema().get_field_count()
    (['id', 'name'], 2)
    >>> result.get_result_kind().name, list(result.collect())
    ('SUCCESS_WITH_CONTENT', [<Row(1, 'pear')>])
    >>> inserted = t_env.execute_sql("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    >>> inserted.get_result_kind().name, inserted.get_job_client() is None
    ('SUCCESS', True)
    >>> t_env.execute_sql("INSERT INTO nowhere SELECT 1").wait(60_000)
    """

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Any,
        client: JobClient | None = None,
        *,
        kind: ResultKind = ResultKind.SUCCESS_WITH_CONTENT,
        streaming: bool = False,
        writes: bool = False,
        zone: str = "UTC",
        widest: int = COLUMN_WIDTH.default,
    ) -> None:
        """Hold the rows of a statement; programs get results from ``execute_sql`` and ``execute``."""
        self._writes = writes
        self._zone = zone
        self._columns = tuple(columns)
        self._rows = rows
        self._client = client
        self._kind = kind
        self._streaming = streaming
        self._widest = widest

    def __repr__(self) -> str:
        """Return the columns."""
        return f"TableResult[{describe_columns(self._columns)}]"

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job; None if the statement needed none."""
        return self._client

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the end of a job that writes to tables, and raise its error if it failed.

        It returns at once for a query: read the rows with :meth:`collect` or :meth:`print`.

        Args:
            timeout_ms: The longest time to wait; the job continues after it.

        Raises:
            TimeoutError: The job has not ended by then.
        """
        if self._client is not None and self._writes:
            self._client.get_job_execution_result().result(None if timeout_ms is None else timeout_ms / 1000)

    def get_table_schema(self) -> TableSchema:
        """Return the columns."""
        columns = self._columns
        return TableSchema([c.name for c in columns], [c.type for c in columns], [c.time for c in columns])

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns."""
        return resolve_schema(self._columns)

    def get_result_kind(self) -> ResultKind:
        """Return whether there are rows."""
        return self._kind

    def collect(self) -> CloseableIterator:
        """Return the rows, in the order in which they come; that of an INSERT comes when its job has ended.

        Their values can be read by position, as in PyFlink, and by the names of the columns. A ``TIMESTAMP_LTZ`` is a
        ``datetime`` in the time zone of the session.

        Raises:
            TypeError: A column is a VARIANT, a BITMAP or an object with a class, which PyFlink cannot bring to Python.
        """
        return self._iterate(precise=False)

    def _own_rows(self) -> Iterator[Row]:
        """Yield the rows; that of a job that writes to tables comes when the job has ended."""
        self.wait()
        yield from self._rows

    def _iterate(self, *, precise: bool) -> CloseableIterator:
        refuse_lacking(self._columns)
        close = getattr(self._rows, "close", None)
        rows = collect_rows(self._own_rows(), self._columns, self._zone, precise=precise)
        return CloseableIterator(rows, close or (lambda: None))

    def print(self) -> None:
        """Print the rows as a table, as they come."""
        if self._kind is ResultKind.SUCCESS and self._client is None:
            write_text(sys.stdout, "OK\n")
            return
        told = self._client is None
        rows = iter(self._own_rows()) if told else rows_by_clock(self._own_rows(), self._columns, self._zone)
        lines = (
            answer_lines(self._columns, rows)
            if told
            else print_lines(self._columns, rows, self._widest, kinds=self._streaming)
        )
        for line in lines:
            write_text(sys.stdout, f"{line}\n")

    def _repr_html_(self) -> str:
        """Return the first rows for a notebook. They stay in the result."""
        if self._client is None and self._kind is ResultKind.SUCCESS:
            return "<p>OK</p>"
        heads = [column.name for column in self._columns]
        peek = getattr(self._rows, "_peek", None)
        if peek is None:  # what a statement tells
            lines = [texts(self._columns, row, NULL) for row in self._rows]
            return table_html(heads, lines, caption(len(lines), complete=True))
        rows, told = peek(FIRST, PATIENCE_SECONDS)
        lines = [texts(self._columns, row, NULL) for row in rows_by_clock(rows, self._columns, self._zone)]
        if self._streaming:
            heads = ["op", *heads]
            lines = [[str(row.get_row_kind()), *line] for row, line in zip(rows, lines, strict=True)]
        return table_html(heads, lines, told)
