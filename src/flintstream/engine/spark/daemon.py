"""Daemon for Spark's Python workers that runs a subtask in the same process in every epoch.

Spark runs ``python -m <spark.python.daemon.module>`` on every executor. Its own daemon forks a process per connection,
and assigns a task to the connection that has been idle longest. Here, that process only inspects the head of the task.
Tasks of flintstream name a **slot** (:mod:`flintstream.engine.spark.slots`), and the process passes the open connection
to the sticky worker of that slot:

* The daemon forks the sticky worker of a slot on first use. It runs one task at a time, and ends after some idle time.
  It holds the state of the subtasks, and only it needs memory.
* If a slot is busy or unavailable for any reason, the task runs where Spark put it.
* Spark kills a task by killing the process that it knows. A sticky worker watches its connection to it and dies
  with it, so the next attempt of the task gets a fresh process.

Only time and memory depend on this: the instruction for a subtask contains everything it needs.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import os
import signal
import socket
import stat
import struct
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import flintstream.engine.spark.python_path  # noqa: F401 - before anything imports pyspark
from flintstream.engine.spark.early_daemon import hand_over

if __name__ == "__main__":
    hand_over()

import pyspark.daemon  # isort: skip

from flintstream.common._user_code.forks import only_one_returns
from flintstream.engine.spark.failures.ends import NO_NUMBER, NUMBER, REPORTS, Children, note_task
from flintstream.engine.spark.slots import SLOT_OF, WORKERS, slot_name
from flintstream.engine.spark.sockets import private_directory
from flintstream.engine.spark.versions import task_of
from flintstream.state.rocksdb.directories import PREFIX, remove_abandoned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.engine.spark.versions import Task

KEEP = -1000
"""Asks a newly forked process to keep a slot; in the position of Spark's own small negative numbers."""

IDLE_SECONDS = 60.0
"""A sticky worker ends after this long without a task, like Spark's idle workers."""

BUSY_SECONDS = 0.1
"""How long a task waits for its slot: the previous task may have ended without having reported it."""

END_SECONDS = 2.0
"""How long the daemon waits for the end of its workers, to remove their databases."""

START_SECONDS = 30.0
"""Maximum start time of a new sticky worker."""

LARGEST_HEAD = 1 << 16

SOCKETS = "PYTHON_WORKER_FACTORY_SOCK_DIR"
"""Environment variable of the daemon: the directory of the socket that it accepts workers' connections from."""

_run_task: Any = pyspark.daemon.worker
_directory = ""


class _NoStickyWorkerError(Exception):
    """No process keeps the slot, or its sticky worker ended before it started the task."""


def main() -> None:
    """Run Spark's daemon, with slots for flintstream's tasks."""
    global _directory  # noqa: PLW0603 - set once per process, before it forks
    _directory = private_directory() or ""
    if _directory and SOCKETS in os.environ:
        os.environ[SOCKETS] = _directory  # Spark learns the path of the socket from the daemon
    if WORKERS not in os.environ or not _directory:
        pyspark.daemon.manager()
    pyspark.daemon.worker = _serve
    atexit.register(_tidy)
    Children(_directory, os.environ.get(REPORTS)).watch()
    gc.freeze()  # the daemon collects garbage after every task; skip the objects that exist now
    pyspark.daemon.manager()


def _tidy() -> None:
    """Remove the databases of this daemon's workers when Spark has ended: it kills them without notice."""
    place = Path(tempfile.gettempdir())
    if not any(place.glob(f"{PREFIX}*")):
        return
    until = time.monotonic() + END_SECONDS
    with contextlib.suppress(ChildProcessError):  # there are no more
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    remove_abandoned(place)


