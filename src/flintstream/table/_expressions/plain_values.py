"""Plain values, which most records have: generated code asks here first, and elsewhere if the answer is None.

Compiled code takes the place of these functions if there is any.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from flintstream.compiled import load

__all__ = ["moment_of", "plain_integer", "show_fields"]

_EPOCH = datetime.fromtimestamp(0, timezone.utc).replace(tzinfo=None)
_LONGEST = 18


def plain_integer(text: str, bits: int) -> int | None:
    """Return the number of a text of digits, perhaps behind a minus; None for another text, or more bits.

    >>> plain_integer("-12", 32), plain_integer("1.5", 32), plain_integer("128", 8)
    (-12, None, None)
    """
    digits = text[1:] if text[:1] == "-" else text
    if not digits.isdecimal() or not digits.isascii() or len(digits) > _LONGEST:
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def moment_of(ms: int) -> datetime:
    """Return the datetime of ms since 1970, from the year 1 to 9999.

    >>> moment_of(-1)
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)
    """
    return _EPOCH + timedelta(0, 0, 0, ms)


def show_fields(moment: datetime, pattern: str) -> str | None:
    """Return the year, month, day, hour, minute and second that a pattern of these alone has; None for other values.

    >>> show_fields(datetime(2026, 1, 2, 3, 4), "yyyy-MM-dd HH:mm")
    '2026-01-02 03:04'
    """
    if type(moment) is not datetime:
        return None
    parts = {"yyyy": moment.year, "MM": moment.month, "dd": moment.day}
    parts |= {"HH": moment.hour, "mm": moment.minute, "ss": moment.second}
    shown = pattern
    for run, part in parts.items():
        shown = shown.replace(run, f"{part:0{len(run)}d}")
    return shown


if (_compiled := load("values")) is not None:
    plain_integer = _compiled.plain_integer
    moment_of = _compiled.moment_of
    show_fields = _compiled.show_fields
