"""The last checkpoints and savepoints of a job, completed and failed, as JSON."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.coordinator.vertices import flink_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.checkpoint.metadata import Metadata
    from flintstream.runtime.protocol import Report

KEPT_CHECKPOINTS = 32
COMPLETED, FAILED = "COMPLETED", "FAILED"
SAVEPOINT = "savepoint"


class CheckpointHistory:
    """What became of the last checkpoints. One thread adds to it while others may read it."""

    def __init__(self) -> None:
        """Start without any."""
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT_CHECKPOINTS)

    def add_completed(self, metadata: Metadata, where: str, reports: Iterable[Report], new_bytes: int) -> None:
        """Note a checkpoint that is complete, with the time (ms) that each subtask took for it."""
        times = {(report.chain, report.subtask): report.state_ms for report in reports}
        slowest = max(times.values(), default=0)
        self._entries.append(
            {
                "number": metadata.number,
                "kind": metadata.purpose,
                "status": COMPLETED,
                "at_ms": metadata.created_ms - slowest,
                "duration_ms": slowest,
                "bytes": metadata.size(),
                "new_bytes": new_bytes,
                "pieces": sum(1 for _ in metadata.pieces()),
                "path": where,
                "reason": None,
                "vertices": vertices_of(metadata, times),
            }
        )

    def add_failed(self, number: int, kind: str, reports: Iterable[Report], reason: str) -> None:
        """Note a checkpoint that has failed, and why."""
        slowest = max((report.state_ms for report in reports), default=0)
        self._entries.append(
            {
                "number": number,
                "kind": kind,
                "status": FAILED,
                "at_ms": wall_clock() - slowest,
                "duration_ms": slowest,
                "bytes": 0,
                "new_bytes": 0,
                "pieces": 0,
                "path": None,
                "reason": reason,
                "vertices": [],
            }
        )

    def add_duration(self, millis: int) -> None:
        """Add the time (ms) that the driver took for the last one."""
        self._entries[-1]["duration_ms"] += millis

    def to_json(self) -> list[dict[str, Any]]:
        """Return all, the oldest first."""
        return [dict(entry) for entry in tuple(self._entries)]


def vertices_of(metadata: Metadata, times: Mapping[tuple[int, int], int]) -> list[dict[str, object]]:
    """Return the size (bytes) and the time (ms) of each subtask of each chain."""
    return [
        {
            "id": flink_id(chain.operators[0].uid),
            "bytes": [sum(piece.total_size() for piece in pieces) for pieces in chain.subtasks],
            "ms": [times.get((number, subtask), 0) for subtask in range(len(chain.subtasks))],
        }
        for number, chain in enumerate(metadata.chains)
        if chain.operators
    ]


def state_of(metadata: Metadata) -> list[dict[str, object]]:
    """Return where the state of a checkpoint is: the bytes of each subtask, by the operators that share files."""
    found: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for chain in metadata.chains:
        names = {operator.uid: operator.name for operator in chain.operators}
        for subtask, pieces in enumerate(chain.subtasks):
            for piece in pieces:
                owners = tuple(names.get(uid, uid) for uid in piece.operators)
                place = (flink_id(chain.operators[0].uid), owners)
                sizes = found.setdefault(place, [0] * len(chain.subtasks))
                sizes[subtask] += piece.total_size()
    return [{"vertex": vertex, "operators": list(o), "bytes": sizes} for (vertex, o), sizes in found.items()]
