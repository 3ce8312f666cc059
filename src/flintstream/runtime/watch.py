"""Cuts a block short when the function that it goes through turns out to take its time.

That cannot be known before, and asking the clock after each record would cost more than many functions do. So a thread
looks at what runs, some times a second. What is in a loop for the second time has the rest of its records taken out of
the iterator that the loop goes through: the loop then ends after the record it is at. One call of C code
takes them all, which the loop sees as a whole or not at all, as both threads need the interpreter's lock.
"""

from __future__ import annotations

import sys
import threading
import weakref
from time import sleep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.runtime.task.channels import LocalChannel

LOOK_SECONDS = 0.05

_lock = threading.Lock()
_watches: list[weakref.ref[Watch]] = []
_thread: threading.Thread | None = None


class Watch:
    """What one function is doing, which gets its blocks from an exchange or a source."""

    __slots__ = ("__weakref__", "cursor", "path", "rest")

    def __init__(self) -> None:
        """Be looked at by no thread yet."""
        self.cursor: Iterator[Any] | None = None
        """Where the loop over the block gets its records from."""
        self.rest: list[Any] = []
        """What was taken from it: the last records of the block."""
        self.path: list[LocalChannel] = []
        """The edges that a block goes along before."""

    def begin(self) -> None:
        """Let the thread look at this from now on."""
        global _thread  # noqa: PLW0603 - one for the process, and another after a fork
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            return
        with _lock:
            _watches.append(weakref.ref(self))
            if _thread is None or not _thread.is_alive():
                _thread = threading.Thread(target=_look, name="flintstream-watch", daemon=True)
                _thread.start()

    def taken(self) -> int:
        """Return how many records at the end of the last block were not processed; they are to come again."""
        count = len(self.rest)
        if count:
            self.rest = []
            for channel in self.path:
                channel.records -= count
                channel.target.records -= count
        return count


def _look() -> None:
    """Look at all watches until there are none."""
    global _thread  # noqa: PLW0603
    running: dict[int, Iterator[Any]] = {}
    while True:
        sleep(LOOK_SECONDS)
        with _lock:
            _watches[:] = [reference for reference in _watches if reference() is not None]
            if not _watches:
                _thread = None
                return
            watches = [watch for reference in _watches if (watch := reference()) is not None]
        before, running = running, {}
        for watch in watches:
            cursor = watch.cursor
            if cursor is not None:
                running[id(watch)] = cursor
                if before.get(id(watch)) is cursor:
                    watch.rest.extend(cursor)
        del watches, watch
