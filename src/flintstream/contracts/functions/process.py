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
    """A function that emits any number of results to the main stream or, as ``(tag, value)``, to side outputs.

    >>> from flintstream.testing.harness import OneInputHarness
    >>> class Late(ProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         if ctx.timestamp() < ctx.timer_service().current_watermark():
    ...             yield value
    >>> with OneInputHarness(lambda words: words.process(Late())) as harness:
    ...     harness.process_element("in time", 1_000)
    ...     harness.process_watermark(5_000)
    ...     harness.process_element("late", 2_000)
    ...     harness.extract_output_values()
    ['late']
    """

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
        """Return the results for a due timer (ms) of the current key, generate them, or return None.

        >>> from flintstream.testing.harness import KeyedHarness
        >>> class Remind(KeyedProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         ctx.timer_service().register_processing_time_timer(1_000)
        ...
        ...     def on_timer(self, timestamp, ctx):
        ...         yield ctx.get_current_key(), timestamp, ctx.time_domain().name
        >>> with KeyedHarness(lambda names: names.key_by(lambda name: name).process(Remind())) as harness:
        ...     harness.process_element("ann")
        ...     harness.set_processing_time(1_000)
        ...     harness.extract_output_values()
        [('ann', 1000, 'PROCESSING_TIME')]
        """


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """A process function of two connected streams.

    >>> from flintstream.testing.harness import TwoInputHarness
    >>> class Merge(CoProcessFunction):
    ...     def process_element1(self, value, ctx):
    ...         yield "reading", value, ctx.timestamp()
    ...
    ...     def process_element2(self, value, ctx):
    ...         yield "alarm", value, ctx.timestamp()
    >>> with TwoInputHarness(lambda readings, alarms: readings.connect(alarms).process(Merge())) as harness:
    ...     harness.process_element1(20, 1_000)
    ...     harness.process_element2("fire", 2_000)
    ...     harness.extract_output_values()
    [('reading', 20, 1000), ('alarm', 'fire', 2000)]
    """

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
    """A process function of two connected keyed streams, which share the state and timers of a key.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> from flintstream.testing.harness import KeyedTwoInputHarness
    >>> class Unpaid(KeyedCoProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.paid = runtime_context.get_state(ValueStateDescriptor("paid", Types.BOOLEAN()))
    ...
    ...     def process_element1(self, order, ctx):
    ...         ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)
    ...
    ...     def process_element2(self, payment, ctx):
    ...         self.paid.update(True)
    ...
    ...     def on_timer(self, timestamp, ctx):
    ...         if not self.paid.value():
    ...             yield f"order {ctx.get_current_key()} is not paid"
    >>> def unpaid(orders, payments):
    ...     return orders.connect(payments).key_by(lambda order: order, lambda payment: payment).process(Unpaid())
    >>> with KeyedTwoInputHarness(unpaid) as harness:
    ...     harness.process_element1(7, 0)
    ...     harness.process_element1(8, 0)
    ...     harness.process_element2(7, 500)
    ...     harness.process_both_watermarks(1_000)
    ...     harness.extract_output_values()
    ['order 8 is not paid']
    """

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
