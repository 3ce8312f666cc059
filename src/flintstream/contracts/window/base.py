"""The interfaces of window assigners and triggers, and of their contexts."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import Generic, T_contra, W, W_contra

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flintstream.common._generic import K, T, V
    from flintstream.common.serializer import TypeSerializer
    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReducingState,
        ReducingStateDescriptor,
        State,
        StateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )
    from flintstream.metrics import MetricGroup


class TriggerResult(enum.Enum):
    """A trigger's decision: whether to emit a window's result, and whether to drop its contents afterwards.

    >>> TriggerResult.FIRE.is_fire(), TriggerResult.FIRE.is_purge()
    (True, False)
    """

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Tell whether the window function runs. It never runs on an empty window."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Tell whether the contents are dropped."""
        return self.value[1]


class Trigger(ABC, Generic[T_contra, W_contra]):
    """A rule for when a window emits its result.

    One trigger object serves all keys and windows, so keep its state in the partitioned state of the context.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import GlobalWindows
    >>> class AtAFullStop(Trigger):
    ...     def on_element(self, element, timestamp, window, ctx):
    ...         return TriggerResult.FIRE_AND_PURGE if element.endswith(".") else TriggerResult.CONTINUE
    ...
    ...     def on_processing_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def on_event_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def on_merge(self, window, ctx):
    ...         pass
    ...
    ...     def clear(self, window, ctx):
    ...         pass
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> words = env.from_collection(["to", "be.", "or", "not."]).key_by(lambda word: 0)
    >>> sentences = words.window(GlobalWindows.create()).trigger(AtAFullStop()).reduce(lambda a, b: f"{a} {b}")
    >>> list(sentences.execute_and_collect(limit=9))
    ['to be.', 'or not.']
    """

    class TriggerContext(ABC):
        """Access to time, timers, and the state of the current key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the worker's clock time in ms since the epoch."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the metrics of the window operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark in ms; ``Long.MIN_VALUE`` before the first one."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Schedule :meth:`Trigger.on_processing_time` for when the worker's clock reaches ``time`` (ms)."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Schedule :meth:`Trigger.on_event_time` for when the watermark reaches ``time`` (ms)."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete a processing-time timer."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete an event-time timer."""

        @overload
        def get_partitioned_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]: ...

        @overload
        def get_partitioned_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]: ...

        @overload
        def get_partitioned_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]: ...

        @overload
        def get_partitioned_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]: ...

        @overload
        def get_partitioned_state(
            self, state_descriptor: AggregatingStateDescriptor[T, Any, V]
        ) -> AggregatingState[T, V]: ...

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """Return the state of the current key and window."""

    class OnMergeContext(TriggerContext):
        """The context of :meth:`Trigger.on_merge`."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Move the state of the merged windows into that of the new window.

            Raises:
                Exception: The state is of a kind that cannot be merged (value and map state).
            """

    @abstractmethod
    def on_element(self, element: T_contra, timestamp: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide after a record was added; a record without a timestamp has ``Long.MIN_VALUE``."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide after a processing-time timer of the window fired.

        >>> from flintstream.datastream.window import ProcessingTimeTrigger, TimeWindow
        >>> ProcessingTimeTrigger.create().on_processing_time(9_999, TimeWindow(0, 10_000), None).name
        'FIRE'
        """

    @abstractmethod
    def on_event_time(self, time: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide after an event-time timer of the window fired.

        >>> from flintstream.datastream.window import EventTimeTrigger, TimeWindow
        >>> EventTimeTrigger.create().on_event_time(9_999, TimeWindow(0, 10_000), None).name
        'FIRE'
        """

    def can_merge(self) -> bool:
        """Tell whether the trigger works with windows that merge (sessions).

        >>> from flintstream.datastream.window import EventTimeTrigger, NeverTrigger
        >>> EventTimeTrigger.create().can_merge(), NeverTrigger().can_merge()
        (True, False)
        """
        return False

    @abstractmethod
    def on_merge(self, window: W_contra, ctx: OnMergeContext) -> None:
        """Adopt the state of the windows merged into ``window``; :meth:`clear` is then called for each of them.

        A trigger with state merges it, and one with timers sets that of the new window:

        >>> from flintstream.datastream.window import EventTimeSessionWindows, EventTimeTrigger
        >>> from flintstream.testing.harness import KeyedHarness
        >>> class Loud(EventTimeTrigger):
        ...     def on_merge(self, window, ctx):
        ...         print("now", window)
        ...         ctx.register_event_time_timer(window.max_timestamp())
        >>> def sums(numbers):
        ...     sessions = numbers.key_by(lambda n: 0).window(EventTimeSessionWindows.with_gap(10))
        ...     return sessions.trigger(Loud()).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums) as harness:
        ...     harness.process_element(1, 0)
        ...     harness.process_element(2, 7)
        ...     harness.process_watermark(16)
        ...     harness.extract_output_values()
        now TimeWindow(start=0, end=17)
        [3]
        """

    @abstractmethod
    def clear(self, window: W_contra, ctx: TriggerContext) -> None:
        """Drop the timers and state of a removed window.

        >>> from flintstream.datastream.window import EventTimeTrigger, TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> class Loud(EventTimeTrigger):
        ...     def clear(self, window, ctx):
        ...         print("gone:", window)
        ...         super().clear(window, ctx)
        >>> def sums(numbers):
        ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(10))
        ...     return windows.trigger(Loud()).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums) as harness:
        ...     harness.process_element(1, 0)
        ...     harness.process_watermark(9)
        gone: TimeWindow(start=0, end=10)
        """


class WindowAssigner(ABC, Generic[T_contra, W]):
    """A rule for which windows a record belongs to.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.window import EventTimeTrigger, TimeWindow, TimeWindowSerializer
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Shifts(WindowAssigner):
    ...     def assign_windows(self, element, timestamp, context):
    ...         start = timestamp - timestamp % 24
    ...         middle = start + 8
    ...         return [TimeWindow(start, middle) if timestamp < middle else TimeWindow(middle, start + 24)]
    ...
    ...     def get_default_trigger(self, env):
    ...         return EventTimeTrigger.create()
    ...
    ...     def get_window_serializer(self):
    ...         return TimeWindowSerializer()
    ...
    ...     def is_event_time(self):
    ...         return True
    >>> def sums(numbers):
    ...     return numbers.key_by(lambda n: 0).window(Shifts()).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     for number, hour in (1, 3), (2, 7), (4, 9), (8, 23):
    ...         harness.process_element(number, hour)
    ...     harness.process_watermark(23)
    ...     harness.get_output()
    [StreamRecord(value=3, timestamp=7), StreamRecord(value=12, timestamp=23), Watermark(timestamp=23)]
    """

    class WindowAssignerContext(ABC):
        """The context of an assigner."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the worker's clock time in ms since the epoch."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return the runtime context, scoped to the record's key."""

    @abstractmethod
    def assign_windows(self, element: T_contra, timestamp: int, context: WindowAssignerContext) -> Collection[W]:
        """Return the windows of a record; a record without a timestamp has ``Long.MIN_VALUE``.

        >>> from flintstream.datastream.window import SlidingEventTimeWindows
        >>> SlidingEventTimeWindows.of(10_000, 5_000).assign_windows("a record", 12_345, None)
        [TimeWindow(start=10000, end=20000), TimeWindow(start=5000, end=15000)]
        """

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T_contra, W]:
        """Return the trigger to use if the user sets none.

        >>> from flintstream.datastream.window import GlobalWindows, TumblingEventTimeWindows
        >>> for assigner in TumblingEventTimeWindows.of(10_000), GlobalWindows.create():
        ...     print(type(assigner.get_default_trigger(None)).__name__)
        EventTimeTrigger
        NeverTrigger
        """

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return the serializer of the assigner's windows.

        >>> from flintstream.datastream.window import CountTumblingWindowAssigner, TumblingEventTimeWindows
        >>> for assigner in TumblingEventTimeWindows.of(10_000), CountTumblingWindowAssigner.of(100):
        ...     print(type(assigner.get_window_serializer()).__name__)
        TimeWindowSerializer
        CountWindowSerializer
        """

    @abstractmethod
    def is_event_time(self) -> bool:
        """Tell whether windows end in event time rather than in processing time.

        >>> from flintstream.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows
        >>> [kind.of(10_000).is_event_time() for kind in (TumblingEventTimeWindows, TumblingProcessingTimeWindows)]
        [True, False]
        """


class MergingWindowAssigner(WindowAssigner[T_contra, W]):
    """An assigner of windows that may merge as more records arrive.

    >>> from flintstream.datastream.window import EventTimeSessionWindows, TimeWindow
    >>> class Shown(MergingWindowAssigner.MergeCallback):
    ...     def merge(self, to_be_merged, merge_result):
    ...         print(sorted(to_be_merged), "become", merge_result)
    >>> visits = [TimeWindow(0, 30), TimeWindow(20, 50), TimeWindow(90, 120)]
    >>> EventTimeSessionWindows.with_gap(30).merge_windows(visits, Shown())
    [TimeWindow(start=0, end=30), TimeWindow(start=20, end=50)] become TimeWindow(start=0, end=50)
    """

    class MergeCallback(ABC, Generic[W_contra]):
        """A callback for merged windows."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W_contra], merge_result: W_contra) -> None:
            """Replace the windows ``to_be_merged`` with ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergeCallback[W]) -> None:
        """Call ``callback`` for each group of ``windows`` that merge."""


class SessionWindowTimeGapExtractor(ABC, Generic[T_contra]):
    """A function that returns the session gap of each record.

    >>> from flintstream.datastream.window import EventTimeSessionWindows
    >>> class Patience(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return 60_000 if element == "reads" else 5_000
    >>> sessions = EventTimeSessionWindows.with_dynamic_gap(Patience())
    >>> sessions.assign_windows("reads", 0, None), sessions.assign_windows("clicks", 0, None)
    ([TimeWindow(start=0, end=60000)], [TimeWindow(start=0, end=5000)])
    """

    @abstractmethod
    def extract(self, element: T_contra) -> int:
        """Return the gap in ms, greater than 0."""
