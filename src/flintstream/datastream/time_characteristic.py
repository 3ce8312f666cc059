"""The notion of time of a whole program, as releases of PyFlink before 2.0 had it."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeCharacteristic"]


class TimeCharacteristic(Enum):
    """What time means to a program; PyFlink 2 has no such setting.

    Windows and timers name their time domain instead, and a ``WatermarkStrategy`` gives event time.
    """

    ProcessingTime = 0
    """The clock of the machine that handles the record."""

    IngestionTime = 1
    """The clock of the machine when the record entered the program."""

    EventTime = 2
    """The timestamp of the record."""
