"""The text form of results: a table with borders."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from flintstream.common import _datatypes as t
from flintstream.table._expressions.helpers import cast_text, float_to_text, timestamp_to_text
from flintstream.table._expressions.time_helpers import from_instant
from flintstream.table._expressions.types import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common._datatypes import DataType
    from flintstream.table._expressions.expr import Column

WIDEST = 30
NULL = "<NULL>"


def printed(columns: Sequence[Column], rows: Iterator[Any], *, streaming: bool) -> Iterator[str]:
    """Yield the lines of a table; when ``streaming``, as rows come, with the kinds of change."""
    heads = [each.name for each in columns]
    if streaming:
        heads = ["op", *heads]
        widths = [2, *(max(len(each.name), _width_of(each.type)) for each in columns)]
        yield from _head(heads, widths)
        count = 0
        for row in rows:
            count += 1
            yield _line([str(row.get_row_kind()), *_texts(columns, row)], widths)
        if count:
            yield _border(widths)
        yield _count(count) if count else "Received a total of 0 row"
        return
    texts = [_texts(columns, row) for row in rows]
    if not texts:
        yield "Empty set"
        return
    widths = [min(max([_wide(head), *(_wide(line[i]) for line in texts)]), 10_000) for i, head in enumerate(heads)]
    yield from _head(heads, widths)
    for line in texts:
        yield _line(line, widths)
    yield _border(widths)
    yield _count(len(texts))


def _count(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'} in set"


def _head(heads: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    yield _border(widths)
    yield _line(heads, widths)
    yield _border(widths)


def _border(widths: Sequence[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for text, width in zip(texts, widths, strict=True):
        cut = text if _wide(text) <= width else text[: width - 3] + "..."
        cells.append(" " * (width - _wide(cut)) + cut)
    return f"| {' | '.join(cells)} |"


def _wide(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _width_of(kind: DataType) -> int:
    if type(kind) in DIGITS:
        return DIGITS[type(kind)] + 1
    if isinstance(kind, t.DecimalType):
        return kind.precision + 3
    if isinstance(kind, t.BooleanType):
        return 7
    if isinstance(kind, t.DateType):
        return 10
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return 19 + (kind.precision + 1 if kind.precision else 0)
    return WIDEST


def _texts(columns: Sequence[Column], row: Any) -> list[str]:
    return [value_text(each.type, value) for each, value in zip(columns, row, strict=True)]


def value_text(kind: DataType, value: Any) -> str:
    """Return the text of a value in a printed table."""
    if value is None:
        return NULL
    if isinstance(kind, t.FloatType):
        return float_to_text(value)
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        moment = from_instant(value)
        return timestamp_to_text(moment, kind.precision) if isinstance(moment, datetime) else str(moment)
    return cast_text(value)
