"""The processing-time clock, and one for durations."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from flintstream.compiled import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_substitute: ContextVar[Callable[[], int] | None] = ContextVar("flintstream clock", default=None)


def _wall_clock() -> int:
    substitute = _substitute.get()
    return time.time_ns() // 1_000_000 if substitute is None else substitute()


def _find_clock() -> Callable[[], int]:
    return wall_clock


_compiled = load("base")
wall_clock: Callable[[], int] = _wall_clock if _compiled is None else _compiled.WallClock(_substitute, _find_clock)
"""Return the time in ms since the epoch."""


def steady_clock() -> int:
    """Return ms since some moment. Unlike the wall clock, this one is never set, so differences are durations."""
    substitute = _substitute.get()
    return time.monotonic_ns() // 1_000_000 if substitute is None else substitute()


@contextmanager
def another_clock(clock: Callable[[], int]) -> Iterator[None]:
    """Use ``clock`` as both clocks (ms since the epoch) of this thread.

    >>> with another_clock(lambda: 42):
    ...     wall_clock()
    42
    """
    token = _substitute.set(clock)
    try:
        yield
    finally:
        _substitute.reset(token)
