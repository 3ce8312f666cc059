"""Windows that emit results before and after their end, each of which replaces the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from flintstream.datastream.functions import ProcessWindowFunction
from flintstream.datastream.window import TimeWindow, Trigger, TriggerResult
from flintstream.table._operators.rows import value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from flintstream.contracts.state import ValueState, ValueStateDescriptor
    from flintstream.datastream.window import GlobalWindow
    from flintstream.table._operators.grouping import WithWindow
    from flintstream.table._operators.rows import Change, Row


@dataclass(frozen=True)
class Emits:
    """When windows emit beside their end: after a time by the clock (ms), with 0 for each row, or never for None."""

    early_ms: int | None = None
    late_ms: int | None = None
    lateness_ms: int = 0
    """How long after its end a window takes rows."""


class EmitTrigger(Trigger[object, TimeWindow]):
    """Fires at the end of a window, and before and after it as often as options ask for."""

    def __init__(self, emits: Emits, *, event_time: bool) -> None:
        """Take when windows emit, and whether they are of event time."""
        self.emits, self.event_time = emits, event_time
        self.next: ValueStateDescriptor[int] = value_state("next")
        """The time of the next result by the clock."""

    def on_element(
        self, element: object, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire for a row if there is no delay, else at its end."""
        over = self._is_over(window, ctx)
        delay = self.emits.late_ms if over else self.emits.early_ms
        if not over:
            last = window.max_timestamp()
            (ctx.register_event_time_timer if self.event_time else ctx.register_processing_time_timer)(last)
        if delay == 0:
            return TriggerResult.FIRE
        following = ctx.get_partitioned_state(self.next)
        if delay is not None and following.value() is None:
            self._wait(following, ctx, ctx.get_current_processing_time() + delay)
        return TriggerResult.CONTINUE

    def _is_over(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> bool:
        return self.event_time and window.max_timestamp() <= ctx.get_current_watermark()

    def _wait(self, following: ValueState[int], ctx: Trigger.TriggerContext, time: int) -> None:
        following.update(time)
        ctx.register_processing_time_timer(time)

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end, after which rows are late."""
        if time != window.max_timestamp():
            return TriggerResult.CONTINUE
        self._forget(ctx)
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire after a delay, or at the end."""
        following = ctx.get_partitioned_state(self.next)
        if following.value() == time:
            delay = self.emits.late_ms if self._is_over(window, ctx) else self.emits.early_ms
            self._wait(following, ctx, time + (delay or 1))
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE if self.event_time else TriggerResult.FIRE

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing: sessions do not emit early or late."""

    def _forget(self, ctx: Trigger.TriggerContext) -> None:
        following = ctx.get_partitioned_state(self.next)
        time = following.value()
        if time is not None:
            ctx.delete_processing_time_timer(time)
            following.clear()

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        self._forget(ctx)


class ChangesOfWindow(ProcessWindowFunction):
    """Emits the changes of a window's row since it was last emitted."""

    last: ClassVar[ValueStateDescriptor[Row]] = value_state("emitted")

    def __init__(self, rows: WithWindow) -> None:
        """Take what makes the row."""
        self.rows = rows

    def process(
        self,
        key: Row,
        context: ProcessWindowFunction.Context[TimeWindow | GlobalWindow],
        elements: Iterable[Row | None],
    ) -> Generator[Change]:
        """Emit nothing if the row is the same."""
        state = context.window_state().get_state(self.last)
        before = state.value()
        row = next((self.rows.row_of(key, context.window(), value) for value in elements if value is not None), None)
        if row == before:
            return
        if row is None:
            state.clear()
            yield (*before, DELETE)
            return
        state.update(row)
        if before is not None:
            yield (*before, UPDATE_BEFORE)
        yield (*row, INSERT if before is None else UPDATE_AFTER)

    def clear(self, context: ProcessWindowFunction.Context[TimeWindow | GlobalWindow]) -> None:
        """Forget the row."""
        context.window_state().get_state(self.last).clear()
