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
import hmac
import os
import pickle
import secrets
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.worker import runtime_of, shown
from flintstream.runtime.exchange.receiving import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.engine.spark.shipping import ShippedJob
    from flintstream.runtime.task.stage import JobRuntime

__all__ = ["ResidentTask", "ResidentTasks", "TaskLostError"]

START_SECONDS = 3.0
"""How long the driver waits until all tasks have connected. Cores may be taken, or a firewall may be in the way."""

END_SECONDS = 2.0
"""How long the driver waits for the end of the tasks."""

FAILED_END_SECONDS = 30.0
"""The same after a task was lost: others may be in the middle of an epoch."""

SILENT_SECONDS = 30
"""The driver notices after about this time that the machine of a task has gone."""

RETRIES = 3
"""How often a task tries again to reach the files of the engine."""

_BYE = b""
"""The last message to a task that ends between two epochs and leaves its subtasks for the next one."""

_TOKEN_BYTES = 32
_LENGTH = struct.Struct("!Q")
_PARTITION = struct.Struct("!I")


_open: set[socket.socket] = set()
"""The connections of this process, which user code may fork: the driver must notice the end of the task itself."""


def _close_all() -> None:
    for connection in _open:
        connection.close()


os.register_at_fork(after_in_child=_close_all)


class TaskLostError(Exception):
    """A resident task has ended in the middle of an epoch."""


class ResidentTask:
    """Runs a partition of every superstep until the driver says goodbye, or is gone."""

    def __init__(self, job: ShippedJob, address: tuple[str, int], token: bytes) -> None:
        """Connect to the driver at ``address``, which accepts only this ``token``."""
        self.job = job
        self.address = address
        self.token = token

    def __call__(self, partition: int, _: Iterator[Any]) -> Iterator[Any]:
        """Run until the end. There are no results."""
        runtime = runtime_of(self.job)
        try:
            connection = socket.create_connection(self.address, START_SECONDS)
        except OSError:  # the driver has given up waiting, or Spark runs a task again that the driver has seen fail
            return iter(())
        with connection:
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(self.token + _PARTITION.pack(partition))
            _open.add(connection)
            message: bytes | bytearray | None = None
            try:
                while message := _receive(connection):
                    results = pickle.dumps(_run(runtime, partition, *pickle.loads(message)), 5)
                    try:
                        _send(connection, results)
                    except ConnectionError:  # another task was lost, so the driver has given up the epoch
                        break
            finally:
                _open.discard(connection)
                if message != _BYE:  # the epoch may run again, from the state before it
                    runtime.close()
        return iter(())


def _run(runtime: JobRuntime, partition: int, level: int, items: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Run a partition of a superstep. If the engine cannot reach its files, try again, as Spark does with tasks."""
    for failed in range(RETRIES + 1):
        try:
            return list(map(tuple, shown(runtime.run_stage(level, partition, map(Item._make, items)))))
        except OSError:
            if failed == RETRIES:
                raise
    raise AssertionError


class ResidentTasks:
    """The resident tasks of a job, as the driver sees them."""

    def __init__(self, partitions: Sequence[int]) -> None:
        """Take the number of tasks of each superstep."""
        self._partitions = partitions
        self._connections: list[socket.socket] = []
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.moved = 0
        """Number of bytes that tasks returned in the last epoch."""

    def start(self, job: ShippedJob, own: str, known: str, run: Callable[[ResidentTask, int], object]) -> bool:
        """Start the tasks by ``run``, which returns when they have ended; return whether all of them have connected.

        ``own`` is the address where the driver listens, and ``known`` the one that the tasks use.
        """
        token, count = secrets.token_bytes(_TOKEN_BYTES), max(self._partitions)
        try:
            family = socket.AF_INET6 if ":" in own else socket.AF_INET
            listener = socket.create_server((own.strip("[]"), 0), family=family, backlog=count)
        except OSError:  # this machine does not have the address
            return False
        with listener:
            task = ResidentTask(job, (known.strip("[]"), listener.getsockname()[1]), token)
            self._thread = threading.Thread(target=self._run_tasks, args=(run, task, count), daemon=True)
            self._thread.name = f"flintstream-resident-{job.job_id[:8]}"
            self._thread.start()
            found = _accept(listener, token, count, time.monotonic() + START_SECONDS)
        self._connections = [found[partition] for partition in sorted(found)]
        if len(found) == count:
            return True
        self.close()
        return False

    def _run_tasks(self, run: Callable[[ResidentTask, int], object], task: ResidentTask, count: int) -> None:
        try:
            run(task, count)
        except BaseException as error:  # noqa: BLE001 - told by the epoch that misses the tasks
            self._error = error

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run every superstep once.

        Raises:
            TaskLostError: A task was lost. The others are told to forget the epoch.
        """
        waiting: list[dict[int, list[tuple[Any, ...]]]] = [{} for _ in self._partitions]
        results: list[Item] = []
        self.moved = 0
        for item in items:
            waiting[item.level].setdefault(item.subtask, []).append(tuple(item))
        try:
            for level, given in enumerate(waiting):
                for partition, theirs in given.items():
                    _send(self._connections[partition], pickle.dumps((level, theirs), 5))
                for partition in given:
                    message = _receive(self._connections[partition])
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
            raise TaskLostError(str(self._error or error)) from error
        return results

    def close(self) -> bool:
        """End the tasks between two epochs; return whether they have ended."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                _send(connection, _BYE)
        return self._end(END_SECONDS)

    def _end(self, seconds: float) -> bool:
        for connection in self._connections:
            connection.close()
        self._connections = []
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()


def _accept(listener: socket.socket, token: bytes, count: int, until: float) -> dict[int, socket.socket]:
    """Return the connections of tasks that know the token, by partition, once all are there or the time is over."""
    found: dict[int, socket.socket] = {}
    while len(found) < count and (left := until - time.monotonic()) > 0:
        listener.settimeout(left)
        try:
            connection, _ = listener.accept()
            connection.settimeout(left)
            greeting = _exactly(connection, _TOKEN_BYTES + _PARTITION.size)
        except OSError:
            continue
        partition = _PARTITION.unpack(greeting[_TOKEN_BYTES:])[0] if greeting is not None else count
        if greeting is None or not hmac.compare_digest(greeting[:_TOKEN_BYTES], token) or partition in found:
            connection.close()
            continue
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(connection)
        found[partition] = connection
    return found


def _keep_alive(connection: socket.socket) -> None:
    """Let the connection end if the other machine no longer answers."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probes = 3
    for name, value in (
        ("TCP_KEEPIDLE", SILENT_SECONDS // 2),
        ("TCP_KEEPINTVL", SILENT_SECONDS // 2 // probes),
        ("TCP_KEEPCNT", probes),
    ):
        if hasattr(socket, name):  # not on each system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(message)))
    connection.sendall(message)


def _receive(connection: socket.socket) -> bytes | bytearray | None:
    """Return the next message; None if the connection has ended."""
    head = _exactly(connection, _LENGTH.size)
    return None if head is None else _exactly(connection, _LENGTH.unpack(head)[0])


def _exactly(connection: socket.socket, size: int) -> bytearray | None:
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        read = 0
        with contextlib.suppress(ConnectionResetError):
            read = connection.recv_into(view[done:])
        if not read:
            return None
        done += read
    return data
