"""Clocks and timers (PyFlink's ``pyflink.datastream.timerservice`` and ``time_domain``)."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod

__all__ = ["TimeDomain", "TimerService"]


class TimeDomain(enum.Enum):
    """The kind of time of a timer: event time or processing time."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1


class TimerService(ABC):
    """Access to time and timers, in ms since the epoch.

    Timers belong to the current key. There is at most one per key, time and domain.
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
