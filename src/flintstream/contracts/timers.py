"""Clocks and timers (PyFlink's ``pyflink.datastream.timerservice`` and ``time_domain``)."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod

__all__ = ["TimeDomain", "TimerService"]


class TimeDomain(enum.Enum):
    """The kind of time of a timer: event time or processing time.

    >>> [member.name for member in TimeDomain]
    ['EVENT_TIME', 'PROCESSING_TIME']
    """

    EVENT_TIME = 0
    PROCESSING_TIME = 1


class TimerService(ABC):
    """Access to time and timers, in ms since the epoch.

    Timers belong to the current key. There is at most one per key, time and domain.

    >>> from flintstream.datastream import KeyedProcessFunction
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Alarms(KeyedProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         timers = ctx.timer_service()
    ...         timers.register_event_time_timer(ctx.timestamp() + 1_000)
    ...         timers.register_processing_time_timer(timers.current_processing_time() + 5_000)
    ...         if value == "stop":
    ...             timers.delete_event_time_timer(1_000)
    ...             timers.delete_processing_time_timer(5_000)
    ...
    ...     def on_timer(self, timestamp, ctx):
    ...         yield ctx.time_domain().name, timestamp, ctx.timer_service().current_watermark()
    >>> with KeyedHarness(lambda words: words.key_by(lambda word: 0).process(Alarms())) as harness:
    ...     harness.process_element("go", 0)
    ...     harness.process_element("stop", 500)
    ...     harness.set_processing_time(5_000)
    ...     harness.process_watermark(2_000)
    ...     harness.extract_output_values()
    [('EVENT_TIME', 1500, 2000)]
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the worker's clock time."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the current watermark; ``-2**63`` before the first one, ``2**63 - 1`` after the end of the input."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Schedule ``on_timer`` for when the worker's clock reaches ``timestamp``."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Schedule ``on_timer`` for when the watermark reaches ``timestamp``."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a processing-time timer, if it exists."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete an event-time timer, if it exists."""


TimeDomain.__module__ = "flintstream.datastream.time_domain"
TimerService.__module__ = "flintstream.datastream.timerservice"
