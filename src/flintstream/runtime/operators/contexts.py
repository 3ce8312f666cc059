"""Objects passed to user functions at run time: runtime contexts, process contexts and timer services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.compiled.keyed import KeyedStamped, Stamped, TimerAccess
from flintstream.contracts.functions import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
    RuntimeContext,
)
from flintstream.contracts.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.contracts.state.descriptors import taken_for
from flintstream.contracts.timers import TimeDomain, TimerService
from flintstream.metrics import MetricGroup
from flintstream.runtime.keys import thaw_key
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.contracts.state import StateDescriptor
    from flintstream.runtime.operators.timers import InternalTimerService


class StreamingRuntimeContext(RuntimeContext):
    """The runtime context of one operator in one subtask."""

    def __init__(
        self,
        task_name: str,
        subtask: int,
        parallelism: int,
        max_parallelism: int,
        job_parameters: Mapping[str, str],
        state: Any | None,
        attempt: int = 0,
        operator: str | None = None,
    ) -> None:
        self._task_name = task_name
        self._operator = operator or task_name
        self._subtask = subtask
        self._parallelism = parallelism
        self._max_parallelism = max_parallelism
        self._job_parameters = job_parameters
        self._state = state
        self._attempt = attempt
        self._metrics = MetricGroup()

    def begin_attempt(self, attempt: int) -> None:
        """Set the number of restarts of the job, before the user's function is opened."""
        self._attempt = attempt

    def get_task_name(self) -> str:
        """Return the names of the chained operators, such as ``Map -> Filter``."""
        return self._task_name

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the operator."""
        return self._parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups of the operator."""
        return self._max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the number of this subtask, from 0."""
        return self._subtask

    def get_attempt_number(self) -> int:
        """Return the number of restarts of the job."""
        return self._attempt

    def get_task_name_with_subtasks(self) -> str:
        """Return the task name with subtask and attempt, such as ``Map (1/2)#0``."""
        return f"{self._task_name} ({self._subtask + 1}/{self._parallelism})#{self._attempt}"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global job parameter, or ``default_value`` if it is not set."""
        return self._job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        """Return the metrics of this operator."""
        return self._metrics

    def _keyed_state(self, descriptor: Any, wanted: type[StateDescriptor]) -> Any:
        found = taken_for(descriptor, wanted)
        if found is None:
            raise TypeError(
                f"this kind of state in operator '{self._operator}' needs a {wanted.__name__}, but got {descriptor!r}"
            )
        if self._state is None:
            raise Exception(  # noqa: TRY002 - the type PyFlink raises
                "This state is only accessible by functions executed on a KeyedStream. "
                f"Call key_by() before the operator '{self._operator}' to use the state '{found.name}'",
            )
        return self._state.state(found)

    def get_state(self, state_descriptor: Any) -> Any:
        """Return a value state of the current key."""
        return self._keyed_state(state_descriptor, ValueStateDescriptor)

    def get_list_state(self, state_descriptor: Any) -> Any:
        """Return a list state of the current key."""
        return self._keyed_state(state_descriptor, ListStateDescriptor)

    def get_map_state(self, state_descriptor: Any) -> Any:
        """Return a map state of the current key."""
        return self._keyed_state(state_descriptor, MapStateDescriptor)

    def get_reducing_state(self, state_descriptor: Any) -> Any:
        """Return a reducing state of the current key."""
        return self._keyed_state(state_descriptor, ReducingStateDescriptor)

    def get_aggregating_state(self, state_descriptor: Any) -> Any:
        """Return an aggregating state of the current key."""
        return self._keyed_state(state_descriptor, AggregatingStateDescriptor)


def create_runtime_context(
    job: Any, chain: Any, node: Any, subtask: int, state: Any | None, chain_name: str
) -> StreamingRuntimeContext:
    """Create the runtime context of one operator in one subtask."""
    return StreamingRuntimeContext(
        chain_name,
        subtask,
        chain.parallelism,
        chain.max_parallelism,
        job.settings.job_parameters,
        state,
        operator=node.name,
    )


class KeyedTimerService(TimerAccess, TimerService):
    """The timer service on a keyed stream."""

    __slots__ = ()

    _timers: InternalTimerService

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._timers.clock()

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._timers.current_watermark


class NonKeyedTimerService(TimerService):
    """The timer service on a non-keyed stream: tells the time and rejects timers."""

    def __init__(self) -> None:
        self.watermark = MIN_TIMESTAMP

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return wall_clock()

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self.watermark

    def _refuse(self, operation: str) -> None:
        raise Exception(f"{operation} timers is only supported on a keyed stream.")  # noqa: TRY002 - as in PyFlink

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._refuse("Register")

    def register_event_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._refuse("Register")

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._refuse("Delete")

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._refuse("Delete")


class ProcessContext(Stamped, ProcessFunction.Context, CoProcessFunction.Context):
    """The context of a :class:`ProcessFunction` and of a :class:`CoProcessFunction`."""

    __slots__ = ("_service",)

    def __init__(self) -> None:
        self._timestamp = MIN_TIMESTAMP
        self._service = NonKeyedTimerService()

    def watermark(self, timestamp: int) -> None:
        """Set the current watermark (ms)."""
        self._service.watermark = timestamp

    def timer_service(self) -> TimerService:
        """Return the timer service, which only tells the time."""
        return self._service

    # In PyFlink's thread mode, this context is its own timer service.

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._service.current_processing_time()

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._service.current_watermark()

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._service.register_processing_time_timer(timestamp)

    def register_event_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._service.register_event_time_timer(timestamp)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._service.delete_processing_time_timer(timestamp)

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Raise: the stream is not keyed."""
        self._service.delete_event_time_timer(timestamp)


class KeyedProcessContext(KeyedStamped, KeyedProcessFunction.Context, KeyedCoProcessFunction.Context):
    """The context of the process methods of ``KeyedProcessFunction`` and ``KeyedCoProcessFunction``."""

    __slots__ = ()

    thawed = staticmethod(thaw_key)

    def __init__(self, state: Any, timers: InternalTimerService) -> None:
        self._timestamp = MIN_TIMESTAMP
        self._state = state
        self._service = KeyedTimerService(state, timers)


class OnTimerContext(KeyedProcessContext, KeyedProcessFunction.OnTimerContext, KeyedCoProcessFunction.OnTimerContext):
    """The context of ``on_timer``."""

    __slots__ = ("_domain",)

    def set_domain(self, domain: str) -> None:
        """Set the kind of timer that fires."""
        self._domain = TimeDomain.EVENT_TIME if domain == "event" else TimeDomain.PROCESSING_TIME

    def time_domain(self) -> TimeDomain:
        """Return the kind of timer that fires."""
        return self._domain
