"""Values and types in the JSON of a compiled plan.

What JSON has no value for is an object with one key that names its kind: ``{"decimal": "1.50"}``.

>>> from decimal import Decimal
>>> write_value((1, "a", Decimal("1.50")))
[1, 'a', {'decimal': '1.50'}]
>>> read_value([1, "a", {"decimal": "1.50"}])
(1, 'a', Decimal('1.50'))
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, cast

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import nanoseconds_of, plain_datetime, with_nanoseconds
from flintstream.common.types import Row
from flintstream.table._compiled.contents import PlanFileError
from flintstream.table._errors import SqlError
from flintstream.table._expressions.helpers import named_row
from flintstream.table._types.reader import data_type_of
from flintstream.table._types.rules import IntervalType, RowsType, is_nullable, sql_name, with_null

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._types.data_types import DataType
    from flintstream.table._compiled.contents import Json


def write_value(value: object) -> Json:
    """Return a value as JSON.

    Raises:
        PlanFileError: It is of a class that plans do not store.
    """
    if value is None or type(value) in {bool, int, str} or (type(value) is float and isfinite(value)):
        return cast("Json", value)
    if type(value) is tuple:
        return [write_value(item) for item in value]
    if isinstance(value, Row):
        names = cast("list[Json]", list(value._fields)) if hasattr(value, "_fields") else None
        return {"row": [write_value(item) for item in value], "names": names}
    if type(value) is list:
        return {"list": [write_value(item) for item in value]}
    if type(value) is dict:
        return {"map": [[write_value(key), write_value(item)] for key, item in value.items()]}
    for kind, (key, write, _) in _KINDS.items():
        if isinstance(value, kind):
            return {key: write(value)}
    raise PlanFileError(f"a compiled plan cannot store the value {value!r} of type {type(value).__name__}")


def read_value(found: Json) -> object:
    """Return the value of JSON.

    Raises:
        PlanFileError: It is none.
    """
    if isinstance(found, list):
        return tuple(map(read_value, found))
    if not isinstance(found, dict):
        return found
    (key, inner), *more = found.items() or [("nothing", None)]
    if key == "row" and isinstance(inner, list) and [name for name, _ in more] == ["names"]:
        values = [read_value(item) for item in inner]
        names = found["names"]
        return named_row(tuple(map(str, names)), values) if isinstance(names, list) else Row(*values)
    if key == "list" and isinstance(inner, list):
        return [read_value(item) for item in inner]
    if key == "map" and isinstance(inner, list):
        return dict(cast("tuple[object, object]", read_value(pair)) for pair in inner)
    for name, _, read in _KINDS.values():
        if key == name and isinstance(inner, str):
            return read(inner)
    raise PlanFileError(f"the compiled plan is damaged: it has a value of the kind '{key}'")


def _write_datetime(value: datetime) -> str:
    nanoseconds = nanoseconds_of(value)
    return f"{plain_datetime(value).isoformat()}{f'+{nanoseconds} ns' if nanoseconds else ''}"


def _read_datetime(text: str) -> datetime:
    moment, _, nanoseconds = text.removesuffix(" ns").rpartition("+") if text.endswith(" ns") else (text, "", "0")
    return with_nanoseconds(datetime.fromisoformat(moment), int(nanoseconds))


_KINDS: dict[type[object], tuple[str, Callable[..., str], Callable[[str], object]]] = {
    Decimal: ("decimal", str, Decimal),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    bytearray: ("bytes", bytearray.hex, bytes.fromhex),
    datetime: ("timestamp", _write_datetime, _read_datetime),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    float: ("float", repr, float),
}
"""The keys of classes, and how values become text and are read again."""


def write_type(kind: DataType) -> Json:
    """Return a type as JSON: its name in SQL, or an object for types of literals alone.

    Raises:
        PlanFileError: SQL has no name for the type.
    """
    if isinstance(kind, IntervalType):
        return {"interval": "months" if kind.months else "milliseconds", "nullable": is_nullable(kind)}
    if isinstance(kind, RowsType):
        return {"rows": "number", "nullable": is_nullable(kind)}
    if isinstance(kind, t.CharType) and not kind.length:
        return {"text": "empty", "nullable": is_nullable(kind)}
    name = sql_name(kind)
    try:
        found = data_type_of(name)
    except SqlError:
        found = None
    if type(found) is not type(kind) or sql_name(found) != name:
        raise PlanFileError(f"a compiled plan cannot store the type {kind!r}")
    return name


def read_type(found: Json) -> DataType:
    """Return the type of JSON.

    Raises:
        PlanFileError: It is none.
    """
    if isinstance(found, str):
        return data_type_of(found)
    key = next(iter(found)) if isinstance(found, dict) and found else ""
    if isinstance(found, dict) and key in _LITERALS:
        return with_null(_LITERALS[key](found[key]), bool(found.get("nullable")))
    raise PlanFileError(f"the compiled plan is damaged: {found!r} is not a type")


def _empty(_: Json) -> DataType:
    kind = t.CharType(1)
    kind.length = 0
    return kind


_LITERALS: dict[str, Callable[[Json], DataType]] = {
    "interval": lambda unit: IntervalType(unit == "months"),
    "rows": lambda _: RowsType(),
    "text": _empty,
}
