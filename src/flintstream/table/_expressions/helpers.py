"""Functions that generated code calls: Flink's semantics where Python's differ. No argument is None."""

from __future__ import annotations

import math
import random
import re
from datetime import date, datetime, time, timedelta, timezone
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, TypeVar

from flintstream.common._text.java import clock_text, double_text, float_text, narrow
from flintstream.common._types.nanoseconds import fraction_of, nanoseconds_of, plain_datetime, with_nanoseconds
from flintstream.common.types import RowKind, _make_row

WIDE = Context(prec=76)
ZERO_BYTE = b"\0"
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")
_LONG = 4000
"""Digits of a number that is out of range anyway; Python reads no more than 4300."""
_CUT = re.compile(r"([+-]?[0-9]*\.?[0-9]*)[\x00-\x7f]")
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - values of SQL have no zone

__all__ = [
    "Decimal",
    "date",
    "datetime",
    "math",
    "narrow",
    "random",
    "timedelta",
]


# -- numbers -----------------------------------------------------------------------------------------------------------


def divide(a: int, b: int) -> int:
    """Divide toward zero."""
    if b == 0:
        raise ArithmeticError("/ by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """Return the remainder with the sign of the dividend."""
    if b == 0:
        raise ArithmeticError("/ by zero")
    rest = abs(a) % abs(b)
    return rest if a >= 0 else -rest


def divide_doubles(a: float, b: float) -> float:
    """Divide like Java: by zero gives infinity or NaN."""
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)  # noqa: PLR0124 - NaN


def fit(value: Decimal, precision: int, scale: int) -> Decimal | None:
    """Round to a decimal type; None if there are too many digits."""
    if not value.is_finite():
        return None
    try:
        rounded = value.quantize(Decimal((0, (1,), -scale)), ROUND_HALF_UP, WIDE)
    except InvalidOperation:
        return None
    return WIDE.plus(rounded) if rounded.copy_abs() < 10 ** (precision - scale) else None  # zero has no sign


def divide_decimals(a: Decimal, b: Decimal, precision: int, scale: int) -> Decimal | None:
    """Divide, rounded to the type of the result."""
    if not b:
        raise ArithmeticError("Division by zero")
    return fit(WIDE.divide(a, b), precision, scale)


def remainder_decimals(a: Decimal, b: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return the remainder with the sign of the dividend."""
    if not b:
        raise ArithmeticError("Division by zero")
    return fit(WIDE.remainder(a, b), precision, scale)


def whole(value: float, bits: int) -> int:
    """Convert to an integer like Java: toward zero, to the nearest value that fits."""
    if value != value:  # noqa: PLR0124 - NaN
        return 0
    most = (1 << (max(bits, 32) - 1)) - 1
    limited = most if value >= most else -most - 1 if value <= -most - 1 else int(value)
    return wrap(limited, bits)


def wrap(value: int, bits: int) -> int:
    """Keep the lowest bits, as Java's integers do."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def round_number(value: object, digits: int = 0) -> Any:
    """Round half up to a number of digits after the point."""
    if isinstance(value, float) and (value - value != 0 or abs(value) >= 1 << 53):  # such a value is whole
        return value
    return _with_digits(value, digits, ROUND_HALF_UP)


def truncate_number(value: Any, digits: int = 0) -> Any:
    """Cut to a number of digits after the point."""
    return value if value - value != 0 else _with_digits(value, digits, ROUND_DOWN)


def _with_digits(value: Any, digits: int, rounding: str) -> Any:
    exact = Decimal(repr(value) if isinstance(value, float) else value)
    if digits < 0 and (not exact or digits < -exact.adjusted() - 1):
        exact = Decimal(0)
    elif digits < -int(exact.as_tuple().exponent):
        exact = exact.quantize(Decimal((0, (1,), -digits)), rounding, WIDE)
    if isinstance(value, float):
        return float(exact) + 0.0  # a decimal of Java has no negative zero
    if isinstance(value, int):
        return int(exact)
    return WIDE.plus(exact if digits >= 0 else exact.quantize(Decimal(1), context=WIDE))  # zero has no sign


# -- casts from and to text --------------------------------------------------------------------------------------------


def parse_integer(text: str, bits: int) -> int:
    """Read an integer; a fraction is cut off."""
    stripped = text.strip()
    number = int(stripped[:_LONG]) if _WHOLE.fullmatch(stripped) else None
    if number is None and "e" in stripped.lower():
        raise ValueError(f"For input string: '{text}'. Invalid character found.")
    if number is None:
        number = int(parse_decimal(stripped).to_integral_value(ROUND_DOWN))
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError(f"For input string: '{text}'. Value out of range.")
    return number


def parse_short_decimal(text: str) -> Decimal:
    """Read a decimal number of at most 18 digits. As in Flink, one wrong character at its end does not count."""
    cut_off = _CUT.fullmatch(text.strip())
    if cut_off is None or text.strip()[-1].isdigit():
        return parse_decimal(text)
    return Decimal(cut_off[1] if cut_off[1].strip("+-.") else 0)


def parse_decimal(text: str) -> Decimal:
    """Read a decimal number."""
    stripped = text.strip()
    if not _DOUBLE.fullmatch(stripped) or stripped[-1].isalpha():
        raise ValueError(f"For input string: '{text}'. Invalid character found.")
    try:
        return Decimal(stripped)
    except InvalidOperation:  # the exponent is too large
        raise ValueError(f"For input string: '{text}'. Value out of range.") from None


def parse_double(text: str) -> float:
    """Read a floating point number as Java writes it."""
    stripped = text.strip()
    if _DOUBLE.fullmatch(stripped):
        return float(stripped.rstrip("fFdD"))
    if _HEXADECIMAL.fullmatch(stripped):
        try:
            return float.fromhex(stripped.rstrip("fFdD"))
        except OverflowError:
            return -math.inf if stripped[0] == "-" else math.inf
    raise ValueError(f'For input string: "{text}"')


def parse_boolean(text: str) -> bool:
    """Read t, true, y, yes, 1 and their opposites."""
    lower = text.lower()
    if lower in {"t", "true", "y", "yes", "1"}:
        return True
    if lower in {"f", "false", "n", "no", "0"}:
        return False
    raise ValueError(f"Cannot parse '{text}' as BOOLEAN.")


def cut(value: datetime, precision: int) -> datetime:
    """Drop the digits of a second that a type does not have."""
    if precision >= 6:
        if type(value) is datetime or precision == 9:
            return value
        kept = nanoseconds_of(value) // 10 ** (9 - precision) * 10 ** (9 - precision)
        return with_nanoseconds(plain_datetime(value), kept)
    unit: int = 10 ** (6 - precision)
    return value.replace(microsecond=value.microsecond // unit * unit)


def timestamp_to_text(value: datetime, precision: int) -> str:
    """Format a timestamp with the digits of its type."""
    text = f"{value.year:04d}-{value:%m-%d %H:%M:%S}"
    return f"{text}.{fraction_of(value)[:precision]}" if precision else text


_ZONES = 1000
"""The time zones that a process keeps at most; their names may come from records."""


def zoned(value: datetime, zone: str) -> datetime:
    """Return the local time of a point in time."""
    return value if zone in {"UTC", "GMT"} else _move(value, zone_of("UTC"), zone_of(zone))


def unzoned(value: datetime, zone: str) -> datetime:
    """Return the point in time (UTC) of a local time."""
    return value if zone in {"UTC", "GMT"} else _move(value, zone_of(zone), zone_of("UTC"))


def zoned_clock(value: datetime, zone: str) -> datetime:
    """Return the local time of a point in time, with its time zone."""
    if zone in {"UTC", "GMT"}:
        return value.replace(tzinfo=timezone.utc)
    target = zone_of(zone)
    try:
        return value.replace(tzinfo=timezone.utc).astimezone(target)
    except OverflowError:
        return edge(value, later=value.year > 1).replace(tzinfo=target)


def _move(value: datetime, source: Any, target: Any) -> datetime:
    try:
        return value.replace(tzinfo=source).astimezone(target).replace(tzinfo=None)
    except OverflowError:
        return edge(value, later=value.year > 1)


D = TypeVar("D", date, datetime)


def edge(value: D, *, later: bool) -> D:
    """Return the last, or the first, date or timestamp that there is: what is beyond the years 1 to 9999 ends there.

    Flink's types reach further than Python's. An edge keeps the order of times, and its record does not fail the job.
    """
    kind = type(value)
    found: D = kind.max if later else kind.min
    return found


@lru_cache(_ZONES)
def zone_of(name: str) -> Any:
    """Return the rules of a time zone."""
    from zoneinfo import ZoneInfo

    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return ZoneInfo(name)
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))


def known_zone(name: str) -> str:
    """Return a time zone; UTC for one that there is not, and for an offset without GMT, as Java takes them."""
    return name if not name.startswith(("+", "-")) and is_zone(name) else "UTC"


def is_zone(name: str) -> bool:
    """Return whether there is a time zone."""
    try:
        zone_of(name)
    except (KeyError, ValueError, OSError):  # the name of a directory of zones is an OSError
        return False
    return True


_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::(\d\d))?")
"""A zone without a name: ``+08:00`` or ``GMT-3``."""


def cast_text(value: Any) -> str:
    """Return the text that ``CAST(... AS STRING)`` gives for values whose type says nothing about their form."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        return f"[{', '.join(map(cast_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{cast_text(k)}={cast_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, datetime):
        return timestamp_to_text(value, 6)
    if hasattr(value, "get_row_kind"):
        return f"({', '.join(map(cast_text, value))})"
    return str(value)


def row_text(value: Any) -> str:
    """Return the text of a value within a row, as Java's ``Row.toString`` gives it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, datetime):
        return f"{value.date()}T{clock_text(value)}"  # %Y has no zeros before years below 1000
    if isinstance(value, time):
        return clock_text(value)
    if isinstance(value, bytes):
        return f"[{', '.join(str(b - 256 if b > 127 else b) for b in value)}]"
    if isinstance(value, list):
        return f"[{', '.join(map(row_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{row_text(k)}={row_text(v)}" for k, v in value.items()) + "}"
    if hasattr(value, "get_row_kind"):
        return f"{value.get_row_kind()}[{', '.join(map(row_text, value))}]"
    return str(value)


def float_to_text(value: float) -> str:
    """Return the text of a 32-bit float."""
    return float_text(value)


def double_to_text(value: float) -> str:
    """Return the text of a 64-bit float."""
    return double_text(value)


# -- rows ------------------------------------------------------------------------------------------------------------


def named_row(names: tuple[str, ...], values: list[object]) -> Any:
    """Return a row."""
    return _make_row(names, values)


KINDS = ("+I", "-U", "+U", "-D")
_KINDS = (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)


def changed_row(names: tuple[str, ...], values: list[object], kind: int) -> Any:
    """Return a row with its kind of change."""
    return _make_row(names, values, _KINDS[kind])
