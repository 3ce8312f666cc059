"""Aggregates of bitmaps: what generated code calls, and the code of each.

All of them count in how many rows a number is, so that rows can be retracted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._expressions.objects.bitmaps import bitmap_from_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.table._expressions.objects.bitmaps import Bitmap

BITMAP_AGGREGATES = (
    *("BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG", "BITMAP_AND_AGG", "BITMAP_AND_CARDINALITY_AGG"),
    *("BITMAP_OR_AGG", "BITMAP_OR_CARDINALITY_AGG", "BITMAP_XOR_AGG", "BITMAP_XOR_CARDINALITY_AGG"),
)
ON_INTEGERS = ("BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG")
"""Those that take integers; the others take bitmaps."""


def count_values(counts: dict[int, int], values: Iterable[int], by: int) -> None:
    """Add to the counts of numbers; those with none are forgotten."""
    for value in values:
        count = counts.get(value, 0) + by
        if count:
            counts[value] = count
        else:
            del counts[value]


def add_counts(counts: dict[int, int], others: dict[int, int]) -> None:
    """Add the counts of another part of a group."""
    for value, count in others.items():
        count_values(counts, (value,), count)


def members_of(name: str, counts: dict[int, int], rows: int) -> Bitmap | None:
    """Return the result of an aggregate; None if it has seen no row."""
    if not rows:
        return None
    if "_AND_" in name:
        return bitmap_from_set(value for value, count in counts.items() if count == rows)
    if "_XOR_" in name:
        return bitmap_from_set(value for value, count in counts.items() if count % 2)
    return bitmap_from_set(counts)


def size_of(name: str, counts: dict[int, int], rows: int) -> int | None:
    """Return the number of members; None if the aggregate has seen no row."""
    found = members_of(name, counts, rows)
    return None if found is None else len(found.values)


NAMES = {function.__name__: function for function in (count_values, add_counts, members_of, size_of)}
