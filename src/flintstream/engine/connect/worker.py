"""Code that runs in the Python workers of a Spark Connect server: one task of one superstep, on Arrow batches.

Each row has the key of the partition that it goes to, and one pickled packet: the target, items, and the run that wrote
them. A task that finds a packet for another target stops the epoch, so an exchange that does not put each target into a
partition of its own cannot mix subtasks.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, TypeAlias

from flintstream.engine.connect.exchange import keys_of_partitions
from flintstream.engine.spark.acknowledgements import ACKNOWLEDGEMENT, TaskAcknowledgement, new_run, total
from flintstream.engine.spark.tasks import attempt
from flintstream.engine.spark.worker import FLUSH_BYTES, flush_output, runtime_of
from flintstream.errors import JobFailedError
from flintstream.runtime.exchange.receiving import Item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from flintstream.coordinator.engine import Materialization
    from flintstream.engine.spark.shipping import ShippedJob
    from flintstream.runtime.task.stage import JobRuntime

__all__ = ["SCHEMA", "CallTask", "MaterializeTask", "Stage", "payloads", "row_of"]

SCHEMA = "key int, payload binary"
"""The columns of the rows that tasks read and write."""

Batch: TypeAlias = "pa.RecordBatch"


def row_of(key: int, payload: bytes) -> Batch:
    """Return a batch of one row."""
    import pyarrow as pa  # needed by jobs on Spark Connect only

    return pa.RecordBatch.from_arrays(
        [pa.array([key], pa.int32()), pa.array([payload], pa.binary())], ["key", "payload"]
    )


def payloads(batches: Iterable[Batch]) -> Iterator[bytes]:
    """Yield the payloads of rows one by one, so that there is one copy of one of them at a time."""
    for batch in batches:
        for payload in batch.column("payload"):
            yield payload.as_py()


class Stage:
    """Runs the tasks of a superstep. Pickled by reference, which keeps queries small."""

    def __init__(self, job: ShippedJob, level: int, following: int, *, by_id: bool) -> None:
        """Run ``level`` of a job; the next stage has ``following`` tasks, and its key is its number if ``by_id``."""
        self.job = job
        self.level = level
        self.following = following
        self.by_id = by_id

    def first(self, seeds: Mapping[int, bytes]) -> FirstStage:
        """Return the first stage of an epoch with the pickled items of each task."""
        return FirstStage(self, seeds)

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Run the task of the partition whose rows these are."""
        packets = map(pickle.loads, payloads(batches))
        head = next(packets, None)
        if head is None:  # each target gets a row, so this partition is none
            return
        runs: set[int] = set()
        partition, runtime = head[0], runtime_of(self.job)
        yield from self.run(partition, runtime, _items(partition, head, packets, runs), runs)

    def run(self, partition: int, runtime: JobRuntime, items: Iterator[Item], runs: set[int]) -> Iterator[Batch]:
        """Yield the results of a task, or its part of the exchange."""
        produced = flush_output(runtime.run_stage(self.level, partition, items))
        run = new_run()
        if not self.following:
            yield from self._results(partition, produced, run, runs)
            return
        following, last = self.following, len(runtime.plan.supersteps)
        keys = range(following) if self.by_id else keys_of_partitions(following)
        # Tasks of the next stage that get nothing else get an empty packet: each of them has to run.
        own = [
            target
            for target in range(following)
            if target % runtime.plan.supersteps[self.level].partitions == partition
        ]
        own = own or [partition % following]
        waiting: dict[int, list[tuple[object, ...]]] = {target: [] for target in own}
        targets = size = 0
        for item in produced:
            target = item.subtask if item.level == self.level + 1 else item.subtask % following
            waiting.setdefault(target, []).append(tuple(item))
            targets |= 1 << target
            size += len(item.payload)
            if size >= FLUSH_BYTES:
                for to, packed in waiting.items():
                    yield row_of(keys[to], pickle.dumps((to, run, packed), 5))
                    targets |= 1 << to
                waiting.clear()
                size = 0
        for target in own:
            targets |= 1 << target
            waiting.setdefault(target, [])
        acknowledgement = TaskAcknowledgement(self.level, partition, run, targets, total(runs))
        waiting[own[0]].append(_acknowledgement(acknowledgement, last))
        for to, packed in waiting.items():
            yield row_of(keys[to], pickle.dumps((to, run, packed), 5))

    def _results(self, partition: int, produced: Iterator[Item], run: int, runs: set[int]) -> Iterator[Batch]:
        packed: list[tuple[object, ...]] = []
        size = 0
        for item in produced:
            packed.append(tuple(item))
            size += len(item.payload)
            if size >= FLUSH_BYTES:
                yield row_of(0, pickle.dumps((0, run, packed), 5))
                packed, size = [], 0
        acknowledgement = TaskAcknowledgement(self.level, partition, run, 0, total(runs))
        packed.append(_acknowledgement(acknowledgement, self.level + 1))
        yield row_of(0, pickle.dumps((0, run, packed), 5))


class FirstStage:
    """Runs the tasks of the first superstep, whose items come with the query."""

    def __init__(self, stage: Stage, seeds: Mapping[int, bytes]) -> None:
        """Run a stage on pickled items by partition."""
        self.stage = stage
        self.seeds = seeds

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Run the tasks that the rows of ``range`` number."""
        for batch in batches:
            for partition in batch.column("id").to_pylist():
                items = (Item(*item) for item in pickle.loads(self.seeds.get(partition, _NOTHING)))
                yield from self.stage.run(partition, runtime_of(self.stage.job), items, set())


_NOTHING = pickle.dumps((), 5)


def _items(
    partition: int,
    head: tuple[int, int, list[tuple[object, ...]]],
    packets: Iterator[tuple[int, int, list[tuple[object, ...]]]],
    runs: set[int],
) -> Iterator[Item]:
    """Yield the items of all packets of a partition, and note which runs they are from."""
    target, run, items = head
    while True:
        if target != partition:
            raise JobFailedError(f"the exchange put packets for the tasks {partition} and {target} into one partition")
        runs.add(run)
        yield from (Item(*item) for item in items)  # type: ignore[arg-type]
        following = next(packets, None)
        if following is None:
            return
        target, run, items = following


def _acknowledgement(acknowledgement: TaskAcknowledgement, level: int) -> tuple[object, ...]:
    return tuple(Item(level, 0, ACKNOWLEDGEMENT, 0, 0, 0, pickle.dumps(tuple(acknowledgement), 5)))


class MaterializeTask:
    """Materializes the changelog of a subtask."""

    def __init__(self, job: ShippedJob, task: Materialization) -> None:
        """Materialize a log of a job."""
        self.job = job
        self.task = task

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the new base."""
        for _ in batches:
            task = self.task
            base = runtime_of(self.job).materialize(task.chain, task.subtask, task.handles)
            yield row_of(0, pickle.dumps(base, 5))


class CallTask:
    """Calls functions that were pickled by value, each in its own task."""

    def __init__(self, functions: list[tuple[bytes, bytes]]) -> None:
        """Call functions that :func:`pack` has packed."""
        self.functions = functions

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the number of each function with its result or its error."""
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield row_of(number, pickle.dumps(attempt(self.functions[number]), 5))
