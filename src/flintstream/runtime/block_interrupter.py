"""Cutting a block short when its function turns out to be slow.

The speed of a function is not known in advance, and reading the clock after each record would cost more than many
functions do. So a thread checks the running loops several times a second. If it finds the same loop twice, it takes the
remaining records out of the loop's iterator, and the loop ends after the current record. One call of C code takes them
all. The loop sees that call completely or not at all, because both threads need the interpreter's lock.
"""

from __future__ import annotations

import sys
import threading
import weakref
from time import sleep
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_SECONDS = 0.05

_lock = threading.Lock()
_interrupters: list[weakref.ref[BlockInterrupter]] = []
_thread: threading.Thread | None = None


class CountsRecords(Protocol):
    """What has counted the records of a block before a function has processed them."""

    records: int


class CountedEdge(CountsRecords, Protocol):
    """An edge that counts its records, as its target does."""

    @property
    def target(self) -> CountsRecords:
        """The input that the edge leads to."""


class BlockInterrupter:
    """The progress of one function whose blocks come from an exchange or a source."""

    __slots__ = ("__weakref__", "cursor", "path", "rest")

    def __init__(self) -> None:
        """Start unwatched."""
        self.cursor: Iterator[Any] | None = None
        """The iterator of the loop over the block."""
        self.rest: list[Any] = []
        """The records taken from the iterator: the last ones of the block."""
        self.path: list[CountedEdge] = []
        """The edges that a block passes before it reaches the function."""

    def begin(self) -> None:
        """Start watching."""
        global _thread  # noqa: PLW0603 - one per process; a fork needs a new one
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            return
        with _lock:
            _interrupters.append(weakref.ref(self))
            if _thread is None or not _thread.is_alive():
                _thread = threading.Thread(target=_look, name="flintstream-interrupter", daemon=True)
                _thread.start()

    def take_unprocessed(self) -> int:
        """Return how many records at the end of the last block were not processed and must be delivered again."""
        count = len(self.rest)
        if count:
            self.rest = []
            for channel in self.path:
                channel.records -= count
                channel.target.records -= count
        return count


def _look() -> None:
    """Check all interrupters until none are left."""
    global _thread  # noqa: PLW0603
    running: dict[int, Iterator[Any]] = {}
    while True:
        sleep(LOOK_SECONDS)
        with _lock:
            _interrupters[:] = [reference for reference in _interrupters if reference() is not None]
            if not _interrupters:
                _thread = None
                return
            interrupters = [interrupter for reference in _interrupters if (interrupter := reference()) is not None]
        before, running = running, {}
        for interrupter in interrupters:
            cursor = interrupter.cursor
            if cursor is not None:
                running[id(interrupter)] = cursor
                if before.get(id(interrupter)) is cursor:
                    interrupter.rest.extend(cursor)
        del interrupters, interrupter
