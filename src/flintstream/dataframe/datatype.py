"""The types of columns; mirrors ``pyflink.dataframe.datatype``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe._hints import type_of_hint
from flintstream.dataframe.errors import as_value_errors
from flintstream.table._types.reader import data_type_of
from flintstream.table.types import ArrayType, DataTypes, MapType, NullType, RowType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table.types import DataType as TableType

__all__ = ["DataType"]


def _write(kind: TableType) -> str:
    """Return a type as text, also whether rows may be None, which those of the Table API leave out."""
    may_be_none = str(kind == kind.nullable()).lower()
    if isinstance(kind, RowType):
        fields = ",".join(f"RowField({field.name}, {_write(field.data_type)}, ...)" for field in kind.fields)
        return f"RowType({fields}, {may_be_none})"
    if isinstance(kind, ArrayType):
        return f"ArrayType({_write(kind.element_type)}, {may_be_none})"
    if isinstance(kind, MapType):
        return f"MapType({_write(kind.key_type)}, {_write(kind.value_type)}, {may_be_none})"
    return repr(kind)


class DataType:
    """The type of a column or value, with or without None.

    >>> import flintstream.dataframe as pf
    >>> pf.DataType.int64()
    DataType(BigIntType(true))
    >>> pf.DataType.int64() == pf.DataType.int64().not_null()
    False
    >>> pf.DataType.int64().not_null().nullable() == pf.DataType.int64()
    True

    Types may be nested:

    >>> scores = pf.DataType.list(pf.DataType.float64())
    >>> person = pf.DataType.struct({"name": pf.DataType.string(), "scores": scores})
    >>> pf.DataType.map(pf.DataType.string(), person) == pf.DataType.map(pf.DataType.string(), person)
    True
    """

    def __init__(self, table_data_type: TableType) -> None:
        """Wrap a type of the Table API.

        Raises:
            ValueError: It is NULL, without None.
        """
        if isinstance(table_data_type, NullType) and table_data_type != table_data_type.nullable():
            raise ValueError("NULL data type must be nullable")
        self._table_data_type = table_data_type

    def __repr__(self) -> str:
        return f"DataType({_write(self._table_data_type)})"

    def __eq__(self, other: object) -> builtin_bool:
        return isinstance(other, DataType) and self._table_data_type == other._table_data_type

    def __hash__(self) -> int:
        return hash(repr(self._table_data_type))

    def not_null(self) -> DataType:
        """Return this type without None.

        Raises:
            ValueError: It is the type of None only.

        >>> DataType.int64().not_null()
        DataType(BigIntType(false))
        """
        return DataType(self._table_data_type.not_null())

    def nullable(self) -> DataType:
        """Return this type with None.

        >>> DataType.int64().not_null().nullable() == DataType.int64()
        True
        """
        return DataType(self._table_data_type.nullable())

    @classmethod
    def int8(cls) -> DataType:
        """Return TINYINT: integers of 8 bits.

        >>> DataType.int8()
        DataType(TinyIntType(true))
        """
        return cls(DataTypes.TINYINT())

    @classmethod
    def int16(cls) -> DataType:
        """Return SMALLINT: integers of 16 bits.

        >>> DataType.int16()
        DataType(SmallIntType(true))
        """
        return cls(DataTypes.SMALLINT())

    @classmethod
    def int32(cls) -> DataType:
        """Return INT: integers of 32 bits.

        >>> DataType.int32()
        DataType(IntType(true))
        """
        return cls(DataTypes.INT())

    @classmethod
    def int64(cls) -> DataType:
        """Return BIGINT: integers of 64 bits.

        >>> DataType.int64()
        DataType(BigIntType(true))
        """
        return cls(DataTypes.BIGINT())

    @classmethod
    def float32(cls) -> DataType:
        """Return FLOAT: floating-point numbers of 32 bits.

        >>> DataType.float32()
        DataType(FloatType(true))
        """
        return cls(DataTypes.FLOAT())

    @classmethod
    def float64(cls) -> DataType:
        """Return DOUBLE: floating-point numbers of 64 bits.

        >>> DataType.float64()
        DataType(DoubleType(true))
        """
        return cls(DataTypes.DOUBLE())

    @classmethod
    def decimal(cls, precision: int, scale: int) -> DataType:
        """Return DECIMAL with a number of digits, ``scale`` of them behind the point.

        >>> DataType.decimal(10, 2)
        DataType(DecimalType(10, 2, true))
        """
        return cls(DataTypes.DECIMAL(precision, scale))

    @classmethod
    def string(cls) -> DataType:
        """Return STRING: texts of any length.

        >>> DataType.string()
        DataType(VarCharType(2147483647, true))
        """
        return cls(DataTypes.STRING())

    @classmethod
    def fixed_size_string(cls, length: int) -> DataType:
        """Return CHAR: texts of ``length`` characters.

        >>> DataType.fixed_size_string(3)
        DataType(CharType(3, true))
        """
        return cls(DataTypes.CHAR(length))

    @classmethod
    def binary(cls) -> DataType:
        """Return BYTES: bytes of any length.

        >>> DataType.binary()
        DataType(VarBinaryType(2147483647, true))
        """
        return cls(DataTypes.BYTES())

    @classmethod
    def fixed_size_binary(cls, length: int) -> DataType:
        """Return BINARY: ``length`` bytes.

        >>> DataType.fixed_size_binary(4)
        DataType(BinaryType(4, true))
        """
        return cls(DataTypes.BINARY(length))

    @classmethod
    def bool(cls) -> DataType:
        """Return BOOLEAN.

        >>> DataType.bool()
        DataType(BooleanType(true))
        """
        return cls(DataTypes.BOOLEAN())

    @classmethod
    def null(cls) -> DataType:
        """Return NULL, whose only value is None.

        >>> DataType.null()
        DataType(NullType(true))
        """
        return cls(DataTypes.NULL())

    @classmethod
    def variant(cls) -> DataType:
        """Return VARIANT: values whose form differs from row to row. Realtime Compute for Apache Flink has this name.

        >>> DataType.variant() == DataType._from_sql("VARIANT")
        True
        """
        return cls._from_sql("VARIANT")

    @classmethod
    def date(cls) -> DataType:
        """Return DATE.

        >>> DataType.date()
        DataType(DateType(true))
        """
        return cls(DataTypes.DATE())

    @classmethod
    def time(cls, precision: int = 0) -> DataType:
        """Return TIME with ``precision`` digits of a second.

        >>> DataType.time(3)
        DataType(TimeType(3, true))
        """
        return cls(DataTypes.TIME(precision))

    @classmethod
    def timestamp(cls, precision: int = 6) -> DataType:
        """Return TIMESTAMP with ``precision`` digits of a second: a date and time without a zone.

        >>> DataType.timestamp(3)
        DataType(TimestampType(3, true))
        """
        return cls(DataTypes.TIMESTAMP(precision))

    @classmethod
    def timestamp_ltz(cls, precision: int = 6) -> DataType:
        """Return TIMESTAMP_LTZ with ``precision`` digits of a second: an instant, shown in the zone of the session.

        >>> DataType.timestamp_ltz(3)
        DataType(LocalZonedTimestampType(3, true))
        """
        return cls(DataTypes.TIMESTAMP_LTZ(precision))

    @classmethod
    def list(cls, dtype: DataType) -> DataType:
        """Return ARRAY of elements of a type.

        >>> DataType.list(DataType.int32())
        DataType(ArrayType(IntType(true), true))
        """
        return cls(DataTypes.ARRAY(dtype._to_table_data_type()))

    @classmethod
    def map(cls, key_type: DataType, value_type: DataType) -> DataType:
        """Return MAP with keys and values of these types.

        >>> DataType.map(DataType.string(), DataType.int32())
        DataType(MapType(VarCharType(2147483647, true), IntType(true), true))
        """
        return cls(DataTypes.MAP(key_type._to_table_data_type(), value_type._to_table_data_type()))

    @classmethod
    def struct(cls, fields: Mapping[str, DataType] | Sequence[tuple[str, DataType]]) -> DataType:
        """Return ROW with named fields, in their order.

        >>> DataType.struct({"x": DataType.int32()})
        DataType(RowType(RowField(x, IntType(true), ...), true))
        """
        pairs = [*fields.items()] if isinstance(fields, Mapping) else fields
        return cls(DataTypes.ROW([DataTypes.FIELD(name, kind._to_table_data_type()) for name, kind in pairs]))

    @classmethod
    def _from_type_hint(cls, type_hint: object) -> DataType:
        return cls(type_of_hint(type_hint))

    @classmethod
    def _from_sql(cls, sql_type: str) -> DataType:
        with as_value_errors():
            return cls(data_type_of(sql_type))

    def _to_table_data_type(self) -> TableType:
        return self._table_data_type


builtin_bool = bool
"""The type that the method of this name hides within the class."""
publish(__name__, __all__, globals())
