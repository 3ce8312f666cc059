"""Functions on dates and times that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.common._text.java import instant_text
from flintstream.common._types.nanoseconds import nanoseconds_of, plain_datetime, with_nanoseconds
from flintstream.common.time import Instant
from flintstream.table._expressions.helpers import (
    EPOCH,
    cut,
    divide,
    edge,
    known_zone,
    wrap,
)
from flintstream.table._expressions.times.clocks import moment_in, utc_ms
from flintstream.table._expressions.times.lenient import lenient_moment, lenient_ms
from flintstream.table._expressions.times.patterns import format_unix

if TYPE_CHECKING:
    from datetime import date


def millis(value: Any) -> int:
    """Return ms since the epoch of a timestamp taken as UTC."""
    since: timedelta = value - EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def from_millis(value: int) -> datetime:
    """Return the timestamp in UTC; the first or last one there is, if it is out of range."""
    try:
        return EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return edge(EPOCH, later=value > 0)


class CurrentWatermark:
    """What CURRENT_WATERMARK returns: the time of the watermark that the operator has got last.

    >>> watermark = CurrentWatermark()
    >>> watermark()
    >>> watermark.ms = 1000
    >>> watermark()
    datetime.datetime(1970, 1, 1, 0, 0, 1)
    """

    ms: int | None = None

    def __call__(self) -> datetime | None:
        """Return the time in UTC; None before the first watermark."""
        return None if self.ms is None else from_millis(self.ms)


def plus(value: Any, ms: int) -> Any:
    """Add ms to a timestamp, a time or a date."""
    try:
        if isinstance(value, datetime):
            return value + timedelta(milliseconds=ms)
        if isinstance(value, time):
            return (datetime.combine(EPOCH, value) + timedelta(milliseconds=ms % _DAY_MS)).time()
        return value + timedelta(days=divide(ms, _DAY_MS))
    except OverflowError:
        return edge(value, later=ms > 0)


def plus_months(value: Any, months: int) -> Any:
    """Add months; the day becomes the last of the month if there is no such day."""
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not MINYEAR <= year <= MAXYEAR:
        return edge(value, later=months > 0)
    return value.replace(year=year, month=month + 1, day=min(value.day, monthrange(year, month + 1)[1]))


_DAY_MS = 86_400_000
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The ms since the epoch at which the year 1 begins, and at which the year 9999 ends."""


def _split(value: datetime) -> tuple[date, int]:
    """Return the day, and the ms within it. Before 1970, Flink divides toward zero, so the ms are negative."""
    if value.year >= 1970:
        return value.date(), (value.hour * 3600 + value.minute * 60 + value.second) * 1000 + value.microsecond // 1000
    since = millis(value)
    days = divide(since, _DAY_MS)
    return (EPOCH + timedelta(days=days)).date(), since - days * _DAY_MS


def date_of(value: datetime) -> date:
    """Return the day of a timestamp."""
    return value.date() if value.year >= 1970 else _split(value)[0]


def time_of(value: datetime) -> time:
    """Return the time of day; before 1970, that of the next second if there is a fraction."""
    if value.year >= 1970:
        return value.time()
    return from_millis(divide(_split(value)[1], 1000) * 1000).time()


