"""Times read with patterns of Java's SimpleDateFormat: UNIX_TIMESTAMP, TO_DATE, DATE_FORMAT of a text, CONVERT_TZ.

A 13th month is January, a text may go on after the time, and where two parts of a date contradict each other, the later
one counts.

The result is in ms since 1970 by the clocks of the time zone that the text names, and in Java's calendar, which is
Julian until 1582.

>>> lenient_ms("1970-02-30 24:00:01 or so")
5270401000
>>> lenient_ms("5/1/70", "d/M/yy"), lenient_ms("no", "yyyy")
(345600000, None)
>>> lenient_moment("01/Jan/1970:10:11:12 +0100", "dd/MMM/yyyy:HH:mm:ss Z")
(36672000, 3600)
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from functools import lru_cache
from typing import NamedTuple

from flintstream.table._expressions.times.java_calendar import DAY_MS, resolve, weekday
from flintstream.table._expressions.times.patterns import DAYS, MONTHS, PATTERNS, UNIX_PATTERN

_NUMBER = re.compile(r"-?\d+")
_NUMBERS = {
    "y": "year",
    "Y": "week year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day of year",
    "w": "week",
    "W": "week of month",
    "F": "weekday in month",
    "u": "weekday",
    "H": "hour",
    "k": "hour",
    "h": "half",
    "K": "half",
    "m": "minute",
    "s": "second",
    "S": "milli",
}
_TEXTS: dict[str, tuple[str, tuple[tuple[str, int], ...]]] = {
    "M": ("month", tuple((name, at + 1) for at, name in enumerate(MONTHS))),
    "E": ("weekday", tuple((name, at + 1) for at, name in enumerate(DAYS))),
    "a": ("afternoon", (("AM", 0), ("PM", 1))),
    "G": ("era", (("BC", 0), ("AD", 1), ("Before Christ", 0), ("Anno Domini", 1))),
}
ZONES = {
    "GMT": 0,
    "UTC": 0,
    "UT": 0,
    "WET": 0,
    "WEST": 60,
    "CET": 60,
    "CEST": 120,
    "EET": 120,
    "EEST": 180,
    "MSK": 180,
    "EST": -300,
    "EDT": -240,
    "CST": -360,
    "CDT": -300,
    "MST": -420,
    "MDT": -360,
    "PST": -480,
    "PDT": -420,
    "AKST": -540,
    "AKDT": -480,
    "HST": -600,
    "JST": 540,
    "KST": 540,
    "BST": 60,
    "SGT": 480,
    "HKT": 480,
    "NZST": 720,
}
"""Names of time zones in texts, and their minutes east of Greenwich."""
_ZONE = re.compile(r"GMT([+-])(\d{1,2})(?::?(\d\d))?|([+-])(\d\d)(\d\d)|[A-Za-z]{2,5}", re.IGNORECASE)
_ISO_ZONES = tuple(re.compile(rf"Z|([+-])(\d\d){end}") for end in ("", r"(\d\d)", r":(\d\d)"))


class _Part(NamedTuple):
    letter: str | None
    text: str
    """The letters, or what is not a letter."""
    fixed: bool
    """Whether a number follows at once, so that this one has as many digits as letters."""


def lenient_ms(text: str, pattern: str = "yyyy-MM-dd HH:mm:ss") -> int | None:
    """Read a time as Java's SimpleDateFormat does, in the zone that it names; None if the text is none.

    Raises:
        ValueError: It is not a pattern.
    """
    return lenient_moment(text, pattern)[0]


def lenient_moment(text: str, pattern: str = "yyyy-MM-dd HH:mm:ss") -> tuple[int | None, int | None]:
    """Read a time and the seconds of its zone east of Greenwich, None if it names no zone.

    Raises:
        ValueError: It is not a pattern.
    """
    found: dict[str, int] = {}  # in the order of the text: of fields that contradict each other, the last one counts
    at = 0
    for part in _parts(pattern):
        if part.letter is None:
            if not text.startswith(part.text, at):
                return None, None
            at += len(part.text)
            continue
        while text[at : at + 1] in {" ", "\t"}:
            at += 1
        ends = _read_part(text, at, part, found)
        if ends is None:
            return None, None
        at = ends
    zone = found.pop("zone", None)
    if not at:
        return None, None
    return _to_ms(found), zone


@lru_cache(PATTERNS)
def _parts(pattern: str) -> tuple[_Part, ...]:
    pieces = list(UNIX_PATTERN.finditer(pattern))
    parts = []
    for found, following in zip(pieces, [*pieces[1:], None], strict=False):
        text, letter = found.group(), found.group(2)
        if letter is not None and letter not in _NUMBERS and letter not in "EaGzZX":
            raise ValueError(f"'{pattern[:100]}' has {letter}, which patterns do not have")
        if text == "'":
            raise ValueError(f"'{pattern[:100]}' has an unclosed quote")
        if letter is None and text.startswith("'"):
            text = found.group(1).replace("''", "'") or "'"
        fixed = following is not None and _is_number(following.group(2), len(following.group()))
        parts.append(_Part(letter, text, fixed))
    return tuple(parts)


def _is_number(letter: str | None, count: int) -> bool:
    return letter in _NUMBERS and not (letter in {"M", "L"} and count > 2)


def _read_part(text: str, at: int, part: _Part, found: dict[str, int]) -> int | None:
    """Read a letter into ``found``; return where it ends, None if it is not there."""
    letter = part.letter or ""
    if letter in "zZX":
        return _read_zone(text, at, part, found)
    if not _is_number(letter, len(part.text)):
        return _read_name(text, at, "M" if letter == "L" else letter, found)
    if part.fixed and at + len(part.text) > len(text):
        return None
    number = _NUMBER.match(text, at, at + len(part.text) if part.fixed else at + 20)
    if number is None:
        return None
    value = int(number.group())
    if letter in "yY" and len(part.text) <= 2 and number.end() - at == 2 and value >= 0:
        value = _of_this_century(value)
    elif letter == "u":
        value = value % 7 + 1 if 0 < value <= 7 else value
    elif (letter, value) in {("k", 24), ("h", 12)}:
        value = 0
    _set(found, _NUMBERS[letter], value)
    return number.end()


def _read_name(text: str, at: int, letter: str, found: dict[str, int]) -> int | None:
    """Read a name of a month, a day, a half of a day or an era; case does not matter, and the longest one counts."""
    field, names = _TEXTS[letter]
    best = 0
    for name, value in names:
        for form in (name, name[:3]) if letter in "ME" else (name,):
            if len(form) > best and text[at : at + len(form)].casefold() == form.casefold():
                best = len(form)
                _set(found, field, value)
    return at + best if best else None


def _read_zone(text: str, at: int, part: _Part, found: dict[str, int]) -> int | None:
    if part.letter == "X":
        zone = _ISO_ZONES[min(len(part.text), 3) - 1].match(text, at)
        if zone is None:
            return None
        sign, hours, minutes = (*zone.groups(), None)[:3]
    else:
        zone = _ZONE.match(text, at)
        if zone is None:
            return None
        groups = zone.groups()
        sign, hours, minutes = groups[:3] if groups[0] else groups[3:]
        if sign is None:
            name = zone.group().upper()
            if name not in ZONES:
                return None
            _set(found, "zone", ZONES[name] * 60)
            return zone.end()
    offset = int(hours or 0) * 60 + int(minutes or 0)
    _set(found, "zone", (-offset if sign == "-" else offset) * 60)
    return zone.end()


def _set(found: dict[str, int], field: str, value: int) -> None:
    found.pop(field, None)
    found[field] = value


def _of_this_century(year: int) -> int:
    """Return the year with two digits that is at most 80 years ago, or 20 years ahead."""
    now = datetime.now(timezone.utc).year
    return next(full for full in range(now - 80 + 1, now + 21) if full % 100 == year)


def _to_ms(found: dict[str, int]) -> int:
    """Return the time of fields, of which any may be out of range."""
    order = {field: at for at, field in enumerate(found, 1)}
    year = found.get("year", 1970)
    if order.get("week year", 0) > order.get("year", 0):
        year = found["week year"]
        found = {"week": 1, "weekday": 1, **found}
        found.pop("day", None)
        order = {"week": 1, "weekday": 1}
    if found.get("era") == 0:
        year = 1 - year
    year, month = divmod(year * 12 + found.get("month", 1) - 1, 12)
    days = resolve(year, lambda first_of: _days(found, order, first_of(year, month + 1), first_of(year, 1)))
    seconds = (_hours(found, order) * 60 + found.get("minute", 0)) * 60 + found.get("second", 0)
    return days * DAY_MS + seconds * 1000 + found.get("milli", 0)


def _days(found: dict[str, int], order: dict[str, int], month: int, year: int) -> int:
    """Return the days since 1970 of the fields that Java's calendar would take, from the starts of month and year."""
    last = order.get("weekday", 0)

    def both(field: str) -> int:
        return max(order.get(field, 0), last) if field in order and last else 0

    ranks = {
        "day": order.get("day", 0),
        "week of month": both("week of month"),
        "weekday in month": both("weekday in month"),
        "day of year": order.get("day of year", 0),
        "week": both("week"),
    }
    if not any(ranks.values()):
        ranks["week of month"] = order.get("week of month", 0)
        ranks["weekday in month"] = max(order.get("weekday in month", 0), last)
        ranks["week"] = order.get("week", 0)
    kind = max(ranks, key=ranks.__getitem__)
    if kind == "day":
        return month + found.get("day", 1) - 1
    if kind == "day of year":
        return year + found["day of year"] - 1
    start = year if kind == "week" else month
    of_start, wanted = weekday(start), (found.get("weekday", 1) - 1) % 7
    if kind == "weekday in month":
        return start + (wanted - of_start) % 7 + 7 * (found.get("weekday in month", 1) - 1)
    return start - of_start + wanted + 7 * (found[kind] - 1)


def _hours(found: dict[str, int], order: dict[str, int]) -> int:
    half = found.get("half", 0) + 12 * found.get("afternoon", 0)
    if "hour" not in found:
        return half
    both = "half" in order and "afternoon" in order
    return half if both and max(order["half"], order["afternoon"]) > order["hour"] else found["hour"]
