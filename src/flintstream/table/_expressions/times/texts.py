"""Dates, times and timestamps read from text, for generated code, formats and connectors."""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta

from flintstream.common._types.nanoseconds import MICROSECONDS, with_nanoseconds
from flintstream.table._expressions.helpers import EPOCH, cut, edge
from flintstream.table._expressions.times.java_calendar import DAY_MS, Moment
from flintstream.table._expressions.times.lenient import lenient_moment, lenient_ms
from flintstream.table._expressions.times.patterns import ZoneNeededError, date_writers, format_unix
from flintstream.table._expressions.times.strict import strict_timestamp

_LONGEST = 100
_DATE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*(?:-\s*(\d+)\s*)?)?", re.ASCII)
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_CLOCK = re.compile(r"\d{1,2}:\d{1,2}:\d{1,2}(\.\d{0,9})?", re.ASCII)
_JDBC = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,4}):(\d{1,4}):(\d{1,4})(?:\.(\d{1,9}))?)?", re.ASCII)
_TIME = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?", re.ASCII)


def parse_date(text: str) -> date:
    """Read the date of ``2020-01-31``, perhaps followed by a time; the day and the month may be missing."""
    space = text.find(" ")
    found = _DATE.fullmatch(text[:space] if space > 0 else text) if len(text) < _LONGEST else None
    year, month, day = map(int, found.groups("1")) if found is not None else (0, 0, 0)
    if not MINYEAR <= year <= MAXYEAR or not 0 < month <= 12 or not 0 < day <= monthrange(year, month)[1]:
        raise ValueError(f"For input string: '{text}'. Expected a date such as 2020-01-31")
    return date(year, month, day)


def parse_time(text: str) -> time:
    """Read ``12:34:56``."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"For input string: '{text}'. Expected a time such as 12:34:56")
    hour, minute, second, fraction = found.groups()
    return time(int(hour), int(minute or 0), int(second or 0), int((fraction or "0").ljust(6, "0")[:6]))


def parse_timestamp(text: str, precision: int) -> datetime:
    """Read ``2020-01-31 12:34:56.789``; the time may be missing, and 24:00:00 is midnight."""
    day, _, clock = text.partition(" ")
    found = lenient_date(day)
    if clock.partition(".")[0] == "24:00:00" and not clock.partition(".")[2].strip("0"):
        return datetime.combine(found + timedelta(days=1), time())
    if text != day and not _CLOCK.fullmatch(clock):
        raise ValueError(f"For input string: '{text}'. Expected a timestamp such as 2020-01-31 12:34:56")
    value = datetime.combine(found, parse_time(clock.rstrip(".")) if clock else time())
    return cut(with_nanoseconds(value, nanoseconds_in(clock)) if precision > MICROSECONDS else value, precision)


def parse_short_timestamp(text: str, precision: int) -> datetime:
    """Read ``2020-01-31 12:34``, as files and messages have it: the seconds may be missing, too."""
    day, _, clock = text.strip().partition(" ")
    value = datetime.combine(lenient_date(day), parse_time(clock) if clock else time())
    return cut(with_nanoseconds(value, nanoseconds_in(clock)) if precision > MICROSECONDS else value, precision)


def nanoseconds_in(clock: str) -> int:
    """Return the digits of a second below its microseconds, of a text that ends with its fraction."""
    return int(clock.partition(".")[2].strip().ljust(9, "0")[6:9] or 0)


_SQL_MESSAGE = re.compile(r"[\d-]{10} \d\d:\d\d:\d\d(\.\d{0,9})?")
_ISO_MESSAGE = re.compile(r"[\d-]{10}T\d\d:\d\d(:\d\d(\.\d{0,9})?)?")


def parse_message_timestamp(text: str, *, iso: bool | None, zoned: bool, precision: int = MICROSECONDS) -> datetime:
    """Read the timestamp of a message of JSON, which has one form, with a Z at its end if it is ``zoned``.

    If ``iso`` is None, it has any of the forms, or a shorter one.
    """
    if iso is None:
        return parse_short_timestamp(text.replace("T", " ", 1).removesuffix("Z"), max(precision, MICROSECONDS))
    local = text.removesuffix("Z") if zoned else text
    if (zoned and local == text) or not (_ISO_MESSAGE if iso else _SQL_MESSAGE).fullmatch(local):
        form = f"{'2020-01-31T12:34:56' if iso else '2020-01-31 12:34:56'}{'Z' if zoned else ''}"
        raise ValueError(f"For input string: '{text}'. Expected a timestamp such as {form}")
    return parse_short_timestamp(local.replace("T", " ", 1), max(precision, MICROSECONDS))


def parse_message_date(text: str, *, short: bool) -> date:
    """Read the date of a message of JSON, whose month and day have two digits unless it may be ``short``."""
    if short:
        return parse_date(text.strip())
    if len(text) != 10:
        raise ValueError(f"For input string: '{text}'. Expected a date such as 2020-01-31")
    return date.fromisoformat(text)


def parse_lenient_timestamp(text: str, precision: int) -> datetime:
    """Read ``2020-01-31 12:34:56.789`` or ``2020-01-31`` as Java's JDBC does: what is too much is carried over."""
    found = _JDBC.fullmatch(text.strip())
    year, month, day, hour, minute, second = map(int, found.groups("0")[:6]) if found is not None else (0,) * 6
    if found is None or not 0 < day <= 31 or not 0 < month <= 12:
        raise ValueError(f"For input string: '{text}'. Expected a timestamp such as 2020-01-31 12:34:56")
    micros = int((found[7] or "").ljust(6, "0")[:6])
    past = timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, microseconds=micros)
    return cut(datetime.combine(date(year, month, 1), time()) + past, precision)


