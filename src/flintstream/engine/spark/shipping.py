"""The way of a job's plan to the Python workers, which need no directory in common for it."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LARGEST_IN_TASK", "Shipment", "ShippedJob", "ship", "ship_in_file"]

LARGEST_IN_TASK = 1 << 15
"""Most bytes that travel with every task; Spark sends more than these only once to each executor."""

_starts = itertools.count()
_running: set[int] = set()
"""The starts of this driver's running jobs."""


class _Plan(Protocol):
    def load(self) -> bytes:
        """Return the pickled plan."""

    def gone(self) -> bool:
        """Return whether the job is known to have ended."""


class _InTask(NamedTuple):
    """A plan that is part of every task."""

    data: bytes

    def load(self) -> bytes:
        return self.data

    def gone(self) -> bool:
        return False


class _InBroadcast(NamedTuple):
    """A plan that Spark brings to each executor on first use."""

    variable: Any

    def load(self) -> bytes:
        return self.variable.value  # type: ignore[no-any-return]

    def gone(self) -> bool:
        return False


class _InFile(NamedTuple):
    """A plan in a file of this machine."""

    path: str

    def load(self) -> bytes:
        return Path(self.path).read_bytes()

    def gone(self) -> bool:
        return not os.path.exists(self.path)  # noqa: PTH110 - sticky workers ask once a second


class _InSparkFile(NamedTuple):
    """A plan in a file that Spark has brought to the executors."""

    name: str

    def load(self) -> bytes:
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name)).read_bytes()

    def gone(self) -> bool:
        return False


@dataclass(frozen=True)
class ShippedJob:
    """A job as its tasks know it: small, and part of each of them."""

    job_id: str
    start: int
    """The number of the start among all starts of jobs by this driver; a restart is another one."""
    running: frozenset[int]
    """The earlier starts whose jobs were still running at this one."""
    plan: _Plan

    def outlives(self, other: ShippedJob) -> bool:
        """Return whether another job in the same Spark application had ended when this one started."""
        return other.job_id == self.job_id or (other.start < self.start and other.start not in self.running)


@dataclass(frozen=True)
class Shipment:
    """A shipped job in the driver."""

    job: ShippedJob
    _release: Callable[[], object]

    def close(self) -> None:
        """Release what the plan occupies, because the job has ended or restarts."""
        _running.discard(self.job.start)
        with suppress(Exception):  # Spark's JVM may be dead
            self._release()


def ship(context: Any, job_id: str, data: bytes, *, sticky: bool, one_machine: bool) -> Shipment:
    """Make a pickled plan available to all tasks of a job.

    Args:
        context: the Spark context that runs them.
        job_id: the id of the job.
        data: the pickled plan.
        sticky: whether sticky workers run the tasks.
        one_machine: whether all workers share this machine's directories.
    """
    return _start(job_id, *_ship(context, data, sticky=sticky, one_machine=one_machine))


def ship_in_file(job_id: str, name: str) -> Shipment:
    """Let tasks find a pickled plan in one of Spark's files."""
    return _start(job_id, _InSparkFile(name), lambda: None)


def _start(job_id: str, plan: _Plan, release: Callable[[], object]) -> Shipment:
    start = next(_starts)
    running = frozenset(_running)
    _running.add(start)
    return Shipment(ShippedJob(job_id, start, running, plan), release)


def _ship(context: Any, data: bytes, *, sticky: bool, one_machine: bool) -> tuple[_Plan, Callable[[], object]]:
    if sticky and one_machine:
        # The fastest way: a task has a few hundred bytes. Sticky workers also notice at once when the job has ended.
        directory = tempfile.mkdtemp(prefix=f"flintstream-plan-{os.getpid()}-")
        path = Path(directory, "plan")
        path.write_bytes(data)
        return _InFile(str(path)), lambda: shutil.rmtree(directory, ignore_errors=True)
    if sticky or len(data) <= LARGEST_IN_TASK:
        # A sticky worker runs the tasks of any connection, but Spark sends a broadcast variable once per connection.
        return _InTask(data), lambda: None
    variable = context.broadcast(data)
    return _InBroadcast(variable), variable.destroy
