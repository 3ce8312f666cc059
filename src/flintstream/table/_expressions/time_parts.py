"""The parts of dates, times and intervals, for generated code; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from flintstream.table._expressions.helpers import EPOCH, divide
from flintstream.table._expressions.time_helpers import _DAY_MS, _split, millis

if TYPE_CHECKING:
    from datetime import time


def extract(unit: str, value: datetime) -> int:
    """Return a part of a timestamp."""
    if unit == "EPOCH":
        return divide(millis(value), 1000)
    day, ms = _split(value)
    if unit in {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"}:
        return _clock_part(unit, ms)
    year = day.year
    if unit in {"YEAR", "MONTH", "DAY"}:
        return int(getattr(day, unit.lower()))
    if unit == "QUARTER":
        return (day.month + 2) // 3
    if unit == "WEEK":
        return day.isocalendar()[1]
    if unit == "ISOYEAR":
        return day.isocalendar()[0]
    if unit == "DOY":
        return day.timetuple().tm_yday
    if unit == "DOW":
        return day.isoweekday() % 7 + 1
    if unit == "ISODOW":
        return day.isoweekday()
    if unit in {"DECADE", "CENTURY", "MILLENNIUM"}:
        return year // 10 if unit == "DECADE" else (year + 99) // 100 if unit == "CENTURY" else (year + 999) // 1000
    raise ValueError(f"EXTRACT has no unit {unit}")


def _clock_part(unit: str, ms: int) -> int:
    if unit in {"MILLISECOND", "MICROSECOND", "NANOSECOND"}:
        scale = {"MILLISECOND": 1, "MICROSECOND": 1000, "NANOSECOND": 1_000_000}[unit]
        return (ms - divide(ms, 60_000) * 60_000 - divide(ms - divide(ms, 60_000) * 60_000, 1000) * 1000) * scale
    if unit == "HOUR":
        return divide(ms, 3_600_000)
    in_hour = ms - divide(ms, 3_600_000) * 3_600_000
    if unit == "MINUTE":
        return divide(in_hour, 60_000)
    return divide(in_hour - divide(in_hour, 60_000) * 60_000, 1000)


def extract_clock(unit: str, value: time) -> int:
    """Return a part of a time of day."""
    return extract(unit, datetime.combine(EPOCH, value))


def extract_interval(unit: str, ms: int) -> int:
    """Return a part of a duration in ms."""
    return divide(ms, _DAY_MS) if unit == "DAY" else _clock_part(unit, ms - divide(ms, _DAY_MS) * _DAY_MS)


def extract_months(unit: str, months: int) -> int:
    """Return a part of a duration in months."""
    years = divide(months, 12)
    return years if unit == "YEAR" else months - years * 12
