"""The refusal of pickle by a job, which everything that reads or writes state in its threads respects."""

from __future__ import annotations

import pickletools
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

__all__ = ["class_in", "permitting", "refuses_pickle", "refusing", "refusing_in"]

T = TypeVar("T")

_LOOKED_AT = 64
"""How many operations of a pickle are searched for its class, which is among the first."""


class _Thread(threading.local):
    refusals = 0


_thread = _Thread()


def refuses_pickle() -> bool:
    """Return whether this thread refuses pickle."""
    return _thread.refusals > 0


@contextmanager
def refusing(active: bool = True) -> Iterator[None]:
    """Refuse pickle in this thread within the context, if ``active``.

    >>> with refusing():
    ...     refuses_pickle()
    True
    """
    before = _thread.refusals
    _thread.refusals = before + active
    try:
        yield
    finally:
        _thread.refusals = before


@contextmanager
def permitting() -> Iterator[None]:
    """Permit pickle in this thread within the context, for bytes that are compared and never read."""
    before, _thread.refusals = _thread.refusals, 0
    try:
        yield
    finally:
        _thread.refusals = before


def refusing_in(steps: Generator[T]) -> Iterator[T]:
    """Refuse pickle while a generator runs, but not between its steps, where the thread may do something else."""
    try:
        while True:
            with refusing():
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step
    finally:
        steps.close()


def class_in(data: bytes) -> str:
    r"""Return the first class or function that a pickle names, without unpickling; empty if it names none.

    >>> class_in(b"cdatetime\ndate\n.")
    'datetime.date'
    """
    texts: list[str] = []
    try:
        for (operation, argument, _), _ in zip(pickletools.genops(data), range(_LOOKED_AT), strict=False):
            if operation.name == "GLOBAL":
                return str(argument).replace(" ", ".")
            if operation.name == "STACK_GLOBAL":
                return ".".join(texts[-2:])
            if isinstance(argument, str):
                texts.append(argument)
    except Exception:  # noqa: BLE001, S110 - damaged pickles may raise anything
        pass
    return ""
