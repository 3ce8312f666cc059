"""The clocks of time zones in Java's calendar, which has more years than Python's datetime.

>>> moment_in(-2_208_988_800_001, "Asia/Shanghai").hour  # Java takes the offset of today for all times before 1900
7
>>> utc_ms(253_402_300_800_000, "UTC"), moment_in(253_402_300_800_000, "UTC").year
(253402300800000, 10000)
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from flintstream.table._expressions.helpers import EPOCH, unzoned, zoned_clock
from flintstream.table._expressions.times.java_calendar import DAY_MS, Moment

if TYPE_CHECKING:
    from datetime import datetime

_MS = timedelta(milliseconds=1)
_LAST_MS = 253_402_214_400_000
"""The ms since 1970 of the last day that datetime has."""
_CYCLE_MS = 146_097 * DAY_MS
"""The ms of 400 years, after which the calendar has the same days of the week."""
_FROM_1900 = -2_208_988_800_000
"""The ms since 1970 from which Java knows the offsets of time zones; before, it takes that of today."""
_A_WINTER, _A_SUMMER = 1_704_067_200_000, 1_719_792_000_000


def moment_in(ms: int, zone: str) -> datetime | Moment:
    """Return the local time of ms since 1970, as Java's calendar has it."""
    if _FROM_1900 <= ms < _LAST_MS:
        return zoned_clock(_at(ms), zone)
    offset, name = _offset_at(ms, zone)
    return Moment.of(ms + offset, offset // 60_000, name)


def utc_ms(ms: int, zone: str) -> int:
    """Return the ms since 1970 in UTC of ms by the clocks of a zone."""
    if _FROM_1900 + DAY_MS <= ms < _LAST_MS:
        found = _at(ms)
        # Of the two moments with a time that clocks show twice, Flink takes the second one.
        return max((unzoned(found.replace(fold=fold), zone) - EPOCH) // _MS for fold in (0, 1))
    return ms - _offset_at(ms, zone)[0]


def _at(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def _offset_at(ms: int, zone: str) -> tuple[int, str]:
    """Return the ms that a zone is east of Greenwich, and its name, before 1900 or after 9999."""
    if ms > 0:
        choices = [zoned_clock(_at(ms % _CYCLE_MS + 13 * _CYCLE_MS), zone)]
    else:
        choices = [zoned_clock(_at(at), zone) for at in (_A_WINTER, _A_SUMMER)]
    found = min(choices, key=lambda value: value.dst() or timedelta())
    return (found.utcoffset() or timedelta()) // _MS, found.tzname() or "UTC"
