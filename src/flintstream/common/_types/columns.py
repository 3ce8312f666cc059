"""Classes of the types that :class:`~flintstream.common._types.data_types.DataTypes` creates."""

from __future__ import annotations

import copy
import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

MAX_LENGTH = 0x7FFFFFFF
"""The length of ``STRING`` and ``BYTES``."""

MAX_PRECISION = {
    "TimeType": 9,
    "TimestampType": 9,
    "LocalZonedTimestampType": 9,
    "ZonedTimestampType": 9,
    "DecimalType": 38,
}


class DataType:
    """The type of the values in a column.

    Two types are equal if their class, parameters and nullability are equal.

    >>> from flintstream.table import DataTypes
    >>> DataTypes.TINYINT().type_name()
    'TINYINT'
    >>> DataTypes.INT().not_null(), DataTypes.INT().not_null().nullable() == DataTypes.INT()
    (IntType(false), True)
    """

    def __init__(self, nullable: bool = True) -> None:
        self._nullable = nullable

    @classmethod
    def type_name(cls) -> str:
        """Return the name without parameters, such as ``TINYINT``."""
        return cls.__name__.removesuffix("Type").upper()

    def not_null(self) -> Self:
        """Return this type without None."""
        return self._with_nullable(nullable=False)

    def nullable(self) -> Self:
        """Return this type with None."""
        return self._with_nullable(nullable=True)

    def bridged_to(self, conversion_cls: str) -> Self:
        """Return this type; in PyFlink, values get the named class of Java.

        >>> DataType().bridged_to("java.sql.Timestamp") == DataType()
        True
        """
        return self

    def _with_nullable(self, *, nullable: bool) -> Self:
        other = copy.copy(self)
        other._nullable = nullable
        return other

    def _parameters(self) -> list[str]:
        return [repr(value) for name, value in self.__dict__.items() if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([*self._parameters(), str(self._nullable).lower()])})"

    def __str__(self) -> str:
        return self.type_name()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))


class AtomicType(DataType):
    """A type of values without parts.

    >>> from flintstream.table import DataTypes
    >>> isinstance(DataTypes.DATE(), AtomicType), isinstance(DataTypes.ARRAY(DataTypes.DATE()), AtomicType)
    (True, False)
    """


class NullType(AtomicType):
    """The type of None.

    >>> from flintstream.table import DataTypes
    >>> NullType() == DataTypes.NULL()
    True
    """


class RawType(AtomicType):
    """Any Python object: the type of a stream without a declared type.

    >>> RawType()
    RawType(true)
    """


class NumericType(AtomicType):
    """A type of numbers.

    >>> from flintstream.table import DataTypes
    >>> isinstance(DataTypes.DOUBLE(), NumericType), isinstance(DataTypes.STRING(), NumericType)
    (True, False)
    """


class IntegralType(NumericType):
    """A type of integers.

    >>> from flintstream.table import DataTypes
    >>> isinstance(DataTypes.BIGINT(), IntegralType), isinstance(DataTypes.DOUBLE(), IntegralType)
    (True, False)
    """


class FractionalType(NumericType):
    """A type of fractional numbers.

    >>> from flintstream.table import DataTypes
    >>> isinstance(DataTypes.DOUBLE(), FractionalType), isinstance(DataTypes.BIGINT(), FractionalType)
    (True, False)
    """


class _WithLength(AtomicType):
    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        if not 1 <= length <= MAX_LENGTH:
            raise ValueError(f"the length of {self.type_name()} must be from 1 to {MAX_LENGTH}, but got {length!r}")
        super().__init__(nullable)
        self.length = length


class CharType(_WithLength):
    """Strings of a fixed length.

    >>> from flintstream.table import DataTypes
    >>> CharType(2) == DataTypes.CHAR(2)
    True
    """


class VarCharType(_WithLength):
    """Strings.

    >>> from flintstream.table import DataTypes
    >>> VarCharType(20) == DataTypes.VARCHAR(20)
    True
    """


class BinaryType(_WithLength):
    """Bytes of a fixed length.

    >>> from flintstream.table import DataTypes
    >>> BinaryType(4) == DataTypes.BINARY(4)
    True
    """


class VarBinaryType(_WithLength):
    """Bytes.

    >>> from flintstream.table import DataTypes
    >>> VarBinaryType(8) == DataTypes.VARBINARY(8)
    True
    """


class BooleanType(AtomicType):
    """True and False.

    >>> from flintstream.table import DataTypes
    >>> BooleanType() == DataTypes.BOOLEAN()
    True
    """


class TinyIntType(IntegralType):
    """8-bit integers.

    >>> from flintstream.table import DataTypes
    >>> TinyIntType() == DataTypes.TINYINT()
    True
    """


class SmallIntType(IntegralType):
    """16-bit integers.

    >>> from flintstream.table import DataTypes
    >>> SmallIntType() == DataTypes.SMALLINT()
    True
    """


