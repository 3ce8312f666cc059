"""The built-in triggers."""

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
    """A trigger that fires when the watermark passes the end of the window, and then for each late record.

    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(10)).allowed_lateness(20)
    ...     return windows.trigger(EventTimeTrigger.create()).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1, 3)
    ...     harness.process_watermark(9)
    ...     harness.process_element(2, 4)  # late
    ...     harness.extract_output_values()
    [1, 3]
    """

    def on_element(
        self, element: T_contra, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire immediately if the window has ended, else wait for its end."""
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
        """Return True: the trigger works with sessions."""
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
        """Return the trigger."""
        return EventTimeTrigger()


class ProcessingTimeTrigger(Trigger[T_contra, TimeWindow]):
    """A trigger that fires when the worker's clock passes the end of the window.

    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):  # windows of event time, whose results come by the clock
    ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(10))
    ...     return windows.trigger(ProcessingTimeTrigger.create()).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1, 3)
    ...     harness.process_element(2, 4)
    ...     harness.set_processing_time(9)
    ...     harness.extract_output_values()
    [3]
    """

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
        """Return True: the trigger works with sessions."""
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
        """Return the trigger."""
        return ProcessingTimeTrigger()


class _ContinuousTrigger(Trigger[T_contra, TimeWindow]):
    """Base of the continuous triggers; keeps the time of the next firing in the window's state."""

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
        """Schedule the next firing one interval after ``time`` (ms), or at the end of the window if that is earlier.

        >>> from datetime import time
        >>> from flintstream.datastream.window import ContinuousEventTimeTrigger, TimeWindow, TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> class Loud(ContinuousEventTimeTrigger):
        ...     def register_next_fire_timestamp(self, time, window, ctx, fire_timestamp_state):
        ...         super().register_next_fire_timestamp(time, window, ctx, fire_timestamp_state)
        ...         print("next at", fire_timestamp_state.get())
        >>> def sums(numbers):
        ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(10))
        ...     return windows.trigger(Loud(4)).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums) as harness:
        ...     harness.process_element(1, 2)
        ...     harness.process_watermark(4)
        ...     harness.extract_output_values()
        next at 4
        next at 8
        [1]
        """
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
        """Return True: the trigger works with sessions."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Continue with the earliest firing of the merged windows."""
        ctx.merge_partitioned_state(self.state_desc)
        following = ctx.get_partitioned_state(self.state_desc).get()
        if following is not None:
            self._register(following, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer and its stored time."""
        state = ctx.get_partitioned_state(self.state_desc)
        following = state.get()
        if following is not None:
            self._delete(following, ctx)
            state.clear()


class ContinuousEventTimeTrigger(_ContinuousTrigger[T_contra]):
    """A trigger that fires every interval (ms) of event time, and at the end of the window.

    >>> from flintstream.common import Time
    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.hours(1)))
    ...     return windows.trigger(ContinuousEventTimeTrigger.of(Time.minutes(20))).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     for minute in 0, 15, 30, 45, 60:
    ...         harness.process_element(1, minute * 60_000)
    ...         harness.process_watermark(minute * 60_000)
    ...     harness.extract_output_values()
    [3, 4, 4]

    >>> ContinuousEventTimeTrigger.of(Time.minutes(1)).interval
    60000
    """

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
        """Fire immediately if the window has ended, else schedule the next firing."""
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
        """Fire on schedule, and at the end of the window."""
        return FIRE if time == window.max_timestamp() else self._fire_if_planned(time, window, ctx)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T_contra]):
    """A trigger that fires every interval (ms) of the worker's clock, and at the end of the window.

    >>> from flintstream.common import Time
    >>> from flintstream.datastream.window import TumblingProcessingTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     windows = numbers.key_by(lambda n: 0).window(TumblingProcessingTimeWindows.of(Time.hours(1)))
    ...     return windows.trigger(ContinuousProcessingTimeTrigger.of(Time.minutes(20))).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     for minute in 0, 15, 30, 45, 60:
    ...         harness.set_processing_time(minute * 60_000)
    ...         harness.process_element(1)
    ...     harness.extract_output_values()
    [2, 3, 4]
    """

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
        """Schedule the next firing."""
        self._schedule_first(ctx.get_current_processing_time(), window, ctx)
        return CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire on schedule."""
        return self._fire_if_planned(time, window, ctx)

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return CONTINUE


class PurgingTrigger(Trigger[T_contra, Window]):
    """A trigger that also drops the contents of a window when its nested trigger fires.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTrigger, GlobalWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3, 4]).key_by(lambda n: 0).window(GlobalWindows.create())
    >>> windows = windows.trigger(PurgingTrigger.of(CountTrigger.of(2)))
    >>> list(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [3, 7]
    """

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
        """Return whether the nested trigger works with sessions."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Merge the nested trigger."""
        self.nested_trigger.on_merge(window, ctx)


class CountTrigger(Trigger[T_contra, Window]):
    """A trigger that fires after every ``window_size`` records of a window, for any kind of window.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import GlobalWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3, 4]).key_by(lambda n: 0).window(GlobalWindows.create())
    >>> list(windows.trigger(CountTrigger.of(2)).reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [3, 10]
    """

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", operator.add, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Return a trigger that fires every ``window_size`` records."""
        return CountTrigger(window_size)

    def on_element(
        self, element: T_contra, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Count the record; fire and restart the count at the limit."""
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
        """Return True: the trigger works with sessions."""
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Add up the counts of the merged windows."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Drop the count."""
        ctx.get_partitioned_state(self._count_state_descriptor).clear()


class NeverTrigger(Trigger[T_contra, GlobalWindow]):
    """A trigger that never fires: the default of :class:`GlobalWindows`, which need a user-defined trigger.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTrigger, GlobalWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2]).key_by(lambda n: 0).window(GlobalWindows.create())
    >>> list(windows.trigger(NeverTrigger()).reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    []
    >>> list(windows.trigger(CountTrigger.of(2)).reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [3]
    """

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
