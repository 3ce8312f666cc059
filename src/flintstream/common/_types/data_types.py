"""Types of the Table API, which :mod:`flintstream.table.types` exports.

Streams of rows have the types of :mod:`flintstream.common.typeinfo`. The types here declare the columns of files, in
``CsvSchema`` and the Parquet and ORC formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types.columns import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    NumericType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    ZonedTimestampType,
)
from flintstream.common._types.intervals import (
    DAY_PRECISION,
    FRACTIONAL_PRECISION,
    YEAR_PRECISION,
    DayTimeIntervalType,
    ListViewType,
    MapViewType,
    Resolution,
    YearMonthIntervalType,
    interval_of,
)
from flintstream.common.typeinfo import LocalTimeTypeInfo, Types
from flintstream.common.types import Row, RowKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation

__all__ = [
    "MAX_LENGTH",
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
    "VarBinaryType",
    "VarCharType",
    "YearMonthIntervalType",
    "ZonedTimestampType",
    "to_type_info",
]


class DataTypes:
    """Factory for types.

    >>> DataTypes.ARRAY(DataTypes.INT())
    ArrayType(IntType(true), true)

    >>> DataTypes.ROW(
    ...     [DataTypes.FIELD("id", DataTypes.BIGINT().not_null()), DataTypes.FIELD("word", DataTypes.STRING())]
    ... )
    RowType(RowField(id, BigIntType(false), ...),RowField(word, VarCharType(2147483647, true), ...))
    >>> DataTypes.MAP(DataTypes.CHAR(2), DataTypes.DECIMAL(10, 2)), DataTypes.MULTISET(DataTypes.VARCHAR(20))
    (MapType(CharType(2, true), DecimalType(10, 2, true), true), MultisetType(VarCharType(20, true), true))
    >>> DataTypes.TINYINT(), DataTypes.SMALLINT(), DataTypes.FLOAT(), DataTypes.DOUBLE(), DataTypes.BOOLEAN()
    (TinyIntType(true), SmallIntType(true), FloatType(true), DoubleType(true), BooleanType(true))
    >>> DataTypes.BINARY(4), DataTypes.VARBINARY(8), DataTypes.BYTES() == DataTypes.VARBINARY(2147483647)
    (BinaryType(4, true), VarBinaryType(8, true), True)
    >>> (
    ...     DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)),
    ...     DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()),
    ... )
    (DayTimeIntervalType(true), YearMonthIntervalType(true))
    >>> DataTypes.INTERVAL(DataTypes.HOUR(), DataTypes.MINUTE()).resolution.name
    'HOUR_TO_MINUTE'
    >>> DataTypes.LIST_VIEW(DataTypes.INT()), DataTypes.MAP_VIEW(DataTypes.CHAR(2), DataTypes.INT())
    (ListViewType(IntType(true)), MapViewType(CharType(2, true), IntType(true)))
    >>> DataTypes.DATE(), DataTypes.TIME(), DataTypes.TIMESTAMP(3), DataTypes.NULL()
    (DateType(true), TimeType(0, true), TimestampType(3, true), NullType(true))
    >>> DataTypes.TIMESTAMP_LTZ(3) == DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3)
    True
    """

    @staticmethod
    def NULL() -> NullType:
        """Only None."""
        return NullType()

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> CharType:
        """Strings of ``length`` characters."""
        return CharType(length, nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> VarCharType:
        """Strings of at most ``length`` characters."""
        return VarCharType(length, nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> VarCharType:
        """Strings."""
        return VarCharType(MAX_LENGTH, nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> BooleanType:
        """True and False."""
        return BooleanType(nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> BinaryType:
        """``length`` bytes."""
        return BinaryType(length, nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> VarBinaryType:
        """At most ``length`` bytes."""
        return VarBinaryType(length, nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> VarBinaryType:
        """Bytes."""
        return VarBinaryType(MAX_LENGTH, nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DecimalType:
        """Decimal numbers with ``precision`` digits (1 to 38), ``scale`` of them after the point."""
        return DecimalType(precision, scale, nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> TinyIntType:
        """8-bit integers."""
        return TinyIntType(nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> SmallIntType:
        """16-bit integers."""
        return SmallIntType(nullable)

    @staticmethod
    def INT(nullable: bool = True) -> IntType:
        """32-bit integers."""
        return IntType(nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> BigIntType:
        """64-bit integers."""
        return BigIntType(nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> FloatType:
        """32-bit floating point numbers."""
        return FloatType(nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DoubleType:
        """64-bit floating point numbers."""
        return DoubleType(nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> DateType:
        """Dates."""
        return DateType(nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TimeType:
        """Times of day with ``precision`` fractional digits of a second (0 to 9)."""
        return TimeType(precision, nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TimestampType:
        """Dates with a time of day, with ``precision`` fractional digits of a second (0 to 9)."""
        return TimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """Points in time, with ``precision`` fractional digits of a second (0 to 9)."""
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """Same as :meth:`TIMESTAMP_WITH_LOCAL_TIME_ZONE`."""
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType:
        """Lists."""
        return ArrayType(element_type, nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType:
        """Dicts."""
        return MapType(key_type, value_type, nullable)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> MultisetType:
        """Values with their number of occurrences."""
        return MultisetType(element_type, nullable)

    @staticmethod
    def ROW(row_fields: Sequence[RowField] = (), nullable: bool = True) -> RowType:
        """Rows of columns."""
        return RowType(row_fields, nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        """A column of :meth:`ROW`."""
        return RowField(name, data_type, description)

    @staticmethod
    def SECOND(precision: int = FRACTIONAL_PRECISION) -> Resolution:
        """Seconds, with ``precision`` fractional digits (0 to 9), for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.SECOND, precision)

    @staticmethod
    def MINUTE() -> Resolution:
        """Minutes, for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.MINUTE)

    @staticmethod
    def HOUR() -> Resolution:
        """Hours, for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.HOUR)

    @staticmethod
    def DAY(precision: int = DAY_PRECISION) -> Resolution:
        """Days of ``precision`` digits (1 to 6), for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.DAY, precision)

    @staticmethod
    def MONTH() -> Resolution:
        """Months, for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.MONTH)

    @staticmethod
    def YEAR(precision: int = YEAR_PRECISION) -> Resolution:
        """Years of ``precision`` digits (1 to 4), for :meth:`INTERVAL`."""
        return Resolution(Resolution.IntervalUnit.YEAR, precision)

    @staticmethod
    def INTERVAL(
        upper_resolution: Resolution, lower_resolution: Resolution | None = None
    ) -> DayTimeIntervalType | YearMonthIntervalType:
        """Lengths of time or numbers of months, such as ``INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))``."""
        return interval_of(upper_resolution, lower_resolution)

    @staticmethod
    def LIST_VIEW(element_type: DataType) -> ListViewType:
        """A ``ListView`` in the accumulator of an aggregate function."""
        return ListViewType(element_type)

    @staticmethod
    def MAP_VIEW(key_type: DataType, value_type: DataType) -> MapViewType:
        """A ``MapView`` in the accumulator of an aggregate function."""
        return MapViewType(key_type, value_type)


