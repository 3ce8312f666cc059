"""Processes that user code forks, and that return from the user's function instead of ending there.

Such a process has a copy of everything: the loops that run the job, open files and connections. If it continued, it
would process records, write output and commit it for a second time.
"""

from __future__ import annotations

import os
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def leave_if_forked(owner: int, error: BaseException | None = None) -> None:
    """End this process, without any cleanup, if it is not the process ``owner`` but a fork of it.

    The exit status is that of a script that ends the same way. ``error`` is what the user's function raised, if it did
    not return: a status of ``sys.exit``, or an exception that is printed here because nothing else will show it.
    """
    if os.getpid() == owner:
        return
    status = 0
    try:
        if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
            status = (error.code or 0) & 0xFF
        elif error is not None:
            status = 1
            traceback.print_exception(error)
    finally:
        os._exit(status)  # what its buffers hold is still in those of the owner, too


@contextmanager
def only_one_returns() -> Iterator[None]:
    """Run user code that may fork: processes that it has forked end with the block."""
    owner = os.getpid()
    try:
        yield
    except BaseException as error:
        leave_if_forked(owner, error)
        raise
    leave_if_forked(owner)
