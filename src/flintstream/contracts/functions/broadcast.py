"""Functions of a stream and a broadcast stream."""

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
    """What both kinds of broadcast function share."""

    class BaseContext(ABC):
        """Time."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the record's timestamp in ms."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the worker's time in ms since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

    class Context(BaseContext):
        """Time, and broadcast state to write."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
            """Return a broadcast state."""

    class ReadOnlyContext(BaseContext):
        """Time, and broadcast state to read."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> ReadOnlyBroadcastState[K, V]:
            """Return a broadcast state."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """A function of a stream that is not keyed and a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What :meth:`process_broadcast_element` may ask."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """What :meth:`process_element` may ask."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the stream that is not broadcast."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a broadcast record; every subtask must change broadcast state in the same way."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """A function of a keyed stream and a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What :meth:`process_broadcast_element` may ask."""

        @abstractmethod
        def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], None]) -> None:
            """Call ``function(key, state)`` for every key of this subtask that has this state.

            Flink's Java API has it, PyFlink does not. The function may read, change and clear the state.
            """

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC, Generic[K_co]):
        """What :meth:`process_element` may ask."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return what tells the time and sets timers."""

        @abstractmethod
        def get_current_key(self) -> K_co:
            """Return the record's key."""

    class OnTimerContext(ReadOnlyContext[K_co], ABC):
        """What :meth:`on_timer` may ask."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return which kind of timer fires."""

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
        """Return the results for a timer of the current key that is due (ms)."""
