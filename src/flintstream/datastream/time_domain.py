"""Time domains of timers (PyFlink's ``pyflink.datastream.time_domain``)."""

from __future__ import annotations

from flintstream.contracts.timers import TimeDomain

__all__ = ["TimeDomain"]
