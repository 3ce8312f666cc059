"""Code that Spark's Python workers run: one task of one superstep."""

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

from flintstream.engine.spark.acknowledgements import ACKNOWLEDGEMENT, TaskAcknowledgement, new_run, total
from flintstream.engine.spark.placement import own_executor
from flintstream.engine.spark.provision.dependencies import enter
from flintstream.errors import expect_no_interrupt
from flintstream.runtime.exchange.receiving import Item
from flintstream.runtime.logs import WholeLines
from flintstream.runtime.task.stage import JobRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.coordinator.engine import Materialization
    from flintstream.engine.spark.shipping import ShippedJob
    from flintstream.runtime.protocol import StateHandle

JOBS_KEPT = 4
"""Number of jobs whose subtasks a worker keeps between epochs."""

GC_THRESHOLDS = (50_000, 20, 100)
"""Thresholds of Python's garbage collector: its default of 700 is too small for blocks with thousands of tuples."""

FLUSH_BYTES = 1 << 20
"""Size of the output that a task buffers."""

LONGEST_LINE = 1 << 16
"""Maximum size in bytes of a printed line that is certainly written in one piece."""

_streams: list[io.TextIOWrapper] = []
"""The output streams of this process."""

_runtimes: OrderedDict[str, tuple[ShippedJob, JobRuntime]] = OrderedDict()
"""Job -> its latest start, and its runtime in this process."""


def runtime_of(job: ShippedJob) -> JobRuntime:
    """Return the runtime of a job in this process."""
    known, runtime = _runtimes.get(job.job_id, (None, None))
    if runtime is None or known is None or known.start != job.start:
        runtime = None  # else its memory would not be freed
        _close(lambda item: job.outlives(item) or item.plan.gone(), JOBS_KEPT - 1)
        with io.BytesIO(job.plan.load()) as file:
            enter()
            expect_no_interrupt()
            setup = pickle.load(file)
            _write_whole_lines(setup.logs.output)
            setup.enter()
            plan, log = pickle.load(file)
        gc.set_threshold(*GC_THRESHOLDS)
        runtime = JobRuntime(plan, log)
        _runtimes[job.job_id] = job, runtime
    _runtimes.move_to_end(job.job_id)
    return runtime


def close_ended_jobs() -> None:
    """Drop the jobs that are known to have ended."""
    _close(lambda job: job.plan.gone())


def _close(ended: Callable[[ShippedJob], bool], most: int = JOBS_KEPT) -> None:
    """Drop the jobs that have ended and, if there are more than ``most`` others, the oldest of those."""
    dropped = [job_id for job_id, (job, _) in _runtimes.items() if ended(job)]
    running = [job_id for job_id in _runtimes if job_id not in dropped]
    dropped += running[: max(0, len(running) - most)]
    for job_id in dropped:
        _runtimes.pop(job_id)[1].close()
    if dropped:
        # Operators, functions and state refer to each other. With GC_THRESHOLDS, Python may not look for such objects
        # for hours, while each restart of a job would leave a copy of its state in memory.
        gc.collect()


def _write_whole_lines(output: str | None) -> None:
    """Write the output of user code line by line: all workers of an executor write to the same pipe.

    Spark starts its workers with ``python -u``, which writes each piece of a line separately.

    Args:
        output: a named pipe to a driver on this machine, instead of Spark's.
    """
    if _streams:
        return
    for name in ("stdout", "stderr"):
        getattr(sys, name).flush()
    if output is not None:
        with contextlib.suppress(OSError):  # the driver has ended, or its directory is not visible here
            pipe = os.open(output, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.set_blocking(pipe, True)
            os.dup2(pipe, 2)
            os.close(pipe)
    os.dup2(2, 1)  # Spark shows both together
    for name in ("stdout", "stderr"):
        given = getattr(sys, name)
        buffer = io.BufferedWriter(WholeLines(2), LONGEST_LINE)
        own = io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=True)
        setattr(sys, name, own)
        _streams.append(own)


