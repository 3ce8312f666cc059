"""The life of a job: its attempts, one after the other."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.coordinator import program
from flintstream.coordinator.attempt import Attempt, JobContext
from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
from flintstream.coordinator.checkpointing.commits import Commits
from flintstream.coordinator.checkpointing.materializer import Materializer
from flintstream.coordinator.checkpointing.recovery import (
    all_checkpoints,
    load,
    restore_plan,
    with_hint,
    with_key_groups_of,
)
from flintstream.coordinator.engine import Loss
from flintstream.coordinator.job import Clock
from flintstream.coordinator.monitoring.error_text import describe
from flintstream.coordinator.monitoring.job_statistics import JobStatistics
from flintstream.coordinator.monitoring.phases import CANCELLING, RESTARTING, Phases
from flintstream.coordinator.pace import Pace
from flintstream.coordinator.requests import JobRequests
from flintstream.coordinator.restart import SetupFailures
from flintstream.errors import (
    CheckpointError,
    CorruptCheckpointError,
    JobCancelledError,
    UserCodeError,
    WorkerLostError,
    as_exception,
    is_interrupt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Job, Progress
    from flintstream.coordinator.requests import CheckpointRequest, RescaleRequest, SavepointRequest
    from flintstream.runtime.plan import JobPlan

KEPT_FAILURES = 16
"""How many errors are kept, as in Flink."""

_log = logging.getLogger(__name__)


class Coordinator:
    """Runs a job to its end. Restarts it after failures, as its restart strategy says, and stops it on request.

    It owns all that outlives an :class:`Attempt`: checkpoints, output that waits for a commit, progress and metrics.
    """

    def __init__(
        self,
        job: Job,
        engine: Engine,
        listeners: Sequence[Callable[[Progress], None]] = (),
        clock: Clock | None = None,
    ) -> None:
        """Prepare to run ``job`` on ``engine``. Each of ``listeners`` is called after each epoch."""
        self.clock = clock = clock or Clock()
        settings, now_ms = job.checkpoints, clock.now_ms()
        self.job = job
        self.requests = JobRequests(engine, clock)
        self.checkpoints = Checkpoints(settings, job.plan, now_ms)
        with_checkpoint = self.checkpoints.enabled and settings.exactly_once
        self.commits = Commits(
            job.plan, job.sinks, self.requests.wait, engine.run_tasks, with_checkpoint=with_checkpoint
        )
        self.statistics = JobStatistics(job, listeners, now_ms)
        self.phases = Phases(now_ms)
        self.materializer: Materializer | None = None
        if job.plan.settings.changelog is not None:
            self.materializer = Materializer(
                engine,
                settings.materialize_interval_ms,
                settings.materialize_failures,
                now_ms,
                self.checkpoints.notice_loss_of,
            )
        self.context = JobContext(
            job,
            engine,
            clock,
            self.requests,
            self.checkpoints,
            self.commits,
            self.statistics,
            Pace.of(job.plan),
            self.materializer,
            self.phases,
            confirm=self._confirm,
        )
        self.resumes = settings.resumed_job is not None
        """Whether the job continues one whose process was lost."""
        self.restarting = False
        """Whether the job waits before it restarts."""
        self.failures: deque[dict[str, Any]] = deque(maxlen=KEPT_FAILURES)
        """The last errors of attempts, as JSON."""
        self._setup_failures = SetupFailures()
        self._attempts = 0
        self._rescaling: RescaleRequest | None = None
        """The change of the plan that no epoch has confirmed yet."""
        self._before: JobPlan | None = None
        """The previous plan."""

    @property
    def stopped(self) -> bool:
        """Whether the job has ended with a savepoint."""
        return self.checkpoints.stopped

    # -- from any thread ---------------------------------------------------------------------------------------------

    def cancel(self, *, keep_checkpoints: bool = False) -> None:
        """Stop the job. With ``keep_checkpoints``, its checkpoints outlive it, whatever the configuration says."""
        self.phases.enter(CANCELLING, self.clock.now_ms())
        self.requests.cancel(keep_checkpoints=keep_checkpoints)

    def refuse(self, error: Exception) -> None:
        """Fail all pending requests with the reason ``error``, since the job has ended."""
        self.requests.refuse(error)
        self.requests.refuse_plan(error)
        request, self._rescaling = self._rescaling, None
        if request is not None:
            request.result.set_exception(CheckpointError(f"the job was not rescaled: {error}"))

    def request_savepoint(self, request: SavepointRequest) -> None:
        """Ask for a savepoint. ``request.result`` receives its path, or the reason why it failed."""
        if self.job.plan.batch:
            request.result.set_exception(CheckpointError("a job in BATCH mode cannot take savepoints"))
        else:
            self.requests.add_savepoint(request)

    def request_checkpoint(self, request: CheckpointRequest) -> None:
        """Ask for a checkpoint. ``request.result`` receives it, or the reason why it failed."""
        if self.job.plan.batch:
            request.result.set_exception(CheckpointError("a job in BATCH mode cannot take checkpoints"))
        else:
            self.requests.add_checkpoint(request)

    # -- from the thread of the job ----------------------------------------------------------------------------------

    def run(self) -> Progress:
        """Run the job to its end, with restarts as its restart strategy says.

        Raises:
            JobCancelledError: :meth:`cancel` was called.
            Exception: User code raised it, and the job does not restart.
        """
        with contextlib.closing(self.commits):
            self.job.plan = self._plan()
            while True:
                try:
                    self._rescale()
                    self._go_back()
                    self._attempts += 1
                    attempt = self._attempt(self.job.plan)
                    attempt.run()
                except BaseException as raised:
                    if is_interrupt(raised):
                        raise
                    error = as_exception(raised)  # user code that runs here, such as enumerators, may raise anything
                    self._note(error)
                    if not self._takes_back(error):
                        self._restart(error, self._delay_ms(error))
                else:
                    if not attempt.rescales:
                        self._end(pauses=attempt.pauses)
                        return self.statistics.progress

    def _plan(self) -> JobPlan:
        """Return the plan with the key groups of the checkpoint to start from.

        Raises:
            CheckpointError: The checkpoint does not fit the plan. Raised here, as a restart would not help.
        """
        settings = self.job.checkpoints
        if settings.restore_path is None:
            return self.job.plan
        start = load(settings.restore_path)
        plan = with_key_groups_of(start, self.job.plan)
        restore_plan(start, plan, settings)
        if self.resumes:
            self.checkpoints.take_over(all_checkpoints(start.store), start)
        else:
            self.checkpoints.go_back_to(start)
        return plan

    def _go_back(self) -> None:
        """Forget all progress since the latest checkpoint, if this is not the first attempt."""
        if self._attempts or self.resumes:
            latest = self.checkpoints.latest
            self.statistics.go_back_to(None if latest is None else latest.metadata.number)
            if self.materializer is not None:
                self.materializer.drop()
            self.checkpoints.sweep()
            self.checkpoints.losses.log = False  # the next attempt starts new logs

    def _attempt(self, plan: JobPlan) -> Attempt:
        return Attempt(self.context, plan, self.statistics.progress.restarts)

    # -- another parallelism -----------------------------------------------------------------------------------------

    def _rescale(self) -> None:
        """Go on with another plan, if one was asked for."""
        request = self.requests.next_plan()
        if request is not None:
            self._rescaling, self._before = request, self.job.plan
            self._go_on_with(request.plan)

    def _go_on_with(self, plan: JobPlan) -> None:
        self.job.plan = plan
        self.commits.go_on_with(plan)
        self.statistics.go_on_with(plan, self.clock.now_ms())
        self.context = replace(self.context, pace=Pace.of(plan))

    def _confirm(self) -> None:
        """Note that an epoch has ended with the plan."""
        request, self._rescaling, self._before = self._rescaling, None, None
        if request is not None:
            self.statistics.progress.rescales += 1
            request.result.set_result(None)

    def _takes_back(self, error: Exception) -> bool:
        """Return to the previous plan if no epoch has ended with the new one. The job is where it was then."""
        request, before = self._rescaling, self._before
        if request is None or before is None or self.requests.cancelled or isinstance(error, JobCancelledError):
            return False
        self._rescaling = self._before = None
        self._go_on_with(before)
        _log.warning(
            "job '%s' returns to its previous parallelism: %s: %s", before.job_name, type(error).__name__, error
        )
        request.result.set_exception(
            CheckpointError(f"the job returned to its previous parallelism: {type(error).__name__}: {error}")
        )
        return True

    def _note(self, error: Exception) -> None:
        if not isinstance(error, JobCancelledError):
            at_ms = self.clock.wall_ms()
            cause = error if isinstance(error, UserCodeError) else error.__cause__
            user = cause if isinstance(cause, UserCodeError) else None
            self.failures.append(
                {
                    "at_ms": at_ms,
                    "type": type(error).__name__,
                    "text": describe(error),
                    "operator": None if user is None else user.operator,
                    "record": None if user is None else user.record,
                    "restart_ms": None,
                    "restart_from": None,
                }
            )

    def _delay_ms(self, error: Exception) -> int:
        """Return how long to wait before the job restarts.

        Raises:
            Exception: ``error``, if the job does not restart.
        """
        self.requests.refuse(error)
        latest = self.checkpoints.latest
        cancelled = self.requests.cancelled or isinstance(error, JobCancelledError)
        if not cancelled and isinstance(error, CorruptCheckpointError) and latest is not None:
            self.checkpoints.end(finished=False, cancelled=False, owed=True)
            raise with_hint(error, latest) from None
        ends = cancelled or self._setup_failures.are_exhausted(error, self.statistics.progress.epochs)
        delay = None if ends else self.job.restart.delay_ms(self.clock.now_ms())
        if delay is None:
            kept = self.commits.owed or self.requests.keeps_checkpoints
            self.checkpoints.end(finished=False, cancelled=cancelled, owed=kept)
            raise error
        return delay

    def _restart(self, error: Exception, delay_ms: int) -> None:
        latest = self.checkpoints.latest
        start = "the beginning" if latest is None else f"checkpoint {latest.metadata.number}"
        _log.warning(
            "job '%s' failed and restarts in %d ms from %s: %s",
            self.job.plan.job_name, delay_ms, start, describe(error),
        )  # fmt: skip
        number = None if latest is None else latest.metadata.number
        self.failures[-1].update(restart_ms=delay_ms, restart_from=number)
        if isinstance(error, WorkerLostError):
            loss = Loss(error.how, error.process, error.subtask)
            self.statistics.losses.add(loss, f"the job restarts from {start}", warns=False)
        self.statistics.progress.restarts += 1
        self.restarting = True
        self.checkpoints.in_progress = False
        self.phases.enter(RESTARTING, self.clock.now_ms())
        self.requests.wait(delay_ms / 1000)
        self.restarting = False

    def _end(self, *, pauses: bool) -> None:
        """Delete everything that was kept for a restart, once all output is committed, unless the job only pauses."""
        self.refuse(CheckpointError("the job has finished"))
        if pauses:
            self.checkpoints.end(finished=False, cancelled=False, owed=True)
            return
        plan = self.job.plan
        program.forget(plan.job_name, partial(self.checkpoints.end, finished=True, cancelled=False))
        if self.stopped:  # another job may start from the savepoint
            return
        for source in self.job.sources.values():
            source.release()
        if plan.settings.staging is not None:  # failed attempts have left files there
            with contextlib.suppress(Exception):
                plan.settings.staging.delete_tree("")
