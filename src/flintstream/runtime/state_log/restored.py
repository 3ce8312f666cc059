"""Restored state of one operator other than keyed state, and each new subtask's share of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.checkpoint.state_file import StateFile
    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.operators.watermarks import Valve
    from flintstream.runtime.plan import ChainPlan, JobPlan

Label = tuple[str, str | None, int, int]
"""Uid of the sending operator, side output, sending subtask, and number of sending subtasks."""


def channel_labels(job: JobPlan, chain: ChainPlan, index: int) -> dict[Any, Label]:
    """Return names of a subtask's channels that stay valid in another run of the program."""
    uids = {node.id: node.uid for item in job.chains for node in item.nodes}
    labels: dict[Any, Label] = {}
    for local in chain.local_edges:
        labels["local", local.source, local.side_tag] = (uids[local.source], local.side_tag, index, chain.parallelism)
    for edge in chain.inputs:
        for sender in range(edge.source_parallelism):
            labels[edge.id, sender] = (uids[edge.source], edge.side_tag, sender, edge.source_parallelism)
    return labels


NEARLY_MAX = MAX_TIMESTAMP - 1
"""Restored watermark (ms) of an ended input. It ends again later, because its senders may have been given new work."""


class RestoredOperator:
    """Collects the state of one operator from all subtasks of a checkpoint."""

    def __init__(self, uid: str) -> None:
        """Collect for the operator ``uid``."""
        self.uid = uid
        self.states: list[Any] = []
        self.watermarks: list[int] = []
        self.valves: list[tuple[int, bool]] = []
        self.channels: dict[tuple[str, str | None], dict[int, list[tuple[int, bool]]]] = {}
        self.senders: dict[tuple[str, str | None], int] = {}

    def add(self, file: StateFile) -> None:
        """Add the operator's state from a state file."""
        values = file.values(self.uid)
        if "operator" in values:
            self.states.append(values["operator"])
        if "watermark" in values:
            self.watermarks.append(values["watermark"])
        if "valve" in values:
            self.valves.append(values["valve"])
        for (uid, tag, sender, parallelism), watermark, idle in values.get("channels", ()):
            self.channels.setdefault((uid, tag), {}).setdefault(sender, []).append((watermark, idle))
            self.senders[uid, tag] = parallelism

    def hand_over(
        self,
        operator: Operator,
        valves: Iterable[Valve],
        labels: dict[Any, Label],
        *,
        same: bool,
        place: tuple[int, int],
    ) -> None:
        """Restore an operator's share of the state.

        Args:
            operator: the operator to restore.
            valves: the valves of its inputs.
            labels: the label of each of its channels.
            same: whether the parallelism is unchanged.
            place: the operator's subtask and parallelism.
        """
        if operator.context.timers is not None:
            operator.context.timers.current_watermark = min(min(self.watermarks, default=MIN_TIMESTAMP), NEARLY_MAX)
        if self.states:
            operator.recover(self.states, *place, same=same)
        for valve in valves:
            marks = {channel: self._mark(labels[channel]) for channel in valve.watermarks}
            combined = min(min((combined for combined, _ in self.valves), default=MIN_TIMESTAMP), NEARLY_MAX)
            idle = bool(self.valves) and all(is_idle for _, is_idle in self.valves)
            watermarks = {channel: watermark for channel, (watermark, _) in marks.items()}
            valve.restore((watermarks, {channel for channel, mark in marks.items() if mark[1]}, combined, idle))

    def _mark(self, label: Label) -> tuple[int, bool]:
        """Return watermark (ms) and idleness of a channel: its own, or the lowest of all if the parallelism changed.

        A sender that had ended also gets the lowest, because it may have been given new work.
        """
        uid, tag, sender, parallelism = label
        senders = self.channels.get((uid, tag), {})
        marks = senders.get(sender, []) if self.senders.get((uid, tag)) == parallelism else []
        if not marks or any(watermark == MAX_TIMESTAMP for watermark, _ in marks):
            marks = [mark for several in senders.values() for mark in several]
            marks = [mark for mark in marks if mark[0] != MAX_TIMESTAMP] or [(NEARLY_MAX, False)] * bool(marks)
        if not marks:
            return MIN_TIMESTAMP, False
        return min(watermark for watermark, _ in marks), all(idle for _, idle in marks)
