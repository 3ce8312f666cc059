"""The epoch loop."""

from __future__ import annotations

import contextlib
import logging
import pickle
import uuid
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint import codec
from flintstream.coordinator import program
from flintstream.coordinator.checkpoints import Checkpoints, Contents
from flintstream.coordinator.commits import Commits
from flintstream.coordinator.enumerators import NamedEnumerator
from flintstream.coordinator.job import Clock, Progress, SubtaskProgress
from flintstream.coordinator.materializer import Materializer
from flintstream.coordinator.metrics import JobMetrics
from flintstream.coordinator.pace import FIRST_RECORDS, SHORTEST_MS, Pace
from flintstream.coordinator.recovery import all_checkpoints, load, restore_plan, with_hint, with_key_groups_of
from flintstream.errors import (
    CheckpointError,
    CorruptCheckpointError,
    JobCancelledError,
    JobFailedError,
    UserCodeError,
    as_exception,
    is_interrupt,
)
from flintstream.runtime.operators.operator import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.operators.source import UNBOUNDED_EPOCH_MS
from flintstream.runtime.protocol import SHARED, Instruction, Report
from flintstream.runtime.task.stage import instruction_item

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.checkpoint.file_store import FileStore
    from flintstream.checkpoint.metadata import Metadata
    from flintstream.connectors.source import SplitEnumerator
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Job
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.failure import FailureReport
    from flintstream.runtime.protocol import Restore, SnapshotRequest

POLL_SECONDS = 0.02
"""How often enumerators are asked for new splits while there is nothing else to do."""

_log = logging.getLogger(__name__)


@dataclass
class SavepointRequest:
    """Somebody wants a savepoint."""

    store: FileStore
    stop: bool = False
    """Whether the job ends with it."""
    drain: bool = False
    """Whether all event time passes before."""
    result: Future[str] = field(default_factory=Future)
    """Where it is."""


