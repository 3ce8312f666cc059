"""Acknowledgements of tasks show whether all tasks of an epoch read what the same runs of the previous tasks wrote.

Spark runs a stage again when the executor that held its results is lost, and it runs slow tasks twice if speculation is
on. A source that is read again may return other records. If some tasks of the next stage read the first results and the
others read the second, records are lost or repeated, and Spark reports no error. So each run of a task draws a number,
sends it along with its results, and reports which numbers it read. The driver compares the reports of an epoch.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ACKNOWLEDGEMENT", "TaskAcknowledgement", "difference", "new_run", "total"]

ACKNOWLEDGEMENT = -3
"""The edge of the items that carry acknowledgements; the engine keeps them to itself."""

_RANGE = 1 << 64


class TaskAcknowledgement(NamedTuple):
    """What one run of a task wrote and read."""

    level: int
    partition: int
    run: int
    """A number that no other run has."""
    targets: int
    """The partitions of the next stage that it sent anything to, as bits."""
    read: int
    """The sum of the runs whose results it read."""
    executor: str = ""
    """The executor where it ran; empty if it is unknown."""
    moved: int = 0
    """The number of bytes that it sent to the next stage or to the driver."""


def new_run() -> int:
    """Return a number for a run of a task."""
    return int.from_bytes(os.urandom(8), "big")


def difference(acknowledgements: Iterable[TaskAcknowledgement], partitions: Sequence[int]) -> str | None:
    """Return what does not fit in the acknowledgements of an epoch, None if all tasks read the same results.

    Args:
        acknowledgements: Those that reached the driver, in any order.
        partitions: How many tasks each stage has.

    >>> source, first, second = (
    ...     TaskAcknowledgement(0, 0, 7, 0b11, 0),
    ...     TaskAcknowledgement(1, 0, 8, 0, 7),
    ...     TaskAcknowledgement(1, 1, 9, 0, 7),
    ... )
    >>> difference([first, source, second], [1, 2])
    >>> difference([first, source, second._replace(read=5)], [1, 2])
    'task 1 of stage 1 read results other than those that count'
    """
    levels: list[dict[int, TaskAcknowledgement]] = [{} for _ in partitions]
    for acknowledgement in acknowledgements:
        if levels[acknowledgement.level].setdefault(acknowledgement.partition, acknowledgement) != acknowledgement:
            return f"two runs of task {acknowledgement.partition} of stage {acknowledgement.level} count"
    expected = [0] * partitions[0]
    for level, count in enumerate(partitions):
        found = levels[level]
        sent: dict[int, int] = {}
        for partition in range(count):
            acknowledged = found.get(partition)
            if acknowledged is None:
                return f"task {partition} of stage {level} left no acknowledgement"
            if acknowledged.read != expected[partition]:
                return f"task {partition} of stage {level} read results other than those that count"
            sent[acknowledged.targets] = (sent.get(acknowledged.targets, 0) + acknowledged.run) % _RANGE
        if level + 1 < len(partitions):
            expected = [
                sum(run for targets, run in sent.items() if targets >> partition & 1) % _RANGE
                for partition in range(partitions[level + 1])
            ]
    return None


def total(runs: Iterable[int]) -> int:
    """Return the sum of runs, as a acknowledgement has it."""
    return sum(runs) % _RANGE
