"""Listeners of jobs. Flink has them in Java only, and without progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.common.job_client import JobClient
    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_status import JobStatus

__all__ = ["JobListener", "JobProgress"]


@dataclass(frozen=True)
class JobProgress:
    """Totals of a job since it started."""

    job_id: str
    job_name: str
    status: JobStatus
    epochs: int
    restarts: int
    checkpoints: int
    """Completed checkpoints."""
    records_in: int
    """Records that sources emitted; those that are read again after a restart count again."""
    records_out: int
    """Records that reached sinks."""
    watermark: int | None
    """The lowest event time of all operators (ms since the epoch); None before the first watermark."""


class JobListener:
    """Learns of the jobs of an environment; see ``StreamExecutionEnvironment.register_job_listener``.

    Methods do nothing by default. An exception of a listener is logged and changes nothing for the job.
    """

    def on_job_submitted(self, job_client: JobClient | None, error: BaseException | None) -> None:
        """React to the start of a job, in the program's thread. If planning failed: no client, but the error."""

    def on_progress(self, progress: JobProgress) -> None:
        """React to the end of an epoch, in the job's thread, which waits: be quick."""

    def on_job_executed(
        self, progress: JobProgress, result: JobExecutionResult | None, error: BaseException | None
    ) -> None:
        """React to the end of a job, in the job's thread. If it failed or was cancelled: no result, but the error."""