class Coordinator:
    """Runs a job: asks enumerators for splits, runs an epoch, commits what it produced, until all input has ended."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        listeners: Sequence[Callable[[Progress], None]] = (),
        clock: Clock | None = None,
    ) -> None:
        """Run ``job`` on ``engine``; ``listeners`` are called after each epoch."""
        self.job = job
        self.plan = job.plan
        self.engine = engine
        self.listeners = listeners
        self.clock = clock or Clock()
        self.attempt = 0
        self.progress = Progress()
        self.resumes = job.checkpoints.resumed_job is not None
        """Whether the job takes the place of one whose process was lost."""
        self.cancelled = False
        self.stopped = False
        self.restarting = False
        self.savepoints: Queue[SavepointRequest] = Queue()
        self.chain_of = {node.id: chain for chain in self.plan.chains for node in chain.nodes}
        self.levels = {chain.id: chain.level for chain in self.plan.chains}
        self.uids = {node.id: node.uid for chain in self.plan.chains for node in chain.nodes}
        self.warned: set[int] = set()
        """Nodes of which the user was told something."""
        self.obsolete: set[str] = set()
        """Blobs of the state log that no later epoch needs."""
        longest = self.plan.settings.max_epoch_ms
        exchanges = not self.plan.batch and any(chain.inputs for chain in self.plan.chains)
        self.pace = Pace(
            longest if self.plan.bounded else min(longest, UNBOUNDED_EPOCH_MS), FIRST_RECORDS if exchanges else None
        )
        self.left: list[Item] = []
        """What subtasks had no time for in the last epoch."""
        self.metrics = JobMetrics({node.id: node.name for chain in self.plan.chains for node in chain.nodes})
        native = self.plan.settings.state.backend == "rocksdb"
        self.checkpoints = Checkpoints(job.checkpoints, self.plan, self.clock.now_ms(), native=native)
        self.materializer: Materializer | None = None
        if self.plan.settings.changelog is not None:
            settings = job.checkpoints
            self.materializer = Materializer(
                engine, settings.materialize_interval_ms, settings.materialize_failures, self.clock.now_ms()
            )
        with_checkpoint = self.checkpoints.enabled and job.checkpoints.exactly_once
        self.commits = Commits(self.plan, job.sinks, self._wait, with_checkpoint=with_checkpoint)

    def cancel(self) -> None:
        """Stop the job, from any thread."""
        self.cancelled = True
        self.engine.cancel()
        self.clock.wake()

    def request_savepoint(self, request: SavepointRequest) -> None:
        """Ask for a savepoint, from any thread; ``request.result`` gets its path or why it failed."""
        if self.plan.batch:
            request.result.set_exception(CheckpointError("a job in BATCH mode takes no savepoints"))
            return
        self.savepoints.put(request)
        self.clock.wake()

    def run(self) -> Progress:
        """Run the job to its end, starting it again as its restart strategy says.

        Raises:
            JobCancelledError: :meth:`cancel` was called.
            Exception: What user code raised.
        """
        if self.job.checkpoints.restore_path is not None:
            start = load(self.job.checkpoints.restore_path)
            self.plan = self.checkpoints.plan = with_key_groups_of(start, self.plan)
            self.chain_of = {node.id: chain for chain in self.plan.chains for node in chain.nodes}
            restore_plan(start, self.plan, self.job.checkpoints)
            # It fits: if not, trying again would not help.
            if self.resumes:
                self.checkpoints.take_over(all_checkpoints(start.store), start)
            else:
                self.checkpoints.go_back_to(start)
        try:
            return self._run()
        finally:
            self.commits.close()

    def _run(self) -> Progress:
        while True:
            try:
                self._attempt()
            except BaseException as raised:
                if is_interrupt(raised):
                    raise
                error = as_exception(raised)  # of the user's code that runs here: enumerators, committers
                self.refuse_savepoints(error)
                if self.cancelled or isinstance(error, JobCancelledError):
                    self.checkpoints.end(finished=False, cancelled=True, owed=self.commits.owed)
                    raise error  # noqa: B904 - with what it comes from, if anything
                latest = self.checkpoints.latest
                if isinstance(error, CorruptCheckpointError) and latest is not None:
                    self.checkpoints.end(finished=False, cancelled=False, owed=True)
                    raise with_hint(error, latest) from None
                delay = self.job.restart.delay_ms(self.clock.now_ms())
                if delay is None:
                    self.checkpoints.end(finished=False, cancelled=False, owed=self.commits.owed)
                    raise error  # noqa: B904 - as above
                self._restart(error, delay)
            else:
                self.refuse_savepoints(CheckpointError("the job has finished"))
                if not self.stopped:
                    self._note_end()
                program.forget(self.plan.job_name, partial(self.checkpoints.end, finished=True, cancelled=False))
                if not self.stopped:  # else somebody may start from the savepoint
                    for source in self.job.sources.values():
                        source.finished()
                    if self.plan.settings.staging is not None:  # all is committed; attempts that failed left the rest
                        with contextlib.suppress(Exception):
                            self.plan.settings.staging.delete_tree("")
                return self.progress

    def _restart(self, error: Exception, delay_ms: int) -> None:
        latest = self.checkpoints.latest
        start = "the beginning" if latest is None else f"checkpoint {latest.metadata.number}"
        _log.warning(
            "job '%s' failed and starts again in %d ms from %s: %s: %s",
            self.plan.job_name, delay_ms, start, type(error).__name__, error,
        )  # fmt: skip
        self.attempt += 1
        self.progress.restarts += 1
        self.restarting = True
        self._wait(delay_ms / 1000)
        self.restarting = False

    def _wait(self, seconds: float) -> bool:
        """Wait; returns early, and False, when the job is cancelled."""
        until = self.clock.now_ms() + 1000 * seconds
        while not self.cancelled and (left := until - self.clock.now_ms()) > 0:
            self.clock.sleep(left / 1000)
        return not self.cancelled

    def _attempt(self) -> None:
        """Run the job from the last checkpoint, or from the beginning, until all input has ended or it fails."""
        self.states = {(c.id, s): SubtaskProgress() for c in self.plan.chains for s in range(c.parallelism)}
        self.next_subtask: dict[int, int] = {}
        self.enumerators: dict[int, SplitEnumerator] = {}
        self.restore: Restore | None = None
        self.unsaved = False
        self.left = []
        self.run_id = uuid.uuid4().hex[:12]
        self.progress_of: dict[int, list[Any]] = {}
        self.epochs_before = self.progress.epochs
        if self.attempt or self.resumes:
            kept = self.checkpoints.latest
            self.metrics.go_back_to(None if kept is None else kept.metadata.number)
            if self.materializer is not None:
                self.materializer.drop()
            # New logs begin, so that the old ones are needed as long as the checkpoints are that refer to them.
            logged = self.checkpoints.needed() if self.materializer is not None else set()
            self.obsolete = {path.removeprefix(f"{SHARED}/") for path in logged if path.startswith(f"{SHARED}/")}
            self.checkpoints.sweep()
        allow = self.job.checkpoints.allow_non_restored
        with contextlib.ExitStack() as stack:
            for node, source in self.job.sources.items():
                named = NamedEnumerator(source, self.chain_of[node].parallelism, self.commits.names[node])
                stack.callback(named.close)
                self.enumerators[node] = named
            latest = self.checkpoints.latest
            if latest is not None:
                self.restore = restore_plan(latest, self.plan, self.job.checkpoints)
                self._restore_enumerators(latest.metadata)
            self.commits.recover(latest.metadata if latest is not None else None, allow_non_restored=allow)
            if latest is not None and latest.metadata.finished:
                return
            for enumerator in self.enumerators.values():
                enumerator.start(checkpoints=self.checkpoints.enabled, batch=self.plan.batch)
            stack.callback(self.engine.stop)
            self.engine.start(self.plan)
            self._run_epochs()

    def _restore_enumerators(self, metadata: Metadata) -> None:
        for node, enumerator in self.enumerators.items():
            data = metadata.enumerators.get(self.uids[node])
            if data is not None:
                state, self.next_subtask[node] = codec.decode_one(data)
                self.next_subtask[node] %= self.chain_of[node].parallelism
                enumerator.restore(state)

    def _run_epochs(self) -> None:
        while not self.stopped and not all(state.finished for state in self.states.values()):
            if self.cancelled:
                raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled")
            splits = self._discover()
            first = self.progress.epochs == self.epochs_before
            if not first and self.savepoints.empty() and not any(splits.values()):
                wait = self._seconds_to_wait()
                if wait > 0:
                    self.clock.sleep(wait)
                    continue
            self._run_epoch(splits)
        if not self.stopped:
            self._finish()

    def _discover(self) -> dict[int, list[Any]]:
        """Ask the enumerators for splits; in BATCH mode for all there will ever be, as there is one epoch only."""
        splits = {node: list(e.discover()) for node, e in self.enumerators.items()}
        while self.plan.batch and not all(e.is_finished() for e in self.enumerators.values()) and not self.cancelled:
            self.clock.sleep(POLL_SECONDS)
            for node, enumerator in self.enumerators.items():
                splits[node] += enumerator.discover()
        return splits

    def _finish(self) -> None:
        """All input has ended: commit the rest, after it has become part of a last checkpoint."""
        if self.commits.pending and self.checkpoints.enabled:
            self.checkpoints.last(Contents({}, self.commits.by_uid(), finished=True), self.clock.now_ms())
        self.commits.commit(self.checkpoints.number)
        if self.checkpoints.enabled:
            self._tell_enumerators()

    def _note_end(self) -> None:
        """Where it must be known after the end, leave a checkpoint that says that nothing but commits is left."""
        if program.remembers() and self.checkpoints.enabled:
            try:
                self.checkpoints.last(Contents({}, self.commits.by_uid(), finished=True), self.clock.now_ms())
            except CheckpointError as error:
                _log.warning("killed before its end, this process would run '%s' again: %s", self.plan.job_name, error)

    def _tell_enumerators(self) -> None:
        """A checkpoint is complete: tell the sources what of it concerns them."""
        for node, told in self.progress_of.items():
            self.enumerators[node].checkpoint_completed(told)
        self.progress_of = {}

    def refuse_savepoints(self, error: Exception) -> None:
        """Tell all who wait for a savepoint why there will be none."""
        with contextlib.suppress(Empty):
            while True:
                request = self.savepoints.get_nowait()
                request.result.set_exception(CheckpointError(f"there will be no savepoint: {error}"))

    def _seconds_to_wait(self) -> float:
        """Return how long there is nothing to do: until a timer is due, or an enumerator should be asked again."""
        reports = [state.report for state in self.states.values() if state.report is not None and not state.finished]
        if self.left or any(report.more or report.unread for report in reports):
            return 0
        if all(enumerator.is_finished() for enumerator in self.enumerators.values()):
            return 0
        now = self.clock.now_ms()
        due = [report.next_processing_time - now for report in reports if report.next_processing_time is not None]
        checkpoint = self.checkpoints.due_in(now)
        if checkpoint is not None and self.unsaved:
            due.append(checkpoint)
        return min(POLL_SECONDS, max(0.0, min(due, default=MAX_TIMESTAMP) / 1000))

    def _run_epoch(self, splits: dict[int, list[Any]]) -> None:
        # What is left is in flight: checkpoints wait until it is not.
        savepoint = None if self.left or self.savepoints.empty() else self.savepoints.get()
        try:
            started, warm = self.clock.now_ms(), self.progress.epochs > self.epochs_before
            request, limit = self._snapshot_request(savepoint)
            reports = self._reports([*self._instructions(splits, request, limit, savepoint), *self.left])
            if warm:  # the first epoch also starts the workers
                self.pace.observe(self.clock.now_ms() - started)
            self._take_over(reports)
            if savepoint is not None and request is not None:
                self._complete_savepoint(savepoint, request, reports)
            elif request is not None:
                self._complete_checkpoint(request, reports)
            self._delete_obsolete()  # only now: the checkpoint may refer to what the next epoch does not need any more
        except BaseException as error:
            if savepoint is not None and not savepoint.result.done():
                savepoint.result.set_exception(CheckpointError(f"the savepoint failed: {error}"))
            raise

    def _reports(self, instructions: list[Item]) -> list[Report]:
        """Run an epoch and return what all subtasks report of it."""
        reports = []
        for item in self.engine.run_epoch(instructions):
            report = pickle.loads(item.payload)
            assert isinstance(report, Report)  # noqa: S101
            reports.append(report)
        reports.sort(key=lambda report: (report.chain, report.subtask))
        for report in reports:
            if report.failure is not None:
                raise_failure(report.failure)
        expected = sum(not state.finished for state in self.states.values())
        if len(reports) != expected:
            raise JobFailedError(f"an epoch was acknowledged by {len(reports)} of {expected} subtasks")
        return reports

    def _snapshot_request(self, savepoint: SavepointRequest | None) -> tuple[SnapshotRequest | None, int | None]:
        """Return what to save at the end of the next epoch, and when (ms) that epoch ends at the latest."""
        now = self.clock.now_ms()
        if savepoint is not None:
            return self.checkpoints.request_savepoint(savepoint.store), SHORTEST_MS
        due = self.checkpoints.due_in(now)
        limit = self.pace.limit_ms
        if due is None or self.left:
            return None, limit
        until_due = max(due if limit is None else min(due, limit), SHORTEST_MS)
        # An epoch that is likely to last until then takes the checkpoint at its end; a shorter one would be too early.
        return self.checkpoints.request(now) if due <= self.pace.last_ms else None, until_due

    def _complete_checkpoint(self, request: SnapshotRequest, reports: list[Report]) -> None:
        began = self.clock.now_ms()
        done = self.checkpoints.complete(request, reports, self._contents(), began)
        if done is not None:
            self.checkpoints.duration_ms += self.clock.now_ms() - began
            _log.info(
                "checkpoint %d completed in %d ms: %d bytes written, %d in all",
                request.number, self.checkpoints.duration_ms, self.checkpoints.new_bytes, done.metadata.size(),
            )  # fmt: skip
            self.unsaved = False
            self.progress.checkpoints += 1
            self.metrics.keep(request.number)
            self.commits.commit(request.number)
            self._tell_enumerators()
            self.checkpoints.subsume()

    def _complete_savepoint(self, savepoint: SavepointRequest, request: SnapshotRequest, reports: list[Report]) -> None:
        try:
            done = self.checkpoints.complete_savepoint(request, reports, self._contents(), self.clock.now_ms())
        except CheckpointError as error:
            savepoint.result.set_exception(error)
            if savepoint.drain:  # the input has ended already: there is no going on as if nothing had happened
                raise
            return
        if savepoint.stop:
            self.stopped = True
            # Should a commit fail: parts of it may be visible, so there is no going back to an earlier checkpoint.
            self.checkpoints.go_back_to(done)
            self._note_end()  # before the commit: from here on there is nothing to do but that
            self.commits.commit(self.checkpoints.number)
            self._tell_enumerators()
        savepoint.result.set_result(done.where)

    def _contents(self) -> Contents:
        enumerators = {
            self.uids[node]: (enumerator.snapshot(), self.next_subtask.get(node, 0))
            for node, enumerator in self.enumerators.items()
        }
        return Contents(enumerators, self.commits.by_uid())

    def _instructions(
        self,
        splits: dict[int, list[Any]],
        request: SnapshotRequest | None,
        limit: int | None,
        savepoint: SavepointRequest | None,
    ) -> list[Item]:
        reports = [state.report for state in self.states.values() if state.report is not None and not state.finished]
        slowest: dict[str, int] = {}
        for report in reports:
            for group, watermark in report.aligned.items():
                slowest[group] = min(watermark, slowest.get(group, watermark))
        last = frozenset(node for node, e in self.enumerators.items() if e.is_finished())
        dealt: dict[tuple[int, int], dict[int, list[Any]]] = {}
        for node, found in splits.items():
            chain = self.chain_of[node]
            for split in found:
                subtask = self.next_subtask.get(node, 0)
                self.next_subtask[node] = (subtask + 1) % chain.parallelism
                dealt.setdefault((chain.id, subtask), {}).setdefault(node, []).append(split)
        commit = (request is not None and (savepoint is None or savepoint.stop)) or not self.commits.waiting
        items = []
        for chain in self.plan.chains:
            for subtask in range(chain.parallelism):
                state = self.states[chain.id, subtask]
                if state.finished:
                    continue
                before = state.report
                instruction = Instruction(
                    epoch=self.progress.epochs,
                    chain=chain.id,
                    subtask=subtask,
                    attempt=self.attempt,
                    version=before.version if before is not None else None,
                    run=self.run_id,
                    memo=before.memo if before is not None else None,
                    handles=before.handles if before is not None else (),
                    folding=self.materializer.folding(chain.id, subtask) if self.materializer is not None else 0,
                    restore=self.restore if before is None else None,
                    snapshot=request,
                    savepoint=savepoint is not None,
                    commit=commit,
                    max_epoch_ms=limit,
                    max_records=0 if self.left else self.pace.limit_records,
                    drain=savepoint is not None and savepoint.drain,
                    slowest=slowest,
                    new_splits=dealt.get((chain.id, subtask), {}),
                    no_more_splits=last,
                    keep_state=not self.plan.batch,
                )
                items.append(instruction_item(chain.level, instruction))
        return items

    def _take_over(self, reports: list[Report]) -> None:
        """The epoch counts: later ones start from where it ended."""
        for report in reports:
            state = self.states[report.chain, report.subtask]
            kept = {handle.name for handle in report.handles} if not report.finished else set()
            before = state.report.handles if state.report is not None else ()
            self.obsolete.update(handle.name for handle in (*before, *report.handles) if handle.name not in kept)
            state.report = replace(report, left=()) if report.left else report
        self.left = [item for report in reports for item in report.left]
        self._learn(reports)
        self.unsaved = True
        unread = frozenset().union(*(report.unread for report in reports))
        for node, enumerator in self.enumerators.items():
            enumerator.epoch_ended(all_read=node not in unread)
        if self.materializer is not None:
            self.obsolete.update(self.materializer.poll(self.states, self.clock.now_ms()))
        for report in reports:
            for node, told in report.progress.items():
                self.progress_of.setdefault(node, []).append(told)
        if not self.checkpoints.enabled:
            for node, progress in self.progress_of.items():
                self.enumerators[node].epoch_read(progress)
            self.progress_of = {}
        self.commits.add(reports, left=bool(self.left))
        self._tell(reports)

    def _learn(self, reports: list[Report]) -> None:
        """Let the pace know how sources, and what follows them, get on."""
        spent: dict[int, float] = {}
        read = 0
        for report in reports:
            level = self.levels[report.chain]
            spent[level] = max(spent.get(level, 0.0), report.spent_ms)
            read = max(read, sum(report.records.get(node, 0) for node in self.job.sources))
        slow = any(report.slow for report in reports)
        self.pace.learn(read, sum(spent.values()), slow=slow, left=bool(self.left))

    def _delete_obsolete(self) -> None:
        """Delete what no later epoch needs, nor any checkpoint."""
        needed = self.checkpoints.needed() if self.plan.settings.changelog is not None else ()
        names = [name for name in self.obsolete if f"{SHARED}/{name}" not in needed]
        if names:
            self.obsolete.difference_update(names)
            try:
                self.engine.forget(names)
            except Exception as error:  # noqa: BLE001 - whatever a storage raises; the job itself is fine
                _log.warning("cannot delete old state: %s", error)

    def _tell(self, reports: list[Report]) -> None:
        progress = self.progress
        progress.epochs += 1
        sources, sinks = self.job.sources.keys(), self.job.sinks.keys()
        watermarks = []
        for report in reports:
            progress.records_in += sum(n for node, n in report.records.items() if node in sources)
            progress.records_out += sum(n for node, n in report.records.items() if node in sinks)
            if report.watermark not in (MIN_TIMESTAMP, MAX_TIMESTAMP):
                watermarks.append(report.watermark)
            self.metrics.add(report)
            for node, warning in report.warnings.items():
                if node not in self.warned:
                    self.warned.add(node)
                    _log.warning("%s", warning)
        progress.watermark = min(watermarks, default=progress.watermark)
        for listener in self.listeners:
            listener(progress)


def raise_failure(failure: FailureReport) -> None:
    """Raise a user's exception in the driver: type and message kept, the user's frames first, the operator named."""
    error = failure.exception()
    explained = UserCodeError(failure.operator_name, failure.summary, failure.record)
    explained.args = (f"{failure.where()}\n{failure.user_traceback.rstrip()}",)
    if error is None:
        raise JobFailedError(f"{failure.where()}: {failure.summary}\n{failure.full_traceback}") from explained
    explained.__cause__ = error.__cause__
    error.add_note(f"in {failure.where()}")
    raise error from explained
