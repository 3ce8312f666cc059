"""Literals of numbers and durations."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType

if TYPE_CHECKING:
    from flintstream.table._errors import Place

_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_CLOCK = ("DAY", "HOUR", "MINUTE", "SECOND")
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


_UNITS = {"MONTH": ("MONTH",), "QUARTER": ("QUARTER",), "YEAR": ("YEAR", "MONTH"), "WEEK": ("WEEK",)}
_LIMITS = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
"""What a number after the first one is less than."""
_DIGITS, _MOST_DIGITS, _MOST_FRACTION = 2, 10, 9


def interval(
    text: str,
    first: str,
    last: str,
    place: Place | None,
    digits: tuple[int, ...] = (),
    last_digits: tuple[int, ...] = (),
) -> s.Value:
    """Return a duration: ``'1-2'`` YEAR TO MONTH, ``'1 02:03:04.5'`` DAY TO SECOND, or a number of one unit.

    Args:
        text: The numbers.
        first: The first unit.
        last: The last unit; empty if there is only one.
        place: Where the literal is.
        digits: How many digits the first number has at most (2 if it is not said), and a fraction of seconds.
        last_digits: How many digits a fraction of the last unit has at most.

    Raises:
        SqlError: A number does not fit, or has more digits than were declared. Flink refuses the same texts.
    """
    if first not in _MS and first not in _MONTHS:
        raise SqlError(f"INTERVAL{at(place)} has no unit '{first}'")
    most = _check_digits(first, last, place, digits, last_digits)
    units = _UNITS.get(first, _CLOCK)
    if last and last not in units[units.index(first) + 1 :]:
        raise SqlError(
            f"INTERVAL{at(place)} has no units {first} TO {last}: begin with the larger one, or put the interval into "
            "parentheses if TO belongs to what is around it"
        )
    units = units[units.index(first) : (units.index(last) if last else units.index(first)) + 1]
    fraction = (*digits[1:], *last_digits, 6)[0]
    found = _pattern(units, fraction).fullmatch(text.strip())
    values = [] if found is None else [Decimal(part) for part in found.groups()[1:]]
    if found is None or any(value >= _LIMITS[unit] for unit, value in zip(units[1:], values[1:], strict=True)):
        name = f"{first}{_in_parentheses(digits)}" + (f" TO {last}{_in_parentheses(last_digits)}" if last else "")
        raise SqlError(f"Illegal interval literal format '{text}' for INTERVAL {name}{at(place)}")
    sign = -1 if found[1] == "-" else 1
    if int(values[0]) >= 10**most:
        shown = f"{sign * int(values[0]):,}"
        raise SqlError(
            f"Interval field value {shown} exceeds precision of {first}({most}) field{at(place)}: declare its digits, "
            f"as in INTERVAL '100' {first}(3), or use a larger unit"
        )
    if first in _MS and most > _MOST_DAYS:
        raise SqlError(f"DAY_INTERVAL_TYPES precision is not supported: {most}{at(place)}: use a larger unit")
    sizes = _MONTHS if first in _MONTHS else _MS
    total = sum(int(value * sizes[unit]) for value, unit in zip(values, units, strict=True))
    return s.Value(place, sign * total, IntervalType(first in _MONTHS, False))


_MOST_DAYS = 3
"""The digits of days, hours, minutes or seconds that Flink takes."""


def _check_digits(
    first: str, last: str, place: Place | None, digits: tuple[int, ...], last_digits: tuple[int, ...]
) -> int:
    """Return how many digits the first number may have."""
    most = digits[0] if digits else _DIGITS
    if not 1 <= most <= _MOST_DIGITS:
        name = f"{first}({most})"
        raise SqlError(f"Interval leading field precision '{most}' out of range for INTERVAL {name}{at(place)}")
    for fraction in (*digits[1:], *last_digits):
        if fraction > _MOST_FRACTION:
            name = f"{first}{_in_parentheses(digits)}" + (f" TO {last}{_in_parentheses(last_digits)}" if last else "")
            raise SqlError(
                f"Interval fractional second precision '{fraction}' out of range for INTERVAL {name}{at(place)}"
            )
    return most


def _in_parentheses(digits: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, digits))})" if digits else ""


@cache
def _pattern(units: tuple[str, ...], fraction: int) -> re.Pattern[str]:
    """Return the pattern of the numbers of units; the first group is the sign."""
    text = r"([+-]?)(\d+"
    for i, unit in enumerate(units):
        if i:
            text += {"MONTH": "-", "HOUR": " "}.get(unit, ":") + r"(\d+"
        text += (rf"(?:\.\d{{1,{fraction}}})?" if unit == "SECOND" and fraction else "") + ")"
    return re.compile(text, re.ASCII)


def number(text: str, place: Place | None) -> s.Value:
    """Return a number: INT or BIGINT if whole, DECIMAL with a point, DOUBLE with an exponent."""
    if "e" in text.lower():
        if float(text) == float("inf"):
            raise SqlError(f"the number {text}{at(place)} is out of the range of DOUBLE")
        return s.Value(place, float(text), t.DoubleType(False))
    if "." in text:
        value = Decimal(text)
        value = value or value.copy_abs()  # Flink has no negative zero of DECIMAL
        scale = max(-int(value.as_tuple().exponent), 0)
        return s.Value(place, value, t.DecimalType(max(len(value.as_tuple().digits), scale + 1), scale, False))
    whole = int(text)
    if -1 << 31 <= whole < 1 << 31:
        return s.Value(place, whole, t.IntType(False))
    if -1 << 63 <= whole < 1 << 63:
        return s.Value(place, whole, t.BigIntType(False))
    raise SqlError(f"the number {text}{at(place)} is out of the range of BIGINT: write it as {text}.0, or cast a text")