def _serve(sock: socket.socket, authenticated: bool) -> int:
    """Run the next task of a connection; return 0 if the process may continue."""
    if not _connections:
        os.register_at_fork(after_in_child=_disconnect)
    _connections.add(sock)
    for inherited in (signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(inherited, signal.SIG_DFL)
    if not authenticated and not _authenticate(sock):
        return 1
    head = _Head(sock)
    kind = head.integer()
    if kind is None and not head.seen:  # Spark has closed the connection: its own worker might fail to answer
        return 1
    if kind == KEEP:
        _keep(sock, head.text())
    task = task_of(kind, head)
    number = NO_NUMBER if task is None else task.number
    # Without reuse, Spark is configured to use a new process for every task.
    slot = _slot_of(task) if "SPARK_REUSE_WORKER" in os.environ else None
    if slot is not None:
        with _lock_slot(slot) as mine:
            if mine:
                with contextlib.suppress(_NoStickyWorkerError, OSError):
                    return _pass_on(sock, slot, number)
    return _run(sock, number)


def _run(sock: socket.socket, number: int) -> int:
    """Run the task of a connection in this process. If it ends without returning from here, the driver is notified."""
    note_task(_directory, number)
    with only_one_returns():
        code = int(_run_task(sock, True))
    note_task(_directory, NO_NUMBER)
    return code


_connections: set[socket.socket] = set()
"""The sockets of this process, with which the processes that user code forks have nothing to do."""


def _disconnect() -> None:
    """Replace the connections in a process that user code has forked, and their copies, by ones to nowhere.

    Otherwise, its output could mix with that of the task, and Spark could not notice the end of the worker that it
    knows: a connection ends when the last process that has it open does.
    """
    ours = {os.fstat(connection.fileno()).st_ino for connection in _connections if connection.fileno() >= 0}
    nowhere = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        with contextlib.suppress(OSError):  # the directory itself is closed by now
            status = os.fstat(int(name))
            if stat.S_ISSOCK(status.st_mode) and status.st_ino in ours:
                os.dup2(nowhere, int(name), inheritable=False)
    os.close(nowhere)


class _Head:
    """Reads the head of a connection without consuming it."""

    def __init__(self, sock: socket.socket) -> None:
        """Read from ``sock``."""
        self.sock = sock
        self.position = 0
        self.seen = b""

    def bytes(self, count: int) -> bytes:
        """Return the next bytes; empty if the connection has ended or they do not fit the buffer."""
        start, end = self.position, self.position + count
        while len(self.seen) < end <= LARGEST_HEAD:
            before = len(self.seen)
            self.seen = self.sock.recv(LARGEST_HEAD, socket.MSG_PEEK)
            if not self.seen:
                return b""
            if len(self.seen) == before:
                time.sleep(0.0005)  # the rest is still arriving; a peek does not wait for it
        self.position = end
        return self.seen[start:end] if end <= len(self.seen) else b""

    def integer(self) -> int | None:
        """Return the next integer; None if there is none."""
        data = self.bytes(4)
        return struct.unpack("!i", data)[0] if len(data) == 4 else None

    def text(self) -> str:
        """Return the next string; empty if there is none."""
        return self.bytes(self.integer() or 0).decode()


def _slot_of(task: Task | None) -> str | None:
    template = None if task is None else task.properties.get(SLOT_OF)
    return None if task is None or template is None else slot_name(template, task.partition)


# -- passing tasks to sticky workers ----------------------------------------------------------------------------------


def _path(slot: str) -> str:
    return os.path.join(_directory, slot)  # noqa: PTH118 - runs for every task


@contextlib.contextmanager
def _lock_slot(slot: str) -> Iterator[bool]:
    """Hold the lock of a slot, if it becomes free in time; the lock is released if its holder dies."""
    with open(f"{_path(slot)}.lock", "w") as file:  # noqa: PTH123
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.001)
                    continue
                yield False
            else:
                yield True
            return


def _pass_on(sock: socket.socket, slot: str, number: int) -> int:
    """Run the task of a connection in the sticky worker of a slot, while the slot is locked."""
    try:
        return _ask(sock, slot, number)
    except (_NoStickyWorkerError, FileNotFoundError, ConnectionError):
        _start_sticky_worker(sock, slot)
        return _ask(sock, slot, number)


