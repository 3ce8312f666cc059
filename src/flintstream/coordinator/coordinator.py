"""The epoch loop."""

from __future__ import annotations

import contextlib
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.job import Progress, Wakeup, now_ms
from flintstream.coordinator.metrics import JobMetrics
from flintstream.errors import JobCancelledError, JobFailedError, UserCodeError
from flintstream.runtime.operator import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.protocol import Instruction, Report
from flintstream.runtime.stage import instruction_item

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.sink import Committer
    from flintstream.connectors.source import SplitEnumerator
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Job
    from flintstream.runtime.exchange import Item
    from flintstream.runtime.failure import FailureReport

POLL_SECONDS = 0.02
"""How often enumerators are asked for new splits while there is nothing else to do."""


@dataclass
class _SubtaskState:
    """Where one subtask stands: what its next epoch starts from."""

    report: Report | None = None

    @property
    def finished(self) -> bool:
        return self.report is not None and self.report.finished


class Coordinator:
    """Runs a job: asks enumerators for splits, runs an epoch, commits what it produced, until all input has ended."""

    def __init__(
        self, job: Job, engine: Engine, listeners: Sequence[Callable[[Progress], None]] = (), attempt: int = 0
    ) -> None:
        """Run ``job`` on ``engine``; ``listeners`` are called after each epoch."""
        self.job = job
        self.engine = engine
        self.listeners = listeners
        self.attempt = attempt
        self.progress = Progress()
        self.wakeup = Wakeup()
        self.cancelled = False
        self.chain_of = {node.id: chain for chain in job.plan.chains for node in chain.nodes}
        self.states = {(c.id, s): _SubtaskState() for c in job.plan.chains for s in range(c.parallelism)}
        self.metrics = JobMetrics({node.id: node.name for chain in job.plan.chains for node in chain.nodes})
        self.next_subtask: dict[int, int] = {}

    def cancel(self) -> None:
        """Stop the job, from any thread."""
        self.cancelled = True
        self.engine.cancel()
        self.wakeup.wake()

    def run(self) -> Progress:
        """Run the job to its end.

        Raises:
            JobCancelledError: :meth:`cancel` was called.
            Exception: What user code raised.
        """
        with contextlib.ExitStack() as stack:
            self.enumerators: dict[int, SplitEnumerator] = {}
            for node, source in self.job.sources.items():
                enumerator = source.create_enumerator(self.chain_of[node].parallelism)
                stack.callback(enumerator.close)
                self.enumerators[node] = enumerator
            self.committers: dict[int, Committer | None] = {
                node: sink.create_committer() for node, sink in self.job.sinks.items()
            }
            stack.callback(self.engine.stop)
            self.engine.start(self.job.plan)
            while not all(state.finished for state in self.states.values()):
                if self.cancelled:
                    raise JobCancelledError(f"the job '{self.job.plan.job_name}' was cancelled")
                splits = {node: list(e.discover()) for node, e in self.enumerators.items()}
                if self.progress.epochs and not any(splits.values()):
                    wait = self._seconds_to_wait()
                    if wait > 0:
                        self.wakeup.sleep(wait)
                        continue
                self._run_epoch(splits)
        return self.progress

    def _seconds_to_wait(self) -> float:
        """Return how long there is nothing to do: until a timer is due, or an enumerator should be asked again."""
        reports = [state.report for state in self.states.values() if state.report is not None and not state.finished]
        if any(report.more or report.live_splits for report in reports):
            return 0
        if all(enumerator.is_finished() for enumerator in self.enumerators.values()):
            return 0
        due = [report.next_processing_time for report in reports if report.next_processing_time is not None]
        return min(POLL_SECONDS, max(0.0, (min(due, default=MAX_TIMESTAMP) - now_ms()) / 1000))

    def _run_epoch(self, splits: dict[int, list[Any]]) -> None:
        reports = []
        for item in self.engine.run_epoch(self._instructions(splits)):
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
        self._commit(reports)

    def _instructions(self, splits: dict[int, list[Any]]) -> list[Item]:
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
        items = []
        for chain in self.job.plan.chains:
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
                    memo=before.memo if before is not None else None,
                    handles=before.handles if before is not None else (),
                    slowest=slowest,
                    new_splits=dealt.get((chain.id, subtask), {}),
                    no_more_splits=last,
                    keep_state=not self.job.plan.batch,
                )
                items.append(instruction_item(chain.level, instruction))
        return items

    def _commit(self, reports: list[Report]) -> None:
        """The epoch counts: take over its state, commit its sinks, tell the listeners."""
        obsolete = []
        for report in reports:
            state = self.states[report.chain, report.subtask]
            kept = {handle.name for handle in report.handles} if not report.finished else set()
            before = state.report.handles if state.report is not None else ()
            obsolete += [h.name for h in (*before, *report.handles) if h.name not in kept]
            state.report = report
        committables: dict[int, list[Any]] = {}
        for report in reports:
            for node, prepared in report.committables.items():
                committables.setdefault(node, []).extend(prepared)
        for node, prepared in committables.items():
            committer = self.committers.get(node)
            if committer is not None:
                committer.commit(prepared)
        self._tell(reports)
        if obsolete:
            self.engine.forget(obsolete)

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
        progress.metrics = self.metrics.values()
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
    if hasattr(error, "add_note"):
        error.add_note(f"in {failure.where()}")
    raise error from explained
