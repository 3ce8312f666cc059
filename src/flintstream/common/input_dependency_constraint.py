"""When a task may start, given its inputs."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Which inputs must have data before a task starts.

    Spark decides that here; the enum is kept for programs that name it.
    """

    ANY = 0
    ALL = 1
