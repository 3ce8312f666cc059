"""Map, filter, flat map, map, filter: the user's functions, which all engines run; one of 101 records is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import SAMPLE, SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[int, int]


def to_reading(n: int) -> Pair:
    """Return a number and its reading."""
    return n, n * SPREAD % 1000


def is_valid(reading: Pair) -> bool:
    """Drop one of ten."""
    return reading[1] % 10 != 0


def split(reading: Pair) -> Iterator[Pair]:
    """Return large readings in two parts."""
    n, value = reading
    if value >= 500:
        yield n, 500
        yield n, value - 500
    else:
        yield n, value


def calibrate(reading: Pair) -> Pair:
    """Correct a reading."""
    return reading[0], reading[1] * 9 // 5 + 32


def is_sample(reading: Pair) -> bool:
    """Choose the records to write."""
    return reading[0] % SAMPLE == 0
