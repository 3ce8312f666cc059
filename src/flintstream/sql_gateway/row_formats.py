"""Rows as text: values in JSON, or the texts that a printed table shows (``PLAIN_TEXT``)."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from flintstream.common._text.java import double_text
from flintstream.common._text.strict_json import json_text
from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import fraction_of
from flintstream.common.types import RowKind
from flintstream.table._expressions.helpers import float_to_text
from flintstream.table._expressions.times.helpers import from_instant
from flintstream.table._results.printing import value_text
from flintstream.table._types.rules import BYTES

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from flintstream.common.types import Row
    from flintstream.table._expressions.expr import Column

Writer = Callable[[object], str]


class RowFormat(Enum):
    """The form of the values in a row."""

    JSON = "JSON"
    PLAIN_TEXT = "PLAIN_TEXT"


_KINDS = {
    RowKind.INSERT: "INSERT",
    RowKind.UPDATE_BEFORE: "UPDATE_BEFORE",
    RowKind.UPDATE_AFTER: "UPDATE_AFTER",
    RowKind.DELETE: "DELETE",
}


def row_writer(columns: Sequence[Column], row_format: RowFormat) -> Callable[[Row], str]:
    """Return what writes a row as a JSON object, with the kind of its change."""
    make = _json_writer if row_format is RowFormat.JSON else _plain_writer
    writers = [make(column.type) for column in columns]

    def write(row: Row) -> str:
        fields = ",".join(
            "null" if value is None else writer(value) for writer, value in zip(writers, row, strict=True)
        )
        return f'{{"kind":"{_KINDS[row.get_row_kind()]}","fields":[{fields}]}}'

    return write


def _plain_writer(kind: t.DataType) -> Writer:
    return lambda value: json_text(plain_text(kind, value))


def plain_text(kind: t.DataType, value: object) -> str:
    """Return the text of a value as a printed table shows it.

    >>> plain_text(t.DataTypes.ARRAY(t.DataTypes.BYTES()), [bytes([1]), None])
    "[x'01', NULL]"
    """
    if value is None:
        return "NULL"
    if isinstance(kind, t.ArrayType) and isinstance(value, list):
        return f"[{', '.join(plain_text(kind.element_type, item) for item in value)}]"
    if isinstance(kind, t.MapType | t.MultisetType) and isinstance(value, dict):
        of_key, of_value = _entry_types(kind)
        return f"{{{', '.join(f'{plain_text(of_key, k)}={plain_text(of_value, v)}' for k, v in value.items())}}}"
    if isinstance(kind, t.RowType):
        texts = (plain_text(field.data_type, item) for field, item in zip(kind.fields, _items(value), strict=True))
        return f"({', '.join(texts)})"
    return value_text(kind, value)


def _entry_types(kind: t.MapType | t.MultisetType) -> tuple[t.DataType, t.DataType]:
    if isinstance(kind, t.MapType):
        return kind.key_type, kind.value_type
    return kind.element_type, t.DataTypes.INT()


def _items(row: object) -> Sequence[object]:
    return list(row)  # type: ignore[call-overload,no-any-return]  # rows of several classes and tuples


def _json_writer(kind: t.DataType) -> Writer:
    """Return what writes a value that is not None."""
    if isinstance(kind, t.ArrayType):
        element = _or_null(_json_writer(kind.element_type))
        return lambda value: f"[{','.join(map(element, _items(value)))}]"
    if isinstance(kind, t.MapType | t.MultisetType):
        return _map_writer(*_entry_types(kind))
    if isinstance(kind, t.RowType):
        fields = [(json_text(field.name), _or_null(_json_writer(field.data_type))) for field in kind.fields]
        return lambda value: (
            "{"
            + ",".join(f"{name}:{write(item)}" for (name, write), item in zip(fields, _items(value), strict=True))
            + "}"
        )
    return _ATOMS.get(type(kind), _bytes if isinstance(kind, BYTES) else json_text)


def _or_null(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)


def _map_writer(of_key: t.DataType, of_value: t.DataType) -> Writer:
    """Return what writes a map as an object: keys other than texts become what a printed table shows."""
    write = _or_null(_json_writer(of_value))

    def write_map(value: object) -> str:
        entries: Mapping[object, object] = value  # type: ignore[assignment]
        return "{" + ",".join(f"{json_text(plain_text(of_key, k))}:{write(v)}" for k, v in entries.items()) + "}"

    return write_map


def _double(value: object) -> str:
    number: float = value  # type: ignore[assignment]
    text = double_text(number)
    return text if math.isfinite(number) else f'"{text}"'


def _float(value: object) -> str:
    return _double(float(float_to_text(value)))  # type: ignore[arg-type]


def _decimal(value: object) -> str:
    number: Decimal = value  # type: ignore[assignment]
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _bytes(value: object) -> str:
    return f'"{base64.b64encode(bytes(value)).decode()}"'  # type: ignore[call-overload]


def _integer(value: object) -> str:
    return json.dumps(value)


def _clock(value: object) -> str:
    time: dt.time = value  # type: ignore[assignment]
    return f'"{time:%H:%M:%S}{_fraction(fraction_of(time))}"'


def _timestamp(value: object) -> str:
    moment: dt.datetime = from_instant(value)  # type: ignore[assignment]
    return f'"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{_fraction(fraction_of(moment))}"'


def _instant(value: object) -> str:
    return f'{_timestamp(value)[:-1]}Z"'


def _fraction(digits: str) -> str:
    return f".{digits}".rstrip("0").rstrip(".")


_ATOMS: dict[type[t.DataType], Writer] = {
    t.DoubleType: _double,
    t.FloatType: _float,
    t.DecimalType: _decimal,
    t.BigIntType: _integer,
    t.TimeType: _clock,
    t.TimestampType: _timestamp,
    t.LocalZonedTimestampType: _instant,
    t.DateType: lambda value: f'"{value}"',
}
