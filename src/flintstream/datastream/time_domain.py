"""Time domains of timers."""

from __future__ import annotations

import enum

__all__ = ["TimeDomain"]


class TimeDomain(enum.Enum):
    """Whether a timer is about event time or processing time."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1
