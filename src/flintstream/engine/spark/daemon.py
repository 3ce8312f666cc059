"""Starts Spark's Python workers, such that a subtask runs in the same process epoch after epoch.

Spark runs ``python -m <spark.python.daemon.module>`` on every executor. Its own daemon forks a process per connection,
and a task goes to whichever connection has been idle longest. Here that process only looks at the head of the task.
One of a flintstream job names its **slot** (:mod:`flintstream.engine.spark.slots`), and the open connection is passed
on to the process that keeps this slot:

* The keeper of a slot is forked by the daemon when it is first wanted, runs one task at a time, and ends when it has
  had nothing to do for a while. It holds the subtasks' state, and it alone needs memory.
* A slot that is busy, or cannot be had for any reason, is no error: the task then runs where Spark put it.
* Spark kills a task by killing the process that it knows. The keeper watches its connection to that one and dies with
  it, so that the task's next attempt finds a fresh process.

Nothing depends on any of this but time and memory: what a subtask needs comes with its instruction.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import signal
import socket
import struct
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

import pyspark.daemon
from pyspark.serializers import SpecialLengths

from flintstream.engine.spark.slots import SLOT_OF, WORKERS, slot_name

if TYPE_CHECKING:
    from collections.abc import Iterator

KEEP = -1000
"""Asks a newly forked process to keep a slot; where Spark's own messages have a small negative number."""

IDLE_SECONDS = 60.0
"""After so long without a task a keeper ends, as Spark's idle workers do."""

BUSY_SECONDS = 0.1
"""How long a task waits for its slot: the task before may have ended without having said so yet."""

START_SECONDS = 30.0
"""How long a new keeper may take to start."""

LARGEST_HEAD = 1 << 16

_run_task: Any = pyspark.daemon.worker
_directory = ""


class _NoKeeperError(Exception):
    """No process keeps the slot, or it ended before it began the task."""


def main() -> None:
    """Run Spark's daemon; for tasks of flintstream, with slots."""
    global _directory
    if WORKERS not in os.environ:
        pyspark.daemon.manager()
    pyspark.daemon.worker = _serve
    gc.freeze()  # the daemon collects garbage after every task; what was here before is none
    with tempfile.TemporaryDirectory(prefix="flintstream-slots-") as _directory:
        pyspark.daemon.manager()


def _serve(sock: socket.socket, authenticated: bool) -> int:
    """Run the next task that comes through a connection; return 0 if the process may go on."""
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if not authenticated and not _authenticate(sock):
        return 1
    head = _Head(sock)
    kind = head.integer()
    if kind == KEEP:
        _keep(sock, head.text())
    # Without reuse, whoever configured Spark wants a new process for every task.
    if kind == SpecialLengths.START_OF_INIT_MESSAGE and "SPARK_REUSE_WORKER" in os.environ:
        slot = _slot_of(head)
        if slot is not None:
            with _locked(slot) as mine:
                if mine:
                    with contextlib.suppress(_NoKeeperError, OSError):
                        return _pass_on(sock, slot)
    return int(_run_task(sock, True))


class _Head:
    """Reads what comes first through a connection, and leaves it there."""

    def __init__(self, sock: socket.socket) -> None:
        """Read from ``sock``."""
        self.sock = sock
        self.position = 0

    def bytes(self, count: int) -> bytes:
        """Return the next bytes; none if the connection ended or so many do not fit."""
        end = self.position + count
        data = b""
        while len(data) < end <= LARGEST_HEAD:
            before = len(data)
            data = self.sock.recv(end, socket.MSG_PEEK)
            if not data:
                return b""
            if len(data) == before:
                time.sleep(0.0005)  # the rest is on its way; a peek does not wait for it
        self.position = end
        return data[end - count :]

    def integer(self) -> int | None:
        """Return the next number, None if there is none."""
        data = self.bytes(4)
        return struct.unpack("!i", data)[0] if len(data) == 4 else None

    def text(self) -> str:
        """Return the next string, empty if there is none."""
        return self.bytes(self.integer() or 0).decode()