class IntType(IntegralType):
    """32-bit integers.

    >>> from flintstream.table import DataTypes
    >>> IntType() == DataTypes.INT()
    True
    """


class BigIntType(IntegralType):
    """64-bit integers.

    >>> from flintstream.table import DataTypes
    >>> BigIntType() == DataTypes.BIGINT()
    True
    """


class FloatType(FractionalType):
    """32-bit floating point numbers.

    >>> from flintstream.table import DataTypes
    >>> FloatType() == DataTypes.FLOAT()
    True
    """


class DoubleType(FractionalType):
    """64-bit floating point numbers.

    >>> from flintstream.table import DataTypes
    >>> DoubleType() == DataTypes.DOUBLE()
    True
    """


class DecimalType(FractionalType):
    """Decimal numbers with ``precision`` digits, ``scale`` of them after the point.

    >>> from flintstream.table import DataTypes
    >>> DecimalType(10, 2) == DataTypes.DECIMAL(10, 2)
    True
    """

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        if not 1 <= precision <= MAX_PRECISION["DecimalType"]:
            raise ValueError(f"the precision of DECIMAL must be from 1 to 38, but got {precision!r}")
        if not 0 <= scale <= precision:
            raise ValueError(f"the scale of DECIMAL must be from 0 to its precision {precision}, but got {scale!r}")
        super().__init__(nullable)
        self.precision = precision
        self.scale = scale


class DateType(AtomicType):
    """Dates.

    >>> from flintstream.table import DataTypes
    >>> DateType() == DataTypes.DATE(), DateType().from_sql_type(1)
    (True, datetime.date(1970, 1, 2))
    """

    EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()

    def to_sql_type(self, d: dt.date | None) -> int | None:
        """Return a date as days since 1970.

        >>> DateType().to_sql_type(DateType().from_sql_type(-1))
        -1
        """
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_sql_type(self, v: int | None) -> dt.date | None:
        """Return the date of a number of days since 1970."""
        return None if v is None else dt.date.fromordinal(v + self.EPOCH_ORDINAL)


class _WithPrecision(AtomicType):
    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        most = MAX_PRECISION[type(self).__name__]
        if not 0 <= precision <= most:
            raise ValueError(f"the precision of {self.type_name()} must be from 0 to {most}, but got {precision!r}")
        super().__init__(nullable)
        self.precision = precision


class TimeType(_WithPrecision):
    """Times of day with ``precision`` fractional digits of a second.

    >>> from flintstream.table import DataTypes
    >>> TimeType(3) == DataTypes.TIME(3)
    True
    """

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        super().__init__(precision, nullable)


class _Moment(_WithPrecision):
    """Values that SQL counts in microseconds since 1970."""

    def to_sql_type(self, dt_: dt.datetime | None) -> int | None:
        """Return the number of microseconds since 1970 in UTC; a value without a zone is in UTC.

        >>> import datetime
        >>> TimestampType(3).to_sql_type(datetime.datetime(1970, 1, 1, 0, 0, 1, 5))
        1000005
        """
        if dt_ is None:
            return None
        return (dt_.replace(tzinfo=dt_.tzinfo or dt.timezone.utc) - _EPOCH) // _MICROSECOND

    def from_sql_type(self, ts: int | None) -> dt.datetime | None:
        """Return the value without a zone of a number of microseconds.

        >>> TimestampType(3).from_sql_type(1_000_005)
        datetime.datetime(1970, 1, 1, 0, 0, 1, 5)
        """
        return None if ts is None else (_EPOCH + ts * _MICROSECOND).replace(tzinfo=None)


_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc), dt.timedelta(microseconds=1)


class TimestampType(_Moment):
    """Dates with a time of day, with ``precision`` fractional digits of a second.

    >>> from flintstream.table import DataTypes
    >>> TimestampType(3) == DataTypes.TIMESTAMP(3)
    True
    """


class LocalZonedTimestampType(_Moment):
    """Points in time, with ``precision`` fractional digits of a second.

    >>> from flintstream.table import DataTypes
    >>> LocalZonedTimestampType(3) == DataTypes.TIMESTAMP_LTZ(3)
    True
    """

    EPOCH_ORDINAL = 0
    """Microseconds that :meth:`to_sql_type` adds to each number: programs shift an epoch with it."""

    def to_sql_type(self, dt_: dt.datetime | None) -> int | None:
        """Return the number of microseconds since the epoch; a value without a zone is in UTC.

        >>> import datetime
        >>> LocalZonedTimestampType(3).to_sql_type(datetime.datetime(1970, 1, 1, 0, 0, 1))
        1000000
        """
        micros = super().to_sql_type(dt_)
        return None if micros is None else micros + self.EPOCH_ORDINAL

    def from_sql_type(self, ts: int | None) -> dt.datetime | None:
        """Return the value without a zone of a number of microseconds.

        >>> LocalZonedTimestampType(3).from_sql_type(1_000_005)
        datetime.datetime(1970, 1, 1, 0, 0, 1, 5)
        """
        return super().from_sql_type(None if ts is None else ts - self.EPOCH_ORDINAL)


