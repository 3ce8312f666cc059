"""Conversion between texts and values, compatible with Java."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import math
import re
from calendar import monthrange
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from flintstream.common._text.java import double_text, instant_text, narrow
from flintstream.common._types.nanoseconds import fraction_of
from flintstream.common.time import Instant
from flintstream.connectors.formats.errors import Misfit
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

BITS = {"BYTE": 8, "SHORT": 16, "INT": 32, "LONG": 64}

_FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fFdD]?", re.ASCII)
_NOT_FINITE = {"NaN": math.nan, "+NaN": math.nan, "-NaN": math.nan}
_INFINITE = {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}
_SPECIAL = _NOT_FINITE | _INFINITE

_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{0,9}))?"
_SHORT_TIME = r"(\d\d?):(\d\d?):(\d\d?)(?:\.(\d{1,9}))?"
_ISO_TIME = re.compile(rf"{_TIME}Z", re.ASCII)
_ISO_TIMESTAMP = re.compile(rf"(\d{{4}}-\d\d-\d\d)T{_TIME}Z", re.ASCII)
_ISO_INSTANT = re.compile(rf"(\d{{4}}-\d\d-\d\d)T{_TIME}(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_SECONDS = re.compile(r"([+-]?\d+)(?:\.(\d{0,9})\d*)?", re.ASCII)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SQL_DATE = re.compile(r"\d{4}-\d\d?-\d\d?", re.ASCII)
_SQL_TIME = re.compile(r"(\d\d?):(\d\d?):(\d\d?)", re.ASCII)
_SQL_TIMESTAMP = re.compile(rf"(\d{{4}}-\d\d?-\d\d?) {_SHORT_TIME}", re.ASCII)
_LOCAL_TIMESTAMP = re.compile(rf"(\d{{4}}-\d\d-\d\d) {_TIME}", re.ASCII)
_SQL_INSTANT = re.compile(rf"(\d{{4}}-\d\d-\d\d) {_TIME}Z", re.ASCII)


def fails(value: object, wanted: str) -> Misfit:
    """Return the error for a value that is not ``wanted``."""
    return Misfit(f"{shorten(value, 60)} is not {wanted}")


def integer(bits: int | None) -> Callable[[str], int]:
    """Return a function that reads integers of ``bits`` bits; of any size if None."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits else (0, 0)
    wanted = f"{'an' if bits == 8 else 'a'} {bits}-bit integer" if bits else "an integer"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise fails(text, wanted) from None
        if "_" in text or (bits and not low <= number <= high):
            raise fails(text, wanted)
        return number

    return read


def double(text: str) -> float:
    """Read a 64-bit floating point number."""
    try:
        value = float(text)
    except ValueError:
        return _odd_double(text)
    return value if value - value == 0 and text.isascii() and "_" not in text else _odd_double(text)


def _odd_double(text: str) -> float:
    """Read a number that Java and Python parse differently."""
    stripped = text.strip()
    if _FLOAT.fullmatch(stripped):
        return float(stripped.rstrip("fFdD"))
    if stripped in _SPECIAL:
        return _SPECIAL[stripped]
    if _HEXADECIMAL.fullmatch(stripped):
        return float.fromhex(stripped.rstrip("fFdD"))
    raise fails(text, "a number")


def single(text: str) -> float:
    """Read a 32-bit floating point number."""
    return narrow(double(text))


