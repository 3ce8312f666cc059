"""The states of a job, and its progress."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["JobProgress", "JobStatus"]


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


@dataclass(frozen=True)
class JobProgress:
    """Totals of a job since it started.

    >>> from flintstream.common import JobStatus
    >>> progress = JobProgress("0f3a", "words", JobStatus.RUNNING, 12, 0, 3, 4_096, 512, None)
    >>> progress.job_name, progress.epochs, progress.records_in, progress.watermark
    ('words', 12, 4096, None)
    """

    job_id: str
    job_name: str
    status: JobStatus
    epochs: int
    restarts: int
    checkpoints: int
    """Completed checkpoints."""
    records_in: int
    """Records that sources emitted; after a restart, the count goes back to that of the checkpoint."""
    records_out: int
    """Records that reached sinks, counted in the same way."""
    watermark: int | None
    """The lowest event time of all operators (ms since the epoch); None before the first watermark."""