_SIMPLE: dict[type[DataType], Callable[[], TypeInformation]] = {
    CharType: Types.STRING,
    RawType: Types.PICKLED_BYTE_ARRAY,
    VarCharType: Types.STRING,
    BooleanType: Types.BOOLEAN,
    TinyIntType: Types.BYTE,
    SmallIntType: Types.SHORT,
    IntType: Types.INT,
    BigIntType: Types.LONG,
    FloatType: Types.FLOAT,
    DoubleType: Types.DOUBLE,
    DecimalType: Types.BIG_DEC,
    BinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    VarBinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    DateType: lambda: LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE),
    TimeType: lambda: LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME),
    TimestampType: lambda: LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME),
    LocalZonedTimestampType: Types.INSTANT,
    DayTimeIntervalType: Types.PICKLED_BYTE_ARRAY,
    YearMonthIntervalType: Types.PICKLED_BYTE_ARRAY,
}


def to_type_info(data_type: DataType) -> TypeInformation:
    """Return the type of the records of a stream with such values.

    Raises:
        ValueError: The type is ``NULL`` or ``MULTISET``, which streams do not support.

    >>> to_type_info(DataTypes.ROW([DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING()))]))
    RowTypeInfo(tags: ObjectArrayTypeInfo<String>)
    """
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple()
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(to_type_info(data_type.element_type))  # elements may be None
    if isinstance(data_type, MapType):
        return Types.MAP(to_type_info(data_type.key_type), to_type_info(data_type.value_type))
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.names, [to_type_info(field) for field in data_type.field_types()])
    raise ValueError(f"streams do not support values of type {data_type!r}")
