"""Receipts of tasks: they show whether all tasks of an epoch read what the same runs of the tasks before them wrote.

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

__all__ = ["RECEIPT", "Receipt", "difference", "new_run", "total"]

RECEIPT = -3
"""The edge of the items that carry receipts; the engine keeps them to itself."""

_RANGE = 1 << 64


class Receipt(NamedTuple):
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


def new_run() -> int:
    """Return a number for a run of a task."""
    return int.from_bytes(os.urandom(8), "big")


def difference(receipts: Iterable[Receipt], partitions: Sequence[int]) -> str | None:
    """Return what does not fit in the receipts of an epoch, None if all tasks read the same results.

    Args:
        receipts: Those that reached the driver, in any order.
        partitions: How many tasks each stage has.

    >>> source, first, second = Receipt(0, 0, 7, 0b11, 0), Receipt(1, 0, 8, 0, 7), Receipt(1, 1, 9, 0, 7)
    >>> difference([first, source, second], [1, 2])
    >>> difference([first, source, second._replace(read=5)], [1, 2])
    'task 1 of stage 1 read results other than those that count'
    """
    levels: list[dict[int, Receipt]] = [{} for _ in partitions]
    for receipt in receipts:
        if levels[receipt.level].setdefault(receipt.partition, receipt) != receipt:
            return f"two runs of task {receipt.partition} of stage {receipt.level} count"
    expected = [0] * partitions[0]
    for level, count in enumerate(partitions):
        found = levels[level]
        sent: dict[int, int] = {}
        for partition in range(count):
            receipt_of = found.get(partition)
            if receipt_of is None:
                return f"task {partition} of stage {level} left no receipt"
            if receipt_of.read != expected[partition]:
                return f"task {partition} of stage {level} read results other than those that count"
            sent[receipt_of.targets] = (sent.get(receipt_of.targets, 0) + receipt_of.run) % _RANGE
        if level + 1 < len(partitions):
            expected = [
                sum(run for targets, run in sent.items() if targets >> partition & 1) % _RANGE
                for partition in range(partitions[level + 1])
            ]
    return None


def total(runs: Iterable[int]) -> int:
    """Return the sum of runs, as a receipt has it."""
    return sum(runs) % _RANGE