def _slot_of(head: _Head) -> str | None:
    head.bytes(8)  # length of the message, number of the partition
    head.text()  # version of Python
    context = head.text()
    if not context:
        return None
    task = json.loads(context)
    template = task["localProperties"].get(SLOT_OF)
    return None if template is None else slot_name(template, task["partitionId"])


# -- passing a task on -----------------------------------------------------------------------------------------------


def _path(slot: str) -> str:
    return os.path.join(_directory, slot)  # noqa: PTH118 - runs for every task


@contextlib.contextmanager
def _locked(slot: str) -> Iterator[bool]:
    """Hold the lock of a slot, if it can be had in time; it is free again when its holder dies."""
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


def _pass_on(sock: socket.socket, slot: str) -> int:
    """Have the keeper of a slot run the task of a connection; the slot is locked."""
    try:
        return _ask(sock, slot)
    except (_NoKeeperError, FileNotFoundError, ConnectionError):
        _start_keeper(sock, slot)
        return _ask(sock, slot)


def _ask(sock: socket.socket, slot: str) -> int:
    with socket.socket(socket.AF_UNIX) as keeper:
        keeper.connect(_path(slot))
        socket.send_fds(keeper, [b"t"], [sock.fileno()])
        if not keeper.recv(1):
            raise _NoKeeperError
        # From here on the keeper reads what Spark sends: nobody else can run this attempt.
        try:
            code = _receive(keeper, 4)
        except (_NoKeeperError, ConnectionError):
            os._exit(1)  # the keeper crashed: Spark must see the connection end
    return int(struct.unpack("!i", code)[0])


def _start_keeper(sock: socket.socket, slot: str) -> None:
    """Let the daemon fork another process and make it the keeper of a slot."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(slot))  # noqa: PTH108 - of a keeper that died
    with socket.socket(sock.family) as keeper:
        keeper.settimeout(START_SECONDS)
        keeper.connect(sock.getsockname())  # where the daemon listens
        _receive(keeper, 4)  # the process id
        if sock.family != socket.AF_UNIX:
            _send_text(keeper, os.environ["PYTHON_WORKER_FACTORY_SECRET"])
            _receive(keeper, 6)
        keeper.sendall(struct.pack("!i", KEEP))
        _send_text(keeper, slot)
        _receive(keeper, 1)


def _receive(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise _NoKeeperError
        data += more
    return data


def _send_text(sock: socket.socket, text: str) -> None:
    data = text.encode()
    sock.sendall(struct.pack("!i", len(data)) + data)


def _authenticate(sock: socket.socket) -> bool:
    """Check the secret that comes first through a TCP connection, as Spark's workers do."""
    try:
        (length,) = struct.unpack("!i", _receive(sock, 4))
        right = _receive(sock, length).decode() == os.environ["PYTHON_WORKER_FACTORY_SECRET"]
    except _NoKeeperError:
        return False
    _send_text(sock, "ok" if right else "err")
    return right


# -- the keeper of a slot --------------------------------------------------------------------------------------------


def _keep(asked: socket.socket, slot: str) -> NoReturn:
    """Run the tasks of a slot, until there have been none for a while."""
    from flintstream.engine.spark import worker  # noqa: PLC0415 - not in the daemon, which is forked for every process

    daemon = os.getppid()
    with socket.socket(socket.AF_UNIX) as listener:
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
                    with _locked(slot) as unwanted:
                        if unwanted:
                            os.unlink(_path(slot))  # noqa: PTH108
                            os._exit(0)
                continue
            front.settimeout(None)
            _run_for(front)
            idle_since = time.monotonic()


def _run_for(front: socket.socket) -> None:
    _, received, _, _ = socket.recv_fds(front, 1, 1)
    if not received:
        front.close()
        return
    running = threading.Event()
    running.set()
    front.sendall(b"s")

    def watch() -> None:
        with front:
            if not front.recv(1) and running.is_set():
                os._exit(1)  # Spark killed the process it knows, and means this task

    threading.Thread(target=watch, name="flintstream-watch", daemon=True).start()
    with socket.socket(fileno=received[0]) as sock:
        code = int(_run_task(sock, True))
    running.clear()
    with contextlib.suppress(OSError):
        front.sendall(struct.pack("!i", code))
    if code:
        os._exit(1)  # as Spark's workers do after an error


if __name__ == "__main__":
    main()
