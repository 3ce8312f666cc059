"""One attempt at a job: the epoch loop."""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from flintstream.checkpoint.pickles import refusing
from flintstream.coordinator import program
from flintstream.coordinator.checkpointing.checkpoints import Contents
from flintstream.coordinator.checkpointing.recovery import restore_plan
from flintstream.coordinator.monitoring.phases import RUNNING
from flintstream.coordinator.pace import SHORTEST_MS
from flintstream.coordinator.requests import CheckpointRequest
from flintstream.coordinator.sources import Sources
from flintstream.coordinator.subtasks import Subtasks
from flintstream.errors import CheckpointError, JobCancelledError
from flintstream.runtime.protocol import SHARED, Instruction
from flintstream.runtime.times import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
    from flintstream.coordinator.checkpointing.commits import Commits
    from flintstream.coordinator.checkpointing.materializer import Materializer
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Clock, Job
    from flintstream.coordinator.monitoring.job_statistics import JobStatistics
    from flintstream.coordinator.monitoring.phases import Phases
    from flintstream.coordinator.pace import Pace
    from flintstream.coordinator.requests import JobRequests, SavepointRequest
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report, SnapshotRequest

POLL_SECONDS = 0.02
"""Pause between two calls of ``discover`` while the job is idle."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobContext:
    """The parts of a job that outlive an attempt."""

    job: Job
    engine: Engine
    clock: Clock
    requests: JobRequests
    checkpoints: Checkpoints
    commits: Commits
    statistics: JobStatistics
    pace: Pace
    materializer: Materializer | None
    """None if the changelog is off."""
    phases: Phases
    begun: threading.Event = field(default_factory=threading.Event)
    """Set once the engine runs the job."""
    confirm: Callable[[], None] = lambda: None
    """Called when the first epoch of an attempt counts."""


class Attempt:
    """One run of a job: from its latest checkpoint, or the beginning, until all input has ended or the run fails."""

    def __init__(self, context: JobContext, plan: JobPlan, number: int) -> None:
        """Prepare to run ``plan``. ``number`` is how often the job has restarted.

        Raises:
            CheckpointError: The latest checkpoint does not fit the plan.
            Exception: An enumerator raised it.
        """
        self.plan = plan
        self.context = context
        settings = context.job.checkpoints
        self.epochs = 0
        """Number of epochs that count."""
        self.unsaved = False
        """Whether an epoch has ended since the last checkpoint."""
        self.rescales = False
        """Whether the attempt has ended because the job continues with another plan, from the latest checkpoint."""
        self.pauses = False
        """Whether the attempt has ended because it has caught up, with a checkpoint for the next run of the job."""
        self._last_read = context.clock.now_ms()
        """When a source last gave a record, on the clock for durations."""
        self.timer_due: int | None = None
        """When the next processing-time timer is due, on the clock for durations; None without timers."""
        latest = context.checkpoints.latest
        self.start = None if latest is None else latest.metadata
        restore = None if latest is None else restore_plan(latest, plan, settings)
        # This attempt starts new logs. Only the checkpoints that refer to the old logs still need those.
        logged = context.checkpoints.needed_files() if context.materializer is not None else set()
        self.subtasks = Subtasks(
            plan,
            context.engine,
            restore,
            attempt=number,
            run=uuid.uuid4().hex[:12],
            materializer=context.materializer,
            obsolete={path.removeprefix(f"{SHARED}/") for path in logged if path.startswith(f"{SHARED}/")},
        )
        with refusing(settings.refuse_pickle):
            self.sources = Sources(context.job, plan, context.pace, self.start)

    def run(self) -> None:
        """Run until all input has ended and its output is committed, or the job stops with a savepoint or rescales.

        Raises:
            JobCancelledError: The job was cancelled.
            Exception: User code raised it, or the attempt failed for another reason.
        """
        with contextlib.closing(self.sources):
            settings = self.context.job.checkpoints
            with refusing(settings.refuse_pickle):
                self.context.commits.recover(self.start, allow_non_restored=settings.allow_non_restored)
            if not self.context.checkpoints.stopped and (self.start is None or not self.start.finished):
                self.sources.start(checkpoints=self.context.checkpoints.enabled, batch=self.plan.batch)
                if settings.until_caught_up:
                    self.sources.note_ends()
                with contextlib.ExitStack() as stack:
                    stack.callback(self.context.engine.stop)
                    phases, clock = self.context.phases, self.context.clock
                    phases.deploy(clock.now_ms(), clock.wall_ms())
                    self.context.engine.start(self.plan)
                    self.context.begun.set()
                    phases.enter(RUNNING, clock.now_ms())
                    self._run_epochs()
        if not self._ends_early:
            self._note_end()

    @property
    def _ends_early(self) -> bool:
        """Whether the attempt ends before its input does."""
        return self.context.checkpoints.stopped or self.rescales or self.pauses

    def _run_epochs(self) -> None:
        last: CheckpointRequest | None = None
        while not self._ends_early and not self.subtasks.finished:
            if self.context.requests.cancelled:
                raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled")
            splits = self._discover()
            if last is None and not any(splits.values()) and self._has_caught_up():
                last = CheckpointRequest()
                self.context.requests.add_checkpoint(last)
            if self.epochs and not self.context.requests.waiting and not any(splits.values()):
                wait = self._seconds_to_wait()
                if wait > 0:
                    self.context.clock.sleep(wait)
                    continue
            self._run_epoch(splits)
            if last is not None and last.result.done():
                last.result.result()
                self.pauses = not self.subtasks.finished
        if not self._ends_early:
            self._finish()

    def _has_caught_up(self) -> bool:
        """Return whether the job should end because it has read what its sources had at its start."""
        if not self.context.job.checkpoints.until_caught_up or not self.epochs or self.subtasks.left:
            return False
        return self.sources.have_caught_up(self.context.clock.now_ms() - self._last_read)

    def _discover(self) -> dict[int, list[object]]:
        """Ask the enumerators for splits. BATCH mode has a single epoch, so it waits until all splits are known."""
        splits = self.sources.discover()
        while self.plan.batch and not self.sources.all_finished and not self.context.requests.cancelled:
            self.context.clock.sleep(POLL_SECONDS)
            for node, found in self.sources.discover().items():
                splits[node] += found
        return splits

    def _seconds_to_wait(self) -> float:
        """Return how long the job is idle: until a timer is due, or it is time to ask the enumerators again."""
        if self.subtasks.busy or self.sources.all_finished:
            return 0
        now = self.context.clock.now_ms()
        checkpoint = self.context.checkpoints.due_in(now) if self.unsaved else None
        due = MAX_TIMESTAMP if self.timer_due is None else self.timer_due - now
        if checkpoint is not None:
            due = min(due, checkpoint)
        return min(POLL_SECONDS, max(0.0, due / 1000))

    # -- the end -----------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Commit the rest of the output after the end of all input, once a last checkpoint contains it."""
        if self.context.commits.pending and self.context.checkpoints.enabled:
            self._last_checkpoint()
        self.context.commits.commit(self.context.checkpoints.number)
        if self.context.checkpoints.enabled:
            self.sources.checkpoint_completed()

    def _note_end(self) -> None:
        """Write a checkpoint that says that only commits are left, if the end of the job must be remembered."""
        if program.remembers() and self.context.checkpoints.enabled:
            try:
                self._last_checkpoint()
            except CheckpointError as error:
                _log.warning(
                    "if this process is killed before it exits, '%s' will run again: %s", self.plan.job_name, error
                )

    def _last_checkpoint(self) -> None:
        contents = Contents(self.plan.chains, {}, self.context.commits.by_uid(), finished=True)
        self.context.checkpoints.last(contents, self.context.clock.wall_ms())

    # -- an epoch ----------------------------------------------------------------------------------------------------

    def _run_epoch(self, splits: dict[int, list[object]]) -> None:
        # Leftover input is in flight, and a checkpoint must not leave anything in flight.
        savepoint = None if self.subtasks.left else self.context.requests.next_savepoint()
        rescales = savepoint is None and not self.subtasks.left and self.context.requests.rescales
        free = savepoint is None and not rescales and not self.subtasks.left
        asked = self.context.requests.next_checkpoint() if free else None
        try:
            started = self.context.clock.now_ms()
            request, limit = self._snapshot_request(savepoint, asked, rescales=rescales)
            self.context.checkpoints.in_progress = request is not None
            reports = self._reports(splits, request, limit, savepoint)
            if self.epochs:  # the first epoch also starts the workers
                self.sources.observe(self.context.clock.now_ms() - started, reports)
            self._take_over(reports, started)
            if savepoint is not None and request is not None:
                self._complete_savepoint(savepoint, request, reports)
            elif rescales and request is not None:
                self._complete_for_rescaling(request, reports)
            elif asked is not None and request is not None:
                self._complete_asked(asked, request, reports)
            elif request is not None:
                self._complete_checkpoint(request, reports)
            self.context.checkpoints.in_progress = False
            self._delete_obsolete()  # not earlier: the checkpoint may refer to blobs that the next epoch does not need
        except BaseException as error:
            if savepoint is not None and not savepoint.result.done():
                savepoint.result.set_exception(CheckpointError(f"the savepoint failed: {error}"))
            if asked is not None and not asked.result.done():
                asked.result.set_exception(CheckpointError(f"the checkpoint failed: {error}"))
            raise

    def _snapshot_request(
        self, savepoint: SavepointRequest | None, asked: CheckpointRequest | None, *, rescales: bool
    ) -> tuple[SnapshotRequest | None, int | None]:
        """Return the snapshot to take at the end of the next epoch, and the longest time (ms) for that epoch."""
        now, pace = self.context.clock.now_ms(), self.sources.pace
        if savepoint is not None:
            return self.context.checkpoints.request_savepoint(savepoint.store), SHORTEST_MS
        if rescales or asked is not None:
            full = asked is not None and asked.full
            return self.context.checkpoints.request(now, self.subtasks.handles(), full=full), SHORTEST_MS
        due = self.context.checkpoints.due_in(now)
        limit = pace.limit_ms
        if due is None or self.subtasks.left:
            return None, limit
        until_due = max(due if limit is None else min(due, limit), pace.least_ms)
        if due > pace.last_ms:  # only an epoch that is likely to last until then ends with it
            return None, until_due
        return self.context.checkpoints.request(now, self.subtasks.handles()), until_due

    def _reports(
        self,
        splits: dict[int, list[object]],
        request: SnapshotRequest | None,
        limit: int | None,
        savepoint: SavepointRequest | None,
    ) -> list[Report]:
        """Run an epoch and return the reports of all subtasks."""
        instruct = partial(
            Instruction,
            epoch=self.context.statistics.progress.epochs,
            snapshot=request,
            savepoint=savepoint is not None,
            commit=(request is not None and (savepoint is None or savepoint.stop)) or not self.context.commits.waiting,
            max_epoch_ms=limit,
            max_records=0 if self.subtasks.left else self.sources.pace.limit_records,
            drain=savepoint is not None and savepoint.drain,
            slowest=self.subtasks.slowest(),
            no_more_splits=self.sources.exhausted_sources(),
            keep_state=not self.plan.batch,
            new_log=self.context.checkpoints.losses.log,
        )
        reports = self.subtasks.run_epoch(instruct, self.sources.deal(splits))
        self.context.checkpoints.losses.log = False
        return reports

    def _take_over(self, reports: list[Report], began_ms: int) -> None:
        """Accept the result of an epoch. Later epochs start from it."""
        self.epochs += 1
        if self.epochs == 1:
            self.context.phases.all_run(self.context.clock.now_ms())
            self.context.confirm()
        self.unsaved = True
        self.subtasks.take_over(reports, self.context.clock.now_ms())
        timer = self.subtasks.next_processing_time
        self.timer_due = None if timer is None else self.context.clock.now_ms() + timer - self.context.clock.wall_ms()
        left = bool(self.subtasks.left)
        if self.sources.learn(reports, left=left):
            self._last_read = self.context.clock.now_ms()
        self.sources.epoch_ended(reports)
        if not self.context.checkpoints.enabled:
            self.sources.epoch_counts()
        self.context.commits.add(reports, left=left)
        self.context.statistics.add(reports, began_ms, self.context.clock.now_ms(), self.context.engine.way)

    def _delete_obsolete(self) -> None:
        """Delete the blobs that neither a later epoch nor a checkpoint needs."""
        self.subtasks.delete_obsolete(
            self.context.checkpoints.needed_files() if self.plan.settings.changelog is not None else ()
        )

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def _complete_for_rescaling(self, request: SnapshotRequest, reports: list[Report]) -> None:
        """Complete the checkpoint from which the job continues with another plan; if that fails, it keeps its plan."""
        error = self._error_of_checkpoint(request, reports)
        if error is not None:
            self.context.requests.refuse_plan(error)
        else:
            self.rescales = not self.subtasks.finished

    def _complete_asked(self, asked: CheckpointRequest, request: SnapshotRequest, reports: list[Report]) -> None:
        """Complete a checkpoint that was asked for; if it fails, the job continues."""
        error, latest = self._error_of_checkpoint(request, reports), self.context.checkpoints.latest
        if error is not None or latest is None:
            asked.result.set_exception(error or CheckpointError("the checkpoint failed"))
        else:
            asked.result.set_result(latest)

    def _error_of_checkpoint(self, request: SnapshotRequest, reports: list[Report]) -> CheckpointError | None:
        """Complete a checkpoint without which the job continues; return why it failed, or None.

        Raises:
            CheckpointError: The checkpoint exists, but a commit failed.
        """
        try:
            self._complete_checkpoint(request, reports, optional=True)
        except CheckpointError as error:
            latest = self.context.checkpoints.latest
            if latest is not None and latest.metadata.number == request.number:
                raise
            return error
        return None

    def _complete_checkpoint(self, request: SnapshotRequest, reports: list[Report], *, optional: bool = False) -> None:
        checkpoints, clock = self.context.checkpoints, self.context.clock
        began = clock.now_ms()
        done = checkpoints.complete(request, reports, self._contents(), began, optional=optional)
        if done is not None:
            checkpoints.add_duration(clock.now_ms() - began)
            _log.info(
                "checkpoint %d completed in %d ms: %d bytes written, %d in all",
                request.number, checkpoints.duration_ms, checkpoints.new_bytes, done.metadata.size(),
            )  # fmt: skip
            self.unsaved = False
            self.context.statistics.checkpoint_completed(request.number)
            self.context.commits.commit(request.number)
            self.sources.checkpoint_completed()
            checkpoints.subsume()

    def _complete_savepoint(self, savepoint: SavepointRequest, request: SnapshotRequest, reports: list[Report]) -> None:
        checkpoints = self.context.checkpoints
        try:
            done = checkpoints.complete_savepoint(request, reports, self._contents(), self.context.clock.wall_ms())
        except CheckpointError as error:
            savepoint.result.set_exception(error)
            if savepoint.drain:  # the input has already ended, so the job cannot continue
                raise
            return
        if savepoint.stop:
            # If a commit fails, part of it may already be visible, so the job must not go back to an older checkpoint.
            checkpoints.stop_with(done)
            self.context.statistics.keep(done.metadata.number)
            self._note_end()  # before the commit, which is all that is left to do
            self.context.commits.commit(checkpoints.number)
            self.sources.checkpoint_completed()
        savepoint.result.set_result(done.where)

    def _contents(self) -> Contents:
        return Contents(self.plan.chains, self.sources.snapshot(), self.context.commits.by_uid())
