"""Functions that the code of aggregates calls."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from flintstream.runtime.keys import freeze_key, thaw_key
from flintstream.table._expressions.helpers import divide, fit, narrow
from flintstream.table._expressions.json_helpers import json_text

ZERO = Decimal(0)
__all__ = [
    "ZERO",
    "as_decimal",
    "as_float",
    "count_first",
    "divide",
    "fit",
    "freeze_key",
    "json_array",
    "json_member",
    "json_object",
    "narrow",
    "single",
    "spread",
    "thaw_key",
    "uncount",
    "uncount_last",
    "unlist",
]


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


def spread(total: Any, squares: Any, count: int, sample: bool, root: bool, whole: bool) -> Any:
    """Return the variance or standard deviation; of integers with divisions of integers, as Flink computes it."""
    number = count - 1 if sample else count
    if number <= 0:
        return None
    if whole:
        variance: Any = divide(squares - divide(total * total, count), number)
        return int(math.sqrt(variance)) if root else variance
    variance = max((squares - total * total / count) / number, 0.0)
    return math.sqrt(variance) if root else variance


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
        raise ValueError(f"JSON_OBJECTAGG: the key '{key}' comes twice in a group")
    values[key] = value


def json_object(values: dict[str, object], without_null: bool) -> str:
    """Return an object of JSON from the JSON of its members."""
    kept = values.items() if not without_null else [pair for pair in values.items() if pair[1] is not None]
    return "{" + ",".join([f"{json_text(key)}:{'null' if value is None else value}" for key, value in kept]) + "}"


def json_array(values: list[Any]) -> str:
    """Return an array of JSON from the JSON of its elements."""
    return "[" + ",".join(["null" if each is None else each for each in values]) + "]"


def single(values: list[object]) -> Any:
    """Return the only value; None if there is none.

    Raises:
        ValueError: There are several.
    """
    if len(values) > 1:
        raise ValueError("SingleValueAggFunction received more than one element.")
    return values[0] if values else None
