"""Dates, times and timestamps read from text, for generated code, formats and connectors."""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta
from functools import lru_cache

from flintstream.table._expressions.helpers import cut
from flintstream.table._expressions.times.patterns import (
    DATE_PATTERN,
    PATTERNS,
    ZoneNeededError,
    date_writers,
    lenient_timestamp,
)

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
    return cut(datetime.combine(found, parse_time(clock.rstrip(".")) if clock else time()), precision)


def parse_short_timestamp(text: str, precision: int) -> datetime:
    """Read ``2020-01-31 12:34``, as files and messages have it: the seconds may be missing, too."""
    day, _, clock = text.strip().partition(" ")
    return cut(datetime.combine(lenient_date(day), parse_time(clock) if clock else time()), precision)


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


_NOTHING = re.compile("(?!)")


@lru_cache(PATTERNS)
def _reading(pattern: str) -> re.Pattern[str]:
    """Return what reads a pattern of DateTimeFormatter: a letter has any number of digits, several have as many."""
    names = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "h": "hour", "m": "minute", "s": "second"}
    parts: list[str] = []
    read: set[str] = set()
    for found in DATE_PATTERN.finditer(pattern):
        text, letter = found.group(), found.group(2)
        if letter is None:
            parts.append(re.escape((found.group(1) or "'") if text.startswith("'") else text))
        elif names.get(letter) in read:
            parts.append(f"(?P={names[letter]})")
        elif letter in names:
            read.add(names[letter])
            digits = f"{{{len(text)}}}" if len(text) > 1 else "{1,9}"
            short = "(?P<short>)" if letter in "yu" and len(text) == 2 else ""  # of the years 2000 to 2099
            parts.append(rf"(?P<{names[letter]}>\d{digits}){short}")
        elif letter == "S" and "fraction" not in read:
            read.add("fraction")
            parts.append(rf"(?P<fraction>\d{{{len(text)}}})")
        else:
            return _NOTHING
    return re.compile("".join(parts))


def read_timestamp(text: str, pattern: str | None = None) -> datetime | None:
    """Read a timestamp, perhaps with a pattern of Java's; None if the text is none.

    Where the pattern does not fit, Flink reads the text as Java's ``Timestamp.valueOf`` and ``Date.valueOf`` do.
    """
    try:
        if pattern is None:
            return parse_timestamp(text, 3)
        with suppress(ZoneNeededError):
            date_writers(pattern)  # raises if it is none
        found = _read_pattern(text, pattern)
        return parse_lenient_timestamp(text, 3) if found is None else found
    except (ValueError, OverflowError):
        return None


def _read_pattern(text: str, pattern: str) -> datetime | None:
    found = _reading(pattern).fullmatch(text)
    if found is None:
        return None
    fraction = (found.groupdict().get("fraction") or "").ljust(3, "0")[:3]
    parts = {name: int(value) for name, value in found.groupdict().items() if value and name != "fraction"}
    year = parts.get("year", 1970) + (2000 if "short" in found.groupdict() else 0)
    month, day = parts.get("month", 1), parts.get("day", 1)
    try:
        last = monthrange(year, month)[1]
        return datetime(  # noqa: DTZ001 - values of SQL have no zone
            year,
            month,
            min(day, last) if day <= 31 else day,
            parts.get("hour", 0),
            parts.get("minute", 0),
            parts.get("second", 0),
            int(fraction) * 1000,
        )
    except (ValueError, OverflowError):
        return None


def read_date(text: str, pattern: str = "yyyy-MM-dd") -> date | None:
    """Read a date; None if the text is none. Patterns are those of SimpleDateFormat, which is lenient."""
    found = lenient_timestamp(text, pattern) if pattern != "yyyy-MM-dd" else None
    if found is not None or pattern != "yyyy-MM-dd":
        return None if found is None else found.date()
    try:
        return parse_date(text)
    except ValueError:
        return None
