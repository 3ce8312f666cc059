"""Functions that connect a stream with a broadcast stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import IN1, IN2, KEY, OUT, Generic, K_co
from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.common._generic import K, V
    from flintstream.contracts.output_tag import OutputTag
    from flintstream.contracts.state import (
        BroadcastState,
        MapStateDescriptor,
        ReadOnlyBroadcastState,
        StateDescriptor,
    )
    from flintstream.contracts.timers import TimeDomain, TimerService


class BaseBroadcastProcessFunction(Function):
    """Base of both kinds of broadcast function.

    A program subclasses one of its two kinds:

    >>> from flintstream.datastream.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
    >>> for kind in BroadcastProcessFunction, KeyedBroadcastProcessFunction:
    ...     print(kind.__name__, issubclass(kind, BaseBroadcastProcessFunction))
    BroadcastProcessFunction True
    KeyedBroadcastProcessFunction True
    """

    class BaseContext(ABC):
        """Access to time."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the record's timestamp in ms."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the worker's clock time in ms since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

    class Context(BaseContext):
        """Access to time and writable broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
            """Return a broadcast state."""

    class ReadOnlyContext(BaseContext):
        """Access to time and read-only broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> ReadOnlyBroadcastState[K, V]:
            """Return a broadcast state."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """A function of a non-keyed stream and a broadcast stream.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> from flintstream.testing.harness import BroadcastHarness
    >>> blocked = MapStateDescriptor("blocked", Types.STRING(), Types.BOOLEAN())
    >>> class Pass(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         if not ctx.get_broadcast_state(blocked).contains(value):
    ...             yield value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(blocked).put(value, True)
    >>> with BroadcastHarness(lambda names, bad: names.connect(bad.broadcast(blocked)).process(Pass())) as harness:
    ...     harness.process_element("eve")
    ...     harness.process_broadcast_element("eve")
    ...     for name in "eve", "ann":
    ...         harness.process_element(name)
    ...     harness.extract_output_values()
    ['eve', 'ann']
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of :meth:`process_broadcast_element`."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of :meth:`process_element`."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the non-broadcast stream."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a broadcast record; every subtask must change broadcast state in the same way."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """A function of a keyed stream and a broadcast stream.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
    >>> from flintstream.testing.harness import KeyedBroadcastHarness
    >>> limits = MapStateDescriptor("limits", Types.STRING(), Types.LONG())
    >>> total = ValueStateDescriptor("total", Types.LONG())
    >>> class OverTheLimit(KeyedBroadcastProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.total = runtime_context.get_state(total)
    ...
    ...     def process_element(self, value, ctx):
    ...         self.total.update((self.total.value() or 0) + value[1])
    ...         if self.total.value() > ctx.get_broadcast_state(limits).get("limit"):
    ...             ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(limits).put("limit", value)
    ...         ctx.apply_to_keyed_state(total, lambda key, state: state.clear())  # a new limit begins a new sum
    ...
    ...     def on_timer(self, timestamp, ctx):
    ...         yield ctx.get_current_key(), self.total.value()
    >>> def over(amounts, new):
    ...     return amounts.key_by(lambda amount: amount[0]).connect(new.broadcast(limits)).process(OverTheLimit())
    >>> with KeyedBroadcastHarness(over) as harness:
    ...     harness.process_broadcast_element(10)
    ...     harness.process_element(("ann", 9), 0)
    ...     harness.process_element(("ann", 3), 100)
    ...     harness.process_watermark(1_100)
    ...     harness.extract_output_values()
    [('ann', 12)]
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of :meth:`process_broadcast_element`."""

        @abstractmethod
        def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], None]) -> None:
            """Call ``function(key, state)`` for every key of this subtask that has this state.

            Flink's Java API has this method, PyFlink does not. The function may read, change and clear the state.
            """

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC, Generic[K_co]):
        """The context of :meth:`process_element`."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the timer service."""

        @abstractmethod
        def get_current_key(self) -> K_co:
            """Return the record's key."""

    class OnTimerContext(ReadOnlyContext[K_co], ABC):
        """The context of :meth:`on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the kind of timer that fires."""

        @abstractmethod
        def get_current_key(self) -> K_co:
            """Return the timer's key."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a broadcast record; every subtask must change broadcast state in the same way."""

    def on_timer(self, timestamp: int, ctx: OnTimerContext[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a due timer (ms) of the current key."""