def decimal(text: str) -> Decimal:
    """Read a decimal number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise fails(text, "a decimal number") from None
    if not number.is_finite() or "_" in text:
        raise fails(text, "a decimal number")
    return number


def boolean(text: str) -> bool:
    """Return True for ``true`` in any case, and False for everything else."""
    return text.strip().lower() == "true"


def base64_bytes(text: str) -> bytes:
    """Decode padded Base64."""
    try:
        return base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Misfit(f"{shorten(text, 60)} is not Base64: {error}") from None


def iso_date(text: str) -> dt.date:
    """Read ``2020-01-02``."""
    if not _ISO_DATE.fullmatch(text):
        raise fails(text, "a date like 2020-01-02")
    return _date(text)


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError as error:
        raise Misfit(f"{shorten(text, 60)} is not a date: {error}") from None


def _last_of_month(text: str) -> dt.date:
    """Read a date; a day up to the 31st that its month lacks is the last of the month, as in ``java.time``."""
    year, month, day = map(int, text.split("-"))
    if 1 <= month <= 12 and year >= dt.MINYEAR and day <= 31:
        day = min(day, monthrange(year, month)[1])
    return _date(f"{year:04}-{month:02}-{day:02}")


def _carried_over(text: str) -> dt.date:
    """Read a date; a day up to the 31st that its month lacks is in the next one, as in ``java.sql``."""
    last = _last_of_month(text)
    return last + dt.timedelta(days=int(text.rpartition("-")[2]) - last.day)


def _micros(fraction: str | None) -> int:
    return int(fraction[:6].ljust(6, "0")) if fraction else 0


def _time(match: re.Match[str], first: int) -> dt.time:
    """Return the time of day in three groups and an optional fourth for the fraction; 24:00:00 becomes midnight."""
    hour, minute, second, fraction = match.group(first, first + 1, first + 2, first + 3)
    if (hour, minute, second) == ("24", "00", "00") and not (fraction or "").strip("0"):
        hour = "00"
    try:
        return dt.time(int(hour), int(minute), int(second), _micros(fraction))
    except ValueError as error:
        raise Misfit(f"{shorten(match.group(), 60)} is not a time: {error}") from None


def _datetime(match: re.Match[str], day: Callable[[str], dt.date] = _date) -> dt.datetime:
    value = dt.datetime.combine(day(_pad(match.group(1))), _time(match, 2))
    return value + dt.timedelta(days=1) if match.group(2) == "24" else value


def iso_time(text: str) -> dt.time:
    """Read ``01:02:03Z``; a fraction must be zero."""
    match = _ISO_TIME.fullmatch(text)
    if match is None or (match.group(4) or "").strip("0"):
        raise fails(text, "a time like 01:02:03Z, in whole seconds")
    return _time(match, 1)


def iso_timestamp(text: str) -> dt.datetime:
    """Read ``2020-01-02T03:04:05.123Z``, with microsecond precision."""
    match = _ISO_TIMESTAMP.fullmatch(text)
    if match is None:
        raise fails(text, "a timestamp like 2020-01-02T03:04:05.123Z")
    return _datetime(match, _last_of_month)


_FIRST_SECOND, _LAST_SECOND = -31_557_014_167_219_200, 31_556_889_864_403_199
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - these values have no time zone


def _instant(match: re.Match[str], offset_seconds: int = 0) -> Instant:
    since = _datetime(match) - _EPOCH
    fraction = match.group(5)
    nanos = int(fraction.ljust(9, "0")) if fraction else 0
    return Instant(since.days * 86_400 + since.seconds - offset_seconds, nanos)


def iso_instant(text: str) -> Instant | None:
    """Read ``2020-01-02T03:04:05.123Z``, also with an offset, or seconds since the epoch; None for an empty text."""
    stripped = text.strip()
    if not stripped:
        return None
    match = _ISO_INSTANT.fullmatch(stripped)
    if match is not None:
        sign, hours, minutes = match.group(6, 7, 8)
        offset = (int(hours) * 60 + int(minutes)) * 60 if sign else 0
        return _instant(match, -offset if sign == "-" else offset)
    match = _SECONDS.fullmatch(stripped)
    if match is None:
        raise fails(text, "a point in time like 2020-01-02T03:04:05.123Z")
    return seconds_instant(Decimal(stripped))


def seconds_instant(seconds: Decimal | int) -> Instant:
    """Return the point in time ``seconds`` after the epoch, if Java has it."""
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise fails(seconds, "a point in time within a billion years")
    whole = math.floor(seconds)
    return Instant(whole, min(int((seconds - whole) * 1_000_000_000), 999_999_999))


def sql_date(text: str) -> dt.date:
    """Read ``2020-01-02``, also ``2020-1-2``; February 30 is in March.

    >>> sql_date("2020-2-30")
    datetime.date(2020, 3, 1)
    """
    if not _SQL_DATE.fullmatch(text):
        raise fails(text, "a date like 2020-01-02")
    return _carried_over(_pad(text))


def _pad(text: str) -> str:
    year, month, day = text.split("-")
    return f"{year}-{month:0>2}-{day:0>2}"


def sql_time(text: str) -> dt.time:
    """Read ``01:02:03``, also ``1:2:3``."""
    match = _SQL_TIME.fullmatch(text)
    if match is None:
        raise fails(text, "a time like 01:02:03")
    hour, minute, second = map(int, match.groups())
    try:
        return dt.time(0 if (hour, minute, second) == (24, 0, 0) else hour, minute, second)
    except ValueError as error:
        raise Misfit(f"{shorten(text, 60)} is not a time: {error}") from None


def sql_timestamp(text: str) -> dt.datetime:
    """Read ``2020-01-02 03:04:05.123``, also ``2020-1-2 3:4:5``, with microsecond precision."""
    match = _SQL_TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise fails(text, "a timestamp like 2020-01-02 03:04:05.123")
    return _datetime(match, _carried_over)


def local_timestamp(text: str) -> dt.datetime:
    """Read ``2020-01-02 03:04:05.123``, with microsecond precision."""
    match = _LOCAL_TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise fails(text, "a timestamp like 2020-01-02 03:04:05.123")
    return _datetime(match, _last_of_month)


def sql_instant(text: str) -> Instant:
    """Read ``2020-01-02 03:04:05.123Z``."""
    match = _SQL_INSTANT.fullmatch(text)
    if match is None:
        raise fails(text, "a point in time like 2020-01-02 03:04:05.123Z")
    return _instant(match)


def number_text(value: float) -> str:
    """Format a number like ``Double.toString``; Python gives the same in the common case."""
    return repr(value) if 0.001 <= value < 1e7 or -1e7 < value <= -0.001 else double_text(value)


def decimal_text(value: Decimal) -> str:
    """Format a number like ``BigDecimal.toString``."""
    return str(value)


def base64_text(value: bytes) -> str:
    """Encode bytes as Base64."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def fraction_text(microsecond: int) -> str:
    """Return the fraction of a second without trailing zeros; empty if zero."""
    return f".{microsecond:06d}".rstrip("0") if microsecond else ""


def iso_timestamp_text(value: dt.datetime) -> str:
    """Format as ``2020-01-02T03:04:05.123Z``."""
    return f"{value.replace(microsecond=0).isoformat()}{fraction_text(value.microsecond)}Z"


def iso_time_text(value: dt.time) -> str:
    """Format as ``01:02:03Z``."""
    return f"{value.replace(microsecond=0).isoformat()}Z"


def sql_instant_text(value: Instant) -> str:
    """Format as ``2020-01-02 03:04:05.12Z``, without trailing zeros in the fraction.

    >>> sql_instant_text(Instant(0, 500_000_000)), sql_instant_text(Instant(0, 0))
    ('1970-01-01 00:00:00.5Z', '1970-01-01 00:00:00Z')
    """
    text = instant_text(value).replace("T", " ").removesuffix("Z")
    return f"{text.rstrip('0') if value.nanos else text}Z"


def sql_timestamp_text(value: dt.datetime) -> str:
    """Format as ``2020-01-02 03:04:05.123``, without trailing zeros in the fraction, or without a fraction."""
    fraction = fraction_of(value).rstrip("0")
    return f"{value.replace(microsecond=0, tzinfo=None).isoformat(' ')}{fraction and '.'}{fraction}"
