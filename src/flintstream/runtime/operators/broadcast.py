"""Operators on a stream connected with a broadcast stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.compiled.keyed import Stamped
from flintstream.contracts.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from flintstream.contracts.timers import TimeDomain
from flintstream.runtime.keys import thaw_key
from flintstream.runtime.operators.broadcast_state import BroadcastStates
from flintstream.runtime.operators.contexts import KeyedTimerService
from flintstream.runtime.operators.functions import ProcessOperator
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.contracts.state import MapStateDescriptor, StateDescriptor
    from flintstream.contracts.timers import TimerService
    from flintstream.runtime.operators.base import OperatorContext, Output
    from flintstream.runtime.operators.broadcast_state import ReadOnlyState, WritableState


class _Timed(Stamped):
    """Base of all contexts here, with the methods they have in PyFlink."""

    def __init__(self, service: TimerService, states: BroadcastStates) -> None:
        self._timestamp = MIN_TIMESTAMP
        self._service = service
        self._states = states

    def timer_service(self) -> TimerService:
        """Return the timer service. Only records with a key may register timers."""
        return self._service

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return self._service.current_processing_time()

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._service.current_watermark()


class _Writing(_Timed):
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> WritableState:
        """Return a broadcast state for reading and writing."""
        return self._states.writable(state_descriptor)


class _Reading(_Timed):
    def __init__(self, service: TimerService, states: BroadcastStates) -> None:
        super().__init__(service, states)
        self._known = states.known

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyState:
        """Return a broadcast state for reading."""
        try:
            return self._known[state_descriptor]
        except (KeyError, TypeError):
            return self._states.read_only(state_descriptor)


class BroadcastContext(_Writing, BroadcastProcessFunction.Context):
    """The context of ``BroadcastProcessFunction.process_broadcast_element``."""


class ReadOnlyContext(_Reading, BroadcastProcessFunction.ReadOnlyContext):
    """The context of ``BroadcastProcessFunction.process_element``."""


class KeyedBroadcastContext(_Writing, KeyedBroadcastProcessFunction.Context):
    """The context of ``KeyedBroadcastProcessFunction.process_broadcast_element``."""

    def __init__(self, service: TimerService, states: BroadcastStates, keyed_state: Any) -> None:
        super().__init__(service, states)
        self._keyed_state = keyed_state

    def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], None]) -> None:
        """Call ``function(key, state)`` for every key of this subtask that has this state."""
        backend = self._keyed_state
        state = backend.state(state_descriptor)
        try:
            for key in backend.keys(state_descriptor.get_name()):
                backend.key = key
                function(thaw_key(key), state)
        finally:
            backend.key = NO_KEY


class KeyedReadOnlyContext(_Reading, KeyedBroadcastProcessFunction.ReadOnlyContext):
    """The context of ``KeyedBroadcastProcessFunction.process_element``."""

    def __init__(self, service: TimerService, states: BroadcastStates, keyed_state: Any) -> None:
        super().__init__(service, states)
        self._keyed_state = keyed_state

    def get_current_key(self) -> Any:
        """Return the key of the record or timer."""
        return thaw_key(self._keyed_state.key)


class BroadcastOnTimerContext(KeyedReadOnlyContext, KeyedBroadcastProcessFunction.OnTimerContext):
    """The context of ``KeyedBroadcastProcessFunction.on_timer``."""

    def set_domain(self, domain: str) -> None:
        """Set the kind of timer that fires."""
        self._domain = TimeDomain.EVENT_TIME if domain == "event" else TimeDomain.PROCESSING_TIME

    def time_domain(self) -> TimeDomain:
        """Return the kind of timer that fires."""
        return self._domain


class _NoKey:
    """The current key while a broadcast record is processed. Accessing state with it raises."""

    def __hash__(self) -> NoReturn:
        raise Exception(  # noqa: TRY002 - as PyFlink raises here
            "a broadcast record has no key, so process_broadcast_element() can use neither keyed state nor timers: "
            "use ctx.apply_to_keyed_state(descriptor, function) to visit the state of all keys",
        )

    __eq__ = object.__eq__


NO_KEY = _NoKey()


class BroadcastOperator(ProcessOperator):
    """``process`` on a non-keyed stream and a broadcast stream (the second input)."""

    def __init__(self, function: Any, state_names: Sequence[str]) -> None:
        """Take the user's function and the names of the broadcast states."""
        super().__init__(function)
        self.state_names = tuple(state_names)

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the states and the function's contexts."""
        super().setup(context, output, side_outputs)
        self.states = BroadcastStates(self.state_names, context.warn)
        service = self.ctx.timer_service()
        self.read_only = ReadOnlyContext(service, self.states)
        self.broadcast = BroadcastContext(service, self.states)

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the non-broadcast stream."""
        self.call_each(self.function.process_element, self.read_only, values, timestamps)

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the broadcast stream."""
        self.call_each(self.function.process_broadcast_element, self.broadcast, values, timestamps)

    keeps_state = True

    def snapshot(self) -> object | None:
        """Return the broadcast states."""
        return self.states.snapshot()

    def restore(self, state: Any) -> None:
        """Restore the broadcast states."""
        self.states.restore(state)


class KeyedBroadcastOperator(KeyedProcessOperator):
    """``process`` on a keyed stream and a broadcast stream (the second input)."""

    def __init__(self, function: Any, selector: Callable[[Any], Any], state_names: Sequence[str]) -> None:
        """Take the user's function, the key selector and the names of the broadcast states."""
        super().__init__(function, selector)
        self.state_names = tuple(state_names)

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the states and the function's contexts."""
        super().setup(context, output, side_outputs)
        self.states = BroadcastStates(self.state_names, context.warn)
        service = KeyedTimerService(self.state, self.timers)
        self.ctx: Any = KeyedReadOnlyContext(service, self.states, self.state)
        self.timer_ctx: Any = BroadcastOnTimerContext(service, self.states, self.state)
        self.broadcast = KeyedBroadcastContext(service, self.states, self.state)

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the broadcast stream."""
        self.state.key = NO_KEY
        try:
            self.call_each(self.function.process_broadcast_element, self.broadcast, values, timestamps)
        finally:
            self.state.key = None

    keeps_state = True

    def snapshot(self) -> object | None:
        """Return the broadcast states."""
        return self.states.snapshot()

    def restore(self, state: Any) -> None:
        """Restore the broadcast states."""
        self.states.restore(state)
