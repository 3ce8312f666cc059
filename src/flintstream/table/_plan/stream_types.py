"""The columns of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common.typeinfo import MapTypeInfo, RowTypeInfo, TupleTypeInfo, Types
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation

_KINDS = [
    (Types.STRING(), t.DataTypes.STRING()),
    (Types.BOOLEAN(), t.DataTypes.BOOLEAN()),
    (Types.BYTE(), t.DataTypes.TINYINT()),
    (Types.SHORT(), t.DataTypes.SMALLINT()),
    (Types.INT(), t.DataTypes.INT()),
    (Types.LONG(), t.DataTypes.BIGINT()),
    (Types.FLOAT(), t.DataTypes.FLOAT()),
    (Types.DOUBLE(), t.DataTypes.DOUBLE()),
    (Types.BIG_DEC(), t.DataTypes.DECIMAL(38, 18)),
    (Types.SQL_DATE(), t.DataTypes.DATE()),
    (Types.SQL_TIME(), t.DataTypes.TIME()),
    (Types.SQL_TIMESTAMP(), t.DataTypes.TIMESTAMP(9)),
    (Types.INSTANT(), t.DataTypes.TIMESTAMP_LTZ(9)),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), t.DataTypes.BYTES()),
    (Types.PICKLED_BYTE_ARRAY(), t.RawType()),
]


def data_type_of(type_info: TypeInformation) -> t.DataType:
    """Return the type of a column for that of a stream.

    Raises:
        SqlError: There is none.
    """
    for known, found in _KINDS:
        if known == type_info:
            return found
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return t.RowType(
            [t.RowField(column_kind.name, column_kind.type.nullable()) for column_kind in column_types(type_info, [])]
        )
    if isinstance(type_info, MapTypeInfo):
        return t.MapType(data_type_of(type_info.key_type), data_type_of(type_info.value_type))
    element = getattr(type_info, "_element_type", None)
    if element is not None:
        return t.ArrayType(data_type_of(element))
    raise SqlError(f"tables do not support {type_info}: map the stream to one with a declared type")


_NEVER_NULL = (t.NumericType, t.BooleanType, t.ArrayType, t.MapType, t.RowType)


def _strict(kind: t.DataType) -> t.DataType:
    """Return the type of a field of Java's that cannot be null; decimals can."""
    never = isinstance(kind, _NEVER_NULL) and not isinstance(kind, t.DecimalType)
    return kind.not_null() if never else kind


def column_types(type_info: TypeInformation, names: Sequence[str]) -> list[Column]:
    """Return the columns of a stream, perhaps with other names.

    Raises:
        SqlError: There are more or fewer names.
    """
    if isinstance(type_info, RowTypeInfo):
        found = list(type_info.get_field_names())
    elif isinstance(type_info, TupleTypeInfo):
        found = [f"f{i}" for i in range(len(type_info.get_field_types()))]
    else:
        return [Column(names[0] if names else "f0", _strict(data_type_of(type_info)))]
    if names and len(names) != len(found):
        raise SqlError(f"{len(names)} names for {len(found)} fields: {', '.join(names)}")
    types = [data_type_of(field_kind) for field_kind in type_info.get_field_types()]
    if isinstance(type_info, TupleTypeInfo):
        types = [_strict(kind) for kind in types]
    return [Column(name, kind) for name, kind in zip(names or found, types, strict=True)]
