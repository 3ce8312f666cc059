"""Java's text form of values, as Flink's print and file sinks show them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from flintstream.common._types.nanoseconds import fraction_of, nanoseconds_of

if TYPE_CHECKING:
    from datetime import datetime, time

    from flintstream.common.time import Instant

_FLOAT32 = struct.Struct("f")


def narrow(value: float) -> float:
    """Round ``value`` to a 32-bit float; values that are too large become infinite, as in C.

    >>> narrow(110.1)
    110.0999984741211
    """
    try:
        return _FLOAT32.unpack(_FLOAT32.pack(value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _java_notation(shortest: str) -> str:
    """Convert Python's shortest text of a finite number: plain from 1e-3 up to 1e7, otherwise like ``1.5E10``."""
    mantissa, _, exponent_text = shortest.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign + "0.0"
    leading_zeros = len(whole + fraction) - len(digits)
    exponent = int(exponent_text or 0) + len(whole) - leading_zeros - 1  # of the first digit
    digits = digits.rstrip("0") or "0"
    if -3 <= exponent < 7:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
        padded = digits.ljust(exponent + 1, "0")
        return f"{sign}{padded[: exponent + 1]}.{padded[exponent + 1 :] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def double_text(value: float) -> str:
    """Format like ``Double.toString``.

    >>> double_text(1e10), double_text(100.0), double_text(0.0001), double_text(float("inf"))
    ('1.0E10', '100.0', '1.0E-4', 'Infinity')
    """
    if value - value != 0:  # infinite or NaN
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")  # noqa: PLR0124 - NaN
    if -_TINY < value < _TINY and value:
        return _java_notation(f"{value:.1e}")  # Java has two digits at least, and one need not be the first of two
    return _java_notation(repr(float(value)))


_TINY, _TINY_FLOAT = 1e-322, 1e-43


def float_text(value: float) -> str:
    """Format like ``Float.toString``: with the fewest digits that identify the 32-bit float.

    >>> float_text(110.0999984741211)
    '110.1'
    """
    value = narrow(value)
    if value - value != 0:
        return double_text(value)
    for precision in range(2 if -_TINY_FLOAT < value < _TINY_FLOAT else 1, 9):
        text = f"{value:.{precision}g}"
        if narrow(float(text)) == value:
            return _java_notation(text)
    return _java_notation(f"{value:.9g}")


def timestamp_text(value: datetime) -> str:
    """Format like ``java.sql.Timestamp.toString``: with at least one fractional digit.

    >>> from datetime import datetime
    >>> timestamp_text(datetime(2020, 2, 3, 4, 5, 6, 7000))
    '2020-02-03 04:05:06.007'
    """
    fraction = fraction_of(value).rstrip("0") or "0"
    return f"{value.year:04d}-{value:%m-%d %H:%M:%S}.{fraction}"


def clock_text(value: time | datetime) -> str:
    """Format like ``java.time.LocalTime.toString``: without zero seconds, and with 0, 3 or 6 fractional digits.

    >>> from datetime import time
    >>> clock_text(time(1, 2)), clock_text(time(1, 2, 3)), clock_text(time(1, 2, 3, 4000))
    ('01:02', '01:02:03', '01:02:03.004')
    """
    nanos = nanoseconds_of(value)
    if value.microsecond or nanos:
        return f"{value:%H:%M:%S.%f}{f'{nanos:03d}' if nanos else ''}".removesuffix("000")
    return f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"


def instant_text(value: Instant) -> str:
    """Format like ``java.time.Instant.toString``: with 0, 3, 6 or 9 fractional digits.

    >>> from flintstream.common.time import Instant
    >>> instant_text(Instant(1, 500_000_000)), instant_text(Instant(-1, 1))
    ('1970-01-01T00:00:01.500Z', '1969-12-31T23:59:59.000000001Z')
    """
    days, rest = divmod(value.seconds, 86_400)
    year, month, day = _civil_from_days(days)
    fraction = f"{value.nanos:09d}"
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    point = "." if fraction else ""
    year_text = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{year_text}-{month:02d}-{day:02d}T{clock}{point}{fraction}Z"


def _civil_from_days(days: int) -> tuple[int, int, int]:
    """Return the proleptic Gregorian date of a day since the epoch (datetime ends in the year 9999)."""
    days += 719_468  # days since 0000-03-01, which puts the leap day at the end of the year
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return year, month, day_of_year - (153 * shifted_month + 2) // 5 + 1


def plain_text(value: str) -> str:
    """Return a string as a plain ``str``: members of a str enum would print differently.

    >>> from enum import Enum
    >>> plain_text(Enum("Color", {"RED": "red"}, type=str).RED)
    'red'
    """
    return str.__str__(value)


def untyped_text(value: object) -> str:
    """Return the text of a record of an untyped stream: strings unchanged, anything else as Python's ``str``.

    >>> untyped_text("a"), untyped_text(None), untyped_text(("a", 1))
    ('a', 'None', "('a', 1)")
    """
    if type(value) is str:
        return value
    return str.__str__(value) if isinstance(value, str) else str(value)
