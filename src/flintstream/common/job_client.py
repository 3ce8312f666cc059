"""Client of a running job."""

from __future__ import annotations

import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from flintstream.common._text import notebook
from flintstream.common._text.watermarks import watermark_text
from flintstream.common.completable_future import CompletableFuture
from flintstream.common.constants import MIN_LONG_VALUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_id import JobID
    from flintstream.common.job_status import JobProgress, JobStatus
    from flintstream.metrics.subtask import SubtaskMetrics

__all__ = ["JobClient", "JobHandle"]

T = TypeVar("T")


class JobHandle(Protocol):
    """The operations that a coordinator offers on its job.

    Every method may block; :class:`JobClient` calls them from its own threads.

    A :class:`JobClient` makes futures of what its handle returns:

    >>> from flintstream.common import JobStatus
    >>> class Done:
    ...     @property
    ...     def job_id(self):
    ...         return "17"
    ...
    ...     def status(self):
    ...         return JobStatus.FINISHED
    ...
    ...     def result(self):
    ...         return "6 words"
    ...
    ...     def metrics(self):
    ...         return []
    ...
    ...     def progress(self):
    ...         return "all 6 words"
    ...
    ...     def accumulators(self):
    ...         return {"words": 6}
    ...
    ...     def cancel(self):
    ...         print("too late")
    ...
    ...     def trigger_savepoint(self, savepoint_directory):
    ...         return f"{savepoint_directory}/savepoint-17"
    ...
    ...     def stop_with_savepoint(self, advance_to_end_of_event_time, savepoint_directory):
    ...         return self.trigger_savepoint(savepoint_directory)
    >>> client = JobClient(Done())
    >>> client.get_job_id(), client.get_job_status().result().name, client.get_accumulators().result()
    ('17', 'FINISHED', {'words': 6})
    >>> client.trigger_savepoint("saved").result(), client.stop_with_savepoint(False, "saved").result()
    ('saved/savepoint-17', 'saved/savepoint-17')
    """

    @property
    def job_id(self) -> JobID:
        """The id of the job."""

    def status(self) -> JobStatus:
        """Return the status of the job."""

    def cancel(self) -> None:
        """Cancel the job; return when it has stopped."""

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> str:
        """Stop the job gracefully and return the path of its savepoint."""

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Take a savepoint of the running job and return its path."""

    def accumulators(self) -> dict[str, Any]:
        """Return the current values of the accumulators."""

    def metrics(self) -> list[SubtaskMetrics]:
        """Return the latest metrics of each subtask of each operator."""

    def progress(self) -> JobProgress:
        """Return how far the job is."""

    def result(self) -> JobExecutionResult:
        """Wait for the job to end; return its result or raise the cause of its failure."""


class JobClient:
    """Client of a job that ``execute_async`` started. Every method returns a future immediately.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.set_parallelism(1).from_collection([1, 2, 3]).map(lambda n: n * n).filter(lambda n: n > 9).print()
    >>> client = env.execute_async("squares")
    >>> result = client.get_job_execution_result().result()
    >>> client.get_job_status().result().name, client.get_job_id() == result.get_job_id()
    ('FINISHED', True)
    >>> client.get_accumulators().result()["numRecordsIn"], client.get_metrics().result()[1].operator
    (3, 'Map')
    """

    def __init__(self, handle: JobHandle) -> None:
        self._handle = handle

    def __repr__(self) -> str:
        """Return the id and the status of the job."""
        return f"JobClient({self._handle.job_id}, {self._handle.status().name})"

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._handle.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Request the status of the job."""
        return _start(self._handle.status)

    def cancel(self) -> CompletableFuture[None]:
        """Cancel the job without a savepoint.

        >>> import time
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.from_collection([0.001] * 1_000).map(time.sleep).filter(lambda nothing: False).print()
        >>> client = env.execute_async("slow")
        >>> client.cancel().result()
        >>> client.get_job_status().result().name
        'CANCELED'
        """
        return _start(self._handle.cancel)

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
    ) -> CompletableFuture[str]:
        """Stop the job gracefully; the future returns the path of the savepoint.

        Args:
            advance_to_end_of_event_time: Whether to fire all event-time timers first, as at the end of the input.
            savepoint_directory: Where to write the savepoint; the configured directory by default.

        >>> class Waiting(JobHandle):  # stands for a running job
        ...     def stop_with_savepoint(self, advance_to_end_of_event_time, savepoint_directory):
        ...         return f"{savepoint_directory}/savepoint-17"
        >>> JobClient(Waiting()).stop_with_savepoint(False, "/backup").result()
        '/backup/savepoint-17'
        """
        return _start(lambda: self._handle.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory))

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint of the running job; the future returns its path.

        >>> class Waiting(JobHandle):  # stands for a running job
        ...     def trigger_savepoint(self, savepoint_directory):
        ...         return f"{savepoint_directory}/savepoint-17"
        >>> JobClient(Waiting()).trigger_savepoint("/backup").result()
        '/backup/savepoint-17'
        """
        return _start(lambda: self._handle.trigger_savepoint(savepoint_directory))

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Request the current values of the accumulators."""
        return _start(self._handle.accumulators)

    def get_metrics(self) -> CompletableFuture[list[SubtaskMetrics]]:
        """Request the latest metrics of each subtask of each operator. PyFlink has no such method."""
        return _start(self._handle.metrics)

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Wait for the job to end; the future returns its result or raises the cause of its failure."""
        return _start(self._handle.result)

    def _repr_html_(self) -> str:
        """Return the progress of the job for a notebook."""
        told = self._handle.progress()
        watermark = MIN_LONG_VALUE if told.watermark is None else told.watermark
        values = {
            "epochs": f"{told.epochs:,}",
            "records in": f"{told.records_in:,}",
            "records out": f"{told.records_out:,}",
            "watermark": watermark_text(watermark),
            "checkpoints": f"{told.checkpoints:,}",
            "restarts": f"{told.restarts:,}",
        }
        caption = f"{told.job_name}: {told.status.name} ({told.job_id})"
        return notebook.table_html(list(values), [list(values.values())], caption)

    def _ipython_display_(self) -> None:
        """Show the progress in a notebook, until the job has ended."""
        notebook.follow(self._repr_html_, repr(self), lambda: self._handle.status().is_globally_terminal_state())


def _start(call: Callable[[], T]) -> CompletableFuture[T]:
    """Run ``call`` in a daemon thread, which does not keep the program alive."""
    future: Future[T] = Future()

    def run() -> None:
        # A cancelled future is complete and ignores the result.
        with suppress(InvalidStateError):
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - the future re-raises it
                future.set_exception(error)
            else:
                future.set_result(result)

    threading.Thread(target=run, name="job-client", daemon=True).start()
    return CompletableFuture(future)
