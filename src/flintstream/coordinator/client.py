"""Starts a job in a thread of its own and lets others watch and stop it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.file_store import file_store
from flintstream.coordinator.coordinator import Coordinator, SavepointRequest
from flintstream.errors import CheckpointError, JobCancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Job, Progress


class RunningJob:
    """A job that was started; what a ``JobClient`` talks to."""

    def __init__(self, job: Job, engine: Engine, listeners: Sequence[Callable[[Progress], None]] = ()) -> None:
        """Prepare to run ``job`` on ``engine``."""
        self.job = job
        self.coordinator = Coordinator(job, engine, listeners)
        self.result: Future[Progress] = Future()
        self.finished = threading.Event()
        self.started_at = time.monotonic()
        self.runtime_ms = 0

    def run(self) -> None:
        """Run the job to its end in this thread; :attr:`result` tells how it went."""
        self.result.set_running_or_notify_cancel()
        try:
            progress = self.coordinator.run()
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            self._end()
            if self.coordinator.cancelled and not isinstance(error, JobCancelledError):
                error = JobCancelledError(f"the job '{self.job.plan.job_name}' was cancelled")
            self.result.set_exception(error)
        else:
            self._end()
            self.result.set_result(progress)
        self.finished.set()

    def _end(self) -> None:
        self.runtime_ms = int((time.monotonic() - self.started_at) * 1000)

    def start(self) -> None:
        """Run the job in a thread."""
        threading.Thread(target=self.run, name=f"flintstream-{self.job.plan.job_name}", daemon=True).start()

    def wait(self) -> Any:
        """Wait for the end; Ctrl-C cancels the job first.

        Raises:
            Exception: What made the job fail.
        """
        try:
            while not self.finished.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.cancel()
            self.finished.wait(10)
            raise
        return self.result.result()

    def cancel(self) -> None:
        """Stop the job."""
        self.coordinator.cancel()

    def savepoint(self, directory: str | None, *, stop: bool = False, drain: bool = False) -> Future[str]:
        """Take a savepoint in a new directory below ``directory``; the result is where it is.

        Args:
            directory: any place that the workers reach; by default the one of the configuration.
            stop: end the job with it.
            drain: end the input and let all event time pass before; only together with ``stop``.
        """
        place = directory or self.job.checkpoints.savepoint_directory
        if place is None:
            request: Future[str] = Future()
            request.set_exception(
                CheckpointError(
                    "a savepoint needs a directory: name one, or set 'execution.checkpointing.savepoint-dir'"
                )
            )
            return request
        if self.finished.is_set():
            request = Future()
            request.set_exception(CheckpointError(f"the job '{self.job.plan.job_name}' is over"))
            return request
        wanted = SavepointRequest(file_store(place), stop, drain)
        self.coordinator.request_savepoint(wanted)
        return wanted.result