class ZonedTimestampType(_WithPrecision):
    """Dates with a time of day and an offset from UTC. Columns of tables cannot have it, as in Flink.

    >>> import datetime
    >>> tokyo = datetime.timezone(datetime.timedelta(hours=9))
    >>> kind = ZonedTimestampType(3)
    >>> kind.to_sql_type(datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=tokyo))
    (1000000, 32400)
    >>> kind.from_sql_type((1000000, 32400)).isoformat()
    '1970-01-01T00:00:01+09:00'
    """

    def to_sql_type(self, dt_: dt.datetime | None) -> tuple[int, int] | None:
        """Return the microseconds since 1970 by the clocks of the zone, and its offset in seconds, as in PyFlink.

        Raises:
            ValueError: The value has no zone.
        """
        if dt_ is None:
            return None
        offset = dt_.utcoffset()
        if offset is None:
            raise ValueError(f"a TIMESTAMP WITH TIME ZONE needs a zone, but got {dt_!r}")
        return (dt_ + offset - _EPOCH) // _MICROSECOND, offset // dt.timedelta(seconds=1)

    def from_sql_type(self, zoned_ts: tuple[int, int] | None) -> dt.datetime | None:
        """Return the value of microseconds since 1970 by the clocks of a zone, and its offset in seconds."""
        if zoned_ts is None:
            return None
        micros, offset = zoned_ts
        return (_EPOCH + micros * _MICROSECOND).replace(tzinfo=dt.timezone(dt.timedelta(seconds=offset)))


class ArrayType(DataType):
    """Lists.

    >>> from flintstream.table import DataTypes
    >>> isinstance(DataTypes.ARRAY(DataTypes.INT()), ArrayType)
    True
    """

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = _check_data_type(element_type, "the elements of an ARRAY")


class MultisetType(DataType):
    """Values with their number of occurrences.

    >>> from flintstream.table import DataTypes
    >>> MultisetType(DataTypes.STRING()) == DataTypes.MULTISET(DataTypes.STRING())
    True
    """

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = _check_data_type(element_type, "the elements of a MULTISET")


class MapType(DataType):
    """Dicts.

    >>> from flintstream.table import DataTypes
    >>> MapType(DataTypes.STRING(), DataTypes.INT()) == DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())
    True
    """

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.key_type = _check_data_type(key_type, "the keys of a MAP")
        self.value_type = _check_data_type(value_type, "the values of a MAP")


class RowField:
    """A column: name and type.

    >>> from flintstream.table import DataTypes
    >>> field = RowField("id", DataTypes.BIGINT())
    >>> field.name, field.data_type
    ('id', BigIntType(true))
    """

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a field name must be a str, but got {name!r}")
        self.name = name
        self.data_type = _check_data_type(data_type, f"field '{name}'")
        self.description = "..." if description is None else description

    def __repr__(self) -> str:
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowField) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))


class RowType(DataType):
    """Columns: an iterable with a length, indexed by name or position.

    >>> RowType([RowField("id", IntType())])["id"]
    RowField(id, IntType(true), ...)

    >>> from flintstream.table import DataTypes
    >>> row_type = RowType().add("id", DataTypes.BIGINT()).add(DataTypes.FIELD("name", DataTypes.STRING()))
    >>> row_type.names, row_type.field_names(), row_type.field_types()[0], row_type["name"].name
    (['id', 'name'], ['id', 'name'], BigIntType(true), 'name')
    """

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.fields = list(fields or ())
        for field in self.fields:
            if not isinstance(field, RowField):
                raise TypeError(f"a ROW needs fields from DataTypes.FIELD(name, type), but got {field!r}")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def add(self, field: RowField | str, data_type: DataType | None = None) -> Self:
        """Add a column, given as a field or as name and type, and return this type."""
        if isinstance(field, str):
            if data_type is None:
                raise ValueError(f"the field '{field}' needs a type")
            field = RowField(field, data_type)
        self.fields.append(field)
        return self

    def field_names(self) -> list[str]:
        """Return the names of the columns."""
        return self.names

    def field_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [field.data_type for field in self.fields]

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for field in self.fields:
                if field.name == key:
                    return field
            raise KeyError(f"no field '{key}' in a row of {self.names}")
        return RowType(self.fields[key]) if isinstance(key, slice) else self.fields[key]

    def __repr__(self) -> str:
        return f"RowType({','.join(map(repr, self.fields))})"


def _check_data_type(data_type: Any, owner: str) -> DataType:
    if not isinstance(data_type, DataType):
        raise TypeError(f"{owner} must have a type from DataTypes, such as DataTypes.INT(), but got {data_type!r}")
    return data_type
