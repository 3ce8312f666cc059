"""Process functions: access to time, timers and side outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import IN, IN1, IN2, KEY, OUT, Generic, K_co
from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.contracts.output_tag import OutputTag
    from flintstream.contracts.timers import TimeDomain, TimerService


class _Context(ABC):
    """The context that all process functions share."""

    __slots__ = ()

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return the timer service."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the timestamp of the record or timer in ms; ``-2**63`` for a record without one."""


class _KeyedContext(_Context, Generic[K_co]):
    __slots__ = ()

    @abstractmethod
    def get_current_key(self) -> K_co:
        """Return the key of the record or timer."""


class _OnTimerContext(_KeyedContext[K_co]):
    __slots__ = ()

    @abstractmethod
    def time_domain(self) -> TimeDomain:
        """Return the kind of timer that fires."""


class ProcessFunction(Function, Generic[IN, OUT]):
    """A function that emits any number of results to the main stream or, as ``(tag, value)``, to side outputs."""

    class Context(_Context):
        """The context of :meth:`process_element`."""

        __slots__ = ()

    @abstractmethod
    def process_element(self, value: IN, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for ``value``, generate them, or return None."""


class KeyedProcessFunction(Function, Generic[KEY, IN, OUT]):
    """A process function with the state and timers of the record's key.

    ``KeyedProcessFunction[str, int, float]`` has keys of type ``str``, takes ``int`` and emits ``float``.

    >>> from flintstream.contracts.state import ValueStateDescriptor
    >>> from flintstream.common import Types
    >>> class Count(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
    ...
    ...     def process_element(self, value, ctx):
    ...         n = (self.count.value() or 0) + 1
    ...         self.count.update(n)
    ...         yield ctx.get_current_key(), n
    """

    class Context(_KeyedContext[K_co]):
        """The context of :meth:`process_element`."""

        __slots__ = ()

    class OnTimerContext(_OnTimerContext[K_co], Context[K_co]):
        """The context of :meth:`on_timer`."""

        __slots__ = ()

    @abstractmethod
    def process_element(self, value: IN, ctx: Context[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for ``value``, generate them, or return None."""

    def on_timer(self, timestamp: int, ctx: OnTimerContext[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a due timer (ms) of the current key, generate them, or return None."""


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """A process function of two connected streams."""

    class Context(_Context):
        """The context of the function."""

        __slots__ = ()

    @abstractmethod
    def process_element1(self, value: IN1, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: Context) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the second stream."""


class KeyedCoProcessFunction(Function, Generic[KEY, IN1, IN2, OUT]):
    """A process function of two connected keyed streams, which share the state and timers of a key."""

    class Context(_KeyedContext[K_co]):
        """The context of the function."""

        __slots__ = ()

    class OnTimerContext(_OnTimerContext[K_co], Context[K_co]):
        """The context of :meth:`on_timer`."""

        __slots__ = ()

    @abstractmethod
    def process_element1(self, value: IN1, ctx: Context[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: Context[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a record of the second stream."""

    def on_timer(self, timestamp: int, ctx: OnTimerContext[KEY]) -> Iterable[OUT | tuple[OutputTag, Any]] | None:
        """Return the results for a due timer (ms) of the current key."""
