"""Spark types for the types of a program, and conversion of values."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.json_text import to_json
from flintstream.common._types.parts import basic_type, element_of, inner_types
from flintstream.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TupleTypeInfo,
    Types,
)
from flintstream.engine.spark.columns.schemas import ARRAYS, DIGITS, SCALE, spark_type
from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql.types import DataType

    from flintstream.common.time import Instant
    from flintstream.common.typeinfo import TypeInformation

_EXACT = Context(prec=DIGITS + SCALE, rounding=ROUND_DOWN)


def to_spark_type(type_info: TypeInformation | None) -> tuple[DataType, Callable[[Any], Any]]:
    """Return the Spark type for a type, and a function that converts values to it.

    Unsupported types become JSON strings. Dates and times without a time zone stay that way; rows and tuples become
    structs, with fields ``f0``, ``f1``, ... for tuples.
    """
    from pyspark.sql.types import StringType

    return spark_type(type_info, "state", otherwise=StringType()), _converter(type_info)


def _converter(type_info: TypeInformation | None) -> Callable[[Any], Any]:
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC.get(basic_type(type_info), _same)
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        fields = [_converter(field_kind) for field_kind in type_info.get_field_types()]
        return lambda row: tuple(map(nullable, fields, row))
    if isinstance(type_info, MapTypeInfo):
        key, value = map(_converter, inner_types(type_info))
        return lambda entries: {key(k): nullable(value, v) for k, v in entries.items()}
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return bytearray
    if isinstance(type_info, ARRAYS):
        element = _converter(element_of(type_info))
        return lambda items: [nullable(element, item) for item in items]
    local = LocalTimeTypeInfo.TimeType
    if isinstance(type_info, DateTypeInfo) or type_info == LocalTimeTypeInfo(local.LOCAL_DATE):
        return _same
    if isinstance(type_info, TimestampTypeInfo) or type_info == LocalTimeTypeInfo(local.LOCAL_DATE_TIME):
        return lambda value: value.replace(tzinfo=None)
    return to_json


def nullable(convert: Callable[[Any], Any], value: Any) -> Any:
    """Convert a value that may be None."""
    return None if value is None else convert(value)


def infer_type(values: Sequence[Any]) -> TypeInformation | None:
    """Return the common type of all values; None if there is none that Spark supports.

    >>> infer_type([1, 2]), infer_type([("a", 1)]), infer_type([1, "a"])
    (Long, TupleTypeInfo(String, Long), None)
    """
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is tuple:
        if len(set(map(len, values))) != 1 or not values[0]:
            return None
        parts = [infer_type(part) for part in zip(*values, strict=True)]
        known = [part for part in parts if part is not None]
        return Types.TUPLE(known) if len(known) == len(parts) else None
    if kind is int and all(-(1 << 63) <= value < 1 << 63 for value in values):
        return Types.LONG()
    known_types = {bool: Types.BOOLEAN, str: Types.STRING, float: Types.DOUBLE, dt.date: Types.SQL_DATE}
    return known_types[kind]() if kind in known_types else None


def _same(value: Any) -> Any:
    return value


def _decimal(number: Decimal, scale: int) -> Decimal:
    """Raise an error for a number that Spark would round or turn into null."""
    if number.is_finite() and abs(number) < Decimal(10) ** (DIGITS - scale):
        exact = number.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
        if exact == number:
            return exact
    raise CheckpointError(f"{number} does not fit Spark's decimal({DIGITS}, {scale}): read it as JSON")


def _instant(instant: Instant) -> dt.datetime:
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    return moment + dt.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


_BASIC: dict[BasicType, Callable[[Any], Any]] = {
    BasicType.BIG_INT: lambda number: _decimal(Decimal(number), 0),
    BasicType.BIG_DEC: lambda number: _decimal(number, SCALE),
    BasicType.INSTANT: _instant,
}
