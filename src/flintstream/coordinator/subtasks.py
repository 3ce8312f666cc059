"""The subtasks of a job as the driver sees them: their instructions for an epoch, and their reports."""

from __future__ import annotations

import logging
import pickle
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.job import SubtaskProgress
from flintstream.errors import ExecutorError, JobFailedError, UserCodeError, add_note
from flintstream.runtime.protocol import SHARED, Report
from flintstream.runtime.task.stage import instruction_item

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from flintstream.coordinator.checkpointing.materializer import Materializer
    from flintstream.coordinator.engine import Engine
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.failure import FailureReport
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Instruction, Restore, StateHandle

Splits = dict[tuple[int, int], dict[int, list[Any]]]
"""(Chain, subtask) -> node id of the source -> the new splits that the subtask reads."""

__tracebackhide__ = True
"""pytest leaves the frames of this module out of what it shows of a test that fails."""

_log = logging.getLogger(__name__)


class Subtasks:
    """All subtasks of one attempt. Each starts an epoch from its report of the previous one."""

    def __init__(
        self,
        plan: JobPlan,
        engine: Engine,
        restore: Restore | None = None,
        *,
        attempt: int = 0,
        run: str = "",
        materializer: Materializer | None = None,
        obsolete: Collection[str] = (),
    ) -> None:
        """Prepare to run ``plan`` on ``engine``.

        Args:
            plan: the chains and their subtasks.
            engine: the engine that runs them.
            restore: the checkpoint to start from.
            attempt: how often the job has restarted.
            run: a name that no other attempt has.
            materializer: materializes their changelogs; None if the changelog is off.
            obsolete: blobs of the state log that they do not need.
        """
        self.plan = plan
        self.engine = engine
        self.restore = restore
        self.attempt = attempt
        self.run = run
        self.materializer = materializer
        self.states = {(c.id, s): SubtaskProgress() for c in plan.chains for s in range(c.parallelism)}
        self.left: list[Item] = []
        """Input that subtasks had no time for in the last epoch."""
        self.obsolete = set(obsolete)
        """Blobs of the state log that no later epoch needs."""

    @property
    def finished(self) -> bool:
        """Whether all subtasks have reached the end of their input."""
        return all(state.finished for state in self.states.values())

    @property
    def busy(self) -> bool:
        """Whether some subtasks have work left from the last epoch."""
        return bool(self.left) or any(report.more or report.unread for report in self._last_reports())

    @property
    def next_processing_time(self) -> int | None:
        """Time at which the next timer is due (ms since the epoch), None without timers."""
        times = (report.next_processing_time for report in self._last_reports())
        return min((time for time in times if time is not None), default=None)

    def slowest(self) -> dict[str, int]:
        """Return the lowest watermark (ms) of each group of sources that wait for each other."""
        slowest: dict[str, int] = {}
        for report in self._last_reports():
            for node in report.nodes:
                if node.aligned is not None:
                    group, watermark = node.aligned
                    slowest[group] = min(watermark, slowest.get(group, watermark))
        return slowest

    def handles(self) -> Iterator[StateHandle]:
        """Return the pieces of the state logs that the next epoch starts from."""
        return (handle for report in self._last_reports() for handle in report.handles)

    def _last_reports(self) -> Iterator[Report]:
        """Return the last reports of the subtasks that have not finished."""
        return (s.report for s in self.states.values() if s.report is not None and not s.report.finished)

    # -- an epoch ----------------------------------------------------------------------------------------------------

    def run_epoch(self, instruct: Callable[..., Instruction], splits: Splits | None = None) -> list[Report]:
        """Run an epoch and return the reports of the subtasks, in the order of the plan.

        ``instruct`` makes an instruction. It knows the fields that are the same for all subtasks, and gets the others.

        Raises:
            Exception: User code raised it.
            JobFailedError: Reports of some subtasks are missing.
        """
        expected = sum(not state.finished for state in self.states.values())
        reports = []
        for item in self.engine.run_epoch([*self._instructions(instruct, splits or {}), *self.left]):
            report = pickle.loads(item.payload)
            assert isinstance(report, Report)  # noqa: S101
            reports.append(report)
        reports.sort(key=lambda report: (report.chain, report.subtask))
        for report in reports:
            if report.failure is not None:
                raise_failure(report.failure)
        if len(reports) != expected:
            raise JobFailedError(f"an epoch was acknowledged by {len(reports)} of {expected} subtasks")
        return reports

    def _instructions(self, instruct: Callable[..., Instruction], splits: Splits) -> Iterator[Item]:
        materializer = self.materializer
        for chain in self.plan.chains:
            for subtask in range(chain.parallelism):
                before = self.states[chain.id, subtask].report
                if before is None:
                    start: dict[str, object] = {"version": None, "restore": self.restore}
                elif before.finished:
                    continue
                else:
                    start = {
                        "version": before.version,
                        "operator_state": before.operator_state,
                        "handles": before.handles,
                    }
                instruction = instruct(
                    chain=chain.id,
                    subtask=subtask,
                    attempt=self.attempt,
                    run=self.run,
                    materializing=0 if materializer is None else materializer.materializing(chain.id, subtask),
                    new_splits=splits.get((chain.id, subtask), {}),
                    **start,
                )
                yield instruction_item(chain.level, instruction)

    def take_over(self, reports: Collection[Report], now_ms: int) -> None:
        """Accept the result of an epoch. Later epochs start from it.

        Raises:
            CheckpointError: Materialization of a changelog failed more often in a row than is tolerated.
        """
        for report in reports:
            state = self.states[report.chain, report.subtask]
            before = state.report.handles if state.report is not None else ()
            known = {handle.name: handle for handle in before}
            handles = tuple(known.get(handle.name, handle) for handle in report.handles)
            kept = {handle.name for handle in handles} if not report.finished else set()
            self.obsolete.update(
                handle.name for handle in (*before, *handles) if handle.inline is None and handle.name not in kept
            )
            state.report = replace(report, left=(), handles=handles)
        self.left = [item for report in reports for item in report.left]
        if self.materializer is not None:
            self.obsolete.update(self.materializer.poll(self.states, now_ms))

    def delete_obsolete(self, needed: Collection[str]) -> None:
        """Delete blobs that no later epoch needs, except the files at the paths in ``needed``."""
        names = [name for name in self.obsolete if f"{SHARED}/{name}" not in needed]
        if names:
            self.obsolete.difference_update(names)
            try:
                self.engine.forget(names)
            except Exception as error:  # noqa: BLE001 - whatever a storage raises; the job itself is fine
                _log.warning("cannot delete old state: %s", error)


def raise_failure(failure: FailureReport) -> None:
    """Raise a user's exception in the driver, with its type and message, the user's frames first, and the operator."""
    error = failure.exception()
    explained = UserCodeError(failure.operator_name, failure.summary, failure.record)
    explained.args = (f"{failure.where()}\n{failure.user_traceback.rstrip()}",)
    if isinstance(error, ModuleNotFoundError) and error.name and _is_here(error.name):
        raise ExecutorError(
            f"the executors do not have the module '{error.name}', which {failure.where()} needs: install it there, "
            "or send it with --pyFiles, 'python.requirements' or 'python.archives'"
        ) from explained
    if error is None:
        raise JobFailedError(f"{failure.where()}: {failure.summary}\n{failure.full_traceback}") from explained
    explained.__cause__ = error.__cause__
    add_note(error, f"in {failure.where()}")
    raise error from explained


def _is_here(module: str) -> bool:
    """Tell whether this process can import a module."""
    try:
        return sys.modules.get(module) is not None or find_spec(module) is not None
    except (ImportError, ValueError):
        return False
