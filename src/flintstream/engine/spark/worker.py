"""What Spark's Python workers run: one task of one superstep."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import pickle
import struct
import sys
from collections import OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.dependencies import enter
from flintstream.errors import expect_no_interrupt
from flintstream.runtime.exchange.receiving import Item
from flintstream.runtime.state_log.log import DirectoryStateLog
from flintstream.runtime.task.stage import JobRuntime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.coordinator.materializer import Folding
    from flintstream.runtime.protocol import StateHandle

JOBS_KEPT = 4
"""Jobs of which a worker keeps subtasks between epochs."""

PLAN = "plan"
"""File of the state directory that has the pickled :class:`ProcessSetup`, then the job plan."""

GC_THRESHOLDS = (50_000, 20, 100)
"""When Python looks for cycles: blocks have thousands of tuples, which its own 700 takes for many generations."""

FLUSH_BYTES = 1 << 20
"""How much a task keeps back of what it sends on."""

LONGEST_LINE = 1 << 16
"""Bytes of a printed line that are certain to be written in one piece."""

_streams: list[io.TextIOWrapper] = []
"""Where this process prints."""

_runtimes: OrderedDict[str, tuple[str, JobRuntime]] = OrderedDict()
"""By job: the state directory of its latest start, and what this process has of it."""


def _runtime_of(job_id: str, state_directory: str) -> JobRuntime:
    start, runtime = _runtimes.get(job_id, ("", None))
    if runtime is None or start != state_directory:
        if runtime is not None:  # of an earlier start: what it holds is of no use any more
            runtime.close()
        close_ended_jobs()
        while len(_runtimes) >= JOBS_KEPT:
            _runtimes.popitem(last=False)[1][1].close()
        with open(os.path.join(state_directory, PLAN), "rb") as file:  # noqa: PTH118, PTH123
            enter()
            expect_no_interrupt()
            _write_whole_lines()
            pickle.load(file).enter()
            plan = pickle.load(file)
        gc.set_threshold(*GC_THRESHOLDS)
        runtime = JobRuntime(plan, DirectoryStateLog(state_directory))
        _runtimes[job_id] = state_directory, runtime
    _runtimes.move_to_end(job_id)
    return runtime


def close_ended_jobs() -> None:
    """Let go of jobs whose state directory is gone."""
    for job_id, (state_directory, runtime) in list(_runtimes.items()):
        if not os.path.isdir(state_directory):  # noqa: PTH112
            runtime.close()
            del _runtimes[job_id]


def _write_whole_lines() -> None:
    """Let what user code prints leave this process line by line: all workers of an executor write to one pipe.

    Spark starts its workers with ``python -u``, which writes each piece of a line apart.
    """
    if _streams:
        return
    os.dup2(2, 1)  # Spark shows both in one place
    for name in ("stdout", "stderr"):
        given = getattr(sys, name)
        given.flush()
        buffer = io.BufferedWriter(io.FileIO(2, "w", closefd=False), LONGEST_LINE)
        own = io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=True)
        setattr(sys, name, own)
        _streams.append(own)


def _shown(items: Iterator[Item]) -> Iterator[Item]:
    """Let what was printed without a line end be seen when a task ends."""
    try:
        yield from items
    finally:
        for stream in _streams:
            with contextlib.suppress(ValueError, OSError):  # the user's code has closed it
                stream.flush()


class StageTask:
    """Runs one superstep's tasks; pickled by reference, so that closures stay small."""

    def __init__(self, job_id: str, level: int, following: int, state_directory: str) -> None:
        """Run ``level`` of the job whose plan lies in ``state_directory``; the next stage has ``following`` tasks."""
        self.job_id = job_id
        self.level = level
        self.following = following
        self.state_directory = state_directory

    def __call__(self, partition: int, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield what the last stage results in; of another one, what an exchange reads (see :class:`StageChain`)."""
        runtime = _runtime_of(self.job_id, self.state_directory)
        if self.level == 0:
            elements = chain.from_iterable(elements)
        items = _shown(runtime.run_stage(self.level, partition, (Item(*element) for element in elements)))
        return self._sorted(items) if self.following else map(tuple, items)

    def _sorted(self, items: Iterator[Item]) -> Iterator[bytes]:
        """Hand over each item for its partition of the next stage, few at a time where they are large."""
        following, next_level = self.following, self.level + 1
        waiting: dict[int, list[tuple[Any, ...]]] = {}
        size = 0
        for item in items:
            target = item.subtask if item.level == next_level else item.subtask % following
            waiting.setdefault(target, []).append(tuple(item))
            size += len(item.payload)
            if size >= FLUSH_BYTES:
                yield from _packed(waiting)
                size = 0
        yield from _packed(waiting)


def _packed(waiting: dict[int, list[tuple[Any, ...]]]) -> Iterator[bytes]:
    for target, items in waiting.items():
        yield struct.pack("!q", target)
        yield pickle.dumps(items, 5)
    waiting.clear()


class MaterializeTask:
    """Folds the changelog of a subtask."""

    def __init__(self, job_id: str, state_directory: str, folding: Folding) -> None:
        """Fold a log of the job whose plan lies in ``state_directory``."""
        self.job_id = job_id
        self.state_directory = state_directory
        self.folding = folding

    def __call__(self, _: int) -> StateHandle:
        """Return the new base."""
        folding = self.folding
        return _runtime_of(self.job_id, self.state_directory).materialize(
            folding.chain, folding.subtask, folding.handles
        )


def own_partition(key: int) -> int:
    """Partition by the number itself."""
    return key
