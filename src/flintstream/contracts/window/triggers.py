"""The triggers that come with the API."""

# ruff: noqa: ARG002 - a trigger has the methods of Trigger whether it looks at every argument or not

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.common.time import Duration
from flintstream.common.typeinfo import Types
from flintstream.contracts.state import ReducingStateDescriptor
from flintstream.contracts.window.base import Trigger, TriggerResult
from flintstream.contracts.window.windows import GlobalWindow, TimeWindow, Window

if TYPE_CHECKING:
    from flintstream.common.time import Time
    from flintstream.contracts.state import ReducingState

CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE


class EventTimeTrigger(Trigger[T_contra, TimeWindow]):
    """Fires when the watermark passes the end of the window, and for each late record after that."""

    def on_element(
        self, element: T_contra, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window has ended, else wait for its end."""
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return FIRE
        ctx.register_event_time_timer(end)
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window."""
        return FIRE if time == window.max_timestamp() else CONTINUE

    def can_merge(self) -> bool:
        """Works with sessions."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_watermark():
            ctx.register_event_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger:
        """Return such a trigger."""
        return EventTimeTrigger()


class ProcessingTimeTrigger(Trigger[T_contra, TimeWindow]):
    """Fires when the worker's clock passes the end of the window."""

    def on_element(
        self, element: T_contra, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Wait for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def can_merge(self) -> bool:
        """Works with sessions."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """Return such a trigger."""
        return ProcessingTimeTrigger()


class _ContinuousTrigger(Trigger[T_contra, TimeWindow]):
    """What both continuous triggers share: the next firing of a window is in its state."""

    def __init__(self, interval: int) -> None:
        if interval <= 0:
            raise ValueError(f"the interval of a {type(self).__name__} must be more than 0 ms, but got {interval}")
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", min, Types.LONG())

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        raise NotImplementedError

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        raise NotImplementedError

    def register_next_fire_timestamp(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext, fire_timestamp_state: ReducingState[int]
    ) -> None:
        """Fire next one interval after ``time`` (ms), at the end of the window at the latest."""
        following = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(following)
        self._register(following, ctx)

    def _schedule_first(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        state = ctx.get_partitioned_state(self.state_desc)
        if state.get() is None:
            self.register_next_fire_timestamp(time - time % self.interval, window, ctx, state)

    def _fire_if_planned(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        state = ctx.get_partitioned_state(self.state_desc)
        if state.get() != time:
            return CONTINUE
        state.clear()
        self.register_next_fire_timestamp(time, window, ctx, state)
        return FIRE

    def can_merge(self) -> bool:
        """Works with sessions."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Go on with the earliest firing of the merged windows."""
        ctx.merge_partitioned_state(self.state_desc)
        following = ctx.get_partitioned_state(self.state_desc).get()
        if following is not None:
            self._register(following, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer and its time."""
        state = ctx.get_partitioned_state(self.state_desc)
        following = state.get()
        if following is not None:
            self._delete(following, ctx)
            state.clear()


class ContinuousEventTimeTrigger(_ContinuousTrigger[T_contra]):
    """Fires every interval (ms) as the watermark passes, and at the end of the window."""

    @staticmethod
    def of(interval: Time) -> ContinuousEventTimeTrigger:
        """Return a trigger that fires every ``interval``."""
        return ContinuousEventTimeTrigger(Duration.of(interval).to_millis())

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(time)

    def on_element(
        self, element: T_contra, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window has ended, else plan the next firing."""
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return FIRE
        ctx.register_event_time_timer(end)
        self._schedule_first(timestamp, window, ctx)
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire when planned, and at the end of the window."""
        return FIRE if time == window.max_timestamp() else self._fire_if_planned(time, window, ctx)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T_contra]):
    """Fires every interval (ms) of the worker's clock, and at the end of the window."""

    @staticmethod
    def of(interval: Time) -> ContinuousProcessingTimeTrigger:
        """Return a trigger that fires every ``interval``."""
        return ContinuousProcessingTimeTrigger(Duration.of(interval).to_millis())

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(time)

    def on_element(
        self, element: T_contra, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Plan the next firing."""
        self._schedule_first(ctx.get_current_processing_time(), window, ctx)
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire when planned."""
        return self._fire_if_planned(time, window, ctx)

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE


class PurgingTrigger(Trigger[T_contra, Window]):
    """Drops the contents of a window whenever another trigger fires it."""

    def __init__(self, nested_trigger: Trigger[T_contra]) -> None:
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[T_contra]) -> PurgingTrigger[T_contra]:
        """Return a trigger that purges when ``nested_trigger`` fires."""
        return PurgingTrigger(nested_trigger)

    @staticmethod
    def _purging(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result

    def on_element(
        self, element: T_contra, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Ask the nested trigger."""
        return self._purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger."""
        return self._purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger."""
        return self._purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Clear the nested trigger."""
        self.nested_trigger.clear(window, ctx)

    def can_merge(self) -> bool:
        """Works with sessions if the nested trigger does."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Merge the nested trigger."""
        self.nested_trigger.on_merge(window, ctx)


class CountTrigger(Trigger[T_contra, Window]):
    """Fires whenever that many more records have come into a window; any kind of window will do."""

    def __init__(self, window_size: int) -> None:
        if window_size <= 0:
            raise ValueError(f"a CountTrigger needs a count of 1 or more, but got {window_size}")
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", operator.add, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Return a trigger that fires every ``window_size`` records."""
        return CountTrigger(window_size)

    def on_element(
        self, element: T_contra, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Count; fire and start anew at the limit."""
        count = ctx.get_partitioned_state(self._count_state_descriptor)
        count.add(1)
        if count.get() < self._window_size:
            return CONTINUE
        count.clear()
        return FIRE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def can_merge(self) -> bool:
        """Works with sessions."""
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Add up the counts of the merged windows."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Drop the count."""
        ctx.get_partitioned_state(self._count_state_descriptor).clear()


class NeverTrigger(Trigger[T_contra, GlobalWindow]):
    """Never fires: the default of :class:`GlobalWindows`, which therefore need a trigger of the user's."""

    def on_element(
        self,
        element: T_contra,
        timestamp: int,
        window: GlobalWindow,
        ctx: Trigger.TriggerContext,
    ) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_processing_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE

    def on_merge(self, window: GlobalWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: GlobalWindow, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""