def lenient_date(text: str) -> date:
    """Read a date; a day after the end of its month, up to the 31st, is the last of the month."""
    found = _DAY.fullmatch(text)
    year, month, day = map(int, found.groups()) if found is not None else (0, 0, 0)
    if found is None or not 0 < day <= 31 or not 0 < month <= 12:
        raise ValueError(f"For input string: '{text}'. Expected a date such as 2020-01-31")
    return date(year, month, min(day, monthrange(year, month)[1]))


def read_timestamp(text: str, pattern: str | None = None, *, precise: bool = False) -> datetime | None:
    """Read a timestamp, perhaps with a pattern of Java's; None if the text is none.

    Where the pattern does not fit, Flink reads the text as Java's ``Timestamp.valueOf`` and ``Date.valueOf`` do.
    """
    try:
        if pattern is None:
            return parse_timestamp(text, 3)
        with suppress(ZoneNeededError):
            date_writers(pattern)  # raises if it is none
    except (ValueError, OverflowError):
        return None
    found = strict_timestamp(text, pattern, precise=precise)
    try:
        return parse_lenient_timestamp(text, 3) if found is None else found
    except (ValueError, OverflowError):
        return None


def format_text(text: str, pattern: str) -> str | None:
    """Format a time that is a text such as ``2020-01-31 10:11:12``; None if the text is not a timestamp."""
    value = lenient_ms(text)
    return None if value is None else format_unix(Moment.of(value), pattern)


def day_of(ms: int) -> date:
    """Return the date of ms since 1970; the first or last one there is, if it is out of range."""
    try:
        return EPOCH.date() + timedelta(days=ms // DAY_MS)
    except OverflowError:
        return edge(EPOCH.date(), later=ms > 0)


def read_date(text: str, pattern: str | None = None) -> date | None:
    """Read a date; None if the text is none. Patterns are those of SimpleDateFormat, which is lenient."""
    if pattern is not None:
        found, zone = lenient_moment(text, pattern)
        return None if found is None else day_of(found - (zone or 0) * 1000)
    try:
        return parse_date(text)
    except ValueError:
        return None
