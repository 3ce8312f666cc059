"""Durations and memory sizes in the notation of configurations: ``10 s``, ``64 mb``."""

from __future__ import annotations

import re

__all__ = [
    "DAY",
    "KB",
    "MB",
    "MILLISECOND",
    "MINUTE",
    "SECOND",
    "duration_text",
    "parse_bytes",
    "parse_nanos",
    "size_text",
]

KB = 1 << 10
MB = 1 << 20

SECOND = 1_000
"""In milliseconds, like :data:`MINUTE`."""
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE

MILLISECOND = 1_000_000
"""In nanoseconds."""
_SECOND = 1_000 * MILLISECOND

# Largest first. The first name of each unit is used for output. Flink has all of these except "us" and "secs".
_TIMES = {
    86_400 * _SECOND: ("d", "day", "days"),
    3_600 * _SECOND: ("h", "hour", "hours"),
    60 * _SECOND: ("min", "m", "minute", "minutes"),
    _SECOND: ("s", "sec", "secs", "second", "seconds"),
    MILLISECOND: ("ms", "milli", "millis", "millisecond", "milliseconds"),
    1_000: ("us", "µs", "μs", "micro", "micros", "microsecond", "microseconds"),  # the micro sign and the letter mu
    1: ("ns", "nano", "nanos", "nanosecond", "nanoseconds"),
}
_SIZES = {
    1 << 40: ("tb", "t", "tebibytes"),
    1 << 30: ("gb", "g", "gibibytes"),
    MB: ("mb", "m", "mebibytes"),
    KB: ("kb", "k", "kibibytes"),
    1: ("bytes", "b", ""),
}
_NANOS_OF = {name: unit for unit, names in _TIMES.items() for name in names}
_BYTES_OF = {name: unit for unit, names in _SIZES.items() for name in names}

# Python refuses to read numbers of thousands of digits, with an error of its own.
_AMOUNT = re.compile(r"([0-9]{1,40})\s*([A-Za-zµμ]*)")
_ISO = re.compile(
    r"([+-]?)P(?:([+-]?\d{1,40})D)?(?:T(?:([+-]?\d{1,40})H)?(?:([+-]?\d{1,40})M)?(?:([+-]?\d{1,40})(?:\.(\d{1,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)


def parse_nanos(text: str) -> int:
    """Parse a duration such as ``10 s``, ``5min`` or ``PT1M30S`` into nanoseconds. A bare number is milliseconds.

    Raises:
        ValueError: The text is not a duration.

    >>> parse_nanos("5 s") == parse_nanos("5000") == parse_nanos("PT5S") == 5 * 10**9
    True
    """
    stripped = text.strip()
    amount = _AMOUNT.fullmatch(stripped)
    if amount is not None:
        unit = _NANOS_OF.get(amount[2].lower() or "ms")
        if unit is not None:
            return int(amount[1]) * unit
    iso = _ISO.fullmatch(stripped)
    if iso is not None and any(iso.groups()[1:]):
        return _nanos_of_iso(*iso.groups())
    raise ValueError(f"{text!r} is not a duration: write it like '10 s', '5 min', '250 ms' or 'PT1M30S'")


def _nanos_of_iso(
    sign: str, days: str | None, hours: str | None, minutes: str | None, seconds: str | None, fraction: str | None
) -> int:
    whole = int(days or 0) * 86_400 + int(hours or 0) * 3_600 + int(minutes or 0) * 60 + int(seconds or 0)
    nanos = int((fraction or "").ljust(9, "0"))
    total = whole * _SECOND + (-nanos if (seconds or "").startswith("-") else nanos)
    return -total if sign == "-" else total


def duration_text(nanos: int) -> str:
    """Return a duration as text, in the largest unit that gives a whole number.

    >>> duration_text(90 * 10**9), duration_text(2 * 3600 * 10**9), duration_text(0)
    ('90 s', '2 h', '0 ms')
    """
    unit = next(unit for unit in _TIMES if nanos % unit == 0) if nanos else MILLISECOND
    return f"{nanos // unit} {_TIMES[unit][0]}"


def parse_bytes(text: str) -> int:
    """Parse a memory size such as ``20 kb`` or ``64mb`` into bytes. A bare number is bytes.

    Raises:
        ValueError: The text is not a memory size.

    >>> parse_bytes("20 kb"), parse_bytes("4096")
    (20480, 4096)
    """
    amount = _AMOUNT.fullmatch(text.strip())
    unit = None if amount is None else _BYTES_OF.get(amount[2].lower())
    if amount is None or unit is None:
        raise ValueError(f"{text!r} is not a memory size: write it like '4096', '20 kb', '5 mb' or '1 gb'")
    return int(amount[1]) * unit


def size_text(size: int) -> str:
    """Return a number of bytes as text, in the largest unit that gives a whole number.

    >>> size_text(5 << 20), size_text(1500)
    ('5 mb', '1500 bytes')
    """
    unit = next(unit for unit in _SIZES if size % unit == 0) if size else 1
    return f"{size // unit} {_SIZES[unit][0]}"
