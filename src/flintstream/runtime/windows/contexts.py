"""The contexts of assigners, triggers and window functions at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.functions import KeyedStateStore, ProcessAllWindowFunction, ProcessWindowFunction
from flintstream.contracts.state import AggregatingStateDescriptor, ListStateDescriptor, ReducingStateDescriptor
from flintstream.contracts.window import Trigger, WindowAssigner

if TYPE_CHECKING:
    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import StateDescriptor
    from flintstream.metrics import MetricGroup
    from flintstream.runtime.operators.base import OperatorContext
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.state.backend import KeyedStateBackend, Scope

_MERGEABLE = (ListStateDescriptor, ReducingStateDescriptor, AggregatingStateDescriptor)
_MOST_CACHED = 64

BUNDLE_MS = 1000
"""How long PyFlink collects records before it tells the JVM about timers (``python.fn-execution.bundle.time``)."""


class AssignerContext(WindowAssigner.WindowAssignerContext):
    """The context of a window assigner."""

    def __init__(self, runtime_context: RuntimeContext, timers: InternalTimerService) -> None:
        self._runtime_context = runtime_context
        self._timers = timers

    def get_current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._timers.clock()

    def get_runtime_context(self) -> RuntimeContext:
        """Return the runtime context, whose state is that of the record's key."""
        return self._runtime_context


class WindowTriggerContext(Trigger.OnMergeContext):
    """Timers and state of the key and window that :meth:`enter` was called with."""

    __slots__ = ("_known", "_operator", "_state", "_timers", "key", "merged", "resumes", "scope", "window")

    def __init__(self, operator: OperatorContext, scope: Scope) -> None:
        """Access the state that ``scope`` points to; :meth:`enter` updates it."""
        assert operator.state is not None  # noqa: S101
        assert operator.timers is not None  # noqa: S101
        self._operator = operator
        self._state: KeyedStateBackend = operator.state
        self._timers: InternalTimerService = operator.timers
        self._known: dict[StateDescriptor, Any] = {}
        self.scope = scope
        self.key: Any = None
        self.window: Any = None
        self.merged: list[Any] = []
        self.resumes = 0
        """When (ms) processing-time timers fire again, after one was registered for a time in the past."""

    @property
    def user_key(self) -> Any:
        """The key, under its PyFlink name."""
        return self.key

    @property
    def merged_windows(self) -> list[Any]:
        """The windows that are merged into one, under their PyFlink name."""
        return self.merged

    def enter(self, key: Any, window: Any) -> None:
        """Switch to a key and window."""
        self.key = key
        self.window = window
        self.scope.key = (key, window)

    def get_current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._timers.clock()

    def get_metric_group(self) -> MetricGroup:
        """Return the metrics of the window operator."""
        return self._operator.runtime_context.get_metrics_group()

    def get_current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._timers.current_watermark

    def register_processing_time_timer(self, time: int) -> None:
        """Request a call of ``on_processing_time`` when the worker's clock reaches ``time`` (ms).

        If a record registers one for the past, it fires after :data:`BUNDLE_MS`, as in PyFlink: windows of event times
        by an assigner that says it is of processing time would otherwise end with each record.
        """
        now = self._timers.clock()
        if time <= now and self.resumes <= now:
            self.resumes = now + BUNDLE_MS
        self._timers.register_processing_time(time, self.key, self.window)

    def register_event_time_timer(self, time: int) -> None:
        """Request a call of ``on_event_time`` when the watermark reaches ``time`` (ms)."""
        self._timers.register_event_time(time, self.key, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        """Delete a processing-time timer."""
        self._timers.delete_processing_time(time, self.key, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        """Delete an event-time timer."""
        self._timers.delete_event_time(time, self.key, self.window)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        """Return state of the current key and window."""
        state = self._known.get(state_descriptor)
        if state is None:
            state = self._state.state(state_descriptor, self.scope)
            if len(self._known) < _MOST_CACHED:  # a trigger may create a descriptor in each call
                self._known[state_descriptor] = state
        return state

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        """Move the state of the merged windows to that of the current window.

        Raises:
            TypeError: The kind of state cannot be merged.
        """
        if not isinstance(state_descriptor, _MERGEABLE):
            raise TypeError(
                f"the trigger state '{state_descriptor.name}' cannot be merged, because it has a "
                f"{type(state_descriptor).__name__}: use list, reducing or aggregating state",
            )
        state = self.get_partitioned_state(state_descriptor)
        state.merge_into((self.key, self.window), [(self.key, window) for window in self.merged])


class WindowState(KeyedStateStore):
    """State of the key and window that a trigger's context points to at the time of each access."""

    def __init__(self, at: WindowTriggerContext, state: KeyedStateBackend) -> None:
        """Return state of the current key and window of ``at``."""
        self._at = at
        self._state = state

    @property
    def window(self) -> Any:
        """The window."""
        return self._at.window

    def _get(self, descriptor: StateDescriptor) -> Any:
        return self._state.state(descriptor, self._at.scope)

    def get_state(self, state_descriptor: Any) -> Any:
        """Return a value state."""
        return self._get(state_descriptor)

    def get_list_state(self, state_descriptor: Any) -> Any:
        """Return a list state."""
        return self._get(state_descriptor)

    def get_map_state(self, state_descriptor: Any) -> Any:
        """Return a map state."""
        return self._get(state_descriptor)

    def get_reducing_state(self, state_descriptor: Any) -> Any:
        """Return a reducing state."""
        return self._get(state_descriptor)

    def get_aggregating_state(self, state_descriptor: Any) -> Any:
        """Return an aggregating state."""
        return self._get(state_descriptor)


class _NoWindowState(WindowState):
    """Raises an error on each access, because a user's state cannot be merged along with windows."""

    def _get(self, descriptor: StateDescriptor) -> Any:
        raise Exception(  # noqa: TRY002 - the type PyFlink raises
            "Per-window state is not allowed when using merging windows. "
            f"Use global_state() for the state '{descriptor.name}'",
        )


class WindowContext(ProcessWindowFunction.Context[Any], ProcessAllWindowFunction.Context[Any]):
    """The context of process window functions, keyed or not."""

    def __init__(self, trigger_context: WindowTriggerContext, operator: OperatorContext, *, merging: bool) -> None:
        """Follow the key and window of ``trigger_context``."""
        assert operator.state is not None  # noqa: S101
        self._at = trigger_context
        self._window_state = (_NoWindowState if merging else WindowState)(trigger_context, operator.state)
        self._global_state = operator.runtime_context

    def window(self) -> Any:
        """Return the window."""
        return self._at.window

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._at.get_current_processing_time()

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._at.get_current_watermark()

    def window_state(self) -> KeyedStateStore:
        """Return state of this key and window."""
        return self._window_state

    def global_state(self) -> KeyedStateStore:
        """Return state of this key that all its windows share: the runtime context, as in PyFlink."""
        return self._global_state
