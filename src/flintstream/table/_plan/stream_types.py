"""The columns of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common import _datatypes as t
from flintstream.common.typeinfo import RowTypeInfo, TupleTypeInfo, Types
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
        return t.RowType([t.RowField(each.name, each.type) for each in column_types(type_info, [])])
    raise SqlError(f"tables have no type for {type_info}: map the stream to one with a declared type")


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
        return [Column(names[0] if names else "f0", data_type_of(type_info))]
    if names and len(names) != len(found):
        raise SqlError(f"{len(names)} names for {len(found)} fields: {', '.join(names)}")
    types = [data_type_of(each) for each in type_info.get_field_types()]
    return [Column(name, kind) for name, kind in zip(names or found, types, strict=True)]
