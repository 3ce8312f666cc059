"""The calendar of Java's SimpleDateFormat: Julian before 15 October 1582, and without a first or a last year.

The functions of SQL with its patterns count in it (FROM_UNIXTIME, UNIX_TIMESTAMP, CONVERT_TZ, DATE_FORMAT and TO_DATE
of a text). Days count from 1 January 1970; years count through, so that 0 is the year 1 BC.

>>> day_number(1970, 1, 1), day_number(1500, 2, 29), day_number(10_000, 1, 1)
(0, -171596, 2932897)
>>> moment = Moment.of(-171_596 * 86_400_000)
>>> moment.year, moment.month, moment.day, moment.weekday
(1500, 2, 29, 6)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DAY_MS = 86_400_000
GREGORIAN = -141_427
"""The first day of the Gregorian calendar, 15 October 1582."""
_BEFORE = (0, *accumulate((31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30)))
"""The days of a year before each of its months, without a leap day."""


@dataclass(frozen=True)
class Moment:
    """A time of clocks, with the parts that patterns name."""

    days: int
    """The days since 1970."""
    year: int
    month: int
    day: int
    ms: int
    """The milliseconds of the day."""
    offset: int = 0
    """The minutes of the time zone east of Greenwich."""
    zone: str = "UTC"

    @classmethod
    def of(cls, ms: int, offset: int = 0, zone: str = "UTC") -> Moment:
        """Return the moment of ms since 1970 by the clocks of a zone."""
        days, rest = divmod(ms, DAY_MS)
        year, month, day = _date(days)
        return cls(days, year, month, day, rest, offset, zone)

    @property
    def weekday(self) -> int:
        """The day of the week; Sunday is 0."""
        return weekday(self.days)

    @property
    def day_of_year(self) -> int:
        """The day of the year; the first one is 1."""
        return self.days - day_number(self.year, 1, 1) + 1

    @property
    def hour(self) -> int:
        """The hour, from 0 to 23."""
        return self.ms // 3_600_000

    @property
    def minute(self) -> int:
        """The minute."""
        return self.ms // 60_000 % 60

    @property
    def second(self) -> int:
        """The second."""
        return self.ms // 1000 % 60

    @property
    def week(self) -> int:
        """The week as the United States count: from Sunday, and that with 1 January is the first."""
        sunday = self.days - self.weekday
        if sunday + 7 > day_number(self.year + 1, 1, 1):
            return 1
        first = day_number(self.year, 1, 1)
        return (sunday - first + weekday(first)) // 7 + 1

    @property
    def week_of_month(self) -> int:
        """The week of the month, from Sunday; that of its first day is 1."""
        first = day_number(self.year, self.month, 1)
        return (self.days - first + weekday(first)) // 7 + 1

    @property
    def weekday_in_month(self) -> int:
        """Which one of its name the day is in its month."""
        return (self.days - day_number(self.year, self.month, 1)) // 7 + 1


def weekday(days: int) -> int:
    """Return the day of the week; Sunday is 0."""
    return (days + 4) % 7


def day_number(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date; the days that the calendar left out are those after them."""
    return resolve(year, lambda first_of: first_of(year, month) + day - 1)


def resolve(year: int, days: Callable[[Callable[[int, int], int]], int]) -> int:
    """Return days in the calendar of their year; ``days`` gets the function of the first day of a month."""
    if year != 1582:
        return days(_gregorian if year > 1582 else _julian)
    found = days(_gregorian)
    return found if found >= GREGORIAN else days(_julian)


def _gregorian(year: int, month: int) -> int:
    past = year - 1
    leap = month > 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return past * 365 + past // 4 - past // 100 + past // 400 + _BEFORE[month - 1] + leap - 719_162


def _julian(year: int, month: int) -> int:
    past = year - 1
    return past * 365 + past // 4 + _BEFORE[month - 1] + (month > 2 and year % 4 == 0) - 719_164


def _date(days: int) -> tuple[int, int, int]:
    """Return the year, the month and the day."""
    first_of = _gregorian if days >= GREGORIAN else _julian
    year = days * 400 // 146_097 + 1970
    while first_of(year, 1) > days:
        year -= 1
    while first_of(year + 1, 1) <= days:
        year += 1
    month = next(month for month in range(12, 0, -1) if first_of(year, month) <= days)
    return year, month, days - first_of(year, month) + 1
