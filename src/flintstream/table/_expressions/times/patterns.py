"""Times as texts, by patterns of Java: DATE_FORMAT has those of DateTimeFormatter, FROM_UNIXTIME of SimpleDateFormat.

A pattern is read once, into functions that write its parts.

>>> from datetime import timezone
>>> format_date(datetime(2020, 2, 29, 13, 14), "[d. MMM]ppH")
'29. Feb13'
>>> format_unix(datetime(2020, 2, 29, 13, 14, tzinfo=timezone(timedelta(hours=8))), "H:mm XXX")
'13:14 +08:00'
"""

from __future__ import annotations

import re
from calendar import isleap
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import lru_cache

from flintstream.common._types.nanoseconds import fraction_of
from flintstream.table._expressions.helpers import EPOCH
from flintstream.table._expressions.times.java_calendar import Moment

PATTERNS = 512
"""The patterns that a process keeps at most; they may come from records."""
DATE_PATTERN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[\[\]{}#]|[^A-Za-z'\[\]{}#]+|'")
UNIX_PATTERN = re.compile(r"'(|[^'](?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WIDEST = 19

Write = Callable[[datetime], str]
"""Writes a part of a time."""
WriteUnix = Callable[[datetime | Moment], str]
"""Writes a part of a time of SimpleDateFormat: a datetime, or what the years and the calendar of Python lack."""


class ZoneNeededError(ValueError):
    """A pattern has a letter that a timestamp without time zone cannot write."""


def format_date(value: datetime, pattern: str) -> str:
    """Format with a pattern of Java's DateTimeFormatter, such as ``yyyy-MM-dd HH:mm``.

    Raises:
        ValueError: It is not a pattern, or a number is wider than the pattern pads it.
    """
    return "".join([write(value) for write in date_writers(pattern)])


def format_unix(value: datetime | Moment, pattern: str) -> str:
    """Format with a pattern of Java's SimpleDateFormat; the value has a time zone.

    Raises:
        ValueError: It is not a pattern.
    """
    return "".join([write(value) for write in unix_writers(pattern)])


@lru_cache(PATTERNS)
def date_writers(pattern: str) -> tuple[Write, ...]:
    """Return what writes the parts of a pattern of DateTimeFormatter.

    Raises:
        ValueError: It is not a pattern.
    """
    sections: list[list[Write]] = [[]]
    lacking: list[bool] = [False]
    pad = 0
    for found in DATE_PATTERN.finditer(pattern):
        text, letter = found.group(), found.group(2)
        if pad and letter is None:
            break
        if letter == "p" and not pad:
            pad = len(text)
        elif letter is not None:
            write = _date_letter(letter, len(text), pattern)
            if write is None and len(sections) == 1:
                raise ZoneNeededError(
                    f"DATE_FORMAT: TIMESTAMP has no time zone, which the letter {letter} of '{pattern}' needs"
                )
            lacking[-1] |= write is None
            sections[-1].append(_pad(write, pad) if pad and write else write or str)
            pad = 0
        elif text == "[":
            sections.append([])
            lacking.append(False)
        elif text == "]":
            if len(sections) == 1:
                raise ValueError(f"DATE_FORMAT: '{pattern}' has ] without [")
            _close(sections, lacking)
        elif text in {"{", "}", "#"}:
            raise ValueError(f"DATE_FORMAT: '{pattern}' has {text}, which is reserved: quote it")
        else:
            sections[-1].append(_literal(found, pattern))
    if pad:
        raise ValueError(f"DATE_FORMAT: no letter follows the p of '{pattern}'")
    while len(sections) > 1:
        _close(sections, lacking)
    return tuple(sections[0])


def _close(sections: list[list[Write]], lacking: list[bool]) -> None:
    """End an optional section: one with a letter that a value lacks is left out."""
    section = sections.pop()
    if not lacking.pop():
        sections[-1] += section


def _pad(write: Write, width: int) -> Write:
    def pad_text(value: datetime) -> str:
        text = write(value)
        if len(text) > width:
            raise ValueError(f"DATE_FORMAT cannot pad '{text}' to {width} characters")
        return text.rjust(width)

    return pad_text


def _literal(found: re.Match[str], pattern: str) -> Callable[[object], str]:
    if found.group() == "'":
        raise ValueError(f"'{pattern}' has an unclosed quote")
    text = (found.group(1) or "'").replace("''", "'") if found.group(1) is not None else found.group()
    return lambda _: text


@lru_cache(PATTERNS)
def unix_writers(pattern: str) -> tuple[WriteUnix, ...]:
    """Return what writes the parts of a pattern of SimpleDateFormat.

    Raises:
        ValueError: It is not a pattern.
    """
    return tuple(
        _unix_letter(found.group(2), len(found.group()), pattern) if found.group(2) else _literal(found, pattern)
        for found in UNIX_PATTERN.finditer(pattern)
    )


# -- letters -----------------------------------------------------------------------------------------------------------


def _second_of_day(value: datetime) -> int:
    return value.hour * 3600 + value.minute * 60 + value.second


def _week(value: datetime) -> int:
    """Return the week as the United States count: from Sunday, and that with 1 January is the first."""
    sunday = value.toordinal() - value.isoweekday() % 7
    first = value.toordinal() - value.timetuple().tm_yday + 1
    if sunday + 7 > first + 365 + isleap(value.year):
        return 1
    return (sunday - (first - datetime.fromordinal(first).isoweekday() % 7)) // 7 + 1


def week_one(year: int) -> date:
    """Return the Sunday that begins the first week of a year, as the United States count."""
    first = date(year, 1, 1)
    return first - timedelta(days=first.isoweekday() % 7)


def _week_year(value: datetime) -> int:
    return value.year + (value.month == 12 and _week(value) == 1)


def _quarter(value: datetime) -> int:
    return (value.month + 2) // 3


def _day_of_week(value: datetime) -> int:
    return value.isoweekday() % 7 + 1


_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "y": lambda value: value.year,
    "Y": _week_year,
    "M": lambda value: value.month,
    "d": lambda value: value.day,
    "D": lambda value: value.timetuple().tm_yday,
    "H": lambda value: value.hour,
    "k": lambda value: value.hour or 24,
    "K": lambda value: value.hour % 12,
    "h": lambda value: value.hour % 12 or 12,
    "m": lambda value: value.minute,
    "s": lambda value: value.second,
    "w": _week,
    "W": lambda value: (value.day + value.replace(day=1).isoweekday() % 7 + 6) // 7,
}
"""The letters that both kinds of patterns have as numbers."""
_DATE_NUMBERS: dict[str, tuple[int, Callable[[datetime], int]]] = {
    **{letter: (2, _NUMBERS[letter]) for letter in "dHkKhmsw"},
    "D": (3, _NUMBERS["D"]),
    "W": (1, _NUMBERS["W"]),
    "F": (1, lambda value: (value.day - 1) % 7 + 1),
    "n": (_WIDEST, lambda value: int(fraction_of(value))),
    "A": (_WIDEST, lambda value: _second_of_day(value) * 1000 + value.microsecond // 1000),
    "N": (_WIDEST, lambda value: _second_of_day(value) * 10**9 + int(fraction_of(value))),
    "g": (_WIDEST, lambda value: (value - EPOCH).days + 40_587),
}
"""Those of DateTimeFormatter, with the widest number that each may have."""
_DATE_TEXTS: dict[str, tuple[int, Callable[[datetime], int], tuple[str, ...]]] = {
    "M": (2, _NUMBERS["M"], MONTHS),
    "L": (2, _NUMBERS["M"], MONTHS),
    "E": (0, _day_of_week, DAYS),
    "e": (2, _day_of_week, DAYS),
    "c": (1, _day_of_week, DAYS),
}
"""Letters that are texts from the third on: short, long, narrow."""


def _moment(value: datetime | Moment) -> Moment:
    """Return a datetime as a moment."""
    if isinstance(value, Moment):
        return value
    name = value.tzname() or "UTC"
    offset = int((value.utcoffset() or timedelta()).total_seconds() / 60)
    ms = _second_of_day(value) * 1000 + value.microsecond // 1000
    return Moment(value.toordinal() - _FIRST_DAY, value.year, value.month, value.day, ms, offset, name)


_FIRST_DAY = EPOCH.toordinal()


def _unix_week_year(value: datetime | Moment) -> int:
    return value.year + (value.month == 12 and _moment(value).week == 1)


_UNIX_NUMBERS: dict[str, Callable[[datetime | Moment], int]] = {
    "y": lambda value: value.year if value.year > 0 else 1 - value.year,
    "Y": _unix_week_year,
    "M": lambda value: value.month,
    "L": lambda value: value.month,
    "d": lambda value: value.day,
    "D": lambda value: _moment(value).day_of_year,
    "H": lambda value: value.hour,
    "k": lambda value: value.hour or 24,
    "K": lambda value: value.hour % 12,
    "h": lambda value: value.hour % 12 or 12,
    "m": lambda value: value.minute,
    "s": lambda value: value.second,
    "S": lambda value: _moment(value).ms % 1000,
    "w": lambda value: _moment(value).week,
    "W": lambda value: _moment(value).week_of_month,
    "F": lambda value: _moment(value).weekday_in_month,
    "u": lambda value: _moment(value).weekday or 7,
}
_ZONE_COUNTS = {
    **dict.fromkeys("XxZ", (1, 2, 3, 4, 5)),
    "z": (1, 2, 3, 4),
    "V": (2,),
    "v": (1, 4),
    "O": (1, 4),
}
"""Letters that need a time zone, and how often they may come."""


def _date_letter(letter: str, count: int, pattern: str) -> Write | None:
    """Return what writes a letter of DateTimeFormatter; None if it needs a time zone."""
    if letter in _ZONE_COUNTS and count in _ZONE_COUNTS[letter]:
        return None
    if letter == "Y" or (letter in "yu" and count <= _WIDEST):
        return _year(_NUMBERS["Y" if letter == "Y" else "y"], count)
    if letter in _DATE_NUMBERS and count <= _DATE_NUMBERS[letter][0]:
        return _number(_DATE_NUMBERS[letter][1], count)
    if letter in _DATE_TEXTS and count <= 5:
        widest, number, names = _DATE_TEXTS[letter]
        if count <= widest:
            return _number(number, count)
        if count > 2 or letter == "E":
            return _name(number, names, (None, 1)[count - 4] if count > 3 else 3)
    if letter in "Qq" and count <= 5:
        return _quarter_text(count)
    if letter == "G" and count <= 5:
        return _constant("Anno Domini" if count == 4 else "A" if count == 5 else "AD")
    if letter == "a" and count == 1:
        return _half
    if letter == "B" and count in {1, 4, 5}:
        return _narrow_period if count == 5 else _period
    if letter == "S" and count <= 9:
        return lambda value: fraction_of(value)[:count]
    raise ValueError(f"DATE_FORMAT does not support {letter * min(count, 30)} in the pattern '{pattern[:100]}'")


def _unix_letter(letter: str, count: int, pattern: str) -> WriteUnix:
    """Return what writes a letter of SimpleDateFormat."""
    if letter in "yY" and count == 2:
        return lambda value: f"{_UNIX_NUMBERS[letter](value) % 100:02d}"
    if letter in "ML" and count > 2:
        return lambda value: MONTHS[value.month - 1][: None if count > 3 else 3]
    if letter in _UNIX_NUMBERS:
        return lambda value: f"{_UNIX_NUMBERS[letter](value):0{count}d}"
    if letter == "E":
        return lambda value: DAYS[_moment(value).weekday][: None if count > 3 else 3]
    if letter == "G":
        return lambda value: "AD" if value.year > 0 else "BC"
    if letter == "a":
        return _half
    if letter == "z":
        return _long_zone if count > 3 else _zone
    if letter == "Z":
        return lambda value: _offset(value, "")
    if letter == "X" and count <= 3:
        return lambda value: (
            _offset(value, ":" if count == 3 else "")[: 6 if count > 1 else 3] if _moment(value).offset else "Z"
        )
    raise ValueError(f"FROM_UNIXTIME does not support {letter * min(count, 30)} in the pattern '{pattern[:100]}'")


def _constant(text: str) -> Write:
    return lambda _: text


def _number(number: Callable[[datetime], int], width: int) -> Write:
    return lambda value: f"{number(value):0{width}d}"


def _year(number: Callable[[datetime], int], count: int) -> Write:
    if count == 2:
        return lambda value: f"{number(value) % 100:02d}"
    most = 10**count if count > 3 else 10**_WIDEST
    return lambda value: f"{'+' if number(value) >= most else ''}{number(value):0{count}d}"


def _name(number: Callable[[datetime], int], names: tuple[str, ...], length: int | None) -> Write:
    return lambda value: names[number(value) - 1][:length]


def _quarter_text(count: int) -> Write:
    if count in {1, 2, 5}:
        return _number(_quarter, count % 5 or 1)
    ends = ("1st", "2nd", "3rd", "4th")
    return lambda value: f"Q{_quarter(value)}" if count == 3 else f"{ends[_quarter(value) - 1]} quarter"


def _half(value: datetime | Moment) -> str:
    return "AM" if value.hour < 12 else "PM"


def _period(value: datetime) -> str:
    """Return the part of the day, as English has it."""
    if value.minute == 0 and value.hour in {0, 12}:
        return "noon" if value.hour else "midnight"
    if not 6 <= value.hour < 21:
        return "at night"
    part = "morning" if value.hour < 12 else "afternoon" if value.hour < 18 else "evening"
    return f"in the {part}"


def _narrow_period(value: datetime) -> str:
    text = _period(value)
    return {"noon": "n", "midnight": "mi"}.get(text, text)


def _offset(value: datetime | Moment, colon: str) -> str:
    minutes = _moment(value).offset
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{colon}{abs(minutes) % 60:02d}"


def _zone(value: datetime | Moment) -> str:
    name = _moment(value).zone
    return f"GMT{_offset(value, ':')}" if name.startswith(("+", "-", "UTC+", "UTC-")) else name


def _long_zone(value: datetime | Moment) -> str:
    name = _zone(value)
    return {"UTC": "Coordinated Universal Time", "GMT": "Greenwich Mean Time"}.get(name, name)
