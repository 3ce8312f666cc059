"""The client and the result of a job, as users see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common.job_client import JobClient
from flintstream.common.job_execution_result import JobExecutionResult
from flintstream.common.job_id import JobID
from flintstream.common.job_status import JobProgress
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    import threading

    from flintstream.common.job_status import JobStatus
    from flintstream.coordinator.client import RunningJob
    from flintstream.metrics.subtask import SubtaskMetrics


class JobHandle:
    """The view of a running job behind a ``JobClient``."""

    def __init__(self, job: RunningJob) -> None:
        self._job = job

    @property
    def job_id(self) -> JobID:
        """The ID of the job."""
        return JobID(self._job.job.plan.job_id)

    @property
    def finished(self) -> threading.Event:
        """Set when the job is over."""
        return self._job.finished

    @property
    def has_request(self) -> bool:
        """Whether the job has been asked to end, or for a savepoint or another parallelism."""
        requests = self._job.coordinator.requests
        return requests.cancelled or requests.waiting

    def status(self) -> JobStatus:
        """Return the status of the job."""
        return self._job.status()

    def cancel(self) -> None:
        """Cancel the job and wait until it has stopped."""
        self._job.cancel()
        self._job.finished.wait()

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> str:
        """Stop the job with a savepoint, wait until it has stopped, and return the savepoint's path.

        Args:
            advance_to_end_of_event_time: fire all event-time timers and windows first. The job's output is then
                complete, and no job can continue from the savepoint.
            savepoint_directory: the directory; by default the configured one.
        """
        path = self._job.savepoint(savepoint_directory, stop=True, drain=advance_to_end_of_event_time).result()
        self._job.finished.wait()
        return path

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Take a savepoint while the job continues, and return its path."""
        return self._job.savepoint(savepoint_directory).result()

    def accumulators(self) -> dict[str, Any]:
        """Return the current accumulators."""
        return accumulators_of(self._job)

    def metrics(self) -> list[SubtaskMetrics]:
        """Return the latest metrics of each subtask of each operator."""
        return self._job.coordinator.statistics.metrics.by_subtask()

    def progress(self) -> JobProgress:
        """Return how far the job is."""
        return progress_of(self._job)

    def result(self) -> JobExecutionResult:
        """Wait for the end of the job and return its result; raise the cause if it failed."""
        self._job.wait()
        return result_of(self._job)


def accumulators_of(job: RunningJob) -> dict[str, Any]:
    """Return the engine's own counters and those of the operators, as ``operator.metric``."""
    progress, checkpoints = job.coordinator.statistics.progress, job.coordinator.checkpoints
    values: dict[str, Any] = {
        "numEpochs": progress.epochs,
        "numRestarts": progress.restarts,
        "numCheckpoints": progress.checkpoints,
        "numFailedCheckpoints": checkpoints.failed,
        "numRecordsIn": progress.records_in,
        "numRecordsOut": progress.records_out,
        "numCatchUps": progress.catch_ups,
    }
    if checkpoints.latest is not None:
        values["lastCheckpointDuration"] = checkpoints.duration_ms
        values["lastCheckpointSize"] = checkpoints.new_bytes
        values["lastCheckpointFullSize"] = checkpoints.latest.metadata.size()
    for operator, metrics in job.coordinator.statistics.metrics.values().items():
        values.update({f"{operator}.{name}": value for name, value in metrics.items()})
    return values


def result_of(job: RunningJob) -> JobExecutionResult:
    """Return the result of a finished job."""
    return JobExecutionResult(
        JobID(job.job.plan.job_id),
        job.runtime_ms,
        accumulators_of(job),
        job.coordinator.statistics.metrics.by_subtask(),
    )


def progress_of(job: RunningJob) -> JobProgress:
    """Return how far a job is."""
    progress = job.coordinator.statistics.progress
    return JobProgress(
        job.job.plan.job_id,
        job.job.plan.job_name,
        job.status(),
        progress.epochs,
        progress.restarts,
        progress.checkpoints,
        progress.records_in,
        progress.records_out,
        None if progress.watermark == MIN_TIMESTAMP else progress.watermark,
    )


def client_of(job: RunningJob) -> JobClient:
    """Return the client of a started job."""
    return JobClient(JobHandle(job))
