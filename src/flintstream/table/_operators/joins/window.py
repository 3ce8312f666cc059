"""Joins of rows that belong to the same window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.typeinfo import Types
from flintstream.contracts.state import ListStateDescriptor
from flintstream.runtime.windows.operator import LATE_RECORDS
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins.sides import Joining, SideSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from flintstream.contracts.functions import KeyedCoProcessFunction, RuntimeContext
    from flintstream.table._operators.rows import Change, Row
    from flintstream.table._operators.zones import Zone


class WindowJoin(Joining):
    """Keeps the rows of both sides until their window has ended, then emits the pairs and forgets all.

    A key has one window. Late rows, whose window has ended, are dropped and counted.
    """

    def __init__(
        self,
        *,
        ends: tuple[int, int],
        outer: tuple[bool, bool],
        event_time: bool,
        zone: Zone | None = None,
        **sides: Unpack[SideSettings],
    ) -> None:
        """Take the positions of the end of the window, which sides are there without a partner, and its time zone."""
        super().__init__(**sides)
        self.ends, self.outer, self.event_time, self.zone = ends, outer, event_time, zone

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows of both sides."""
        super().open(runtime_context)
        self.pairs = self.test()
        self.late = runtime_context.get_metrics_group().counter(LATE_RECORDS)
        row = Types.PICKLED_BYTE_ARRAY()
        self.rows = tuple(
            runtime_context.get_list_state(ListStateDescriptor["Row"](name, row)) for name in ("left", "right")
        )

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a left row."""
        return self.keep_row(value, ctx, 0)

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a right row."""
        return self.keep_row(value, ctx, 1)

    def keep_row(self, row: Row, ctx: KeyedCoProcessFunction.Context[Row], side: int) -> Iterator[Row]:
        """Keep a row until its window has ended."""
        service, end = ctx.timer_service(), millis(row[self.ends[side]]) - 1
        if self.zone is not None:
            end = self.zone.over(end)
        if not self.event_time:
            service.register_processing_time_timer(end)
        elif end <= service.current_watermark():
            self.late.inc()
            return iter(())
        else:
            service.register_event_time_timer(end)
        self.rows[side].add(row)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the results of a window."""
        left, right = (list(state.get()) for state in self.rows)
        yield from self.results(left, right, joins=self.joins(ctx))
        for state in self.rows:
            state.clear()

    def results(self, left: list[Row], right: list[Row], *, joins: bool) -> Iterator[Row]:
        """Return the pairs, and the rows without a partner."""
        holds = self.pairs
        if not any(self.outer):
            pairs = (row + other for row in left for other in right) if joins else iter(())
            yield from pairs if holds is None else (pair for pair in pairs if holds(pair) is True)
            return
        matched: set[int] = set()
        for row in left:
            found = [i for i, other in enumerate(right) if self.holds(row, other, 0)] if joins else []
            matched.update(found)
            for i in found:
                yield row + right[i]
            if not found and self.outer[0]:
                yield row + self.nulls[1]
        if self.outer[1]:
            for i, other in enumerate(right):
                if i not in matched:
                    yield self.nulls[0] + other


class _WindowSettings(SideSettings):
    ends: tuple[int, int]
    event_time: bool
    zone: Zone | None


class WindowSemiJoin(WindowJoin):
    """Emits the left rows that have a partner in their window; if ``anti``, those that have none."""

    def __init__(self, *, anti: bool, **settings: Unpack[_WindowSettings]) -> None:
        """Say which rows are wanted."""
        super().__init__(outer=(anti, False), **settings)
        self.anti = anti

    def results(self, left: list[Row], right: list[Row], *, joins: bool) -> Iterator[Row]:
        """Return left rows."""
        for row in left:
            if (joins and any(self.holds(row, other, 0) for other in right)) != self.anti:
                yield row
