"""Functions on dates and times that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.common._javatext import instant_text
from flintstream.common.time import Instant
from flintstream.table._expressions.helpers import divide, parse_date, parse_timestamp, unzoned, zoned

if TYPE_CHECKING:
    from datetime import date

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - values of SQL have no zone


def millis(value: datetime) -> int:
    """Return ms since the epoch of a timestamp taken as UTC."""
    since = value - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def from_millis(value: int) -> datetime:
    """Return the timestamp in UTC."""
    return _EPOCH + timedelta(milliseconds=value)


def plus(value: Any, ms: int) -> Any:
    """Add ms to a timestamp, a time or a date."""
    if isinstance(value, datetime):
        return value + timedelta(milliseconds=ms)
    if isinstance(value, time):
        return (datetime.combine(_EPOCH, value) + timedelta(milliseconds=ms)).time()
    return value + timedelta(days=divide(ms, 86_400_000))


def plus_months(value: Any, months: int) -> Any:
    """Add months; the day becomes the last of the month if there is no such day."""
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    for day in (value.day, 30, 29, 28):
        try:
            return value.replace(year=year, month=month + 1, day=min(day, value.day))
        except ValueError:
            continue
    return value


def extract(unit: str, value: Any) -> int:
    """Return a part of a date or timestamp."""
    if unit in {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}:
        return int(getattr(value, unit.lower()))
    if unit == "QUARTER":
        return int((value.month + 2) // 3)
    if unit == "WEEK":
        return int(value.isocalendar()[1])
    if unit == "DOY":
        return int(value.timetuple().tm_yday)
    if unit == "DOW":
        return int(value.isoweekday() % 7 + 1)
    if unit == "EPOCH":
        return divide(millis(value), 1000)
    if unit == "MILLISECOND":
        return int(value.microsecond // 1000)
    raise ValueError(f"EXTRACT has no unit {unit}")


_JAVA_PATTERN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")


def format_date(value: datetime, pattern: str) -> str:
    """Format with a pattern of Java's, such as ``yyyy-MM-dd HH:mm``."""
    parts = []
    for found in _JAVA_PATTERN.finditer(pattern):
        text, letter = found.group(), found.group(2)
        if letter is None:
            parts.append((found.group(1) or "'").replace("''", "'") if text.startswith("'") else text)
        else:
            parts.append(_field(value, letter, len(text)))
    return "".join(parts)


def _field(value: datetime, letter: str, width: int) -> str:
    if letter in "yu":
        return f"{value.year % 100:02d}" if width == 2 else f"{value.year:0{width}d}"
    if letter in "ML" and width > 2:
        return f"{value:%b}" if width == 3 else f"{value:%B}"
    if letter == "E":
        return f"{value:%a}" if width < 4 else f"{value:%A}"
    if letter == "a":
        return "AM" if value.hour < 12 else "PM"
    if letter == "S":
        return f"{value.microsecond:06d}".ljust(9, "0")[:width]
    numbers = {
        "M": value.month,
        "L": value.month,
        "d": value.day,
        "H": value.hour,
        "h": value.hour % 12 or 12,
        "k": value.hour or 24,
        "m": value.minute,
        "s": value.second,
        "D": value.timetuple().tm_yday,
    }
    if letter not in numbers:
        raise ValueError(f"DATE_FORMAT does not know the letter {letter}")
    return f"{numbers[letter]:0{width}d}"


@cache
def _reading(pattern: str) -> re.Pattern[str]:
    names = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "h": "hour", "m": "minute", "s": "second"}
    parts = []
    for found in _JAVA_PATTERN.finditer(pattern):
        text, letter = found.group(), found.group(2)
        if letter is None:
            parts.append(re.escape((found.group(1) or "'") if text.startswith("'") else text))
        elif letter in names:
            parts.append(rf"(?P<{names[letter]}>\d{{1,{max(len(text), 2)}}})")
        elif letter == "S":
            parts.append(rf"(?P<fraction>\d{{{len(text)}}})")
        else:
            raise ValueError(f"TO_TIMESTAMP does not know the letter {letter}")
    return re.compile("".join(parts))


