"""Joins of two streams of rows by key. Both sides are kept, as any row may find its partner later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common import Time, Types
from flintstream.datastream.functions import KeyedCoProcessFunction
from flintstream.datastream.state import MapStateDescriptor, StateTtlConfig
from flintstream.table._expressions.codegen import compiled
from flintstream.table._operators.grouping import DELETE, END, INSERT, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Generator

    from flintstream.table._expressions.codegen import Source

LEFT, RIGHT = 0, 1


class KeyedJoin(KeyedCoProcessFunction):
    """Joins (key..., row..., kind) of both sides; results are (left row..., right row..., kind).

    Each side keeps, by row, how often it is there and, if rows without a partner are results, how many partners it has.
    """

    def __init__(
        self,
        keys: int,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        condition: Source | None,
        *,
        ttl_ms: int,
        final: bool,
    ) -> None:
        """Take the number of columns of the key and of both sides, and which sides keep rows without a partner."""
        self.keys, self.widths, self.outer, self.condition = keys, widths, outer, condition
        self.ttl_ms, self.final = ttl_ms, final

    def open(self, runtime_context: Any) -> None:
        """Get the state."""
        self.sides = []
        for name in ("left", "right"):
            descriptor = MapStateDescriptor(name, Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY())
            if self.ttl_ms:
                ttl = StateTtlConfig.new_builder(Time.milliseconds(self.ttl_ms)).build()
                descriptor.enable_time_to_live(ttl)
            self.sides.append(runtime_context.get_map_state(descriptor))
        self.test = None if self.condition is None else compiled(self.condition)

    def process_element1(self, value: Any, ctx: Any) -> Generator[Any]:
        """Join a row of the left."""
        return self._process(LEFT, value, ctx)

    def process_element2(self, value: Any, ctx: Any) -> Generator[Any]:
        """Join a row of the right."""
        return self._process(RIGHT, value, ctx)

    def _fits(self, row: tuple[Any, ...]) -> bool:
        if self.test is None:
            return True
        found: list[Any] = []
        self.test((row,), found.append)
        return bool(found)

    def _both(self, side: int, mine: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        return mine + other if side == LEFT else other + mine

    def _alone(self, side: int, mine: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._both(side, mine, (None,) * self.widths[1 - side])

    def _partners(self, side: int, key: tuple[Any, ...], row: tuple[Any, ...]) -> list[tuple[Any, int, int]]:
        """Return the rows of the other side that fit: each with its number and its number of partners."""
        if None in key:
            return []
        others = [(other, *found) for other, found in self.sides[1 - side].items()]
        return [each for each in others if self._fits(self._both(side, row, each[0]))]

    def _process(self, side: int, value: tuple[Any, ...], ctx: Any) -> Generator[Any]:
        key, row, kind = value[: self.keys], value[self.keys : -1], value[-1]
        added = kind not in {UPDATE_BEFORE, DELETE}
        mine = self.sides[side]
        if self.final:
            ctx.timer_service().register_event_time_timer(END)
            count = (mine.get(row) or (0, 0))[0]
            mine.put(row, (count + 1, 0))
            return
        partners = self._partners(side, key, row)
        count, _ = mine.get(row) or (0, 0)
        number = sum(each[1] for each in partners)
        if added:
            mine.put(row, (count + 1, number))
        elif count > 1:
            mine.put(row, (count - 1, number))
        elif count == 1:
            mine.remove(row)
        else:
            return  # its counterpart has expired
        if self.outer[side] and not number:
            yield (*self._alone(side, row), INSERT if added else DELETE)
        plain = not any(self.outer)
        for other, times, its_partners in partners:
            both = self._both(side, row, other)
            last = added is False and its_partners == 1
            first = added and its_partners == 0
            if self.outer[1 - side]:
                self.sides[1 - side].put(other, (times, its_partners + (1 if added else -1)))
            for _ in range(times):
                if self.outer[1 - side] and first:
                    yield (*self._alone(1 - side, other), DELETE)
                yield (*both, kind if plain else INSERT if added else DELETE)
                if self.outer[1 - side] and last:
                    yield (*self._alone(1 - side, other), INSERT)

    def on_timer(self, timestamp: int, ctx: Any) -> Generator[Any]:  # noqa: ARG002 - the contract
        """Emit all results, if only these count."""
        key = ctx.get_current_key()
        left, right = (list(side.items()) for side in self.sides)
        matched: set[Any] = set()
        for row, (count, _) in left:
            partners = [] if None in key else [each for each in right if self._fits(row + each[0])]
            matched.update(index for index, each in enumerate(right) if any(each is other for other in partners))
            for _ in range(count):
                for other, (times, _) in partners:
                    for _ in range(times):
                        yield (*row, *other, INSERT)
                if not partners and self.outer[LEFT]:
                    yield (*self._alone(LEFT, row), INSERT)
        for index, (row, (count, _)) in enumerate(right):
            if index not in matched and self.outer[RIGHT]:
                for _ in range(count):
                    yield (*self._alone(RIGHT, row), INSERT)
        for side in self.sides:
            side.clear()
