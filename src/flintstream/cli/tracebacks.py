"""Tracebacks of failed programs, reduced to the program's own lines."""

from __future__ import annotations

import concurrent.futures
import importlib
import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING

import click

from flintstream.errors import CheckpointError, ExecutorError, JobCancelledError

if TYPE_CHECKING:
    from collections.abc import Iterable

HINT = "(run with --verbose for the whole traceback)"

_COMMAND = os.path.dirname(os.path.abspath(__file__)) + os.sep  # noqa: PTH100, PTH120 - compared with co_filename
_OWN = os.path.dirname(os.path.dirname(_COMMAND)) + os.sep  # noqa: PTH120


def _directories(*packages: str) -> tuple[str, ...]:
    found = (sys.modules.get(package) for package in packages)
    return tuple(os.path.dirname(str(module.__file__)) + os.sep for module in found if module is not None)  # noqa: PTH120


class _Machinery:
    """Code outside the program that its author does not need to see."""

    def __init__(self) -> None:
        self.own = (_OWN, "<frozen ", *_directories("pyspark", "py4j", "cloudpickle"))
        # Calls by the program itself stay visible.
        self.helpers = _directories(concurrent.futures.__name__, importlib.__name__)
        self.hidden = False

    def without(self, trace: TracebackType | None) -> TracebackType | None:
        """Return a traceback without it, and record whether anything was removed."""
        shown: list[TracebackType] = []
        before = False
        for step in _steps(trace):
            name = step.tb_frame.f_code.co_filename
            before = name.startswith(self.own) or (before and name.startswith(self.helpers))
            if not before:
                shown.append(step)
            self.hidden |= before
        return _traceback(shown)


def _steps(trace: TracebackType | None) -> Iterable[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _traceback(steps: list[TracebackType]) -> TracebackType | None:
    made: TracebackType | None = None
    for step in reversed(steps):
        made = TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return made


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that starts in the program, without this command and its callers."""
    steps = list(_steps(trace))
    names = [step.tb_frame.f_code.co_filename for step in steps]
    begin = max((n + 1 for n, name in enumerate(names) if name.startswith(_COMMAND)), default=0)
    while begin < len(names) and names[begin].startswith("<frozen "):  # from 'python -m'
        begin += 1
    return steps[begin] if begin < len(steps) else None


def _only_of_program(error: BaseException) -> bool:
    """Reduce an exception and its causes to the program's lines; tell whether much was removed."""
    machinery = _Machinery()
    error.__traceback__ = _of_program(error.__traceback__)
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = machinery.without(current.__traceback__)
        pending += [current.__cause__, current.__context__]
        if sys.version_info >= (3, 11) and isinstance(current, BaseExceptionGroup):  # noqa: F821
            pending += current.exceptions
    return machinery.hidden


def show_without_machinery(*, verbose: bool) -> None:
    """Show the exception that ends this process like Python, but only with the program's lines.

    A hook of the program (``sys.excepthook``) is called as usual.
    """
    hook = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if hook is not sys.__excepthook__:
            error.__traceback__ = _of_program(trace)
            hook(kind, error, error.__traceback__)
        elif verbose:
            hook(kind, error, trace)
        elif isinstance(error, (CheckpointError, ExecutorError, JobCancelledError)):
            # the program's lines do not explain these
            click.echo(f"Error: {error}", err=True)
        else:
            hidden = _only_of_program(error)
            hook(kind, error, error.__traceback__)
            if hidden:
                click.echo(HINT, err=True)

    sys.excepthook = excepthook