def flush_output(items: Iterator[Item]) -> Iterator[Item]:
    """Flush output without a line end when a task ends."""
    try:
        yield from items
    finally:
        for stream in _streams:
            with contextlib.suppress(ValueError, OSError):  # user code has closed it
                stream.flush()


class StageTask:
    """Runs the tasks of a superstep. Pickled by reference, which keeps closures small."""

    def __init__(self, job: ShippedJob, level: int, following: int) -> None:
        """Run ``level`` of a job; the next stage has ``following`` tasks."""
        self.job = job
        self.level = level
        self.following = following

    def __call__(self, partition: int, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of the last stage, or the input of an exchange (see :class:`StageChain`)."""
        runtime = runtime_of(self.job)
        if self.level == 0:
            items: Iterator[Item] = map(Item._make, chain.from_iterable(elements))
            if not self.following:
                return self._results(partition, runtime, items, set())
            return self._route(partition, runtime, items, set())
        runs: set[int] = set()
        items = _open_packets(elements, runs)
        if self.following:
            return self._route(partition, runtime, items, runs)
        return self._results(partition, runtime, items, runs)

    def _results(self, partition: int, runtime: JobRuntime, items: Iterator[Item], runs: set[int]) -> Iterator[Any]:
        moved = 0
        for item in flush_output(runtime.run_stage(self.level, partition, items)):
            moved += len(item.payload)
            yield tuple(item)
        acknowledgement = TaskAcknowledgement(self.level, partition, new_run(), 0, total(runs), own_executor(), moved)
        yield self._acknowledgement(acknowledgement, self.level + 1)

    def _route(self, partition: int, runtime: JobRuntime, items: Iterator[Item], runs: set[int]) -> Iterator[bytes]:
        """Yield each item for its partition of the next stage, in small groups if items are large."""
        following, next_level = self.following, self.level + 1
        run = new_run()
        waiting: dict[int, list[Any]] = {}
        targets = size = moved = 0
        for item in flush_output(runtime.run_stage(self.level, partition, items)):
            target = item.subtask if item.level == next_level else item.subtask % following
            waiting.setdefault(target, []).append(tuple(item))
            size += len(item.payload)
            if size >= FLUSH_BYTES:
                targets |= _bits(waiting)
                yield from _pack(waiting, run)
                moved += size
                size = 0
        own_target = partition % following
        targets |= _bits(waiting) | 1 << own_target
        moved += size
        acknowledgement = TaskAcknowledgement(self.level, partition, run, targets, total(runs), own_executor(), moved)
        waiting.setdefault(own_target, []).append(self._acknowledgement(acknowledgement, len(runtime.plan.supersteps)))
        yield from _pack(waiting, run)

    @staticmethod
    def _acknowledgement(acknowledgement: TaskAcknowledgement, level: int) -> tuple[Any, ...]:
        return tuple(Item(level, 0, ACKNOWLEDGEMENT, 0, 0, 0, pickle.dumps(tuple(acknowledgement), 5)))


def _open_packets(elements: Iterator[Any], runs: set[int]) -> Iterator[Item]:
    """Yield the items in what :func:`_pack` made, and note which runs they are from."""
    for element in elements:
        if type(element) is int:
            runs.add(element)
        else:
            yield Item(*element)


def _bits(targets: Iterable[int]) -> int:
    bits = 0
    for target in targets:
        bits |= 1 << target
    return bits


def _pack(waiting: dict[int, list[Any]], run: int) -> Iterator[bytes]:
    for target, items in waiting.items():
        items.append(run)
        yield struct.pack("!q", target)
        yield pickle.dumps(items, 5)
    waiting.clear()


class MaterializeTask:
    """Materializes the changelog of a subtask."""

    def __init__(self, job: ShippedJob, task: Materialization) -> None:
        """Materialize a log of a job."""
        self.job = job
        self.task = task

    def __call__(self, _: int) -> StateHandle:
        """Return the new base."""
        task = self.task
        return runtime_of(self.job).materialize(task.chain, task.subtask, task.handles)


def own_partition(key: int) -> int:
    """Partition by the number itself."""
    return key