def read_timestamp(text: str, pattern: str = "yyyy-MM-dd HH:mm:ss") -> datetime | None:
    """Read a timestamp with a pattern of Java's; None if the text is none."""
    if pattern == "yyyy-MM-dd HH:mm:ss":
        try:
            return parse_timestamp(text, 3)
        except ValueError:
            return None
    found = _reading(pattern).fullmatch(text)
    if found is None:
        return None
    parts = {name: int(value) for name, value in found.groupdict().items() if value and name != "fraction"}
    fraction = (found.groupdict().get("fraction") or "").ljust(6, "0")[:6]
    try:
        return datetime(  # noqa: DTZ001 - values of SQL have no zone
            parts.get("year", 1970),
            parts.get("month", 1),
            parts.get("day", 1),
            parts.get("hour", 0),
            parts.get("minute", 0),
            parts.get("second", 0),
            int(fraction),
        )
    except ValueError:
        return None


def read_date(text: str, pattern: str = "yyyy-MM-dd") -> date | None:
    """Read a date; None if the text is none."""
    found = read_timestamp(text, pattern) if pattern != "yyyy-MM-dd" else None
    if found is not None or pattern != "yyyy-MM-dd":
        return None if found is None else found.date()
    try:
        return parse_date(text)
    except ValueError:
        return None


_UNITS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}


def timestamp_diff(unit: str, a: Any, b: Any) -> int:
    """Return how many whole units there are from ``a`` to ``b``."""
    start, end = as_timestamp(a), as_timestamp(b)
    if unit in _UNITS:
        return divide(millis(end) - millis(start), _UNITS[unit])
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 0 and plus_months(start, months) > end:
        months -= 1
    elif months < 0 and plus_months(start, months) < end:
        months += 1
    return divide(months, {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit])


def as_timestamp(value: Any) -> datetime:
    """Return midnight of a date; a timestamp as it is."""
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def floor_time(value: Any, unit: str) -> Any:
    """Return the start of the unit."""
    names = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    if unit not in names:
        raise ValueError(f"FLOOR has no unit {unit}")
    fields = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
    lower = {name: fields[name] for name in (each.lower() for each in names[names.index(unit) + 1 :])}
    if not isinstance(value, datetime):
        return value.replace(**{name: n for name, n in lower.items() if name in {"month", "day"}})
    moment: Any = value
    return moment.replace(**lower, microsecond=0)


def now() -> datetime:
    """Return the current time in UTC, with ms."""
    return from_millis(wall_clock())


def to_ltz(number: int, digits: int = 3) -> datetime:
    """Return the point in time of a number of seconds (0 digits) or ms (3 digits) since the epoch."""
    return from_millis(number * 1000 if digits == 0 else number)


def unix_timestamp(zone: str, text: str | None = None, pattern: str = "yyyy-MM-dd HH:mm:ss") -> int:
    """Return seconds since the epoch, now or of a local time; the least integer if the text is no time."""
    if text is None:
        return wall_clock() // 1000
    found = read_timestamp(text, pattern)
    return -(1 << 63) if found is None else millis(unzoned(found, zone)) // 1000


def from_unixtime(zone: str, seconds: int, pattern: str = "yyyy-MM-dd HH:mm:ss") -> str:
    """Format the local time of seconds since the epoch."""
    return format_date(zoned(from_millis(seconds * 1000), zone), pattern)


def to_instant(value: datetime | None) -> Instant | None:
    """Return the point in time of a timestamp in UTC."""
    if value is None:
        return None
    since = value - _EPOCH
    return Instant(since.days * 86_400 + since.seconds, since.microseconds * 1000)


def from_instant(value: Any) -> datetime | None:
    """Return the timestamp in UTC of a point in time; a timestamp is taken as UTC."""
    if value is None or isinstance(value, datetime):
        return value
    return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


def instant_to_text(value: datetime) -> str:
    """Return the text of a point in time, as Java's ``Instant.toString`` gives it."""
    made = to_instant(value)
    return "null" if made is None else instant_text(made)
