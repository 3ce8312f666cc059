"""SIGTERM and SIGHUP end the jobs of a program before the program ends."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_ends: list[Callable[[], None]] = []
"""What to do at exit after a signal. Empty until the first job starts."""

_owner = 0
"""The process that the handlers belong to; a fork inherits them."""


class TerminatedError(SystemExit):
    """A signal ended the program. The exit code is 128 and its number, as shells report it."""

    def __init__(self, number: int) -> None:
        """Take the number of the signal."""
        super().__init__(128 + number)
        self.number = number


def end_in_order(end: Callable[[], None] | None = None) -> None:
    """On SIGTERM or SIGHUP, raise :class:`TerminatedError` in the main thread, and call ``end`` at exit.

    The first process of a container ignores these signals unless it handles them.

    Without effect for signals that the program handles or ignores itself, as under ``nohup``, and outside the main
    thread, where Python has no handlers.
    """
    global _owner  # noqa: PLW0603 - a process has one set of handlers
    if threading.current_thread() is not threading.main_thread():
        return
    _owner = os.getpid()
    for number in NUMBERS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)
    if end is not None and not _ends:
        _ends.append(end)


def _terminate(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of handlers
    if os.getpid() != _owner:  # a fork, which has no jobs to end
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    for end in _ends:
        atexit.unregister(end)
        atexit.register(end)  # it runs before what was registered earlier
    raise TerminatedError(number)
