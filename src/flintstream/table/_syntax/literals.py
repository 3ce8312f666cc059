"""Literals of numbers and durations."""

from __future__ import annotations

from decimal import Decimal
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


def interval(text: str, first: str, last: str, place: Place | None) -> s.Value:
    """Return a duration: ``'1-2'`` YEAR TO MONTH, ``'1 02:03:04.5'`` DAY TO SECOND, or a number of one unit."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if first in _MONTHS:
        years, _, months = digits.partition("-") if last else (digits, "", "0")
        return s.Value(place, sign * (int(years) * _MONTHS[first] + int(months)), IntervalType(True, False))
    if first not in _MS:
        raise SqlError(f"INTERVAL{at(place)} has no unit '{first}'")
    if not last:
        return s.Value(place, int(sign * Decimal(digits) * _MS[first]), IntervalType(False, False))
    parts = digits.replace(" ", ":").split(":")
    units = _CLOCK[_CLOCK.index(first) : _CLOCK.index(last) + 1]
    values = [int(Decimal(part) * _MS[unit]) for part, unit in zip(parts, units, strict=True)]
    return s.Value(place, sign * sum(values), IntervalType(False, False))


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
