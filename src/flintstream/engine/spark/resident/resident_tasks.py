"""Resident tasks, which stay for many epochs: the driver sends them instructions and blocks over connections.

A Spark job per epoch costs tens of milliseconds, most of them for scheduling. That does not matter to epochs that read
for a second, but it is nearly all of the latency of a job with little input. Such a job therefore has one long Spark
task for each partition or, if it has more partitions than Spark has cores, a task per core with a share of them. The
driver sends it what it would have sent to the tasks of an epoch, superstep by superstep, and passes on what it returns.
Items between two partitions of a task stay there. State, instructions and reports are the same, so any epoch may run
either way.

The driver is between all tasks then. So a job whose epochs move many bytes, or that is not alone in its Spark context,
runs each epoch as a Spark job. So does an epoch whose task was lost: it runs again, from the state before it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.channels.channel import connect, new_key
from flintstream.channels.listener import Listener
from flintstream.engine.spark.worker import flush_output, runtime_of
from flintstream.errors import WorkerLostError
from flintstream.runtime.exchange.receiving import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.channels.channel import Address, Channel, Endpoint
    from flintstream.channels.listener import Encryption
    from flintstream.engine.spark.shipping import ShippedJob
    from flintstream.runtime.task.stage import JobRuntime

__all__ = ["Place", "ResidentTask", "ResidentTasks", "TaskLostError"]

START_SECONDS = 3.0
"""How long the driver waits until all tasks have connected. Cores may be taken, or a firewall may be in the way."""

END_SECONDS = 2.0
"""How long the driver waits for the end of the tasks."""

FAILED_END_SECONDS = 30.0
"""The same after a task was lost: others may be in the middle of an epoch."""

RETRIES = 3
"""How often a task tries again to reach the files of the engine."""

_BYE = b""
"""The last message to a task that ends between two epochs and leaves its subtasks for the next one.

It is also the only one to a task that comes too late, or that Spark runs again after the driver has seen it fail.
"""

_GREETING = struct.Struct("!IQ")
"""The number of a task, and its process."""

_LEVEL, _SUBTASK = Item._fields.index("level"), Item._fields.index("subtask")

Members = tuple[Any, ...]
"""Those of an :class:`Item`."""

Given = dict[int, list[Members]]
"""Partition -> its items of a superstep."""


class Place(NamedTuple):
    """Where the driver listens for its tasks."""

    address: Address
    known_as: str | None = None
    """The name by which tasks know the driver's machine, if it is not that of the address."""
    encryption: Encryption | None = None


class TaskLostError(Exception):
    """A resident task has ended in the middle of an epoch."""

    def __init__(self, loss: WorkerLostError) -> None:
        """Say which worker was lost."""
        super().__init__(str(loss))
        self.loss = loss


class ResidentTask:
    """Runs its share of every superstep until the driver says goodbye, or is gone."""

    def __init__(self, job: ShippedJob, driver: Endpoint, levels: int, count: int) -> None:
        """Connect to the driver, which accepts only tasks that know the key of its endpoint, as do the tasks.

        Args:
            job: The job.
            driver: Where the driver listens.
            levels: The number of supersteps.
            count: The number of resident tasks. Partition ``p`` belongs to task ``p % count``.
        """
        self.job = job
        self.driver = driver
        self.levels = levels
        self.count = count

    def __call__(self, number: int, _: Iterator[Any]) -> Iterator[Any]:
        """Run until the end. There are no results."""
        runtime = runtime_of(self.job)
        share = _Share(runtime, number, self.count, self.levels)
        try:
            channel = connect(self.driver, START_SECONDS)
        except OSError:  # the driver has ended, or a stranger has taken its place
            return iter(())
        with channel:
            message: bytes | bytearray | None = None
            try:
                channel.send(_GREETING.pack(number, os.getpid()))
                while message := channel.receive():
                    results = pickle.dumps(share.run(*pickle.loads(message)), 5)
                    try:
                        channel.send(results)
                    except OSError:  # another task was lost, so the driver has given up the epoch
                        break
            finally:
                if message != _BYE:  # the epoch may run again, from the state before it
                    runtime.close()
        return iter(())


class _Share:
    """The partitions of one task."""

    def __init__(self, runtime: JobRuntime, number: int, count: int, levels: int) -> None:
        self._runtime = runtime
        self._number = number
        self._count = count
        self._levels = levels
        self._kept: list[Given] = [{} for _ in range(levels)]
        """What partitions of this task have sent each other, by superstep."""

    def run(self, level: int, given: Given) -> list[Members]:
        """Run the partitions of a superstep one after the other; return what other tasks and the driver need."""
        kept, self._kept[level] = self._kept[level], {}
        for partition, items in given.items():
            kept.setdefault(partition, []).extend(items)
        results: list[Members] = []
        read, left = self._runtime.read, len(kept)
        for partition in sorted(kept):
            left -= 1
            # A source without input must not delay the others: only the last one waits, if none has found any.
            waits = not left and self._runtime.read == read
            for item in self._run(level, partition, kept[partition], waits=waits):
                if item.level < self._levels and item.subtask % self._count == self._number:
                    self._kept[item.level].setdefault(item.subtask, []).append(tuple(item))
                else:
                    results.append(tuple(item))
        return results

    def _run(self, level: int, partition: int, items: list[Members], *, waits: bool) -> list[Item]:
        """Run a partition. If the engine cannot reach its files, try again, as Spark does with tasks."""
        for failed in range(RETRIES + 1):
            try:
                run = self._runtime.run_stage(level, partition, map(Item._make, items), waits=waits)
                return list(flush_output(run))
            except OSError:
                if failed == RETRIES:
                    raise
        raise AssertionError


