"""A job that runs in its own thread, and that others can watch and stop."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from flintstream.common._text.secrets import hide_secrets
from flintstream.common.completable_future import SIGNAL_SECONDS
from flintstream.common.job_status import JobStatus
from flintstream.coordinator.control import Control
from flintstream.coordinator.coordinator import Coordinator
from flintstream.coordinator.descriptors import raise_limit
from flintstream.coordinator.requests import CheckpointRequest, RescaleRequest, SavepointRequest
from flintstream.coordinator.rescaling import parallelisms, plan_rescaled, with_vertices
from flintstream.coordinator.signals import TerminatedError, end_in_order
from flintstream.errors import CheckpointError, JobCancelledError
from flintstream.options.checkpointing import SAVEPOINT_DIRECTORY
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Job, Progress

_log = logging.getLogger(__name__)

_unfinished: set[RunningJob] = set()
"""Started jobs of this process that have not ended."""


LAST_SECONDS = 10
"""How long to wait for jobs to end after Ctrl-C or a signal."""


def cancel_all(seconds: float = LAST_SECONDS, *, keep_checkpoints: bool = False) -> None:
    """Cancel all jobs of this process, and wait at most ``seconds`` for them to end."""
    jobs = tuple(_unfinished)
    for job in jobs:
        job.cancel(keep_checkpoints=keep_checkpoints)
    until = time.monotonic() + seconds
    for job in jobs:
        job.finished.wait(max(0.0, until - time.monotonic()))


def some_run() -> bool:
    """Tell whether a job of this process has not ended."""
    return bool(_unfinished)


def wait_for_lasting() -> None:
    """Wait for the jobs that go on when their program has ended, and raise the error of one that failed."""
    for job in tuple(_unfinished):
        if job.lasts:
            job.wait()


def _suspend_all() -> None:
    cancel_all(keep_checkpoints=True)


class RunningJob:
    """A started job, to which a ``JobClient`` talks."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        listeners: Sequence[Callable[[Progress], None]] = (),
        *,
        control: bool = False,
        configuration: Mapping[str, str] | None = None,
        reporters: Sequence[Callable[[RunningJob], Callable[[], None]]] = (),
    ) -> None:
        """Prepare to run ``job`` on ``engine``. With ``control``, other processes can see and stop the job.

        They also see its ``configuration`` without secrets.
        Each of ``reporters`` is called when the job starts, and what it returns when the job has ended.
        """
        self.job = job
        self.coordinator = Coordinator(job, engine, listeners)
        self.result: Future[Progress] = Future()
        self.finished = threading.Event()
        self.lasts = False
        """Whether the job outlives its program, as on a cluster of Flink."""
        self.configuration = hide_secrets(configuration or {})
        self.started_at = time.monotonic()
        self.runtime_ms = 0
        self.control = Control(self) if control else None
        self._reporters = reporters
        self._at_end: list[Callable[[], None]] = []

    def run(self) -> None:
        """Run the job to its end in this thread, and put the outcome into :attr:`result`."""
        self.result.set_running_or_notify_cancel()
        try:
            progress = self.coordinator.run()
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            self._end()
            cancelled = JobCancelledError(f"the job '{self.job.plan.job_name}' was cancelled")
            self.result.set_exception(cancelled if self.coordinator.requests.cancelled else error)
        else:
            self._end()
            self.result.set_result(progress)
        for end in self._at_end:
            try:
                end()
            except Exception:  # noqa: BLE001 - the job itself has ended
                _log.exception("at the end of the job '%s'", self.job.plan.job_name)
        self.finished.set()
        self._refuse_requests()
        _unfinished.discard(self)
        if self.control is not None:
            self.control.close()

    def _end(self) -> None:
        self.runtime_ms = int((time.monotonic() - self.started_at) * 1000)

    def listen(self, listener: Callable[[Progress], None]) -> None:
        """Call ``listener`` after each epoch. Not to be called any more once the job has started."""
        self.coordinator.statistics.listen(listener)

    @property
    def uptime_ms(self) -> int:
        """Time since the job started (ms), until its end."""
        return self.runtime_ms or int((time.monotonic() - self.started_at) * 1000)

    def start(self) -> None:
        """Run the job in a thread. From now on, SIGTERM and SIGHUP end it before the program ends."""
        end_in_order(_suspend_all)
        raise_limit()
        _unfinished.add(self)
        if self.control is not None:
            self.control.start()
        self._at_end = [begin(self) for begin in self._reporters]
        threading.Thread(target=self.run, name=f"flintstream-{self.job.plan.job_name}", daemon=True).start()

    def status(self) -> JobStatus:
        """Return the status of the job."""
        if self.result.done():
            error = self.result.exception()
            if error is None:
                return JobStatus.FINISHED
            return JobStatus.CANCELED if isinstance(error, JobCancelledError) else JobStatus.FAILED
        if self.coordinator.requests.cancelled:
            return JobStatus.CANCELLING
        if self.coordinator.restarting:
            return JobStatus.RESTARTING
        return JobStatus.RUNNING if self.coordinator.context.begun.is_set() else JobStatus.CREATED

    def wait(self) -> Any:
        """Wait for the job to end. Ctrl-C cancels it, and so do SIGTERM and SIGHUP, which keep its checkpoints.

        Raises:
            Exception: The job failed with it.
        """
        try:
            while not self.finished.wait(SIGNAL_SECONDS):
                pass
        except (KeyboardInterrupt, TerminatedError) as end:
            self.cancel(keep_checkpoints=isinstance(end, TerminatedError))
            self.finished.wait(LAST_SECONDS)
            raise
        return self.result.result()

    def cancel(self, *, keep_checkpoints: bool = False) -> None:
        """Stop the job. With ``keep_checkpoints``, another start of the program can continue it."""
        self.coordinator.cancel(keep_checkpoints=keep_checkpoints)

    def savepoint(self, directory: str | None, *, stop: bool = False, drain: bool = False) -> Future[str]:
        """Take a savepoint in a new directory below ``directory``. The result is its path.

        Args:
            directory: a path or URI that all workers can reach; by default the one in the configuration.
            stop: end the job with the savepoint.
            drain: first end the input and let all event time pass; only together with ``stop``.
        """
        place = directory or self.job.checkpoints.savepoint_directory
        if place is None:
            request: Future[str] = Future()
            request.set_exception(
                CheckpointError(f"no directory is set for the savepoint: pass one, or set '{SAVEPOINT_DIRECTORY.key}'")
            )
            return request
        wanted = SavepointRequest(file_store(place), stop, drain)
        self.coordinator.request_savepoint(wanted)
        if self.finished.is_set():  # the job may have ended before the request was queued
            self._refuse_requests()
        return wanted.result

    def checkpoint(self, *, full: bool = False) -> Future[Completed]:
        """Take a checkpoint now; with ``full``, one that shares no files with others."""
        wanted = CheckpointRequest(full)
        self.coordinator.request_checkpoint(wanted)
        if self.finished.is_set():  # as above
            self._refuse_requests()
        return wanted.result

    def rescale(self, parallelism: int | None = None, vertices: Mapping[str, int] | None = None) -> Future[None]:
        """Go on with another parallelism, from a checkpoint. The result is there once an epoch has ended with it.

        Args:
            parallelism: for all operators to which the program gives none.
            vertices: instead of that, the parallelism of each chain of operators, by Flink's id of the vertex.

        Raises:
            PlanError: The program cannot run like that.
        """
        job = self.job
        plan = with_vertices(job, vertices) if vertices is not None else plan_rescaled(job, parallelism or 1)
        request = RescaleRequest(plan)
        if parallelisms(plan) == parallelisms(job.plan) and not self.coordinator.requests.rescales:
            request.result.set_result(None)
        elif not self.coordinator.context.begun.is_set():
            request.result.set_exception(CheckpointError(f"the job '{job.plan.job_name}' has not started yet"))
        else:
            self.coordinator.requests.add_rescaling(request)
            if self.finished.is_set():  # as above
                self._refuse_requests()
        return request.result

    def _refuse_requests(self) -> None:
        self.coordinator.refuse(CheckpointError(f"the job '{self.job.plan.job_name}' has ended"))
