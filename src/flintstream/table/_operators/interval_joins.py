"""Joins of rows whose times are close to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins import Joining
from flintstream.table._operators.rows import map_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from flintstream.contracts.functions import KeyedCoProcessFunction, RuntimeContext
    from flintstream.contracts.timers import TimerService
    from flintstream.table._operators.joins import SideSettings
    from flintstream.table._operators.rows import Change, Row

_LEFT, _RIGHT = 0, 1


class IntervalJoin(Joining):
    """Joins a left row of time t with right rows between t + lower and t + upper (ms).

    A row stays until no row of the other side can come for it, as the watermark (or the clock) tells. Then a row of an
    outer side that never had a partner is emitted with None.
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

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Join a left row."""
        return self.join_row(value, ctx, _LEFT)

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Join a right row."""
        return self.join_row(value, ctx, _RIGHT)

    def join_row(self, row: Row, ctx: KeyedCoProcessFunction.Context[Row], side: int) -> Iterator[Row]:
        """Emit the pairs of a row, and keep it as long as others can come."""
        service = ctx.timer_service()
        if self.event_time:
            now = service.current_watermark()
            moment = row[self.times[side]]
            time = None if moment is None else millis(moment)
        else:
            time = now = service.current_processing_time()
        lower, upper = self.reach[side]
        if time is None or not self.joins(ctx):
            if self.outer[side]:
                yield self.pair(row, self.nulls[1 - side], side)
            return
        found = False
        others = self.rows[1 - side]
        for place in [key for key in others.keys() if time + lower <= key <= time + upper]:  # noqa: SIM118 - a state
            kept = others.get(place)
            news = False
            for other in kept:
                if self.holds(row, other[0], side):
                    found = True
                    news = news or not other[1]
                    other[1] = True
                    yield self.pair(row, other[0], side)
            if news and self.outer[1 - side]:
                others.put(place, kept)
        if time + upper > now:
            mine = self.rows[side]
            mine.put(time, [*(mine.get(time) or ()), [row, found]])
            self._timer(service, time + upper)
        elif not found and self.outer[side]:
            yield self.pair(row, self.nulls[1 - side], side)

    def _timer(self, service: TimerService, time: int) -> None:
        if self.event_time:
            service.register_event_time_timer(time)
        else:
            service.register_processing_time_timer(time + 1)

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Drop the rows for which no other can come any more."""
        at = timestamp if self.event_time else timestamp - 1
        for side in (_LEFT, _RIGHT):
            mine = self.rows[side]
            place = at - self.reach[side][1]
            for row, found in mine.get(place) or ():
                if not found and self.outer[side]:
                    yield self.pair(row, self.nulls[1 - side], side)
            if mine.contains(place):
                mine.remove(place)
