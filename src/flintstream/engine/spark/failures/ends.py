"""How Python workers end: their parent, the daemon, tells the driver.

Spark's daemon ignores how its workers end, so Spark only sees that a connection has ended. Here, a worker notes which
task it runs, in a file of the daemon's private directory. If it ends during a task, the daemon leaves a report: for a
driver on the same machine in a directory of the driver, else in the log of the executor.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flintstream.engine.spark.sockets import new_socket_path

if TYPE_CHECKING:
    from types import FrameType

__all__ = [
    "CRASHES",
    "NO_NUMBER",
    "NUMBER",
    "REPORTS",
    "Children",
    "End",
    "directory_of_reports",
    "end_in",
    "end_of_process",
    "note_task",
    "words_for",
]

REPORTS = "FLINTSTREAM_WORKERS_ENDS"
"""Environment variable of the daemon: the directory of the driver for its reports."""

REPORT_SECONDS = 1.0
"""How long the driver waits for a report: the end of a connection is seen before that of its process."""

NUMBER = struct.Struct("!q")
"""The number that Spark gives to an attempt of a task (TID)."""

NO_NUMBER = -1
"""No task, or one whose number is not known."""

CRASHES = frozenset(
    (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS)
)
"""Signals that a process usually causes itself."""

_notes: dict[int, int] = {}
"""Process id of this process -> the open file of its note."""

_directories: dict[tuple[int, str], str | None] = {}
"""Process id of the driver and id of the application -> the directory of reports."""


def note_task(directory: str, number: int) -> None:
    """Note the number of the task that this process runs, in the private directory of its daemon."""
    pid = os.getpid()
    with suppress(OSError):  # a full disk, or the daemon has ended
        if pid not in _notes:
            _notes.clear()
            _notes[pid] = os.open(_note(directory, pid), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.pwrite(_notes[pid], NUMBER.pack(number), 0)


def _note(directory: str, pid: int) -> Path:
    return Path(directory, f"{pid}.task")


class Children:
    """The workers of a daemon, which is this process."""

    def __init__(self, directory: str, reports: str | None) -> None:
        """Take the directory with the notes of the workers, and that of the driver if it is on this machine."""
        self._directory = directory
        self._reports = reports
        self._daemon = os.getpid()

    def watch(self) -> None:
        """Reap all children from the first fork on; Spark ignores their ends when it starts to listen."""
        os.register_at_fork(before=self._install)

    def _install(self) -> None:
        if os.getpid() == self._daemon:
            signal.signal(signal.SIGCHLD, self._reap)

    def _reap(self, _number: int, _frame: FrameType | None) -> None:
        with suppress(ChildProcessError):  # there are no more
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                with suppress(OSError):
                    self._report(pid, os.waitstatus_to_exitcode(status))

    def _report(self, pid: int, code: int) -> None:
        """Report the end of a worker if it ran a task."""
        note = _note(self._directory, pid)
        data = note.read_bytes()
        note.unlink()
        task = NUMBER.unpack(data)[0] if len(data) == NUMBER.size else NO_NUMBER
        if task == NO_NUMBER or code == -signal.SIGHUP:  # which ends all workers along with the daemon
            return
        if self._reports is not None:
            with suppress(OSError):  # the driver has ended, or is of another user
                begun = Path(self._reports, f"{task}.new")
                begun.write_text(f"{code} {pid}", encoding="utf-8")
                begun.rename(Path(self._reports, str(task)))
                return
        sys.stderr.write(f"flintstream: the Python worker {pid} of task {task} {words_for(code)}\n")
        sys.stderr.flush()


def directory_of_reports(application: str) -> str | None:
    """Return the directory of this driver for the reports about a Spark application; None if no place is suitable."""
    key = os.getpid(), application
    if key not in _directories:
        path = new_socket_path()
        if path is not None:
            Path(path).mkdir(0o700)
        _directories[key] = path
    return _directories[key]


class End(NamedTuple):
    """How a worker ended."""

    code: int
    """The exit code, or the signal as a negative number."""
    process: int


def end_in(directory: str, task: int) -> End | None:
    """Return how the worker ended that ran a task; None if there is no report."""
    until = time.monotonic() + REPORT_SECONDS
    while True:
        with suppress(OSError, ValueError):
            code, process = Path(directory, str(task)).read_text(encoding="utf-8").split()
            return End(int(code), int(process))
        if time.monotonic() > until:
            return None
        time.sleep(0.01)


def end_of_process(directory: str, process: int) -> End | None:
    """Return how a worker ended, given its process; None if there is no report."""
    until = time.monotonic() + REPORT_SECONDS
    while True:
        for report in Path(directory).glob("*[0-9]"):
            with suppress(OSError, ValueError):
                code, found = report.read_text(encoding="utf-8").split()
                if int(found) == process:
                    return End(int(code), process)
        if time.monotonic() > until:
            return None
        time.sleep(0.01)


def words_for(code: int) -> str:
    """Return how a process ended, given its exit code, or its signal as a negative number.

    >>> words_for(3), words_for(-9), words_for(-11)
    ('exited with code 3', 'was killed by signal 9 (SIGKILL)', 'crashed with signal 11 (SIGSEGV)')
    """
    if code >= 0:
        return f"exited with code {code}"
    name = f"{-code}"
    with suppress(ValueError):
        name = f"{-code} ({signal.Signals(-code).name})"
    return f"{'crashed with' if -code in CRASHES else 'was killed by'} signal {name}"
