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

from flintstream.engine.spark.sockets import private_directory

if TYPE_CHECKING:
    from flintstream.runtime.process_setup import ProcessSetup

__all__ = ["drain_lines", "pipe_of_lines", "with_lines"]

PIECE = 1 << 16
DRAIN_SECONDS = 2.0
"""How long to wait at the end of a job for lines that are still in the pipe."""

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
        rest = b""
        while True:
            rest += os.read(self.number, PIECE)
            *lines, rest = rest.split(b"\n")
            shown, marks = [], []
            for line in lines:
                begun, marked, mark = line.partition(_MARK)
                if marked:
                    marks.append(mark)
                    shown.append(begun)  # a task has ended without a line end
                else:
                    shown.append(line + b"\n")
            _show(b"".join(shown).decode(errors="backslashreplace"))
            for mark in marks:
                if mark in self._waiting:
                    self._waiting[mark].set()


def _show(text: str) -> None:
    if not text:
        return
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
