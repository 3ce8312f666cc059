"""Conditions on inputs for starting a task."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Inputs that must have data before a task starts.

    Spark schedules tasks here; the enum is kept for programs that refer to it.

    >>> [member.name for member in InputDependencyConstraint]
    ['ANY', 'ALL']
    """

    ANY = 0
    ALL = 1
