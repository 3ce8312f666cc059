"""Output that sinks have prepared, until it is committed."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint import codec
from flintstream.errors import CheckpointError, CommitError, JobCancelledError, PickleRefusedError
from flintstream.runtime.failure import user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flintstream.checkpoint.metadata import Metadata
    from flintstream.connectors.sink import Sink
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report


class RoundRobinMerger:
    """Records that were dealt to the subtasks of a sink in turn, to be put back into their order."""

    def __init__(self, parallelism: int) -> None:
        """Start empty."""
        self.parallelism = parallelism
        self.reset()

    def reset(self) -> None:
        """Forget all records. The next deal starts with the first subtask."""
        self.parts: list[Sequence[object]] = [()] * self.parallelism
        """By subtask."""
        self.next = 0
        """The subtask whose turn it is."""

    def add(self, subtask: int, records: Sequence[Any]) -> None:
        """Add records of a subtask."""
        self.parts[subtask] = [*self.parts[subtask], *records] if self.parts[subtask] else records

    def take_some(self) -> list[object]:
        """Return the records that are known to be in order while subtasks still have input left, and keep the rest.

        >>> merger = RoundRobinMerger(2)
        >>> merger.parts = [["a", "c", "e"], ["b"]]
        >>> merger.take_some()
        ['a', 'b', 'c']
        >>> merger.add(1, ["d"])
        >>> merger.take()
        ['d', 'e']
        """
        turns = [(self.next + turn) % self.parallelism for turn in range(self.parallelism)]
        rounds = min(map(len, self.parts))
        last = next(turn for turn, subtask in enumerate(turns) if len(self.parts[subtask]) == rounds)
        kept: list[Sequence[object]] = [()] * self.parallelism
        for turn, subtask in enumerate(turns):
            part, count = self.parts[subtask], rounds + (turn < last)
            self.parts[subtask], kept[subtask] = part[:count], part[count:]
        records = self.take()
        self.parts = kept
        return records

    def take(self) -> list[object]:
        """Return all records in their original order.

        >>> merger = RoundRobinMerger(2)
        >>> merger.parts = [["a", "c", "e"], ["b", "d"]]
        >>> merger.take()
        ['a', 'b', 'c', 'd', 'e']
        >>> merger.parts = [["g"], ["f"]]
        >>> merger.take()
        ['f', 'g']
        """
        parts = [*self.parts[self.next :], *self.parts[: self.next]]
        records: list[object] = [None] * sum(map(len, parts))
        try:
            for turn, part in enumerate(parts):
                records[turn :: self.parallelism] = part
        except ValueError:  # a subtask was moved, so the deal started with a different one
            missing = object()
            rows = zip_longest(*parts, fillvalue=missing)
            records = [record for row in rows for record in row if record is not missing]
        self.next = (self.next + len(records)) % self.parallelism
        self.parts = [()] * self.parallelism
        return records


class Commits:
    """Holds committables back until the checkpoint that contains them is complete."""

    def __init__(
        self,
        plan: JobPlan,
        sinks: Mapping[int, Sink],
        wait: Callable[[float], bool],
        run_tasks: Callable[[Sequence[Callable[[], object]]], list[object]],
        *,
        with_checkpoint: bool,
    ) -> None:
        """Create the committers of all sinks.

        ``wait`` takes the seconds to wait before a commit is retried, and returns False to give up. ``run_tasks`` runs
        functions in parallel. ``with_checkpoint`` is whether commits wait for checkpoints.
        """
        self.committers = {node: sink.create_committer() for node, sink in sinks.items()}
        for committer in self.committers.values():
            if committer is not None:
                committer.run_tasks = run_tasks
        self.waiting = {node for node, sink in sinks.items() if with_checkpoint and sink.waits_for_checkpoint}
        self.sinks = sinks
        self.go_on_with(plan)
        self.wait = wait
        self.pending: dict[int, list[Any]] = {}
        self.done: set[tuple[int, int]] = set()
        """Checkpoint and sink of each commit for the latest checkpoint, the only one that a restart goes back to."""
        self.owed = False
        """Whether a completed checkpoint contains output that could not be committed."""

    def go_on_with(self, plan: JobPlan) -> None:
        """Take output from the subtasks of a plan."""
        self.uids = {node.id: node.uid for chain in plan.chains for node in chain.nodes}
        self.names = {node.id: node.name for chain in plan.chains for node in chain.nodes}
        ends = [(node, chain) for chain in plan.chains for node in chain.nodes if node.id in self.sinks]
        self.mergers = {
            node.id: RoundRobinMerger(chain.parallelism)
            for node, chain in ends
            if node.dealt and self.sinks[node.id].commits_records
        }
        self.side_outputs = {node.id: node.side_outputs for node, _ in ends}

    def add(self, reports: Iterable[Report], *, left: bool = False) -> None:
        """Add the output prepared in an epoch, and commit the part that does not wait for a checkpoint."""
        for report in reports:
            for told in report.nodes:
                if told.node in self.mergers:
                    self.mergers[told.node].add(report.subtask, told.committables)
                elif told.committables:
                    self.pending.setdefault(told.node, []).extend(told.committables)
        for node, dealt in self.mergers.items():
            if any(dealt.parts):
                self.pending.setdefault(node, []).extend(dealt.take_some() if left else dealt.take())
        for node in sorted((n for n in self.pending if n not in self.waiting), key=self.side_outputs.__getitem__):
            self._commit(node)

    def by_uid(self) -> dict[str, list[object]]:
        """Return the pending output by the uid of its sink, as checkpoints store it."""
        return {self.uids[node]: prepared for node, prepared in self.pending.items()}

    def commit(self, checkpoint: int) -> None:
        """Commit all pending output. The checkpoint with this number is complete and contains it."""
        self.owed = bool(self.pending)
        self.done = {item for item in self.done if item[0] == checkpoint}  # else it grows as long as the job runs
        for node in list(self.pending):
            self._commit(node)
            self.done.add((checkpoint, node))
        self.owed = False

    def _commit(self, node: int) -> None:
        """Commit the output of one sink, and retry as long as the sink asks for it.

        Raises:
            CommitError: The retries are used up.
            JobCancelledError: The job was cancelled between two attempts.
        """
        committer = self.committers[node]
        if committer is not None:
            where = f"the committer of operator '{self.names[node]}'"
            with user_code(where):
                left, attempt = committer.commit(self.pending[node]), 1
            while left:
                delay = committer.retry.delay_after(attempt)
                if delay is None:
                    reason = f": {type(committer.failure).__name__}: {committer.failure}" if committer.failure else ""
                    raise CommitError(
                        f"sink '{self.names[node]}' could not commit {len(left)} of {len(self.pending[node])} "
                        f"committables in {attempt} attempts{reason}"
                    ) from committer.failure
                if not self.wait(delay / 1000):
                    raise JobCancelledError(f"the job was cancelled while sink '{self.names[node]}' had yet to commit")
                with user_code(where):
                    left, attempt = committer.commit(left), attempt + 1
        del self.pending[node]

    def close(self) -> None:
        """Close the committers after the job has ended."""
        for committer in self.committers.values():
            if committer is not None:
                committer.close()

    def recover(self, metadata: Metadata | None, *, allow_non_restored: bool) -> None:
        """Go back to a checkpoint: forget the output prepared since, and commit the output it contains.

        Output that this process has committed is not committed again. An earlier process may have committed it.

        Raises:
            CheckpointError: The program no longer has a sink with the uid.
        """
        self.pending.clear()
        for dealt in self.mergers.values():
            dealt.reset()
        if metadata is None:
            return
        nodes = {uid: node for node, uid in self.uids.items() if node in self.committers}
        for uid, data in metadata.committables.items():
            node = nodes.get(uid)
            if node is not None:
                if (metadata.number, node) not in self.done:
                    try:
                        self.pending[node] = codec.decode(data)
                    except PickleRefusedError as error:
                        raise error.within("the output to commit", f"the sink '{self.names[node]}'") from None
            elif not allow_non_restored:
                raise CheckpointError(
                    f"checkpoint {metadata.number} holds output that is yet to be committed by a sink of uid {uid}, "
                    "but the program no longer has that sink: add it again, or allow state to be left behind "
                    "(--allowNonRestoredState)"
                )
        self.commit(metadata.number)
