"""The sources of a job in the driver, which discovers their splits and assigns them to subtasks."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint import codec
from flintstream.coordinator.enumerators import NamedEnumerator
from flintstream.errors import PickleRefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from flintstream.checkpoint.metadata import Metadata
    from flintstream.coordinator.job import Job
    from flintstream.coordinator.pace import Pace
    from flintstream.coordinator.subtasks import Splits
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report

IDLE_MS = 3_000
"""After this time without a record, a source whose end is unknown counts as read."""
STUCK_MS = 30_000
"""The same for a source whose end is known, but whose last records may be gone or invisible."""


class Sources:
    """The enumerators of one attempt, the next subtask to get a split, and the pace of the sources."""

    def __init__(self, job: Job, plan: JobPlan, pace: Pace, start: Metadata | None = None) -> None:
        """Create the enumerators of a job, which continue from the checkpoint ``start``.

        Raises:
            Exception: An enumerator raised it. All enumerators are then closed.
        """
        self.pace = pace
        self._chains = {node.id: chain for chain in plan.chains for node in chain.nodes if node.id in job.sources}
        self._uids = {node.id: node.uid for chain in plan.chains for node in chain.nodes if node.id in job.sources}
        self._levels = {chain.id: chain.level for chain in plan.chains}
        self._receiving = {chain.id for chain in plan.chains if chain.inputs}
        self._turns = dict.fromkeys(job.sources, 0)
        """Source -> the subtask that gets the next split."""
        self._progress: dict[int, list[Any]] = {}
        """Source -> the progress that its enumerator will learn of when the next checkpoint completes."""
        self._enumerators: dict[int, NamedEnumerator] = {}
        self._unread: frozenset[int] = frozenset()
        """The sources with unfinished splits at the end of the last epoch."""
        self._names = {node.id: node.name for chain in plan.chains for node in chain.nodes}
        with contextlib.ExitStack() as stack:
            for node, source in job.sources.items():
                enumerator = NamedEnumerator(source, self._chains[node].parallelism, self._names[node])
                stack.callback(enumerator.close)
                self._enumerators[node] = enumerator
            if start is not None:
                self._restore(start)
            self._open = stack.pop_all()

    def _restore(self, metadata: Metadata) -> None:
        for node, enumerator in self._enumerators.items():
            data = metadata.enumerators.get(self._uids[node])
            if data is not None:
                try:
                    state, turn = codec.decode_one(data)
                except PickleRefusedError as error:
                    raise error.within("the state of the enumerator", f"the source '{self._names[node]}'") from None
                self._turns[node] = turn % self._chains[node].parallelism
                enumerator.restore(state)

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Start the enumerators."""
        for enumerator in self._enumerators.values():
            enumerator.start(checkpoints=checkpoints, batch=batch)

    def note_ends(self) -> None:
        """Let the enumerators note where their input ends now."""
        for enumerator in self._enumerators.values():
            enumerator.note_end()

    def have_caught_up(self, idle_ms: int) -> bool:
        """Return whether everything before these ends was read, if no source has given a record for ``idle_ms``."""
        for node, enumerator in self._enumerators.items():
            reached = enumerator.has_reached_end()
            if reached is None:
                reached = node not in self._unread or idle_ms >= IDLE_MS
            if not (reached or idle_ms >= STUCK_MS):
                return False
        return True

    def close(self) -> None:
        """Close the enumerators."""
        self._open.close()

    # -- splits ------------------------------------------------------------------------------------------------------

    def discover(self) -> dict[int, list[object]]:
        """Return the new splits of each source."""
        return {node: list(enumerator.discover()) for node, enumerator in self._enumerators.items()}

    def exhausted_sources(self) -> frozenset[int]:
        """Return the sources that will have no more splits."""
        return frozenset(node for node, enumerator in self._enumerators.items() if enumerator.is_finished())

    @property
    def all_finished(self) -> bool:
        """Whether no source will have more splits."""
        return all(enumerator.is_finished() for enumerator in self._enumerators.values())

    def deal(self, found: Mapping[int, Collection[object]]) -> Splits:
        """Assign splits to the subtasks of their source, in turn."""
        dealt: Splits = {}
        for node, splits in found.items():
            chain = self._chains[node]
            for split in splits:
                subtask = self._turns[node]
                self._turns[node] = (subtask + 1) % chain.parallelism
                dealt.setdefault((chain.id, subtask), {}).setdefault(node, []).append(split)
        return dealt

    def snapshot(self) -> dict[str, object]:
        """Return the state of each enumerator and the next subtask, by uid of the source."""
        return {
            self._uids[node]: (enumerator.snapshot(), self._turns[node])
            for node, enumerator in self._enumerators.items()
        }

    # -- notifications -----------------------------------------------------------------------------------------------

    def epoch_ended(self, reports: Collection[Report]) -> None:
        """Tell the enumerators that an epoch has ended."""
        self._unread = frozenset().union(*(report.unread for report in reports))
        for node, enumerator in self._enumerators.items():
            enumerator.epoch_ended(all_read=node not in self._unread)
        told: dict[int, list[object]] = {}
        for report in reports:
            for item in report.nodes:
                if item.progress is not None:
                    told.setdefault(item.node, []).append(item.progress)
        for node, progress in told.items():
            enumerator = self._enumerators[node]
            enumerator.epoch_progressed(progress)
            if enumerator.replaces_progress:
                self._progress[node] = progress
            else:
                self._progress.setdefault(node, []).extend(progress)

    def epoch_counts(self) -> None:
        """Tell the enumerators how far the sources have read, in a job without checkpoints."""
        for node, progress in self._progress.items():
            self._enumerators[node].epoch_read(progress)
        self._progress = {}

    def checkpoint_completed(self) -> None:
        """Tell the enumerators what a completed checkpoint contains."""
        for node, progress in self._progress.items():
            self._enumerators[node].checkpoint_completed(progress)
        self._progress = {}

    def learn(self, reports: Collection[Report], *, left: bool) -> int:
        """Tell the pace how fast sources and the operators behind them are. ``left``: some input is still waiting.

        Return the largest number of records that a subtask of a source has read.
        """
        spent = self._time_spent(report for report in reports if report.chain in self._receiving)
        read = 0
        for report in reports:
            read = max(read, sum(told.records for told in report.nodes if told.node in self._enumerators))
        slow = any(report.slow for report in reports)
        self.pace.learn(read, spent, slow=slow, left=left)
        return read

    def observe(self, epoch_ms: int, reports: Iterable[Report]) -> None:
        """Tell the pace how long an epoch took."""
        self.pace.observe(epoch_ms, self._time_spent(reports))

    def _time_spent(self, reports: Iterable[Report]) -> float:
        """Return the time (ms) that the slowest subtask of each superstep needed, in total."""
        spent: dict[int, float] = {}
        for report in reports:
            level = self._levels[report.chain]
            spent[level] = max(spent.get(level, 0.0), report.spent_ms)
        return sum(spent.values())
