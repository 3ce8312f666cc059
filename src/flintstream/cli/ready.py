"""A program that is ready to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class ProgramReady(BaseException):
    """The command line is parsed; run the program outside click, so that it does not see click's context."""

    def __init__(self, start: Callable[[], NoReturn]) -> None:
        """Hold a function that runs the program and exits with its result."""
        super().__init__()
        self.start = start
