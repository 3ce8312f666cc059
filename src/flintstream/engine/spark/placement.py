"""Placement of tasks: the executors that hold the state of a job's subtasks.

Spark runs a task wherever a core is free. On n executors, a subtask would move with probability (n-1)/n from one epoch
to the next, and read its state again each time. So every task prefers an executor: the one where it ran last. Spark
gets them as preferred locations, which it may ignore. A task gets another one if its executor is gone, if it has
more tasks than its share because executors were added, or if Spark ran the task elsewhere because that was busy.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flintstream.engine.spark.acknowledgements import TaskAcknowledgement

__all__ = ["Executor", "Placement", "own_executor"]

AVOIDED_SECONDS = 30.0
"""How long an executor gets no more tasks after Spark could not run a task there."""

_PARENTS = 4
"""How many processes there are at most between a worker and its executor, the executor included."""


class Executor(NamedTuple):
    """An executor that runs tasks."""

    name: str
    host: str
    slots: int
    """How many tasks it runs at a time."""


class Placement:
    """Chooses the preferred executor of every task of a job.

    >>> placement = Placement([2])
    >>> placement.places({"0": Executor("0", "a", 1), "1": Executor("1", "b", 1)}, 0.0)
    [('executor_a_0', 'executor_b_1')]
    """

    def __init__(self, partitions: Sequence[int]) -> None:
        """Choose executors for stages with these numbers of tasks."""
        self._executors: list[list[str]] = [[""] * count for count in partitions]
        self._avoided: dict[str, float] = {}

    def places(self, executors: Mapping[str, Executor], now: float) -> list[tuple[str, ...] | None]:
        """Return the preferred locations of each stage in Spark's notation, or None if there is nothing to choose.

        Args:
            executors: Those that run tasks now, by name.
            now: The time in seconds.
        """
        if len(executors) < 2:
            return [None] * len(self._executors)
        self._avoided = {name: until for name, until in self._avoided.items() if until > now}
        names = {executor.name: f"executor_{executor.host}_{executor.name}" for executor in executors.values()}
        for stage in self._executors:
            self._settle(stage, executors)
        return [tuple(names[name] for name in stage) for stage in self._executors]

    def _settle(self, stage: list[str], executors: Mapping[str, Executor]) -> None:
        """Give an executor to each task of a stage, with as few moves as possible."""
        rounds = -(-len(stage) // sum(executor.slots for executor in executors.values()))
        room = {name: item.slots * rounds for name, item in executors.items()}
        for preferred in stage:
            if preferred in room:
                room[preferred] -= 1
        free = sum(left for name, left in room.items() if left > 0 and name not in self._avoided)
        for partition in reversed(range(len(stage))):
            preferred = stage[partition]
            if preferred not in room:
                stage[partition] = ""
            elif room[preferred] < 0 < free:
                room[preferred] += 1
                free -= 1
                stage[partition] = ""
        for partition, preferred in enumerate(stage):
            if not preferred:
                chosen = min(room, key=lambda name: (name in self._avoided, -room[name] / executors[name].slots))
                room[chosen] -= 1
                stage[partition] = chosen

    def ran(self, acknowledgements: Iterable[TaskAcknowledgement], now: float) -> None:
        """Note where the tasks of an epoch that counts have run."""
        for acknowledgement in acknowledgements:
            stage = self._executors[acknowledgement.level]
            preferred = stage[acknowledgement.partition]
            if acknowledgement.executor and acknowledgement.executor != preferred:
                if preferred:
                    self._avoided[preferred] = now + AVOIDED_SECONDS
                stage[acknowledgement.partition] = acknowledgement.executor


@cache
def own_executor() -> str:
    """Return the name of the executor whose Python worker this process is; empty if it is unknown.

    Spark does not tell its Python workers. It is an argument of the executor, which is an ancestor of the worker.
    """
    if "SPARK_EXECUTOR_ID" in os.environ:  # on Kubernetes
        return os.environ["SPARK_EXECUTOR_ID"]
    process = os.getppid()
    for _ in range(_PARENTS):
        try:
            words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # another system than Linux, or the process is hidden
            return ""
        if "--executor-id" in words:
            return words[words.index("--executor-id") + 1]
    return ""
