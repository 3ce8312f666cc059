"""What assigners and triggers are asked, and what they may ask."""

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
    """What becomes of a window: whether its result is emitted, and whether its contents are dropped then."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Tell whether the window function runs; it does not on an empty window."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Tell whether the contents are dropped."""
        return self.value[1]


class Trigger(ABC, Generic[T_contra, W_contra]):
    """Decides when a window's result is emitted.

    A trigger object serves all keys and windows: what it must remember goes into partitioned state of its context.
    """

    class TriggerContext(ABC):
        """Time, timers and state of the key and window at hand."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the worker's time in ms since the epoch."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the metrics of the window operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark in ms; ``Long.MIN_VALUE`` before the first one."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Ask for :meth:`Trigger.on_processing_time` when the worker's clock reaches ``time`` (ms)."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Ask for :meth:`Trigger.on_event_time` when the watermark reaches ``time`` (ms)."""

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
            """Return state of the key and window at hand."""

    class OnMergeContext(TriggerContext):
        """What :meth:`Trigger.on_merge` is given."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Move the state of the windows that were merged into that of the new window.

            Raises:
                Exception: That kind of state cannot be merged (value and map state).
            """

    @abstractmethod
    def on_element(self, element: T_contra, timestamp: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide when a record was added to a window; a record without timestamp has ``Long.MIN_VALUE``."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide when a processing-time timer of the window fires."""

    @abstractmethod
    def on_event_time(self, time: int, window: W_contra, ctx: TriggerContext) -> TriggerResult:
        """Decide when an event-time timer of the window fires."""

    def can_merge(self) -> bool:
        """Tell whether the trigger works with windows that merge (sessions)."""
        return False

    @abstractmethod
    def on_merge(self, window: W_contra, ctx: OnMergeContext) -> None:
        """Take over when ``window`` was made of several windows, whose :meth:`clear` is called afterwards."""

    @abstractmethod
    def clear(self, window: W_contra, ctx: TriggerContext) -> None:
        """Drop the timers and state of a window that is gone."""


class WindowAssigner(ABC, Generic[T_contra, W]):
    """Decides which windows a record belongs to."""

    class WindowAssignerContext(ABC):
        """What an assigner may ask."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the worker's time in ms since the epoch."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return the runtime context, whose state is that of the record's key."""

    @abstractmethod
    def assign_windows(self, element: T_contra, timestamp: int, context: WindowAssignerContext) -> Collection[W]:
        """Return the windows of a record; a record without timestamp has ``Long.MIN_VALUE``."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T_contra, W]:
        """Return the trigger that is used unless the user sets one."""

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return what writes the assigner's windows to bytes."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Tell whether windows end in event time rather than in processing time."""


class MergingWindowAssigner(WindowAssigner[T_contra, W]):
    """Assigns windows that may become one when further records come."""

    class MergeCallback(ABC, Generic[W_contra]):
        """Is told which windows become one."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W_contra], merge_result: W_contra) -> None:
            """Replace the windows ``to_be_merged`` by ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergeCallback[W]) -> None:
        """Tell ``callback`` which of ``windows`` become one, if any."""


class SessionWindowTimeGapExtractor(ABC, Generic[T_contra]):
    """Says for each record after how much silence its session ends."""

    @abstractmethod
    def extract(self, element: T_contra) -> int:
        """Return the gap in ms, more than 0."""
