"""The text form of results: a table with borders."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from flintstream.common._types import data_types as t
from flintstream.common.types import Row
from flintstream.table._expressions.helpers import cast_text, float_to_text, timestamp_to_text
from flintstream.table._expressions.times.helpers import from_instant, interval_to_text, months_to_text
from flintstream.table._types.objects import StructuredType, python_lacks
from flintstream.table._types.rules import BYTES, DIGITS, TIMESTAMPS, IntervalType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Column

NULL = "<NULL>"


def print_lines(columns: Sequence[Column], rows: Iterator[Any], widest: int, *, kinds: bool) -> Iterator[str]:
    """Yield the lines of a query's result, as its rows come, with the kinds of change if wanted.

    Texts and collections are cut to the width ``widest``.
    """
    heads = [column.name for column in columns]
    widths = [max(_wide(column.name), _width_of(column.type, widest)) for column in columns]
    if kinds:
        heads, widths = ["op", *heads], [2, *widths]
    count = 0
    yield from _head(heads, widths)
    for row in rows:
        count += 1
        yield _line([*([str(row.get_row_kind())] if kinds else []), *texts(columns, row, NULL)], widths)
    if count:
        yield _border(widths)
    yield _count(count) if count else "Received a total of 0 row" if kinds else "Empty set"


def answer_lines(columns: Sequence[Column], rows: Iterator[object]) -> Iterator[str]:
    """Yield the lines of what a statement tells: as wide as the texts are."""
    heads = [column.name for column in columns]
    lines = [texts(columns, row, "") for row in rows]
    if not lines:
        yield "Empty set"
        return
    widths = [min(max([_wide(head), *(_wide(line[i]) for line in lines)]), 10_000) for i, head in enumerate(heads)]
    yield from _head(heads, widths)
    for line in lines:
        yield _line(line, widths)
    yield _border(widths)
    yield _count(len(lines))


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


def _width_of(kind: DataType, widest: int) -> int:
    width = widest
    if type(kind) in DIGITS:
        width = DIGITS[type(kind)] + 1
    elif isinstance(kind, t.DecimalType):
        width = kind.precision + 2
    elif isinstance(kind, t.BooleanType):
        width = 5
    elif isinstance(kind, t.DateType):
        width = 10
    elif isinstance(kind, t.TimeType):
        width = 8 + (kind.precision + 1 if kind.precision else 0)
    elif isinstance(kind, TIMESTAMPS):
        width = 19 + ((kind.precision + 2) // 3 * 3 + 1 if kind.precision else 0)
    return max(width, len(NULL))


def texts(columns: Sequence[Column], row: Any, null: str) -> list[str]:
    """Return the texts of a row's values, with ``null`` for NULL."""
    pairs = zip(columns, row, strict=True)
    return [null if value is None else value_text(item.type, value) for item, value in pairs]


def value_text(kind: DataType, value: Any) -> str:
    """Return the text of a value in a printed table."""
    if value is None:
        return NULL
    if isinstance(kind, t.FloatType):
        return float_to_text(value)
    if isinstance(kind, TIMESTAMPS):
        moment = from_instant(value)
        return timestamp_to_text(moment, kind.precision) if isinstance(moment, datetime) else str(moment)
    if isinstance(kind, t.TimeType):
        return str(value).rstrip("0") if value.microsecond else str(value)
    if isinstance(kind, IntervalType):
        return months_to_text(value) if kind.months else interval_to_text(value)
    if isinstance(kind, BYTES):
        return f"x'{value.hex()}'"
    return _object_text(kind, value)


def _object_text(kind: DataType, value: object) -> str:
    """Return the text of a value in which objects with a class name their fields."""
    if isinstance(kind, (IntervalType, *TIMESTAMPS, *BYTES)) and value is not None:
        return value_text(kind, value)
    if python_lacks(kind) is None and not isinstance(kind, (t.ArrayType, t.MapType, t.MultisetType, t.RowType)):
        return cast_text(value)
    if isinstance(kind, t.ArrayType) and isinstance(value, list):
        return f"[{', '.join(_object_text(kind.element_type, item) for item in value)}]"
    if isinstance(kind, t.MapType) and isinstance(value, dict):
        parts = (f"{_object_text(kind.key_type, k)}={_object_text(kind.value_type, v)}" for k, v in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(kind, t.MultisetType) and isinstance(value, dict):
        return "{" + ", ".join(f"{_object_text(kind.element_type, k)}={count}" for k, count in value.items()) + "}"
    if not isinstance(kind, t.RowType) or not isinstance(value, Row):
        return cast_text(value)
    texts = [_object_text(*pair) for pair in zip(kind.field_types(), value, strict=True)]
    if isinstance(kind, StructuredType):
        texts = [f"{name}={text}" for name, text in zip(kind.names, texts, strict=True)]
    return f"({', '.join(texts)})"
