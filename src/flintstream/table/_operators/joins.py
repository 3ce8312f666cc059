"""Joins of two streams of tuples by key: their state and what they emit for each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.functions import KeyedCoProcessFunction
from flintstream.runtime.operators.base import MAX_TIMESTAMP
from flintstream.table._operators.opening import close_all, open_all
from flintstream.table._operators.rows import BEFORE, DELETE, INSERT, frozen, map_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.table._operators.rows import RowFunction

LAST = MAX_TIMESTAMP - 1
"""The time of the timer that fires at the end of a bounded input."""


class Joining(KeyedCoProcessFunction):
    """What all joins share: the kinds of change of both inputs, and the condition on pairs."""

    def __init__(
        self, *, kinds: tuple[bool, bool], widths: tuple[int, int], condition: RowFunction | None, keyed: bool
    ) -> None:
        """Describe both sides.

        Args:
            kinds: Whether the kind of change follows as last element of a row, for both inputs.
            widths: The numbers of columns.
            condition: What must hold for a left row followed by a right one; None if nothing.
            keyed: Whether rows must have a key without None to join.
        """
        self.kinds = kinds
        self.nulls = tuple((None,) * width for width in widths)
        self.condition = condition
        self.keyed = keyed

    def open(self, runtime_context: Any) -> None:
        """Open the Python functions of the condition."""
        open_all(() if self.condition is None else self.condition.functions, runtime_context)

    def close(self) -> None:
        """Close them."""
        close_all(() if self.condition is None else self.condition.functions)

    def split(self, row: tuple[Any, ...], side: int) -> tuple[tuple[Any, ...], int]:
        """Return the columns and the kind of change."""
        return (row[:-1], row[-1]) if self.kinds[side] else (row, INSERT)

    def pair(self, row: tuple[Any, ...], other: tuple[Any, ...], side: int) -> tuple[Any, ...]:
        """Return the left row followed by the right one; ``row`` comes from ``side``."""
        return row + other if side == 0 else other + row

    def holds(self, row: tuple[Any, ...], other: tuple[Any, ...], side: int) -> bool:
        """Return whether the condition holds for a pair."""
        return self.condition is None or self.condition(self.pair(row, other, side))[0] is True

    def joins(self, ctx: Any) -> bool:
        """Return whether rows of this key can have partners: None equals nothing."""
        return not self.keyed or None not in ctx.get_current_key()


class RegularJoin(Joining):
    """Keeps all rows of both sides, and emits each pair; rows without a partner with None if their side is outer."""

    def __init__(self, *, outer: tuple[bool, bool], changes: bool, batch: bool, ttl_ms: int = 0, **sides: Any) -> None:
        """Say which sides are outer, whether results are changes, and whether they wait for the end of the input."""
        super().__init__(**sides)
        self.outer = outer
        self.changes = changes
        self.batch = batch
        self.ttl_ms = ttl_ms

    def open(self, runtime_context: Any) -> None:
        """Declare the rows of both sides: how often each is there, and how many partners it has."""
        super().open(runtime_context)
        self.rows = tuple(runtime_context.get_map_state(map_state(name, self.ttl_ms)) for name in ("left", "right"))

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        """Join a left row."""
        return self.change(value, ctx, 0)

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        """Join a right row."""
        return self.change(value, ctx, 1)

    def change(self, value: tuple[Any, ...], ctx: Any, side: int) -> Iterator[Any]:
        """Emit what a change of one side changes."""
        row, kind = self.split(value, side)
        if not self.joins(ctx):
            return iter(self.alone(row, kind, side))
        if self.batch:
            ctx.timer_service().register_event_time_timer(LAST)
            self.keep(row, side, 1 - kind % 2 * 2, 0)
            return iter(())
        return iter(self.partners(row, kind, side))

    def alone(self, row: tuple[Any, ...], kind: int, side: int) -> list[Any]:
        """Return the result for a row that can have no partner."""
        return [self.result(row, self.nulls[1 - side], side, kind)] if self.outer[side] else []

    def result(self, row: tuple[Any, ...], other: tuple[Any, ...], side: int, kind: int) -> tuple[Any, ...]:
        """Return a pair with its kind of change."""
        pair = self.pair(row, other, side)
        return (*pair, kind) if self.changes else pair

    def partners(self, row: tuple[Any, ...], kind: int, side: int) -> list[Any]:
        """Return the changes of the results."""
        others = self.rows[1 - side]
        found = [each for each in others.items() if self.holds(row, each[1][0], side)]
        removed = kind in {BEFORE, DELETE}
        results: list[Any] = []
        if self.outer[side]:
            kind = DELETE if removed else INSERT
            if not found:
                results.append(self.result(row, self.nulls[1 - side], side, kind))
        for place, (other, count, partners) in found:
            pairs = [self.result(row, other, side, self.pair_kind(kind))] * count
            if not self.outer[1 - side]:
                results += pairs
                continue
            alone = self.result(other, self.nulls[side], 1 - side, INSERT if removed else DELETE)
            results += [*pairs, *([alone] * count if partners == 1 else [])] if removed else []
            results += [*([alone] * count if partners == 0 else []), *pairs] if not removed else []
            others.put(place, (other, count, partners - 1 if removed else partners + 1))
        self.keep(row, side, -1 if removed else 1, sum(each[1][1] for each in found))
        return results

    def pair_kind(self, kind: int) -> int:
        """Return the kind of change of a pair: updates of a join with an outer side are deletions and insertions."""
        return kind if not any(self.outer) else DELETE if kind in {BEFORE, DELETE} else INSERT

    def keep(self, row: tuple[Any, ...], side: int, count: int, partners: int) -> None:
        """Add a row to the state of its side, or take it away."""
        rows, place = self.rows[side], frozen(row)
        known = rows.get(place)
        if known is not None:
            count, partners = count + known[1], known[2]
        if count > 0:
            rows.put(place, (row, count, partners))
        elif known is not None:
            rows.remove(place)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:  # noqa: ARG002 - the contract
        """Emit the results of a complete key."""
        sides = [list(each.values()) for each in self.rows]
        matched: set[int] = set()
        for row, count, _ in sides[0]:
            found = [i for i, other in enumerate(sides[1]) if self.holds(row, other[0], 0)]
            matched.update(found)
            for i in found:
                other, others, _ = sides[1][i]
                yield from [self.result(row, other, 0, INSERT)] * (count * others)
            if not found and self.outer[0]:
                yield from [self.result(row, self.nulls[1], 0, INSERT)] * count
        if self.outer[1]:
            for i, (other, count, _) in enumerate(sides[1]):
                if i not in matched:
                    yield from [self.result(other, self.nulls[0], 1, INSERT)] * count


class SemiJoin(RegularJoin):
    """Emits the left rows that have a partner; if ``anti``, those that have none."""

    def __init__(self, *, anti: bool, **settings: Any) -> None:
        """Say which rows are wanted."""
        super().__init__(outer=(anti, False), **settings)
        self.anti = anti

    def one(self, row: tuple[Any, ...], kind: int) -> tuple[Any, ...]:
        """Return a left row as result."""
        return (*row, kind) if self.changes else row

    def alone(self, row: tuple[Any, ...], kind: int, side: int) -> list[Any]:
        """Return the result for a row that can have no partner."""
        return [self.one(row, kind)] if self.anti and side == 0 else []

    def partners(self, row: tuple[Any, ...], kind: int, side: int) -> list[Any]:
        """Return the changes of the results."""
        others = self.rows[1 - side]
        found = [each for each in others.items() if self.holds(row, each[1][0], side)]
        removed = kind in {BEFORE, DELETE}
        results: list[Any] = []
        if side == 0:
            results += [self.one(row, kind)] if bool(found) != self.anti else []
        else:
            for place, (other, count, partners) in found:
                if partners == (1 if removed else 0):
                    results += [self.one(other, INSERT if removed == self.anti else DELETE)] * count
                others.put(place, (other, count, partners - 1 if removed else partners + 1))
        self.keep(row, side, -1 if removed else 1, sum(each[1][1] for each in found))
        return results

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:  # noqa: ARG002 - the contract
        """Emit the results of a complete key."""
        others = [each[0] for each in self.rows[1].values()]
        for row, count, _ in self.rows[0].values():
            if any(self.holds(row, other, 0) for other in others) != self.anti:
                yield from [self.one(row, INSERT)] * count
