"""The time characteristic of a program, from PyFlink releases before 2.0."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeCharacteristic"]


class TimeCharacteristic(Enum):
    """The kind of time that a program uses. PyFlink 2 has no such setting.

    Windows and timers name their time domain instead, and a ``WatermarkStrategy`` gives event time.

    >>> [member.name for member in TimeCharacteristic]
    ['ProcessingTime', 'IngestionTime', 'EventTime']
    """

    ProcessingTime = 0
    """The clock of the machine that processes the record."""

    IngestionTime = 1
    """The clock of the machine when the record entered the program."""

    EventTime = 2
    """The timestamp of the record."""
