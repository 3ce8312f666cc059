"""Listeners of jobs. Flink has them in Java only, and without progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.job_status import JobProgress

if TYPE_CHECKING:
    from flintstream.common.job_client import JobClient
    from flintstream.common.job_execution_result import JobExecutionResult

__all__ = ["JobListener", "JobProgress"]


class JobListener:
    """Learns of the jobs of an environment; see ``StreamExecutionEnvironment.register_job_listener``.

    Methods do nothing by default. An exception of a listener is logged and changes nothing for the job.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Log(JobListener):
    ...     def on_job_submitted(self, job_client, error):
    ...         print("submitted" if error is None else error)
    ...
    ...     def on_progress(self, progress):
    ...         assert progress.epochs >= 1
    ...
    ...     def on_job_executed(self, progress, result, error):
    ...         print(progress.job_name, progress.status.name, "after reading", progress.records_in, "records")
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> env.register_job_listener(Log())
    >>> _ = env.set_parallelism(1).from_collection([1, 2, 3]).filter(lambda n: n > 2).print()
    >>> _ = env.execute("filter")
    submitted
    3
    filter FINISHED after reading 3 records
    """

    def on_job_submitted(self, job_client: JobClient | None, error: BaseException | None) -> None:
        """React to the start of a job, in the program's thread. If planning failed: no client, but the error."""

    def on_progress(self, progress: JobProgress) -> None:
        """React to the end of an epoch, in the job's thread, which waits: be quick."""

    def on_job_executed(
        self, progress: JobProgress, result: JobExecutionResult | None, error: BaseException | None
    ) -> None:
        """React to the end of a job, in the job's thread. If it failed or was cancelled: no result, but the error."""
