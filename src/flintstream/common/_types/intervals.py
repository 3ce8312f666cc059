"""Types of intervals of time, and of the collections within the state of aggregate functions."""

from __future__ import annotations

import datetime as dt
from enum import Enum

from flintstream.common._types.columns import AtomicType, DataType

DAY_PRECISION = YEAR_PRECISION = 2
FRACTIONAL_PRECISION = 6


class Resolution:
    """A unit of an interval, with its number of digits.

    >>> from flintstream.table import DataTypes
    >>> DataTypes.SECOND(3).unit.name, DataTypes.SECOND(3).precision, str(DataTypes.MONTH())
    ('SECOND', 3, 'MONTH')
    """

    class IntervalUnit(Enum):
        """The units of intervals."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: IntervalUnit, precision: int = -1) -> None:
        """Take the unit, and the digits of its years, days or fractions of a second."""
        self._unit, self._precision = unit, precision

    @property
    def unit(self) -> IntervalUnit:
        """The unit."""
        return self._unit

    @property
    def precision(self) -> int:
        """The number of digits; -1 if the unit has none."""
        return self._precision

    def __str__(self) -> str:
        return self._unit.name if self._precision < 0 else f"{self._unit.name}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """Numbers of months.

    >>> from flintstream.table import DataTypes
    >>> DataTypes.INTERVAL(DataTypes.YEAR(4)).precision, DataTypes.INTERVAL(DataTypes.MONTH()).resolution.name
    (4, 'MONTH')
    """

    class YearMonthResolution(Enum):
        """The units that an interval is shown with."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = YEAR_PRECISION

    def __init__(self, resolution: YearMonthResolution, precision: int = YEAR_PRECISION, nullable: bool = True) -> None:
        """Take the units, and the digits of years.

        Raises:
            ValueError: There are fewer than 1 or more than 4 digits.
        """
        _check("years", precision, 1, 4)
        super().__init__(nullable)
        self._resolution, self._precision = resolution, precision

    @property
    def resolution(self) -> YearMonthResolution:
        """The units."""
        return self._resolution

    @property
    def precision(self) -> int:
        """The number of digits of years."""
        return self._precision


class DayTimeIntervalType(AtomicType):
    """Lengths of time.

    >>> from flintstream.table import DataTypes
    >>> kind = DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(0))
    >>> kind.resolution.name, kind.day_precision, kind.fractional_precision
    ('DAY_TO_SECOND', 3, 0)
    >>> kind.from_sql_type(1_500_000)
    datetime.timedelta(seconds=1, microseconds=500000)
    """

    class DayTimeResolution(Enum):
        """The units that an interval is shown with."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = DAY_PRECISION
    DEFAULT_FRACTIONAL_PRECISION = FRACTIONAL_PRECISION

    def __init__(
        self,
        resolution: DayTimeResolution,
        day_precision: int = DAY_PRECISION,
        fractional_precision: int = FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        """Take the units, and the digits of days and of fractions of a second.

        Raises:
            ValueError: Days have fewer than 1 or more than 6 digits, or fractions more than 9.
        """
        _check("days", day_precision, 1, 6)
        _check("fractions of a second", fractional_precision, 0, 9)
        super().__init__(nullable)
        self._resolution = resolution
        self._day_precision, self._fractional_precision = day_precision, fractional_precision

    @property
    def resolution(self) -> DayTimeResolution:
        """The units."""
        return self._resolution

    def to_sql_type(self, timedelta: dt.timedelta | None) -> int | None:
        """Return an interval as microseconds.

        >>> from datetime import timedelta
        >>> from flintstream.table import DataTypes
        >>> kind = DataTypes.INTERVAL(DataTypes.SECOND())
        >>> kind.to_sql_type(timedelta(days=1, seconds=10)), kind.from_sql_type(1_500_000)
        (86410000000, datetime.timedelta(seconds=1, microseconds=500000))
        """
        return None if timedelta is None else timedelta // dt.timedelta(microseconds=1)

    def from_sql_type(self, ts: int | None) -> dt.timedelta | None:
        """Return the interval of a number of microseconds."""
        return None if ts is None else dt.timedelta(microseconds=ts)

    @property
    def day_precision(self) -> int:
        """The number of digits of days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """The number of digits of fractions of a second."""
        return self._fractional_precision


def _check(what: str, digits: int, least: int, most: int) -> None:
    if not least <= digits <= most:
        raise ValueError(f"an interval has {least} to {most} digits of {what}, but got {digits!r}")


def interval_of(upper: Resolution, lower: Resolution | None = None) -> DayTimeIntervalType | YearMonthIntervalType:
    """Return the type of intervals from one unit to another.

    Raises:
        ValueError: There is no such type, as from MONTH to DAY.
    """
    name = upper.unit.name if lower is None else f"{upper.unit.name}_TO_{lower.unit.name}"
    digits = {item.unit.name: item.precision for item in (upper, lower) if item is not None and item.precision >= 0}
    if name in YearMonthIntervalType.YearMonthResolution.__members__:
        return YearMonthIntervalType(
            YearMonthIntervalType.YearMonthResolution[name], digits.get("YEAR", YEAR_PRECISION)
        )
    if name in DayTimeIntervalType.DayTimeResolution.__members__:
        return DayTimeIntervalType(
            DayTimeIntervalType.DayTimeResolution[name],
            digits.get("DAY", DAY_PRECISION),
            digits.get("SECOND", FRACTIONAL_PRECISION),
        )
    raise ValueError(f"Unsupported interval definition '{upper} TO {lower}': its units are not in order")


class ListViewType(DataType):
    """A :class:`~flintstream.table.data_view.ListView` in the accumulator of an aggregate function.

    >>> from flintstream.table import DataTypes
    >>> DataTypes.LIST_VIEW(DataTypes.STRING())
    ListViewType(VarCharType(2147483647, true))
    """

    def __init__(self, element_type: DataType) -> None:
        """Take the type of the elements."""
        super().__init__(False)
        self._element_type = element_type

    def __repr__(self) -> str:
        return f"ListViewType({self._element_type!r})"


class MapViewType(DataType):
    """A :class:`~flintstream.table.data_view.MapView` in the accumulator of an aggregate function.

    >>> from flintstream.table import DataTypes
    >>> DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.BIGINT())
    MapViewType(IntType(true), BigIntType(true))
    """

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        """Take the types of the keys and values."""
        super().__init__(False)
        self._key_type, self._value_type = key_type, value_type

    def __repr__(self) -> str:
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"
