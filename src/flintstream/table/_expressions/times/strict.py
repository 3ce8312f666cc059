"""Timestamps read with patterns of Java's DateTimeFormatter, as TO_TIMESTAMP does.

A text must fit the pattern as a whole. A time zone is read, but changes nothing: the result is the local time.

>>> strict_timestamp("29/Feb/2020:10:11:12 +0100", "dd/MMM/yyyy:HH:mm:ss Z")
datetime.datetime(2020, 2, 29, 10, 11, 12)
>>> strict_timestamp("2020-02-31", "yyyy-MM-dd[ HH:mm]"), strict_timestamp("2020-02-31", "yyyy")
(datetime.datetime(2020, 2, 29, 0, 0), None)
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

from flintstream.common._types.nanoseconds import with_nanoseconds
from flintstream.table._expressions.helpers import is_zone
from flintstream.table._expressions.times.lenient import ZONES
from flintstream.table._expressions.times.patterns import DATE_PATTERN, DAYS, MONTHS, PATTERNS, week_one

_NUMBERS = {
    "y": "year",
    "u": "year",
    "Y": "week year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day of year",
    "w": "week",
    "e": "weekday",
    "c": "weekday",
    "F": "week of month",
    "Q": "quarter",
    "q": "quarter",
    "H": "hour",
    "k": "clock hour",
    "h": "half clock",
    "K": "half",
    "m": "minute",
    "s": "second",
    "A": "milli of day",
    "N": "nano of day",
    "n": "nano",
}
_RANGES = {
    "month": (1, 12),
    "day": (1, 31),
    "day of year": (1, 366),
    "week": (1, 53),
    "weekday": (1, 7),
    "quarter": (1, 4),
    "hour": (0, 24),
    "clock hour": (0, 24),
    "half clock": (0, 12),
    "half": (0, 11),
    "minute": (0, 59),
    "second": (0, 59),
    "milli of day": (0, 86_399_999),
    "nano of day": (0, 86_399_999_999_999),
    "nano": (0, 999_999_999),
    "week of month": (1, 5),
}
_SHORT_MONTHS, _SHORT_DAYS = (tuple(name[:3] for name in names) for names in (MONTHS, DAYS))
_TEXTS: dict[tuple[str, int], tuple[str, tuple[str, ...], int]] = {
    **{(letter, 3): ("month", _SHORT_MONTHS, 1) for letter in "ML"},
    **{(letter, 4): ("month", MONTHS, 1) for letter in "ML"},
    **{("E", count): ("weekday", _SHORT_DAYS, 1) for count in (1, 2, 3)},
    **{(letter, 3): ("weekday", _SHORT_DAYS, 1) for letter in "ec"},
    **{(letter, 4): ("weekday", DAYS, 1) for letter in "Eec"},
    **{(letter, 3): ("quarter", ("Q1", "Q2", "Q3", "Q4"), 1) for letter in "Qq"},
    ("a", 1): ("afternoon", ("AM", "PM"), 0),
    **{("G", count): ("era", ("BC", "AD"), 0) for count in (1, 2, 3)},
    ("G", 4): ("era", ("Before Christ", "Anno Domini"), 0),
}
_OFFSETS = {
    "X": (
        *(r"[+-]\d\d(?:\d\d)?|Z", r"[+-]\d{4}|Z", r"[+-]\d\d:\d\d|Z"),
        *(r"[+-]\d{4}(?:\d\d)?|Z", r"[+-]\d\d:\d\d(?::\d\d)?|Z"),
    ),
    "Z": (r"[+-]\d{4}",) * 3 + (r"GMT(?:[+-]\d\d:\d\d)?", r"[+-]\d\d:\d\d(?::\d\d)?|Z"),
    "O": (r"GMT(?:[+-]\d{1,2}(?::\d\d)?)?",) * 3 + (r"GMT(?:[+-]\d\d:\d\d)?",),
}
_OFFSETS["x"] = tuple(form.removesuffix("|Z") for form in _OFFSETS["X"])
_ZONE = r"[A-Za-z][A-Za-z0-9/_+:-]*|[+-]\d\d(?::?\d\d)?"


class _Field(NamedTuple):
    name: str
    names: tuple[str, ...] | None
    """The texts of a field that is not a number."""
    plus: int
    """What to add to the number, or to the position of a text."""


class _Reading(NamedTuple):
    form: re.Pattern[str]
    fields: tuple[_Field, ...]


def strict_timestamp(text: str, pattern: str, *, precise: bool = False) -> datetime | None:
    """Read a timestamp with a pattern of DateTimeFormatter; None if the text does not fit, or contradicts itself.

    It has ms, or nanoseconds if it is to be ``precise``.

    Raises:
        ValueError: The day is not in the year 1970, which a text without year is of; Flink's job fails, too.
    """
    reading = _reading(pattern)
    match = None if reading is None else reading.form.fullmatch(text)
    if reading is None or match is None:
        return None
    found: dict[str, int] = {}
    for field, part in zip(reading.fields, match.groups(), strict=True):
        if part is None:
            continue
        value = _value(field, part)
        if value is None or found.setdefault(field.name, value) != value:
            return None
    made = _to_timestamp(found)
    if made is None or not precise:
        return made
    nanos = found.get("nano of day", 0 if "milli of day" in found else found.get("fraction", found.get("nano", 0)))
    micros, rest = divmod(nanos % 1_000_000, 1000)  # the ms are there
    return with_nanoseconds(made + timedelta(microseconds=micros), rest)


@lru_cache(PATTERNS)
def _reading(pattern: str) -> _Reading | None:
    """Return what reads a pattern; None if texts cannot have its letters."""
    parts: list[str] = []
    fields: list[_Field] = []
    for found in DATE_PATTERN.finditer(pattern):
        text, letter = found.group(), found.group(2)
        if text in {"[", "]"}:
            parts.append("(?:" if text == "[" else ")?")
        elif letter is None:
            quoted = text.startswith("'") and len(text) > 1
            parts.append(re.escape((found.group(1).replace("''", "'") or "'") if quoted else text))
        else:
            part = _part(letter, len(text))
            if part is None:
                return None
            parts.append(f"({part[0]})")
            fields.append(part[1])
    open_sections = parts.count("(?:") - parts.count(")?")
    return _Reading(re.compile("".join(parts) + ")?" * open_sections), tuple(fields))


def _part(letter: str, count: int) -> tuple[str, _Field] | None:
    """Return the form of a letter and its field."""
    if (letter, count) in _TEXTS:
        name, names, first = _TEXTS[letter, count]
        return "|".join(sorted(names, key=len, reverse=True)), _Field(name, names, first)
    if letter == "S":
        return rf"\d{{{count}}}", _Field("fraction", None, 0)
    if letter in _OFFSETS and count <= len(_OFFSETS[letter]):
        return _OFFSETS[letter][count - 1], _Field("offset", None, 0)
    if letter in "zVv":
        return _ZONE, _Field("zone", None, 0)
    if letter not in _NUMBERS or (count > 2 and letter in "MLecQq"):
        return None
    name = _NUMBERS[letter]
    if letter in "yuY" and count == 2:
        return r"\d\d", _Field(name, None, 2000)
    digits = "{1,19}" if count == 1 else "{3,19}" if letter in "yuY" and count == 3 else f"{{{count}}}"
    if letter in "AnN":
        digits = f"{{{count},19}}"
    elif letter == "D" and count == 2:
        digits = "{2,3}"
    return rf"\d{digits}", _Field(name, None, 0)


def _value(field: _Field, part: str) -> int | None:
    """Return the number of a part of the text; None if it is out of range, or not a zone."""
    if field.names is not None:
        return field.names.index(part) + field.plus
    if field.name == "fraction":
        return int(part.ljust(9, "0")[:9])
    if field.name == "zone":
        return 0 if part in ZONES or is_zone(part) else None
    if field.name == "offset":
        return 0
    value = int(part) + field.plus
    low, high = _RANGES.get(field.name, (MINYEAR, MAXYEAR))
    return value if low <= value <= high else None


def _to_timestamp(found: dict[str, int]) -> datetime | None:
    clock = _clock(found)
    if clock is None:
        return None
    if found.get("era") == 0:
        return None  # before the first year of Python
    day = _date(found)
    if day is None:
        year, month, number = found.get("year", 1970), found.get("month", 1), found.get("day", 1)
        if number > monthrange(year, month)[1]:
            raise ValueError(f"Day {number} is not in month {month} of {year}: the text has no year or no month")
        return datetime.combine(date(year, month, number), clock[1])
    if not _agrees(found, day):
        return None
    return datetime.combine(day, clock[1]) + timedelta(days=clock[0])


def _date(found: dict[str, int]) -> date | None:
    """Return the date if there are all parts of one."""
    if found.keys() >= {"year", "month", "day"}:
        year, month = found["year"], found["month"]
        return date(year, month, min(found["day"], monthrange(year, month)[1]))
    if found.keys() >= {"year", "day of year"}:
        return date(found["year"], 1, 1) + timedelta(days=found["day of year"] - 1)
    if found.keys() >= {"week year", "week", "weekday"}:
        return week_one(found["week year"]) + timedelta(weeks=found["week"] - 1, days=found["weekday"] - 1)
    return None


def _agrees(found: dict[str, int], day: date) -> bool:
    """Return whether the other parts of the text are those of its date."""
    parts = {
        "year": day.year,
        "month": day.month,
        "day of year": day.timetuple().tm_yday,
        "weekday": day.isoweekday() % 7 + 1,
        "quarter": (day.month + 2) // 3,
    }
    if any(found.get(name, value) != value for name, value in parts.items()):
        return False
    return found.get("day", day.day) == day.day or "month" in found


def _clock(found: dict[str, int]) -> tuple[int, time] | None:
    """Return the days to add and the time of day; None if parts contradict each other."""
    hours = found.get("hour")
    if "clock hour" in found:
        hours = found["clock hour"] % 24
    half = found["half clock"] % 12 if "half clock" in found else found.get("half")
    if half is not None and "afternoon" in found:
        of_halves = half + 12 * found["afternoon"]
        if hours not in {None, of_halves}:
            return None
        hours = of_halves
    nanos = found.get("fraction", found.get("nano", 0))
    minute, second = found.get("minute", 0), found.get("second", 0)
    if hours == 24:
        return (1, time()) if not minute and not second and not nanos else None
    if hours is not None and found.get("afternoon", hours // 12) != hours // 12:
        return None
    of_day = found.get("nano of day", found["milli of day"] * 1_000_000 if "milli of day" in found else None)
    if of_day is not None:
        seconds, nanos = divmod(of_day, 1_000_000_000)
        hours, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    return 0, time(hours or 0, minute, second, nanos // 1_000_000 * 1000)
