"""Resident tasks, which stay for many epochs: the driver sends them instructions and blocks over connections.

A Spark job per epoch costs tens of milliseconds, most of them for scheduling. That does not matter to epochs that read
for a second, but it is nearly all of the latency of a job with little input. Such a job therefore has one long Spark
task for each partition. The driver sends it what it would have sent to the tasks of an epoch, superstep by superstep,
and passes on what it returns. State, instructions and reports are the same, so any epoch may run either way.

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
"""The partition of a task, and its process."""


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
    """Runs a partition of every superstep until the driver says goodbye, or is gone."""

    def __init__(self, job: ShippedJob, driver: Endpoint) -> None:
        """Connect to the driver, which accepts only tasks that know the key of its endpoint, as do the tasks."""
        self.job = job
        self.driver = driver

    def __call__(self, partition: int, _: Iterator[Any]) -> Iterator[Any]:
        """Run until the end. There are no results."""
        runtime = runtime_of(self.job)
        try:
            channel = connect(self.driver, START_SECONDS)
        except OSError:  # the driver has ended, or a stranger has taken its place
            return iter(())
        with channel:
            message: bytes | bytearray | None = None
            try:
                channel.send(_GREETING.pack(partition, os.getpid()))
                while message := channel.receive():
                    results = pickle.dumps(_run(runtime, partition, *pickle.loads(message)), 5)
                    try:
                        channel.send(results)
                    except OSError:  # another task was lost, so the driver has given up the epoch
                        break
            finally:
                if message != _BYE:  # the epoch may run again, from the state before it
                    runtime.close()
        return iter(())


def _run(runtime: JobRuntime, partition: int, level: int, items: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Run a partition of a superstep. If the engine cannot reach its files, try again, as Spark does with tasks."""
    for failed in range(RETRIES + 1):
        try:
            return list(map(tuple, flush_output(runtime.run_stage(level, partition, map(Item._make, items)))))
        except OSError:
            if failed == RETRIES:
                raise
    raise AssertionError


class ResidentTasks:
    """The resident tasks of a job, as the driver sees them."""

    def __init__(self, partitions: Sequence[int]) -> None:
        """Take the number of tasks of each superstep."""
        self._partitions = partitions
        self._count = max(partitions)
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
        task = ResidentTask(job, listener.endpoint(place.known_as))
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
            partition, process = _GREETING.unpack(greeting) if known else (self._count, 0)
            with self._changed:
                if self._starting and partition < self._count and partition not in self._channels:
                    self._channels[partition], self._processes[partition] = channel, process
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
        waiting: list[dict[int, list[tuple[Any, ...]]]] = [{} for _ in self._partitions]
        results: list[Item] = []
        self.moved, partition = 0, None
        for item in items:
            waiting[item.level].setdefault(item.subtask, []).append(tuple(item))
        try:
            for level, given in enumerate(waiting):
                for partition, theirs in given.items():
                    self._channels[partition].send(pickle.dumps((level, theirs), 5))
                for partition in given:
                    message = self._channels[partition].receive()
                    if message is None:
                        raise ConnectionError("the connection has ended")
                    self.moved += len(message)
                    for produced in map(Item._make, pickle.loads(message)):
                        if produced.level == len(waiting):
                            results.append(produced)
                        else:
                            waiting[produced.level].setdefault(produced.subtask, []).append(tuple(produced))
        except OSError as error:
            self._end(FAILED_END_SECONDS)
            loss = self._error
            if not isinstance(loss, WorkerLostError):
                process = None if partition is None else self._processes.get(partition)
                loss = WorkerLostError(str(loss or error), f"ended ({loss or error})", process, partition)
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
