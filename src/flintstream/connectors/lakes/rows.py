"""Rows of batches of Arrow, from the position of a split on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.common.types import _make_row
from flintstream.connectors.files.arrow_values import arrow, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    import pyarrow as pa

    from flintstream.common.types import Row
    from flintstream.connectors.source import Fetch


class Counting(Protocol):
    """A split that counts its rows."""

    done: int
    """How many have been read."""


def read_rows(
    split: Counting, fetch: Fetch, batches: Iterable[pa.RecordBatch], rows_of: Callable[[pa.RecordBatch], list[Row]]
) -> Generator[list[Row], None, bool]:
    """Yield the rows of batches behind those that have been read, and count them."""
    passed = split.done
    for batch in batches:
        rows = rows_of(batch) if passed < len(batch) else []
        start, passed = min(passed, len(batch)), max(0, passed - len(batch))
        while start < len(rows):
            end = start + max(1, fetch.size)
            split.done += len(rows[start:end])
            yield rows[start:end]
            start = end
    return True


def rows_of_columns(names: tuple[str, ...], columns: Sequence[Sequence[object]]) -> list[Row]:
    """Return rows of columns.

    >>> rows_of_columns(("n", "name"), [[1, 2], ["a", None]])
    [Row(n=1, name='a'), Row(n=2, name=None)]
    """
    return [_make_row(names, list(values)) for values in zip(*columns, strict=True)]


def constant(text: str | None, kind: pa.DataType, count: int) -> list[object]:
    """Return a column whose values all are one that a log has as a text.

    >>> import pyarrow
    >>> constant("2.50", pyarrow.decimal128(10, 2), 2), constant(None, pyarrow.int32(), 1)
    ([Decimal('2.50'), Decimal('2.50')], [None])
    """
    pa = arrow()
    found = pa.array([text or None], pa.string())
    if pa.types.is_timestamp(kind):
        found = found.cast(pa.timestamp("us"))
    return values_of(found.cast(kind)) * count