class ResidentTasks:
    """The resident tasks of a job, as the driver sees them."""

    def __init__(self, partitions: Sequence[int], most: int) -> None:
        """Take the number of partitions of each superstep, and the largest number of tasks."""
        self._partitions = partitions
        self._count = min(max(partitions), most)
        self._channels: dict[int, Channel] = {}
        self._processes: dict[int, int] = {}
        self._changed = threading.Condition()
        self._starting = False
        """Whether tasks may still connect."""
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.moved = 0
        """Number of bytes that tasks returned in the last epoch."""

    def start(self, job: ShippedJob, place: Place, run: Callable[[ResidentTask, int], object]) -> bool:
        """Start the tasks by ``run``, which returns when they have ended; return whether all of them have connected.

        The driver listens until then: a task that Spark runs again must find it, and no stranger, at its address.
        """
        try:
            listener = Listener(
                place.address, new_key(), self._admit, name="flintstream-residents", encryption=place.encryption
            )
        except OSError:  # this machine does not have the address
            return False
        self._starting = True
        task = ResidentTask(job, listener.endpoint(place.known_as), len(self._partitions), self._count)
        self._thread = threading.Thread(target=self._run_tasks, args=(run, task, listener), daemon=True)
        self._thread.name = f"flintstream-resident-{job.job_id[:8]}"
        self._thread.start()
        with self._changed:
            self._changed.wait_for(lambda: not self._starting, START_SECONDS)
            self._starting = False
            complete = len(self._channels) == self._count
        if not complete:
            self.close()
        return complete

    def _run_tasks(self, run: Callable[[ResidentTask, int], object], task: ResidentTask, listener: Listener) -> None:
        try:
            run(task, self._count)
        except BaseException as error:  # noqa: BLE001 - told by the epoch that misses the tasks
            self._error = error
        finally:
            listener.close()
            with self._changed:
                self._starting = False
                self._changed.notify_all()

    def _admit(self, channel: Channel) -> None:
        """Let a task in if the driver waits for it, else tell it to end."""
        with contextlib.suppress(OSError):
            greeting = channel.receive(longest=_GREETING.size, seconds=START_SECONDS) or b""
            known = len(greeting) == _GREETING.size
            number, process = _GREETING.unpack(greeting) if known else (self._count, 0)
            with self._changed:
                if self._starting and number < self._count and number not in self._channels:
                    self._channels[number], self._processes[number] = channel, process
                    if len(self._channels) == self._count:
                        self._starting = False
                        self._changed.notify_all()
                    return
            channel.send(_BYE)
        channel.close()

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run every superstep once.

        Raises:
            TaskLostError: A task was lost. The others must forget the epoch.
        """
        waiting: list[list[Given]] = [[{} for _ in range(self._count)] for _ in self._partitions]
        results: list[Item] = []
        self.moved, number = 0, None
        for item in items:
            waiting[item.level][item.subtask % self._count].setdefault(item.subtask, []).append(tuple(item))
        try:
            for level, given in enumerate(waiting):
                for number, theirs in enumerate(given):
                    self._channels[number].send(pickle.dumps((level, theirs), 5))
                for number in range(self._count):
                    message = self._channels[number].receive()
                    if message is None:
                        raise ConnectionError("the connection has ended")
                    self.moved += len(message)
                    for produced in pickle.loads(message):
                        if produced[_LEVEL] == len(waiting):
                            results.append(Item._make(produced))
                        else:
                            subtask = produced[_SUBTASK]
                            waiting[produced[_LEVEL]][subtask % self._count].setdefault(subtask, []).append(produced)
        except OSError as error:
            self._end(FAILED_END_SECONDS)
            loss = self._error
            if not isinstance(loss, WorkerLostError):
                process = None if number is None else self._processes.get(number)
                subtask = number if self._count == max(self._partitions) else None
                loss = WorkerLostError(str(loss or error), f"ended ({loss or error})", process, subtask)
            raise TaskLostError(loss) from error
        return results

    def close(self) -> bool:
        """End the tasks between two epochs; return whether they have ended."""
        for channel in self._channels.values():
            with contextlib.suppress(OSError):
                channel.send(_BYE)
        return self._end(END_SECONDS)

    def _end(self, seconds: float) -> bool:
        for channel in self._channels.values():
            channel.close()
        self._channels = {}
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()
