"""Results of tables as a stream of Arrow's batches."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Protocol

from flintstream.options.tables import BATCH_SIZE
from flintstream.table._functions.series import array_of, arrow, arrow_schema
from flintstream.table._results.pandas import remaining_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flintstream.common.types import Row
    from flintstream.table._expressions.expr import Column
    from flintstream.table._logical.nodes import Node

    class Result(Protocol):
        """The result of a table."""

        def collect(self) -> Iterable[Row]:
            """Return the changes."""

    class Rows(Protocol):
        """A table."""

        _node: Node

        def execute(self) -> Result:
            """Run a job that computes the rows."""


def stream_pieces(columns: Sequence[Column], changes: Iterable[Row], size: int) -> Iterator[bytes]:
    """Return the rows that changes leave behind as a stream of Arrow, a piece for each batch of ``size`` rows.

    The first piece starts with the schema. Without rows, nothing comes.
    """
    kinds = [column.type for column in columns]
    schema = arrow_schema([column.name for column in columns], kinds)
    rows = remaining_rows(changes)
    buffer = BytesIO()
    with arrow().ipc.new_stream(buffer, schema) as writer:
        for start in range(0, len(rows), size):
            values = zip(*rows[start : start + size], strict=True)
            arrays = [array_of(column, kind) for column, kind in zip(values, kinds, strict=True)]
            writer.write_batch(arrow().RecordBatch.from_arrays(arrays, schema=schema))
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()


class Batches:
    """An iterator of Java over the pieces of a stream of Arrow."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._ahead = next(pieces, None)

    def has_next(self) -> bool:
        """Tell whether there is another piece."""
        return self._ahead is not None

    def next(self) -> bytes:
        """Return the next piece.

        Raises:
            StopIteration: There is none.
        """
        if self._ahead is None:
            raise StopIteration
        found, self._ahead = self._ahead, next(self._pieces, None)
        return found


def collect_as_batches(table: Rows, size: int | str | None = None) -> Batches:
    """Run a job that computes the rows of a table, and return them as a stream of Arrow, ``size`` rows in a piece.

    Libraries call it ``ArrowUtils.collectAsPandasDataFrame``.
    """
    return Batches(stream_pieces(table._node.columns, table.execute().collect(), int(size or BATCH_SIZE.default)))
