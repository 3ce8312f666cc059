"""Joins of rows whose times are close to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins.sides import Joining
from flintstream.table._operators.rows import map_state, value_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from flintstream.contracts.functions import KeyedCoProcessFunction, RuntimeContext
    from flintstream.contracts.timers import TimerService
    from flintstream.table._operators.joins.sides import SideSettings
    from flintstream.table._operators.rows import Change, Row

_LEFT, _RIGHT = 0, 1


class IntervalJoin(Joining):
    """Joins a left row of time t with right rows between t + lower and t + upper (ms).

    A row stays until no row of the other side can come for it, as the watermark (or the clock) tells. Then a row of an
    outer side that never had a partner is emitted with None. What a late row still meets follows Flink's
    ``TimeIntervalJoin``: expired rows leave when a row of the other side comes, or at one timer of their key, and a
    subtask does not look for rows of times at which all have left.
    """

    def __init__(
        self,
        *,
        bounds: tuple[int, int],
        times: tuple[int, int],
        outer: tuple[bool, bool],
        event_time: bool,
        **sides: Unpack[SideSettings],
    ) -> None:
        """Take the bounds, the positions of the time columns, and which sides are outer."""
        super().__init__(**sides)
        lower, upper = bounds
        self.reach = ((lower, upper), (-upper, -lower))
        self.times = times
        self.outer = outer
        self.event_time = event_time

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows of both sides by time: a list of [row, whether it had a partner]."""
        super().open(runtime_context)
        self.rows = tuple(runtime_context.get_map_state(map_state(name)) for name in ("left", "right"))
        self.cleanups = tuple(runtime_context.get_state(value_state(f"{name}_cleanup")) for name in ("left", "right"))
        """The time of the timer for the rows of a side."""
        self.expired = [MIN_TIMESTAMP, MIN_TIMESTAMP]
        """The time up to which the rows of a side have left, as far as this subtask knows."""

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Join a left row."""
        return self.join_row(value, ctx, _LEFT)

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Join a right row."""
        return self.join_row(value, ctx, _RIGHT)

    def join_row(self, row: Row, ctx: KeyedCoProcessFunction.Context[Row], side: int) -> Iterator[Row]:
        """Emit the pairs of a row, and keep it as long as others can come."""
        now = self.now(ctx.timer_service())
        moment = row[self.times[side]] if self.event_time else None
        time = now if not self.event_time else None if moment is None else millis(moment)
        lower, upper = self.reach[side]
        if time is None or not self.joins(ctx):
            if self.outer[side]:
                yield self.pair(row, self.nulls[1 - side], side)
            return
        found = False
        other = 1 - side
        if self.expired[other] < time + upper:
            self.expired[other] = self.expiration(now, other)
            others = self.rows[other]
            for place in list(others.keys()):
                if time + lower <= place <= time + upper:
                    kept = others.get(place)
                    news = False
                    for partner in kept:
                        if self.holds(row, partner[0], side):
                            found = True
                            news = news or not partner[1]
                            partner[1] = True
                            yield self.pair(row, partner[0], side)
                    if news and self.outer[other]:
                        others.put(place, kept)
                if place <= self.expired[other]:
                    yield from self.drop(place, other)
        if time + upper > now:
            mine = self.rows[side]
            mine.put(time, [*(mine.get(time) or ()), [row, found]])
            if self.cleanups[side].value() is None:
                self.register(ctx.timer_service(), time, side)
        elif not found and self.outer[side]:
            yield self.pair(row, self.nulls[other], side)

    def now(self, service: TimerService) -> int:
        """Return the watermark, or what the clock says."""
        return service.current_watermark() if self.event_time else service.current_processing_time()

    def expiration(self, now: int, side: int) -> int:
        """Return the time up to which no row of the other side can come for the rows of a side."""
        return now if now == MAX_TIMESTAMP else now - self.reach[side][1] - 1

    def drop(self, place: int, side: int) -> Iterator[Row]:
        """Remove the rows of a time, and yield those of an outer side that had no partner."""
        for row, found in self.rows[side].get(place) or ():
            if not found and self.outer[side]:
                yield self.pair(row, self.nulls[1 - side], side)
        self.rows[side].remove(place)

    def register(self, service: TimerService, time: int, side: int) -> None:
        """Set the timer at which rows of a time can leave."""
        at = time + self.reach[side][1] + 1
        if self.event_time:
            service.register_event_time_timer(at)
        else:
            service.register_processing_time_timer(at)
        self.cleanups[side].update(at)

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Drop the rows for which no other can come any more."""
        service = ctx.timer_service()
        now = self.now(service)
        for side in (_RIGHT, _LEFT):
            if self.cleanups[side].value() == timestamp:
                expired = self.expiration(now, side)
                if now != MAX_TIMESTAMP:  # in a batch, other keys follow
                    self.expired[side] = expired
                places = list(self.rows[side].keys())
                for place in places:
                    if place <= expired:
                        yield from self.drop(place, side)
                left = [place for place in places if place > expired]
                if left:
                    self.register(service, min(left), side)
                else:
                    self.cleanups[side].clear()
