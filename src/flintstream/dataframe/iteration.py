"""Iterators over results; mirrors ``pyflink.dataframe.iteration``."""

from __future__ import annotations

import time
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from flintstream.common._public import publish
from flintstream.dataframe._checks import require_text
from flintstream.errors import optional_module
from flintstream.table._owners import array_of, exact_rows_of
from flintstream.table.types import create_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    import pyarrow as pa
    from typing_extensions import Self

    from flintstream.common.types import Row
    from flintstream.connectors.files.arrow_values import ArrowBatch
    from flintstream.datastream._streams.collect import CloseableIterator as Collected
    from flintstream.table.table import Table
    from flintstream.table.types import DataType

__all__ = ["CloseableIterator"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
BATCH_FORMATS = ("pandas", "pyarrow")


class CloseableIterator(Protocol[T_co]):
    """Iterates over the results of a job. Closing it cancels the job if it still runs; its end closes it, too.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> with pf.range(3).iter_rows() as rows:
    ...     next(rows)
    {'id': 0}
    >>> rows.close()
    """

    def __iter__(self) -> Self:
        """Return self."""

    def __next__(self) -> T_co:
        """Wait for the next result, and return it."""

    def close(self) -> None:
        """Cancel the job if it still runs. A second call has no effect.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> rows = pf.range(3).iter_rows()
        >>> rows.close()
        >>> list(rows)
        []
        """

    def __enter__(self) -> Self:
        """Return self."""

    def __exit__(self, *exc_info: object) -> None:
        """Close the iterator."""


class _CloseableIterator(Generic[T]):
    def __init__(self, iterator: Iterator[T], close: Callable[[], object]) -> None:
        self._iterator = iterator
        self._close = close
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._closed:
            raise StopIteration
        try:
            return next(self._iterator)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def kind_field(columns: Sequence[str], name: object, *, included: bool) -> str | None:
    """Return the name of the column for kinds of changes; None if there is none.

    Raises:
        TypeError: It is not a text.
        ValueError: It is empty, or a column has it.
    """
    if not included:
        return None
    found = require_text(name, "row_kind_field")
    if found in columns:
        raise ValueError(f"row_kind_field '{found}' conflicts with an existing column; pass a different row_kind_field")
    return found


def dict_of(row: Row, columns: Sequence[str], kind: str | None) -> dict[str, object]:
    """Return the values of a row by their columns, and its kind of change."""
    found: dict[str, object] = dict(zip(columns, row, strict=True))
    if kind is not None:
        found[kind] = str(row.get_row_kind())
    return found


def iterate_rows(table: Table, columns: Sequence[str], kind: str | None) -> _CloseableIterator[dict[str, object]]:
    """Run a job, and return its rows as dicts, as they come."""
    rows = table.execute().collect()
    return _CloseableIterator((dict_of(row, columns, kind) for row in rows), rows.close)


class Batches:
    """Makes batches of rows."""

    def __init__(self, columns: Sequence[str], types: Sequence[DataType], batch_format: str, kind: str | None) -> None:
        """Take the columns, whose types must be those of Arrow."""
        self.types, self.format, self.kind = types, batch_format, kind
        self.schema = _build_arrow_schema(columns, types, kind)

    def of(self, rows: Sequence[Row]) -> pd.DataFrame | pa.Table:
        """Return a batch."""
        return _rows_to_batch(rows, self.types, self.schema, self.format, self.kind)

    def iterate(self, table: Table, size: int) -> _CloseableIterator[pd.DataFrame | pa.Table]:
        """Run a job, and return batches of its rows, as they come."""
        rows = exact_rows_of(table)

        def batches() -> Iterator[pd.DataFrame | pa.Table]:
            while chunk := list(islice(rows, size)):
                yield self.of(chunk)

        return _CloseableIterator(batches(), rows.close)

    def join(self, batches: Collected[ArrowBatch]) -> pa.Table:
        """Return all rows of a job whose results are batches."""
        arrow = optional_module("pyarrow", extra="dataframes", purpose="batches")
        with batches:
            return arrow.Table.from_batches([item.batch.cast(self.schema) for item in batches], schema=self.schema)

    def cut(self, batches: Collected[ArrowBatch], size: int) -> _CloseableIterator[pd.DataFrame | pa.Table]:
        """Return the rows of a job whose results are batches in batches of a size, as they come."""
        arrow = optional_module("pyarrow", extra="dataframes", purpose="batches")

        def pieces() -> Iterator[pd.DataFrame | pa.Table]:
            waiting = self.schema.empty_table()
            for item in batches:
                waiting = arrow.concat_tables([waiting, arrow.Table.from_batches([item.batch.cast(self.schema)])])
                while len(waiting) >= size:
                    yield self._as(waiting.slice(0, size))
                    waiting = waiting.slice(size)
            if len(waiting):
                yield self._as(waiting)

        return _CloseableIterator(pieces(), batches.close)

    def _as(self, table: pa.Table) -> pd.DataFrame | pa.Table:
        return table.to_pandas() if self.format == "pandas" else table


def take_rows(table: Table, n: int, timeout: float | None, *, exact: bool = False) -> list[Row]:
    """Run a job until it has returned ``n`` rows, or a time in seconds has passed; then cancel it.

    If they are ``exact``, their timestamps have nanoseconds, which Arrow has.
    """
    if n == 0:
        return []
    rows = exact_rows_of(table) if exact else table.execute().collect()
    if timeout is None:
        with rows:
            return list(islice(rows, n))
    deadline = time.monotonic() + timeout
    found: SimpleQueue[tuple[Row | None, Exception | None]] = SimpleQueue()
    closed = Event()

    def fetch() -> None:
        try:
            for row in islice(rows, n):
                found.put((row, None))
            found.put((None, None))
        except Exception as error:
            if not closed.is_set():
                found.put((None, error))

    taken: list[Row] = []
    try:
        Thread(target=fetch, name="dataframe-take", daemon=True).start()
        while len(taken) < n:
            try:
                row, error = found.get(timeout=max(deadline - time.monotonic(), 0))
            except Empty:
                break
            if error is not None:
                raise error
            if row is None:
                break
            taken.append(row)
    finally:
        closed.set()
        rows.close()
    return taken


def _build_arrow_schema(
    columns: Sequence[str], data_types: Sequence[DataType], row_kind_field: str | None
) -> pa.Schema:
    schema = create_arrow_schema(list(columns), list(data_types))
    if row_kind_field is None:
        return schema
    arrow = optional_module("pyarrow", extra="dataframes", purpose="batches")
    return schema.append(arrow.field(row_kind_field, arrow.utf8(), nullable=False))


def _rows_to_batch(
    rows: Sequence[Row],
    data_types: Sequence[DataType],
    arrow_schema: pa.Schema,
    batch_format: str,
    row_kind_field: str | None,
) -> pd.DataFrame | pa.Table:
    arrow = optional_module("pyarrow", extra="dataframes", purpose="batches")
    arrays = [
        array_of([row[i] for row in rows], kind).cast(arrow_schema.field(i).type) for i, kind in enumerate(data_types)
    ]
    if row_kind_field is not None:
        arrays.append(arrow.array([str(row.get_row_kind()) for row in rows], type=arrow.utf8()))
    batch = arrow.Table.from_arrays(arrays, schema=arrow_schema)
    return batch.to_pandas() if batch_format == "pandas" else batch


publish(__name__, __all__, globals())