def cut_time(value: time, precision: int) -> time:
    """Return a time with at most so many digits, and not more than three."""
    unit = 10 ** (6 - min(precision, 3))
    return value.replace(microsecond=value.microsecond // unit * unit)


def round_time(value: time) -> time:
    """Return a time rounded to milliseconds."""
    millis = (value.microsecond + 500) // 1000
    return value.replace(microsecond=min(millis, 999) * 1000)


def time_to_text(value: time, precision: int) -> str:
    """Format a time with the digits of its type, of which the first one stays.

    >>> time_to_text(time(1, 2, 3, 450_000), 3), time_to_text(time(1, 2, 3), 3), time_to_text(time(1, 2, 3, 450_000), 0)
    ('01:02:03.45', '01:02:03.0', '01:02:03')
    """
    text = f"{value:%H:%M:%S}"
    return f"{text}.{f'{value.microsecond:06d}'[: min(precision, 3)].rstrip('0') or '0'}" if precision else text


def at_epoch(value: time) -> datetime:
    """Return a time of day on the first day of 1970."""
    return datetime.combine(EPOCH, value)


def interval_to_text(ms: int) -> str:
    """Format a duration in ms, such as ``+1 02:03:04.567``.

    >>> interval_to_text(-1)
    '-0 00:00:00.001'
    """
    days, rest = divmod(abs(ms), _DAY_MS)
    seconds, milli = divmod(rest, 1000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{'-' if ms < 0 else '+'}{days} {clock}.{milli:03d}"


def months_to_text(months: int) -> str:
    """Format a duration in months, such as ``+1-02``."""
    return f"{'-' if months < 0 else '+'}{abs(months) // 12}-{abs(months) % 12:02d}"


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12_000}


def plus_units(unit: str, count: int, value: object) -> Any:
    """Add a number of units to a date, timestamp or time; months do not change a time."""
    if unit in _UNITS:
        return plus(value, count * _UNITS[unit])
    return value if isinstance(value, time) else plus_months(value, count * _MONTHS[unit])


def convert_zone(text: str, source: str, target: str) -> str | None:
    """Return the local time of one time zone as that of another."""
    found = lenient_ms(text)
    if found is None:
        return None
    return format_unix(moment_in(utc_ms(found, known_zone(source)), known_zone(target)), "yyyy-MM-dd HH:mm:ss")


_UNITS = {"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}


def timestamp_diff(unit: str, a: object, b: object) -> int:
    """Return how many whole units there are from ``a`` to ``b``."""
    start, end = as_timestamp(a), as_timestamp(b)
    if unit in _UNITS:
        return divide(millis(end) - millis(start), _UNITS[unit])
    months = _months_between(start.date(), end.date())
    if plus_months(start, months).date() == end.date() and end.time() < start.time():
        months -= 1
    return divide(months, _MONTHS[unit])


def _months_between(start: date, end: date) -> int:
    """Return the whole months between two days: the time of day does not count."""
    if end < start:
        return -_months_between(end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - 1 if plus_months(start, months) > end else months


def as_timestamp(value: Any) -> datetime:
    """Return midnight of a date, a time of the first day; a timestamp as it is."""
    if isinstance(value, time):
        return datetime.combine(EPOCH, value)
    return value if isinstance(value, datetime) else datetime.combine(value, time())


_FLOORED = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")


def floor_of(value: object, unit: str) -> Any:
    """Return the start of the unit; Flink takes months and more of the day toward 1970."""
    if isinstance(value, datetime) and value.year < 1970 and unit in {"YEAR", "QUARTER", "MONTH"}:
        return floor_time(datetime.combine(date_of(value), time()), unit)
    return floor_time(value, unit)


def floor_time(value: Any, unit: str) -> Any:
    """Return the start of the unit."""
    if isinstance(value, time):
        return floor_time(datetime.combine(EPOCH, value), unit).time()
    if unit in {"WEEK", "QUARTER", "DECADE", "CENTURY", "MILLENNIUM"}:
        day = value.date() if isinstance(value, datetime) else value
        years = {"DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}
        if unit == "WEEK":
            since = day.isoweekday() % 7
            day = day - timedelta(days=since) if day.toordinal() > since else edge(day, later=False)
        elif unit == "QUARTER":
            day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        else:
            step = years[unit]
            start = day.year // 10 * 10 if unit == "DECADE" else (day.year - 1) // step * step + 1
            day = day.replace(year=max(start, MINYEAR), month=1, day=1)
        return datetime.combine(day, time()) if isinstance(value, datetime) else day
    if unit not in _FLOORED:
        raise ValueError(f"FLOOR has no unit {unit}")
    if unit == "MILLISECOND":
        return value.replace(microsecond=value.microsecond // 1000 * 1000) if isinstance(value, datetime) else value
    fields = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
    lower = {
        name: fields[name] for name in (item.lower() for item in _FLOORED[_FLOORED.index(unit) + 1 :]) if name in fields
    }
    if not isinstance(value, datetime):
        return value.replace(**{name: n for name, n in lower.items() if name in {"month", "day"}})
    moment: Any = value
    return moment.replace(**lower, microsecond=0)


def ceil_time(value: object, unit: str) -> Any:
    """Return the start of the next unit; a start itself stays as it is."""
    if isinstance(value, datetime) and unit != "MILLISECOND":
        value = cut(value, 3)  # Flink looks at whole ms
    floor = floor_time(value, unit)
    if floor == value:
        return value
    if isinstance(value, time):
        return (datetime.combine(EPOCH, floor) + timedelta(milliseconds=_UNITS[unit])).time()
    if unit in _UNITS or unit == "MILLISECOND":
        return plus(floor, _UNITS.get(unit, 1))
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}
    return plus_months(floor, months[unit])


def no_timestamp() -> datetime:
    """Raise the error of a rowtime column of records that have none.

    Raises:
        ValueError: Always.
    """
    raise ValueError(
        "the records of a rowtime column need timestamps: call assign_timestamps_and_watermarks() on the stream"
    )


def now() -> datetime:
    """Return the current time in UTC, with ms."""
    return from_millis(wall_clock())


def unix_timestamp(zone: str, text: str | None = None, pattern: str = "yyyy-MM-dd HH:mm:ss") -> int:
    """Return seconds since the epoch, now or of a local time; the least integer if the text is not a time."""
    if text is None:
        return wall_clock() // 1000
    found, offset = lenient_moment(text, pattern)
    if found is None:
        return -(1 << 63)
    if offset is not None:
        return found // 1000 - offset
    return wrap(utc_ms(found, zone), 64) // 1000


def from_unixtime(zone: str, seconds: int, pattern: str = "yyyy-MM-dd HH:mm:ss") -> str:
    """Format the local time of seconds since the epoch."""
    return format_unix(moment_in(wrap(seconds * 1000, 64), zone), pattern)


def utc_of(value: datetime) -> datetime:
    """Return a time with a zone as a timestamp in UTC."""
    return value.astimezone(timezone.utc).replace(tzinfo=None)


def to_instant(value: datetime | None) -> Instant | None:
    """Return the point in time of a timestamp in UTC."""
    if value is None:
        return None
    since = value - EPOCH
    return Instant(since.days * 86_400 + since.seconds, since.microseconds * 1000 + nanoseconds_of(value))


def from_instant(value: Any) -> datetime | None:
    """Return the timestamp in UTC of a point in time; a timestamp is taken as UTC."""
    if value is None or isinstance(value, datetime):
        return value
    micros, nanosecond = divmod(value.nanos, 1000)
    return with_nanoseconds(EPOCH + timedelta(seconds=value.seconds, microseconds=micros), nanosecond)


def to_microseconds(value: object) -> object:
    """Return a timestamp as Python programs get it, without nanoseconds."""
    return plain_datetime(value) if isinstance(value, datetime) else value


def instant_to_text(value: datetime) -> str:
    """Return the text of a point in time, as Java's ``Instant.toString`` gives it."""
    made = to_instant(value)
    return "null" if made is None else instant_text(made)


# -- parts of dates, times and intervals -------------------------------------------------------------------------------


def extract(unit: str, value: datetime) -> int:
    """Return a part of a timestamp."""
    if unit == "EPOCH":
        return divide(millis(value), 1000)
    day, ms = _split(value)
    if unit in {"MICROSECOND", "NANOSECOND"} and isinstance(value, datetime):  # EXTRACT gets a date as well
        return _clock_part(unit, ms) + _below_millis(value) // (1000 if unit == "MICROSECOND" else 1)
    if unit in {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"}:
        return _clock_part(unit, ms)
    year = day.year
    if unit in {"YEAR", "MONTH", "DAY"}:
        return int(getattr(day, unit.lower()))
    if unit == "QUARTER":
        return (day.month + 2) // 3
    if unit == "WEEK":
        return day.isocalendar()[1]
    if unit == "ISOYEAR":
        return day.isocalendar()[0]
    if unit == "DOY":
        return day.timetuple().tm_yday
    if unit == "DOW":
        return day.isoweekday() % 7 + 1
    if unit == "ISODOW":
        return day.isoweekday()
    if unit in {"DECADE", "CENTURY", "MILLENNIUM"}:
        return year // 10 if unit == "DECADE" else (year + 99) // 100 if unit == "CENTURY" else (year + 999) // 1000
    raise ValueError(f"EXTRACT has no unit {unit}")


def _below_millis(value: datetime) -> int:
    """Return the nanoseconds below a timestamp's milliseconds."""
    return value.microsecond % 1000 * 1000 + nanoseconds_of(value)


def _clock_part(unit: str, ms: int) -> int:
    if unit in {"MILLISECOND", "MICROSECOND", "NANOSECOND"}:
        scale = {"MILLISECOND": 1, "MICROSECOND": 1000, "NANOSECOND": 1_000_000}[unit]
        return (ms - divide(ms, 60_000) * 60_000 - divide(ms - divide(ms, 60_000) * 60_000, 1000) * 1000) * scale
    if unit == "HOUR":
        return divide(ms, 3_600_000)
    in_hour = ms - divide(ms, 3_600_000) * 3_600_000
    if unit == "MINUTE":
        return divide(in_hour, 60_000)
    return divide(in_hour - divide(in_hour, 60_000) * 60_000, 1000)


def extract_clock(unit: str, value: time) -> int:
    """Return a part of a time of day."""
    return extract(unit, datetime.combine(EPOCH, value))


def extract_interval(unit: str, ms: int) -> int:
    """Return a part of a duration in ms."""
    return divide(ms, _DAY_MS) if unit == "DAY" else _clock_part(unit, ms - divide(ms, _DAY_MS) * _DAY_MS)


def extract_months(unit: str, months: int) -> int:
    """Return a part of a duration in months."""
    years = divide(months, 12)
    return years if unit == "YEAR" else months - years * 12
