"""Tracebacks of failed programs, reduced to the program's own lines."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from flintstream.common._user_code.tracebacks import shorten_tracebacks, steps_of
from flintstream.errors import CheckpointError, ExecutorError, JobCancelledError

if TYPE_CHECKING:
    from types import TracebackType

HINT = "(run with --verbose for the full traceback)"

_COMMAND = os.path.dirname(os.path.abspath(__file__)) + os.sep  # noqa: PTH100, PTH120 - compared with co_filename


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that starts in the program, without this command and its callers."""
    steps = list(steps_of(trace))
    names = [step.tb_frame.f_code.co_filename for step in steps]
    begin = max((n + 1 for n, name in enumerate(names) if name.startswith(_COMMAND)), default=0)
    while begin < len(names) and names[begin].startswith("<frozen "):  # from 'python -m'
        begin += 1
    return steps[begin] if begin < len(steps) else None


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
            error.__traceback__ = _of_program(error.__traceback__)
            hidden = shorten_tracebacks(error)
            hook(kind, error, error.__traceback__)
            if hidden:
                click.echo(HINT, err=True)

    sys.excepthook = excepthook
