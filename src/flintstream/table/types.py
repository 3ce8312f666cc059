"""Types of the Table API; mirrors ``pyflink.table.types``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import (
    ArrayType,
    AtomicType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DataTypes,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    IntType,
    ListViewType,
    LocalZonedTimestampType,
    MapType,
    MapViewType,
    MultisetType,
    NullType,
    NumericType,
    RawType,
    Resolution,
    Row,
    RowField,
    RowKind,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    ZonedTimestampType,
    to_type_info,
)
from flintstream.common._types.inference import infer_schema, infer_type, merge_types
from flintstream.common._types.user_defined import UserDefinedType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyarrow import Schema

__all__ = [
    "ArrayType",
    "AtomicType",
    "BigIntType",
    "BinaryType",
    "BooleanType",
    "CharType",
    "DataType",
    "DataTypes",
    "DateType",
    "DayTimeIntervalType",
    "DecimalType",
    "DoubleType",
    "FloatType",
    "FractionalType",
    "IntType",
    "IntegralType",
    "ListViewType",
    "LocalZonedTimestampType",
    "MapType",
    "MapViewType",
    "MultisetType",
    "NullType",
    "NumericType",
    "RawType",
    "Resolution",
    "Row",
    "RowField",
    "RowKind",
    "RowType",
    "SmallIntType",
    "TimeType",
    "TimestampType",
    "TinyIntType",
    "UserDefinedType",
    "VarBinaryType",
    "VarCharType",
    "YearMonthIntervalType",
    "ZonedTimestampType",
    "create_arrow_schema",
    "to_type_info",
]

# Names that libraries import from PyFlink although they are private there
_infer_schema_from_data, _infer_type, _merge_type = infer_schema, infer_type, merge_types


def create_arrow_schema(field_names: Sequence[str], field_types: Sequence[DataType]) -> Schema:
    """Return the schema of Arrow for columns of these names and types.

    >>> create_arrow_schema(["id"], [DataTypes.BIGINT()]).names
    ['id']

    Raises:
        ValueError: Arrow has no such type.
    """
    found: Schema = import_module("flintstream.table._functions.series").arrow_schema(field_names, field_types)
    return found


def _from_java_data_type(j_data_type: DataType) -> DataType:
    """Return the type itself, which replaces the one of Java: libraries call this."""
    return j_data_type
