"""Tracebacks without the code that the author of a program does not need to see."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["shorten_tracebacks", "steps_of"]

_PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))  # noqa: PTH100, PTH118, PTH120 - without pathlib
_OWN = _PACKAGE + os.sep
"""What starts the ``co_filename`` of our own code."""
_STANDARD_LIBRARY = os.__file__.removesuffix("os.py")


def shorten_tracebacks(error: BaseException) -> list[tuple[BaseException, TracebackType | None]]:
    """Reduce the tracebacks of an exception and of its causes to the program's own lines.

    Return the exceptions that have lost lines, with their full tracebacks.
    """
    machinery = _Machinery()
    whole: list[tuple[BaseException, TracebackType | None]] = []
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        before = current.__traceback__
        shown = machinery.without(before)
        if len(shown) < sum(1 for _ in steps_of(before)):
            whole.append((current, before))
            current.__traceback__ = _traceback(shown)
        pending += [current.__cause__, current.__context__]
        if sys.version_info >= (3, 11) and isinstance(current, BaseExceptionGroup):  # noqa: F821
            pending += current.exceptions
    return whole


def steps_of(trace: TracebackType | None) -> Iterable[TracebackType]:
    """Iterate over a traceback from the outermost call."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


class _Machinery:
    """The code of this package, of Spark, and what they call in the standard library."""

    def __init__(self) -> None:
        self.own = (_OWN, "<frozen ", *_directories("pyspark", "py4j", "cloudpickle"))

    def without(self, trace: TracebackType | None) -> list[TracebackType]:
        shown: list[TracebackType] = []
        before = False
        for step in steps_of(trace):
            name = step.tb_frame.f_code.co_filename
            # What the program itself calls in the standard library stays visible
            before = name.startswith(self.own) or (before and _is_of_python(name))
            if not before:
                shown.append(step)
        return shown


def _is_of_python(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) and "-packages" + os.sep not in path


def _directories(*packages: str) -> tuple[str, ...]:
    found = (sys.modules.get(package) for package in packages)
    return tuple(os.path.dirname(str(module.__file__)) + os.sep for module in found if module is not None)  # noqa: PTH120


def _traceback(steps: list[TracebackType]) -> TracebackType | None:
    made: TracebackType | None = None
    for step in reversed(steps):
        made = TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return made
