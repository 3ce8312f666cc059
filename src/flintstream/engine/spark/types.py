"""Types of Spark for the types of a program, and its values as Spark takes them."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TupleTypeInfo,
    Types,
)
from flintstream.errors import CheckpointError
from flintstream.savepoint.text import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql.types import DataType

    from flintstream.common.time import Instant
    from flintstream.common.typeinfo import TypeInformation

    Mapped = tuple[DataType, Callable[[Any], Any]]

_DIGITS = 38
_SCALE = 18
_EXACT = Context(prec=_DIGITS + _SCALE, rounding=ROUND_DOWN)

_BASIC = {
    BasicType.STRING: "StringType",
    BasicType.CHAR: "StringType",
    BasicType.BYTE: "ByteType",
    BasicType.SHORT: "ShortType",
    BasicType.INT: "IntegerType",
    BasicType.LONG: "LongType",
    BasicType.FLOAT: "FloatType",
    BasicType.DOUBLE: "DoubleType",
    BasicType.BOOLEAN: "BooleanType",
}


def mapped(type_info: TypeInformation | None) -> Mapped:
    """Return the type of Spark for a type, and the function that makes a value of Spark of one of the program's.

    What has no counterpart is a text: JSON. Dates and times without a time zone stay so; rows and tuples become
    structs, the fields of a tuple ``f0``, ``f1`` and so on.
    """
    from pyspark.sql import types as spark  # noqa: PLC0415 - slow to import

    if isinstance(type_info, BasicTypeInfo):
        return _basic(type_info._basic_type)  # noqa: SLF001 - ours
    if isinstance(type_info, RowTypeInfo):
        return _struct(type_info.get_field_names(), type_info.get_field_types())
    if isinstance(type_info, TupleTypeInfo):
        fields = type_info.get_field_types()
        return _struct([f"f{index}" for index in range(len(fields))], fields)
    if isinstance(type_info, MapTypeInfo):
        key_type, key = mapped(type_info._key_type_info)  # noqa: SLF001
        value_type, value = mapped(type_info._value_type_info)  # noqa: SLF001
        return spark.MapType(key_type, value_type), lambda d: {key(k): nullable(value, v) for k, v in d.items()}
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info._element_type == Types.BYTE():  # noqa: SLF001
        return spark.BinaryType(), bytearray
    if isinstance(type_info, (ListTypeInfo, PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo)):
        element_type, element = mapped(type_info._element_type)  # noqa: SLF001
        return spark.ArrayType(element_type), lambda items: [nullable(element, item) for item in items]
    local = LocalTimeTypeInfo.TimeType
    if isinstance(type_info, DateTypeInfo) or type_info == LocalTimeTypeInfo(local.LOCAL_DATE):
        return spark.DateType(), _same
    if isinstance(type_info, TimestampTypeInfo) or type_info == LocalTimeTypeInfo(local.LOCAL_DATE_TIME):
        return spark.TimestampNTZType(), lambda value: value.replace(tzinfo=None)
    return spark.StringType(), to_json


def nullable(convert: Callable[[Any], Any], value: Any) -> Any:
    """Convert a value that may be None."""
    return None if value is None else convert(value)


def inferred(values: Sequence[Any]) -> TypeInformation | None:
    """Return the type that all values have; None if there is none that Spark knows, too.

    >>> inferred([1, 2]), inferred([("a", 1)]), inferred([1, "a"])
    (Long, TupleTypeInfo(String, Long), None)
    """
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is tuple:
        if len(set(map(len, values))) != 1 or not values[0]:
            return None
        parts = [inferred(part) for part in zip(*values, strict=True)]
        known = [part for part in parts if part is not None]
        return Types.TUPLE(known) if len(known) == len(parts) else None
    if kind is int and all(-(1 << 63) <= value < 1 << 63 for value in values):
        return Types.LONG()
    known_types = {bool: Types.BOOLEAN, str: Types.STRING, float: Types.DOUBLE, dt.date: Types.SQL_DATE}
    return known_types[kind]() if kind in known_types else None


def _same(value: Any) -> Any:
    return value


def _basic(basic: BasicType) -> Mapped:
    from pyspark.sql import types as spark  # noqa: PLC0415

    if basic is BasicType.BIG_INT:
        return spark.DecimalType(_DIGITS, 0), lambda number: _decimal(Decimal(number), 0)
    if basic is BasicType.BIG_DEC:
        return spark.DecimalType(_DIGITS, _SCALE), lambda number: _decimal(number, _SCALE)
    if basic is BasicType.INSTANT:
        return spark.TimestampType(), _instant
    return getattr(spark, _BASIC[basic])(), _same


def _decimal(number: Decimal, scale: int) -> Decimal:
    """Refuse what Spark would round or turn into null."""
    if number.is_finite() and abs(number) < Decimal(10) ** (_DIGITS - scale):
        exact = number.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
        if exact == number:
            return exact
    raise CheckpointError(f"{number} does not fit Spark's decimal({_DIGITS}, {scale}): read it as JSON")


def _instant(instant: Instant) -> dt.datetime:
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return moment + dt.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


def _struct(names: Sequence[str], types: Sequence[TypeInformation]) -> Mapped:
    from pyspark.sql import types as spark  # noqa: PLC0415

    parts = [mapped(each) for each in types]
    fields = [spark.StructField(name, kind) for name, (kind, _) in zip(names, parts, strict=True)]
    converts = [convert for _, convert in parts]
    return spark.StructType(fields), lambda row: tuple(map(nullable, converts, row))