def _ask(sock: socket.socket, slot: str, number: int) -> int:
    with socket.socket(socket.AF_UNIX) as worker:
        worker.connect(_path(slot))
        socket.send_fds(worker, [NUMBER.pack(number)], [sock.fileno()])
        if not worker.recv(1):
            raise _NoStickyWorkerError
        # From here on, the sticky worker reads from Spark, so no other process can run this attempt.
        try:
            code = _receive(worker, 4)
        except (_NoStickyWorkerError, ConnectionError):
            os._exit(1)  # the sticky worker crashed: Spark must see the connection end
    return int(struct.unpack("!i", code)[0])


def _start_sticky_worker(sock: socket.socket, slot: str) -> None:
    """Make the daemon fork a process, and turn it into the sticky worker of a slot."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(slot))  # noqa: PTH108 - left behind by a dead sticky worker
    with socket.socket(sock.family) as worker:
        worker.settimeout(START_SECONDS)
        worker.connect(sock.getsockname())  # the daemon's address
        _receive(worker, 4)  # the process id
        if sock.family != socket.AF_UNIX:
            _send_text(worker, os.environ["PYTHON_WORKER_FACTORY_SECRET"])
            _receive(worker, 6)
        worker.sendall(struct.pack("!i", KEEP))
        _send_text(worker, slot)
        _receive(worker, 1)


def _receive(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise _NoStickyWorkerError
        data += more
    return data


def _send_text(sock: socket.socket, text: str) -> None:
    data = text.encode()
    sock.sendall(struct.pack("!i", len(data)) + data)


def _authenticate(sock: socket.socket) -> bool:
    """Check the secret at the start of a TCP connection, like Spark's workers."""
    try:
        (length,) = struct.unpack("!i", _receive(sock, 4))
        right = _receive(sock, length).decode() == os.environ["PYTHON_WORKER_FACTORY_SECRET"]
    except _NoStickyWorkerError:
        return False
    _send_text(sock, "ok" if right else "err")
    return right


# -- running in a sticky worker ---------------------------------------------------------------------------------------


def _keep(asked: socket.socket, slot: str) -> NoReturn:
    """Run the tasks of a slot until it has been idle for a while."""
    from flintstream.engine.spark import worker

    daemon = os.getppid()
    with socket.socket(socket.AF_UNIX) as listener:
        _connections.add(listener)
        listener.bind(_path(slot))
        listener.listen()
        listener.settimeout(1.0)
        asked.sendall(b"r")
        asked.close()
        idle_since = time.monotonic()
        while True:
            try:
                front, _ = listener.accept()
            except TimeoutError:
                if os.getppid() != daemon:
                    os._exit(0)
                worker.close_ended_jobs()
                if time.monotonic() - idle_since > IDLE_SECONDS:
                    with _lock_slot(slot) as unwanted:
                        if unwanted:
                            os.unlink(_path(slot))  # noqa: PTH108
                            os._exit(0)
                continue
            front.settimeout(None)
            _run_for(front)
            idle_since = time.monotonic()


def _run_for(front: socket.socket) -> None:
    number, received, _, _ = socket.recv_fds(front, NUMBER.size, 1)
    if not received or len(number) < NUMBER.size:
        front.close()
        return
    running = threading.Event()
    running.set()
    front.sendall(b"s")

    def watch() -> None:
        with front:
            if not front.recv(1) and running.is_set():
                note_task(_directory, NO_NUMBER)
                os._exit(1)  # Spark killed the process it knows to stop this task

    threading.Thread(target=watch, name="flintstream-watch", daemon=True).start()
    with socket.socket(fileno=received[0]) as sock:
        _connections.update((front, sock))
        code = _run(sock, *NUMBER.unpack(number))
    _connections.difference_update((front, sock))
    running.clear()
    with contextlib.suppress(OSError):
        front.sendall(struct.pack("!i", code))
    if code:
        os._exit(1)  # like Spark's workers after an error


if __name__ == "__main__":
    main()
