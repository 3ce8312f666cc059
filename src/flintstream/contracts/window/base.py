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
        """Decide after a processing-time timer of the window fired."""

    @abstractmethod
    def on_event_time(self, time: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide after an event-time timer of the window fired."""

    def can_merge(self) -> bool:
        """Tell whether the trigger works with windows that merge (sessions)."""
        return False

    @abstractmethod
    def on_merge(self, window: W_contra, ctx: OnMergeContext) -> None:
        """Adopt the state of the windows merged into ``window``; :meth:`clear` is then called for each of them."""

    @abstractmethod
    def clear(self, window: W_contra, ctx: TriggerContext) -> None:
        """Drop the timers and state of a removed window."""


class WindowAssigner(ABC, Generic[T_contra, W]):
    """A rule for which windows a record belongs to."""

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
        """Return the windows of a record; a record without a timestamp has ``Long.MIN_VALUE``."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T_contra, W]:
        """Return the trigger to use if the user sets none."""

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return the serializer of the assigner's windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Tell whether windows end in event time rather than in processing time."""


class MergingWindowAssigner(WindowAssigner[T_contra, W]):
    """An assigner of windows that may merge as more records arrive."""

    class MergeCallback(ABC, Generic[W_contra]):
        """A callback for merged windows."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W_contra], merge_result: W_contra) -> None:
            """Replace the windows ``to_be_merged`` with ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergeCallback[W]) -> None:
        """Call ``callback`` for each group of ``windows`` that merge."""


class SessionWindowTimeGapExtractor(ABC, Generic[T_contra]):
    """A function that returns the session gap of each record."""

    @abstractmethod
    def extract(self, element: T_contra) -> int:
        """Return the gap in ms, greater than 0."""
