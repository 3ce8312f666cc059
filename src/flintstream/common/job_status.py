"""The states of a job."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The status of a submitted job.

    >>> JobStatus.FINISHED.is_globally_terminal_state(), JobStatus.RESTARTING.is_terminal_state()
    (True, False)
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Tell whether the job has ended permanently: failed, cancelled or finished."""
        return self in _OVER

    def is_terminal_state(self) -> bool:
        """Tell whether this driver is done with the job. A suspended job could continue elsewhere."""
        return self in _OVER or self is JobStatus.SUSPENDED


_OVER = frozenset({JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED})
