"""Exact conversion between row types of a program and schemas of DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.parts import basic_type, element_of, inner_types
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
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.types import DataType, StructType

    from flintstream.common.typeinfo import TypeInformation

_LOCAL = LocalTimeTypeInfo.TimeType

ARRAYS = (ListTypeInfo, PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo)

DIGITS = 38
SCALE = 18
"""Scale of decimals from a program, whose type does not define a number of digits."""

_SIMPLE = {
    "BooleanType": Types.BOOLEAN(),
    "ByteType": Types.BYTE(),
    "ShortType": Types.SHORT(),
    "IntegerType": Types.INT(),
    "LongType": Types.LONG(),
    "FloatType": Types.FLOAT(),
    "DoubleType": Types.DOUBLE(),
    "StringType": Types.STRING(),
    "CharType": Types.STRING(),
    "VarcharType": Types.STRING(),
    "NullType": Types.STRING(),
    "BinaryType": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "DecimalType": Types.BIG_DEC(),
    "DateType": Types.SQL_DATE(),
    "TimestampType": Types.INSTANT(),
    "TimestampNTZType": LocalTimeTypeInfo(_LOCAL.LOCAL_DATE_TIME),
}
"""By name of Spark's class: importing the classes is slow, and some do not exist in every release."""

_BASIC: dict[BasicType, tuple[Any, ...]] = {
    BasicType.STRING: ("StringType",),
    BasicType.CHAR: ("StringType",),
    BasicType.BYTE: ("ByteType",),
    BasicType.SHORT: ("ShortType",),
    BasicType.INT: ("IntegerType",),
    BasicType.LONG: ("LongType",),
    BasicType.FLOAT: ("FloatType",),
    BasicType.DOUBLE: ("DoubleType",),
    BasicType.BOOLEAN: ("BooleanType",),
    BasicType.BIG_INT: ("DecimalType", DIGITS, 0),
    BasicType.BIG_DEC: ("DecimalType", DIGITS, SCALE),
    BasicType.INSTANT: ("TimestampType",),
}


# -- from Spark ------------------------------------------------------------------------------------------------------


def row_type(schema: StructType, where: str = "") -> RowTypeInfo:
    """Return the row type for the columns of a schema.

    Raises:
        PlanError: A column has an unsupported type, or column names repeat.
    """
    names = schema.fieldNames()
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanError(f"{_describe_place(where)} has several columns '{twice[0]}': rename them")
    return Types.ROW_NAMED(names, [type_of(field.dataType, _path(where, field.name)) for field in schema.fields])


def type_of(kind: DataType, where: str) -> TypeInformation:
    """Return the type for the values of a column."""
    from pyspark.sql import types as spark

    if isinstance(kind, spark.StructType):
        return row_type(kind, where)
    if isinstance(kind, spark.ArrayType):
        return Types.OBJECT_ARRAY(type_of(kind.elementType, f"{where}[]"))
    if isinstance(kind, spark.MapType):
        if holds(kind.keyType, "ArrayType", "MapType"):
            raise PlanError(
                f"{_describe_place(where)} is of type {kind.simpleString()}: arrays and maps cannot be dict keys"
            )
        return Types.MAP(type_of(kind.keyType, f"{where}.key"), type_of(kind.valueType, f"{where}.value"))
    found = _SIMPLE.get(type(kind).__name__)
    if found is None:
        raise PlanError(
            f"{_describe_place(where)} is of type {kind.simpleString()}, which is not supported: cast it, for instance "
            f"to a string"
        )
    return found


def holds(kind: DataType, *names: str) -> bool:
    """Tell whether a Spark type is, or contains, one of these classes."""
    inside = [getattr(kind, part, None) for part in ("elementType", "keyType", "valueType")]
    inside += [field.dataType for field in getattr(kind, "fields", ())]
    return type(kind).__name__ in names or any(item is not None and holds(item, *names) for item in inside)


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _describe_place(where: str) -> str:
    return f"column '{where}'" if where else "the DataFrame"


# -- to Spark --------------------------------------------------------------------------------------------------------


def schema_of(declared: TypeInformation) -> StructType:
    """Return the schema for a stream of rows or tuples; the columns of a tuple are ``f0``, ``f1``, ...

    Raises:
        PlanError: It is another type, or a field has an unsupported type.
    """
    if isinstance(declared, RowTypeInfo):
        return _struct(declared.get_field_names(), declared.get_field_types(), "")
    if isinstance(declared, TupleTypeInfo):
        types = declared.get_field_types()
        return _struct([f"f{index}" for index in range(len(types))], types, "")
    raise PlanError(
        f"a DataFrame needs rows or tuples, but the records of this stream are of type {declared}: declare "
        "output_type=Types.ROW_NAMED([...], [...]) where they are made, or pass a schema"
    )


def _struct(
    names: Sequence[str], types: Sequence[TypeInformation], where: str, otherwise: DataType | None = None
) -> StructType:
    from pyspark.sql import types as spark

    fields = zip(names, types, strict=True)
    return spark.StructType(
        [spark.StructField(name, spark_type(item, _path(where, name), otherwise)) for name, item in fields]
    )


def spark_type(kind: TypeInformation | None, where: str, otherwise: DataType | None = None) -> DataType:
    """Return Spark's type for a field; ``otherwise`` for an unsupported type.

    Raises:
        PlanError: The type is not supported, and ``otherwise`` is None.
    """
    from pyspark.sql import types as spark

    if isinstance(kind, BasicTypeInfo):
        name, *arguments = _BASIC[basic_type(kind)]
        return getattr(spark, name)(*arguments)  # type: ignore[no-any-return]
    if isinstance(kind, RowTypeInfo):
        return _struct(kind.get_field_names(), kind.get_field_types(), where, otherwise)
    if isinstance(kind, TupleTypeInfo):
        types = kind.get_field_types()
        return _struct([f"f{index}" for index in range(len(types))], types, where, otherwise)
    if isinstance(kind, MapTypeInfo):
        key, value = inner_types(kind)
        return spark.MapType(spark_type(key, f"{where}.key", otherwise), spark_type(value, f"{where}.value", otherwise))
    if kind == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return spark.BinaryType()
    if isinstance(kind, ARRAYS):
        return spark.ArrayType(spark_type(element_of(kind), f"{where}[]", otherwise))
    if isinstance(kind, DateTypeInfo) or kind == LocalTimeTypeInfo(_LOCAL.LOCAL_DATE):
        return spark.DateType()
    if isinstance(kind, TimestampTypeInfo) or kind == LocalTimeTypeInfo(_LOCAL.LOCAL_DATE_TIME):
        return spark.TimestampNTZType()
    if otherwise is not None:
        return otherwise
    raise PlanError(
        f"column '{where}' is of type {kind}, which Spark does not support: convert it to a string or number"
    )
