"""Types of Iceberg and of tables."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from pyiceberg import types as i
from pyiceberg.schema import Schema

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flintstream.table._catalog.declared import Declared

_PLAIN: Mapping[type[i.IcebergType], Callable[[], t.DataType]] = {
    i.BinaryType: t.DataTypes.BYTES,
    i.BooleanType: t.DataTypes.BOOLEAN,
    i.DateType: t.DataTypes.DATE,
    i.DoubleType: t.DataTypes.DOUBLE,
    i.FloatType: t.DataTypes.FLOAT,
    i.IntegerType: t.DataTypes.INT,
    i.LongType: t.DataTypes.BIGINT,
    i.StringType: t.DataTypes.STRING,
    i.TimeType: lambda: t.DataTypes.TIME(6),
    i.TimestampType: lambda: t.DataTypes.TIMESTAMP(6),
    i.TimestamptzType: lambda: t.DataTypes.TIMESTAMP_LTZ(6),
}
_TO_PLAIN: tuple[tuple[type[t.DataType], Callable[[], i.IcebergType]], ...] = (
    (t.BooleanType, i.BooleanType),
    (t.BigIntType, i.LongType),
    (t.DateType, i.DateType),
    (t.DoubleType, i.DoubleType),
    (t.FloatType, i.FloatType),
    (t.TimeType, i.TimeType),
    (t.TimestampType, i.TimestampType),
    (t.LocalZonedTimestampType, i.TimestamptzType),
)


def from_iceberg(column: i.NestedField) -> t.DataType | None:
    """Return the type of a column; None if tables lack it.

    >>> from_iceberg(i.NestedField(1, "prices", i.ListType(2, i.DecimalType(10, 2)), required=True))
    ArrayType(DecimalType(10, 2, false), false)
    """
    found = _without_null(column.field_type)
    return found.not_null() if found is not None and column.required else found


def _without_null(kind: i.IcebergType) -> t.DataType | None:
    plain = _PLAIN.get(type(kind))
    if plain is not None:
        return plain()
    if isinstance(kind, i.DecimalType):
        return t.DataTypes.DECIMAL(kind.precision, kind.scale)
    if isinstance(kind, i.FixedType):
        return t.DataTypes.BINARY(len(kind))
    if isinstance(kind, i.ListType):
        element = from_iceberg(kind.element_field)
        return None if element is None else t.DataTypes.ARRAY(element)
    if isinstance(kind, i.MapType):
        key, value = from_iceberg(kind.key_field), from_iceberg(kind.value_field)
        return None if key is None or value is None else t.DataTypes.MAP(key, value)
    if not isinstance(kind, i.StructType):
        return None
    fields = []
    for item in kind.fields:
        found = from_iceberg(item)
        if found is None:
            return None
        fields.append(t.RowField(item.name, found))
    return t.RowType(fields)


def schema_of(where: str, columns: Sequence[Declared], key: Sequence[str]) -> Schema:
    """Return the schema of declared columns with a primary key; parts of a nested column may always be NULL.

    Raises:
        SqlError: A column is computed, or Iceberg has no such type.
    """
    numbers, fields = count(1), []
    for column in columns:
        if column.type is None or column.metadata is not None:
            raise SqlError(f"{where}: Iceberg has no computed or metadata columns such as '{column.name}'")
        required = column.name in key or not column.type._nullable
        kind = _to_iceberg(where, column.name, column.type, numbers)
        fields.append(i.NestedField(next(numbers), column.name, kind, required, column.comment))
    return Schema(*fields, identifier_field_ids=[item.field_id for item in fields if item.name in key])


def _to_iceberg(where: str, name: str, kind: t.DataType, numbers: Iterator[int]) -> i.IcebergType:
    for own, theirs in _TO_PLAIN:
        if isinstance(kind, own):
            return theirs()
    if isinstance(kind, TEXTS):
        return i.StringType()
    if type(kind) in INTEGERS:
        return i.IntegerType()
    if isinstance(kind, t.DecimalType):
        return i.DecimalType(kind.precision, kind.scale)
    if isinstance(kind, t.BinaryType):
        return i.FixedType(kind.length)
    if isinstance(kind, BYTES):
        return i.BinaryType()
    if isinstance(kind, t.ArrayType):
        element = _to_iceberg(where, name, kind.element_type, numbers)
        return i.ListType(next(numbers), element, element_required=False)
    if isinstance(kind, t.MapType):
        key, value = (_to_iceberg(where, name, part, numbers) for part in (kind.key_type, kind.value_type))
        return i.MapType(next(numbers), key, next(numbers), value, value_required=False)
    if isinstance(kind, t.RowType):
        parts = [(field, _to_iceberg(where, name, field.data_type, numbers)) for field in kind.fields]
        return i.StructType(*(i.NestedField(next(numbers), field.name, made, required=False) for field, made in parts))
    raise SqlError(f"{where}: Iceberg has no type for column '{name}' of type {sql_name(kind)}")
