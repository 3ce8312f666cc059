"""The lines that Python workers write, on their way to the standard error of a driver on the same machine.

Spark copies the output of its workers to the driver's file descriptor in pieces of one KiB. Lines of the driver, its
progress line above all, would get between two pieces of a line. So workers write to a named pipe, and a thread of the
driver writes whole lines to ``sys.stderr``.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.monitoring.recent_log import add_of_workers
from flintstream.engine.spark.sockets import private_directory

if TYPE_CHECKING:
    from flintstream.runtime.process_setup import ProcessSetup

__all__ = ["drain_lines", "pipe_of_lines", "with_lines"]

PIECE = 1 << 16
DRAIN_SECONDS = 2.0
"""How long to wait at the end of a job for lines that are still in the pipe."""

LONGEST_LINE = 1 << 20
"""Bytes of a line that are kept until its end arrives."""
CONTINUES = b" [the line continues]\n"
"""What follows a piece of a longer line."""

LONGEST_MARK = 64
_MARK = b"\0flintstream mark "
"""The beginning of a line that the driver writes itself."""

_lock = threading.Lock()
_known: dict[int, WorkerLines | None] = {}
"""Process id -> its pipe."""


class WorkerLines:
    """The pipe of this process, which exists as long as the process does: workers outlive jobs."""

    def __init__(self, directory: str) -> None:
        """Make the pipe in a private directory, and begin to read it."""
        self.path = f"{directory}/lines"
        os.mkfifo(self.path, 0o600)
        self.number = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)  # also for writing: it must not end with a worker
        self._marks = itertools.count()
        self._waiting: dict[bytes, threading.Event] = {}
        threading.Thread(target=self._read, name="flintstream-lines-of-workers", daemon=True).start()

    def drain(self) -> None:
        """Wait until all that workers have written so far is shown."""
        mark, seen = str(next(self._marks)).encode(), threading.Event()
        self._waiting[mark] = seen
        # Not in this thread: nothing must wait for a pipe that is full if the reader has ended.
        threading.Thread(target=os.write, args=(self.number, _MARK + mark + b"\n"), daemon=True).start()
        seen.wait(DRAIN_SECONDS)
        self._waiting.pop(mark, None)

    def _read(self) -> None:
        lines = LinesInPieces()
        while True:
            shown, marks = lines.feed(os.read(self.number, PIECE))
            _show(shown.decode(errors="backslashreplace"))
            for mark in marks:
                if mark in self._waiting:
                    self._waiting[mark].set()


class LinesInPieces:
    """Puts lines together that arrive in pieces, in time that is proportional to their length.

    A line longer than ``LONGEST_LINE`` is shown in several lines, of which all but the last say that it continues.
    """

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> tuple[bytes, list[bytes]]:
        """Return the lines that are complete, and the marks among them."""
        complete, ended, rest = data.rpartition(b"\n")
        shown, marks = [], []
        if ended:
            for line in b"".join([*self._begun, complete]).split(b"\n"):
                begun, marked, mark = line.partition(_MARK)
                if marked:
                    marks.append(mark)
                    shown.append(begun)  # a task has ended without a line end
                else:
                    shown.append(line + b"\n")
            self._begun, self._size = [], 0
        self._begun.append(rest)
        self._size += len(rest)
        if self._size > LONGEST_LINE:
            line = b"".join(self._begun)
            cut = _place_to_cut(line)
            shown += [line[:cut], CONTINUES]
            self._begun, self._size = [line[cut:]], len(line) - cut
        return b"".join(shown), marks


def _place_to_cut(line: bytes) -> int:
    """Return where to cut a line so that neither a mark at its end nor a character of UTF-8 is cut."""
    mark = line.find(b"\0", len(line) - LONGEST_MARK)
    cut = mark if mark >= 0 else len(line)
    for back in range(1, 4):
        lead = line[cut - back]
        if lead >= 0xC0:  # the first byte of a character of two to four bytes
            return cut - back if back < (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) else cut
        if lead < 0x80:
            break
    return cut


def _show(text: str) -> None:
    if not text:
        return
    add_of_workers(text)
    with suppress(Exception):  # whatever the program has put in the place of the stream
        sys.stderr.write(text)
        sys.stderr.flush()


def with_lines(setup: ProcessSetup, context: Any) -> ProcessSetup:
    """Return the setup of workers that write to the driver if they are on its machine.

    On a cluster, they write to the log of their executor, and there is no file in common.
    """
    if not is_driver(context):
        return setup._replace(logs=setup.logs._replace(console=True, file=None))
    lines = _lines_here()
    return setup._replace(logs=setup.logs._replace(output=None if lines is None else lines.path))


def is_driver(context: Any) -> bool:
    """Tell whether the driver is the only executor of a context."""
    return str(context.master).partition("[")[0] == "local"


def pipe_of_lines() -> int | None:
    """Return the open file from which lines get to the standard error of this process, if there is one."""
    lines = _lines_here()
    return None if lines is None else lines.number


def drain_lines() -> None:
    """Wait until all that workers of this process have written so far is shown."""
    lines = _known.get(os.getpid())
    if lines is not None:
        lines.drain()


def _lines_here() -> WorkerLines | None:
    with _lock:
        if os.getpid() not in _known:
            directory = private_directory()
            made = None
            if directory is not None:
                with suppress(OSError):  # a file system without named pipes
                    made = WorkerLines(directory)
            _known[os.getpid()] = made
        return _known[os.getpid()]
