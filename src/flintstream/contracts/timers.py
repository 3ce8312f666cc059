"""What tells the time and sets timers (PyFlink's ``pyflink.datastream.timerservice`` and ``time_domain``)."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod

__all__ = ["TimeDomain", "TimerService"]


class TimeDomain(enum.Enum):
    """Whether a timer is about event time or processing time."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1


class TimerService(ABC):
    """Times are in ms since the epoch. Timers belong to the current key; at most one per key, time and domain."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the worker's time."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the current watermark; ``-2**63`` before the first one, ``2**63 - 1`` after the end of the input."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Ask for ``on_timer`` when the worker's clock reaches ``timestamp``."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Ask for ``on_timer`` when the watermark reaches ``timestamp``."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a processing-time timer; nothing happens if there is none."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete an event-time timer; nothing happens if there is none."""


TimeDomain.__module__ = "flintstream.datastream.time_domain"
TimerService.__module__ = "flintstream.datastream.timerservice"
