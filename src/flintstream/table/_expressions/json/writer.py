"""Values of SQL as JSON: of numbers, times, arrays, maps and rows."""

from __future__ import annotations

import base64
from decimal import Decimal
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import fraction_of
from flintstream.table._expressions.helpers import double_to_text
from flintstream.table._expressions.json.helpers import json_text
from flintstream.table._types.objects import VariantType
from flintstream.table._types.rules import BYTES, TEXTS, TIMESTAMPS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from flintstream.common._types.data_types import DataType


def is_writable(kind: DataType) -> bool:
    """Return whether there is JSON for the values of a type."""
    if isinstance(kind, t.ArrayType):
        return is_writable(kind.element_type)
    if isinstance(kind, t.MapType):
        return isinstance(kind.key_type, TEXTS) and is_writable(kind.value_type)
    if isinstance(kind, t.MultisetType):
        return isinstance(kind.element_type, TEXTS)
    if isinstance(kind, t.RowType):
        return all(map(is_writable, kind.field_types()))
    return isinstance(kind, (VariantType, *TEXTS, *BYTES, *TIMESTAMPS, t.NumericType, t.BooleanType))


class JsonWriter:
    """Writes the values of a type, which are not None."""

    def __init__(self, kind: DataType) -> None:
        """Compile the function of a type."""
        self.kind = kind
        self._write = _writer(kind)

    def __reduce__(self) -> Any:
        """Pickle the type: functions cannot be pickled."""
        return JsonWriter, (self.kind,)

    def __call__(self, value: object) -> str:
        """Return the JSON of a value."""
        return self._write(value)


def _writer(kind: DataType) -> Callable[[Any], str]:
    if isinstance(kind, TEXTS):
        return json_text
    if isinstance(kind, t.BooleanType):
        return lambda value: "true" if value else "false"
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        return lambda value: _number(double_to_text(value))
    if isinstance(kind, t.DecimalType):
        return _decimal
    if isinstance(kind, BYTES):
        return lambda value: f'"{base64.b64encode(value).decode()}"'
    if isinstance(kind, TIMESTAMPS):
        zone = "Z" if isinstance(kind, t.LocalZonedTimestampType) else ""
        return lambda value: f'"{_timestamp(value)}{zone}"'
    if isinstance(kind, t.ArrayType):
        element = _writer(kind.element_type)
        return lambda value: f"[{','.join(['null' if item is None else element(item) for item in value])}]"
    if isinstance(kind, (t.MapType, t.MultisetType)):
        content = _writer(kind.value_type) if isinstance(kind, t.MapType) else str
        return lambda value: _members((_key(key), value[key], content) for key in sorted(value, key=_key))
    if isinstance(kind, t.RowType):
        fields = sorted(zip(kind.names, count(), map(_writer, kind.field_types()), strict=False), key=itemgetter(0))
        return lambda value: _members((name, value[at], write) for name, at, write in fields)
    return str


def _key(key: str | None) -> str:
    if key is None:
        raise ValueError("JSON does not allow NULL keys: a map with a NULL key cannot be written")
    return key


def _members(members: Any) -> str:
    texts = [f"{json_text(name)}:{'null' if item is None else write(item)}" for name, item, write in members]
    return "{" + ",".join(texts) + "}"


def _number(text: str) -> str:
    if text == "-0.0":  # a decimal of Java has no negative zero
        return "0.0"
    return str(Decimal(text)) if text[-1].isdigit() else f'"{text}"'  # NaN and Infinity are not numbers of JSON


def _decimal(value: Decimal) -> str:
    return str(value)


def _timestamp(value: datetime) -> str:
    text, fraction = f"{value.isoformat()[:19]}", fraction_of(value).rstrip("0")
    return f"{text}.{fraction}" if fraction else text
