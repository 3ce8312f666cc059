"""The handle on a job that runs."""

from __future__ import annotations

import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from flintstream.common.completable_future import CompletableFuture

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_id import JobID
    from flintstream.common.job_status import JobStatus
    from flintstream.metrics.subtask import SubtaskMetrics

__all__ = ["JobClient", "JobHandle"]

T = TypeVar("T")


class JobHandle(Protocol):
    """What a coordinator offers about its job.

    Every method may block; :class:`JobClient` calls them from threads of its own.
    """

    @property
    def job_id(self) -> JobID:
        """The id of the job."""

    def status(self) -> JobStatus:
        """Return what the job is doing."""

    def cancel(self) -> None:
        """Stop the job; returns when it has stopped."""

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> str:
        """End the job in good order and return the path of the savepoint it left."""

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Take a savepoint while the job goes on, and return its path."""

    def accumulators(self) -> dict[str, Any]:
        """Return the accumulators as they are now."""

    def metrics(self) -> list[SubtaskMetrics]:
        """Return what each subtask of each operator has reported so far."""

    def result(self) -> JobExecutionResult:
        """Wait until the job is over and return its result, or raise why it failed."""


class JobClient:
    """Asks, stops and awaits a job that ``execute_async`` started. Every method returns at once, with a future."""

    def __init__(self, handle: JobHandle) -> None:
        self._handle = handle

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._handle.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Ask what the job is doing."""
        return _start(self._handle.status)

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job without a savepoint."""
        return _start(self._handle.cancel)

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
    ) -> CompletableFuture[str]:
        """End the job in good order; the future gives the path of the savepoint.

        Args:
            advance_to_end_of_event_time: whether to fire all event-time timers first, as at the end of the input.
            savepoint_directory: where to write it; the configured directory by default.
        """
        return _start(lambda: self._handle.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory))

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint while the job goes on; the future gives its path."""
        return _start(lambda: self._handle.trigger_savepoint(savepoint_directory))

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Ask for the accumulators as they are now."""
        return _start(self._handle.accumulators)

    def get_metrics(self) -> CompletableFuture[list[SubtaskMetrics]]:
        """Ask what each subtask of each operator has reported so far. PyFlink has no such method."""
        return _start(self._handle.metrics)

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Await the end of the job; the future gives its result, or raises why it failed."""
        return _start(self._handle.result)


def _start(call: Callable[[], T]) -> CompletableFuture[T]:
    """Run ``call`` in a thread that does not keep the program from ending."""
    future: Future[T] = Future()

    def run() -> None:
        # Whoever cancels the future meanwhile has completed it: what comes after that is of no interest.
        with suppress(InvalidStateError):
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - it is raised again where the future is asked
                future.set_exception(error)
            else:
                future.set_result(result)

    threading.Thread(target=run, name="job-client", daemon=True).start()
    return CompletableFuture(future)
