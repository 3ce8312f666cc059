"""PERCENTILE: its type, and what its code calls."""

from __future__ import annotations

import math
from bisect import bisect_right
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._types.rules import INTEGERS, sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place

Number = int | float | Decimal


def percentile_type(types: Sequence[DataType], percentage: Number | None, place: Place | None) -> DataType:
    """Return the type of PERCENTILE: a number, or an array of them for an array of percentages.

    Raises:
        SqlError: The arguments have other types, or the percentage is a literal outside 0 and 1.
    """
    value, *more = types
    share = more[0].element_type if more and isinstance(more[0], t.ArrayType) else more[0] if more else t.NullType()
    counts = more[1:]
    if not (
        isinstance(value, t.NumericType)
        and isinstance(share, t.NumericType)
        and all(type(kind) in INTEGERS for kind in counts)
        and percentage is not None
        and 0 <= percentage <= 1
    ):
        raise SqlError(
            f"PERCENTILE({', '.join(map(sql_name, types))}){at(place)} has arguments of the wrong type: it takes "
            "(number, percentage) or (number, percentage, frequency), with a percentage from 0 to 1 or an array of them"
        )
    return t.ArrayType(t.DoubleType()) if isinstance(more[0], t.ArrayType) else t.DoubleType()


def count_times(counts: dict[Number, int], value: Number, number: int) -> None:
    """Count a value several times. A number below 1 counts nothing."""
    if number > 0:
        counts[value] = counts.get(value, 0) + number


def uncount_times(counts: dict[Number, int], value: Number, number: int) -> None:
    """Take a value back several times."""
    if number > 0:
        left = counts.get(value, 0) - number
        if left:
            counts[value] = left
        else:
            del counts[value]


def percentile(counts: dict[Number, int], share: Number | list[Number] | None) -> float | list[float] | None:
    """Return the value at a share of the sorted values, between two values if needed; a list for several shares.

    >>> percentile({10: 1, 20: 1, 40: 1}, 0.3), percentile({10: 1, 20: 1, 40: 1}, [0.25, 0.75])
    (16.0, [15.0, 30.0])
    """
    values = sorted((value, number) for value, number in counts.items() if number > 0)
    if not values or share is None:
        return None
    ends = list(accumulate(number for _, number in values))

    def at_share(one: Number) -> float:
        place = float(one) * (ends[-1] - 1)
        low, high = math.floor(place), math.ceil(place)
        below, above = (float(values[bisect_right(ends, index)][0]) for index in (low, high))
        return below if low == high else (high - place) * below + (place - low) * above

    return [at_share(one) for one in share] if isinstance(share, list) else at_share(share)
