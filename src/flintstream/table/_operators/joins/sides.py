"""Joins of two streams of tuples by key: their state and what they emit for each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from flintstream.contracts.functions import KeyedCoProcessFunction
from flintstream.runtime.keys import thaw_key
from flintstream.runtime.times import MAX_TIMESTAMP
from flintstream.table._operators.opening import close_all, open_all
from flintstream.table._types.row_kinds import INSERT

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._operators.rows import Change, Row, ValueFunction

LAST = MAX_TIMESTAMP - 1
"""The time of the timer that fires at the end of a bounded input."""


class SideSettings(TypedDict):
    """What :class:`Sides` takes."""

    kinds: tuple[bool, bool]
    widths: tuple[int, int]
    condition: ValueFunction | None
    keys: int


def has_null(key: object, count: int) -> bool:
    """Return whether a key of ``count`` values, frozen or not, has None, which equals nothing."""
    return key is None if count == 1 else None in (key if type(key) is tuple else thaw_key(key))


class Sides:
    """What all joins share: the kinds of change of both inputs, and the condition on pairs."""

    def __init__(
        self, *, kinds: tuple[bool, bool], widths: tuple[int, int], condition: ValueFunction | None, keys: int
    ) -> None:
        """Describe both sides.

        Args:
            kinds: Whether the kind of change follows as last element of a row, for both inputs.
            widths: The numbers of columns.
            condition: What must hold for a left row followed by a right one; None if nothing.
            keys: The number of values of the key, none of which may be None in rows that join.
        """
        self.kinds = kinds
        self.nulls = tuple((None,) * width for width in widths)
        self.condition = condition
        self.keys = keys

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the Python functions of the condition."""
        open_all(() if self.condition is None else self.condition.functions, runtime_context)

    def close(self) -> None:
        """Close them."""
        close_all(() if self.condition is None else self.condition.functions)

    def split(self, row: Change, side: int) -> tuple[Row, int]:
        """Return the columns and the kind of change."""
        return (row[:-1], row[-1]) if self.kinds[side] else (row, INSERT)

    def pair(self, row: Row, other: Row, side: int) -> Row:
        """Return the left row followed by the right one; ``row`` comes from ``side``."""
        return row + other if side == 0 else other + row

    def test(self) -> Callable[[Row], object] | None:
        """Return a function that is True of a pair for which the condition holds; None without a condition."""
        if self.condition is None:
            return None
        return self.condition.code()

    def holds(self, row: Row, other: Row, side: int) -> bool:
        """Return whether the condition holds for a pair."""
        return self.condition is None or self.condition(self.pair(row, other, side)) is True

    def joins(self, ctx: KeyedCoProcessFunction.Context[Row]) -> bool:
        """Return whether rows of this key can have partners: None equals nothing."""
        return not has_null(ctx.get_current_key(), self.keys)


class Joining(Sides, KeyedCoProcessFunction):
    """A join that takes one row at a time."""
