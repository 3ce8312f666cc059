"""Windows of rows that an expression describes: ``col("n").sum.over(order_by="ts", rows=2)``.

The bounds are those of DataFrames, in ``flintstream.dataframe``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from flintstream.options.units import parse_nanos
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType, RowsType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "CURRENT_ROW",
    "UNBOUNDED",
    "UNBOUNDED_FOLLOWING",
    "UNBOUNDED_PRECEDING",
    "FrameBound",
    "following",
    "frame_text",
    "preceding",
    "window_of",
]

End: TypeAlias = "tuple[s.Syntax | None, str]"
Frame: TypeAlias = "tuple[bool, End, End]"


@dataclass(frozen=True)
class FrameBound:
    """An end of a frame: how far it is, and in which direction; programs call :func:`preceding` and its kind."""

    direction: str
    value: object

    def __repr__(self) -> str:
        if self.value is UNBOUNDED or self.value is CURRENT_ROW:
            return f"{self.value!r}_{self.direction}" if self.value is UNBOUNDED else "CURRENT_ROW"
        return f"{self.direction.lower()}({self.value!r})"


class Mark:
    """A bound without a distance."""

    def __init__(self, name: str) -> None:
        """Take its name."""
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNBOUNDED = Mark("UNBOUNDED")
"""All rows before the current one, and that row.

>>> UNBOUNDED
UNBOUNDED
"""
CURRENT_ROW = Mark("CURRENT_ROW")
"""The current row; for ``range``, the rows of the same time as well.

>>> CURRENT_ROW
CURRENT_ROW
"""
UNBOUNDED_PRECEDING = FrameBound("PRECEDING", UNBOUNDED)
"""The first row, as the lower end of a frame.

>>> UNBOUNDED_PRECEDING
UNBOUNDED_PRECEDING
"""
UNBOUNDED_FOLLOWING = FrameBound("FOLLOWING", UNBOUNDED)
"""The last row, as the upper end of a frame.

>>> UNBOUNDED_FOLLOWING
UNBOUNDED_FOLLOWING
"""


def preceding(value: object) -> FrameBound:
    """Return the lower end of a frame: a number of rows, or a time (``timedelta`` or ``"5 s"``), before the row.

    >>> preceding(2)
    preceding(2)
    """
    return FrameBound("PRECEDING", value)


def following(value: object) -> FrameBound:
    """Return the upper end of a frame: a number of rows, or a time, after the row.

    >>> following(1)
    following(1)
    """
    return FrameBound("FOLLOWING", value)


def window_of(function: s.Syntax, window: Mapping[str, object], syntax_of: Callable[[object], s.Syntax]) -> s.Over:
    """Return a function over a window.

    Raises:
        TypeError: An argument is unknown, missing, or of another type.
        ValueError: The frame cannot be.
    """
    for name in window:
        if name not in {"order_by", "partition_by", "rows", "range"}:
            raise TypeError(f"over() got an unexpected keyword argument '{name}'")
    if window.get("order_by") is None:
        raise TypeError("over() needs order_by")
    order = _column(window["order_by"], "order_by", syntax_of)
    partition = window.get("partition_by")
    if partition is None:
        by: tuple[s.Syntax, ...] = ()
    else:
        items = list(partition) if isinstance(partition, (list, tuple)) else [partition]
        if not items:
            raise TypeError("partition_by must not be empty")
        by = tuple(_column(item, "partition_by", syntax_of) for item in items)
    return s.Over(None, function, by, ((order, False, True),), _frame(window.get("rows"), window.get("range")))


def _column(value: object, name: str, syntax_of: Callable[[object], s.Syntax]) -> s.Syntax:
    if isinstance(value, str):
        return s.Name(None, (value,))
    if isinstance(getattr(value, "_syntax", None), s.Syntax):
        return syntax_of(value)
    raise TypeError(f"{name} must be a column name or Expression")


def _frame(rows: object, time: object) -> Frame | None:
    if rows is not None and time is not None:
        raise ValueError("rows and range are mutually exclusive")
    if rows is None and time is None:
        return None
    counts, given = rows is not None, time if rows is None else rows
    if not isinstance(given, tuple):
        low: End = (None, "UNBOUNDED") if given is UNBOUNDED else (_distance(given, counts=counts), "PRECEDING")
        return None if given is UNBOUNDED and not counts else (counts, low, (None, "CURRENT ROW"))
    if len(given) != 2:
        raise TypeError("a frame tuple must contain exactly two-element bounds")
    for bound in given:
        distance = bound.value if isinstance(bound, FrameBound) else UNBOUNDED
        if not isinstance(distance, Mark) and (type(distance) is int) != counts:
            raise ValueError(f"{'rows' if counts else 'range'} bounds must use the same frame kind")
    low, high = _end(given[0], "PRECEDING", counts=counts), _end(given[1], "FOLLOWING", counts=counts)
    return None if not counts and (low, high) == ((None, "UNBOUNDED"), (None, "CURRENT ROW")) else (counts, low, high)


def _end(bound: object, direction: str, *, counts: bool) -> End:
    value = bound.value if isinstance(bound, FrameBound) else bound
    if value is CURRENT_ROW:
        return None, "CURRENT ROW"
    if value is UNBOUNDED and not isinstance(bound, FrameBound):
        return None, "UNBOUNDED"
    which = "lower" if direction == "PRECEDING" else "upper"
    if not isinstance(bound, FrameBound):
        syntax = getattr(bound, "_syntax", None)
        if isinstance(syntax, s.Apply):
            name = syntax.function
            raise TypeError(f"Use pyflink.dataframe.{name} for a frame, not pyflink.table.expressions.{name}")
        raise TypeError(f"{which} bound must be preceding(), following(), CURRENT_ROW, or UNBOUNDED")
    if bound.direction != direction:
        raise ValueError(f"invalid {which} bound direction")
    return (None, "UNBOUNDED") if value is UNBOUNDED else (_distance(value, counts=counts), direction)


def _distance(value: object, *, counts: bool) -> s.Value:
    if counts:
        if isinstance(value, bool):
            raise TypeError("row interval must not be bool")
        if not isinstance(value, int):
            raise TypeError("row boundaries must be integers")
        if value <= 0:
            raise ValueError("row interval must be larger than 0")
        return s.Value(None, value, RowsType(False))
    if isinstance(value, timedelta):
        millis = value // timedelta(milliseconds=1)
    elif isinstance(value, str):
        try:
            millis = parse_nanos(value) // 1_000_000
        except ValueError as error:
            raise ValueError("range must be a valid duration string") from error
    else:
        raise TypeError("range boundaries must be a datetime.timedelta or duration string")
    if millis < 0:
        raise ValueError("time interval must not be negative")
    return s.Value(None, millis, IntervalType(False, False))


def frame_text(frame: Frame | None) -> list[str]:
    """Return both ends of a frame, as Flink shows them.

    >>> frame_text(None)
    ['UNBOUNDED_RANGE', 'CURRENT_RANGE']
    """
    counts, low, high = frame or (False, (None, "UNBOUNDED"), (None, "CURRENT ROW"))
    kind = "ROW" if counts else "RANGE"
    texts = []
    for distance, word in (low, high):
        mark = re.sub(" ROW$", "", word)
        texts.append(str(distance.value) if isinstance(distance, s.Value) else f"{mark}_{kind}")
    return texts
