"""Functions that the code of aggregates calls."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from flintstream.runtime.keys import freeze_key, thaw_key
from flintstream.table._expressions.aggregation.percentiles import count_times, percentile, uncount_times
from flintstream.table._expressions.helpers import divide, fit, narrow, whole
from flintstream.table._expressions.json.helpers import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ZERO = Decimal(0)
__all__ = [
    "ZERO",
    "as_decimal",
    "as_float",
    "as_whole",
    "both_spread",
    "count",
    "count_first",
    "count_times",
    "divide",
    "extreme",
    "fit",
    "freeze_key",
    "json_array",
    "json_member",
    "json_object",
    "less_spread",
    "more_spread",
    "narrow",
    "percentile",
    "single",
    "spread",
    "thaw_key",
    "uncount",
    "uncount_last",
    "uncount_times",
    "unlist",
]


def count(counts: dict[object, int], value: object, number: int = 1) -> None:
    """Count a value. One that was retracted before it comes is gone then."""
    now = counts.get(value, 0) + number
    if now:
        counts[value] = now
    else:
        del counts[value]


def extreme(state: list[object], place: int, choose: Callable[[Iterable[object]], object]) -> object:
    """Return the least or greatest value that is counted at a place; what follows in the list remembers it."""
    found = state[place + 1]
    if found is None:
        counts = cast("dict[object, int]", state[place])
        values = [value for value, number in counts.items() if number > 0]
        found = state[place + 1] = choose(values) if values else None
    return found


def uncount(counts: dict[object, int], value: object) -> None:
    """Take one of a value back. A value that was never added counts below zero until it is, as changes may cross."""
    left = counts.get(value, 0) - 1
    if left:
        counts[value] = left
    else:
        del counts[value]


def count_first(counts: dict[object, int], value: object, number: int = 1) -> bool:
    """Count a value, and return whether it is new."""
    before = counts.get(value, 0)
    counts[value] = before + number
    return before == 0


def uncount_last(counts: dict[object, int], value: object) -> bool:
    """Take a value back, and return whether none is left."""
    left = counts.get(value, 0) - 1
    if left > 0:
        counts[value] = left
        return False
    return counts.pop(value, None) is not None


def unlist(values: list[object], value: object) -> None:
    """Remove the first of a value."""
    if value in values:
        values.remove(value)


def more_spread(count: int, mean: float, squares: float, value: Any) -> tuple[int, float, float]:
    """Add a value to a variance, by the method of Welford: sums of squares would lose the digits of large values."""
    value = float(value)
    distance = value - mean
    mean += distance / (count + 1)
    return count + 1, mean, squares + distance * (value - mean)


def less_spread(count: int, mean: float, squares: float, value: Any) -> tuple[int, float, float]:
    """Take a value back. What is left of one value has no distances, also where the sum of rounding errors has."""
    if count == 1:
        return 0, 0.0, 0.0
    value = float(value)
    distance = value - mean
    before = mean - distance / (count - 1) if count else value
    return count - 1, before, squares - distance * (value - before) if count > 2 else 0.0


def both_spread(
    count: int, mean: float, squares: float, others: int, other_mean: float, other_squares: float
) -> tuple[int, float, float]:
    """Combine the variances of two sets of values."""
    total = count + others
    if not count or not others or not total:
        return (total, mean, squares) if count else (total, other_mean, other_squares)
    distance = other_mean - mean
    return (
        total,
        mean + distance * others / total,
        squares + other_squares + distance * distance * count * others / total,
    )


def spread(count: int, squares: float, sample: bool, root: bool) -> float | None:
    """Return the variance or standard deviation; None of too few values, or if it is out of range."""
    number = count - 1 if sample else count
    if number <= 0 or squares < 0:
        return None
    return math.sqrt(squares / number) if root else squares / number


def as_whole(value: float | None, bits: int) -> int | None:
    """Return an integer, as Java converts a double."""
    return None if value is None else whole(value, bits)


def as_decimal(value: float | None, scale: int) -> Decimal | None:
    """Return a decimal of 38 digits."""
    return None if value is None else fit(Decimal(repr(value)), 38, scale)


def as_float(value: float | None) -> float | None:
    """Return a 32-bit float."""
    return None if value is None else narrow(value)


def json_member(values: dict[str, object], key: str, value: object) -> None:
    """Add a member to an object of JSON.

    Raises:
        ValueError: There is one of that name.
    """
    if key in values:
        raise ValueError(f"JSON_OBJECTAGG: the key '{key}' appears twice in a group")
    values[key] = value


def json_object(values: dict[str, object], without_null: bool) -> str:
    """Return an object of JSON from the JSON of its members."""
    kept = values.items() if not without_null else [pair for pair in values.items() if pair[1] is not None]
    return "{" + ",".join([f"{json_text(key)}:{'null' if value is None else value}" for key, value in kept]) + "}"


def json_array(values: list[Any]) -> str:
    """Return an array of JSON from the JSON of its elements."""
    return "[" + ",".join(["null" if value is None else value for value in values]) + "]"


def single(values: list[object]) -> object:
    """Return the only value; None if there is none.

    Raises:
        ValueError: There are several.
    """
    if len(values) > 1:
        raise ValueError("SingleValueAggFunction received more than one element.")
    return values[0] if values else None
