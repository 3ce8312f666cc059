"""Timer services (PyFlink's ``pyflink.datastream.timerservice``)."""

from __future__ import annotations

from flintstream.contracts.timers import TimerService

__all__ = ["TimerService"]
