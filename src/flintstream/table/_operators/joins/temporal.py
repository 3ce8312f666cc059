"""Joins with the version of a row that held at the time of another."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, TypeVar

from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins.sides import Joining
from flintstream.table._operators.rows import map_state, value_state
from flintstream.table._types.row_kinds import DELETE, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from flintstream.contracts.functions import KeyedCoProcessFunction, RuntimeContext
    from flintstream.contracts.state import MapState, ValueState
    from flintstream.table._operators.joins.sides import SideSettings
    from flintstream.table._operators.rows import Change, Row

V = TypeVar("V")


class TemporalJoin(Joining):
    """Keeps left rows until the watermark has passed them, then joins each with the right row of that time.

    Of the right rows it keeps those after the watermark, and the last one before it.
    """

    def __init__(self, *, times: tuple[int, int], outer: bool, **sides: Unpack[SideSettings]) -> None:
        """Take the positions of the time columns, and whether left rows without a version are emitted."""
        super().__init__(**sides)
        self.times = times
        self.outer = outer

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the waiting rows by time, and the versions by time."""
        super().open(runtime_context)
        self.waiting: MapState[int, list[tuple[Row, int]]] = runtime_context.get_map_state(map_state("waiting"))
        self.versions: MapState[int, tuple[Row, int]] = runtime_context.get_map_state(map_state("versions"))

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Let a left row wait for the watermark."""
        row, kind = self.split(value, 0)
        time = millis(row[self.times[0]])
        self.waiting.put(time, [*(self.waiting.get(time) or ()), (row, kind)])
        ctx.timer_service().register_event_time_timer(time)
        return iter(())

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a version. What an update replaces needs no version of its own."""
        row, kind = self.split(value, 1)
        if kind != UPDATE_BEFORE:
            time = millis(row[self.times[1]])
            self.versions.put(time, (row, kind))
            ctx.timer_service().register_event_time_timer(time)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Join all rows up to the watermark, and drop versions that nothing can ask for any more."""
        now = ctx.timer_service().current_watermark()
        times = _up_to(now, self.versions)
        for time in _up_to(now, self.waiting):
            last = bisect_right(times, time) - 1
            found = self.versions.get(times[last]) if last >= 0 and self.joins(ctx) else None
            for row, kind in self.waiting.get(time) or ():
                if found is not None and found[1] != DELETE and self.holds(row, found[0], 0):
                    pair = self.pair(row, found[0], 0)
                elif self.outer:
                    pair = self.pair(row, self.nulls[1], 0)
                else:
                    continue
                yield (*pair, kind) if self.kinds[0] else pair
            self.waiting.remove(time)
        for time in times[:-1]:
            self.versions.remove(time)


def _up_to(now: int, state: MapState[int, V]) -> list[int]:
    return sorted(filter(now.__ge__, state.keys()))


class CurrentVersionJoin(Joining):
    """Joins each left row, as it comes, with the last right row of its key."""

    def __init__(self, *, outer: bool, ttl_ms: int, **sides: Unpack[SideSettings]) -> None:
        """Say whether left rows without a version are emitted, and how long a version stays (ms, 0 for no limit)."""
        super().__init__(**sides)
        self.outer, self.ttl_ms = outer, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the version."""
        super().open(runtime_context)
        self.version: ValueState[Row] = runtime_context.get_state(value_state("version", self.ttl_ms))

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Join a left row."""
        row, kind = self.split(value, 0)
        version = self.version.value() if self.joins(ctx) else None
        if version is not None and self.holds(row, version, 0):
            pair = self.pair(row, version, 0)
        elif self.outer:
            pair = self.pair(row, self.nulls[1], 0)
        else:
            return
        yield (*pair, kind) if self.kinds[0] else pair

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Replace the version, or forget it."""
        row, kind = self.split(value, 1)
        if kind == DELETE:
            self.version.clear()
        elif kind != UPDATE_BEFORE:
            self.version.update(row)
        return iter(())
