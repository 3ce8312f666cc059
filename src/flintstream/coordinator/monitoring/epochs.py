"""How the epochs of a job spend their time: work, waiting for records, and what the engine needs for the rest."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from flintstream.metrics.families import percentile

if TYPE_CHECKING:
    from collections.abc import Collection

    from flintstream.coordinator.engine import Way
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report

KEPT = 128
"""The number of epochs whose duration is kept, as in Flink's histograms."""
RESIDENT = "resident tasks"
"""The name of the way in which epochs run in tasks that stay from one epoch to the next."""


class Parts(NamedTuple):
    """Where the time (ms) of an epoch went. The parts add up to its duration."""

    work: float
    """Subtasks processed records or wrote state."""
    waiting: float
    """Sources waited for records, and nothing else was to do."""
    engine: float
    """The rest: scheduling, exchanges, instructions and reports."""


def parts_of(plan: JobPlan, reports: Collection[Report], elapsed_ms: float, slots: int) -> Parts:
    """Return the parts of an epoch that took ``elapsed_ms``, with ``slots`` tasks at a time.

    Supersteps run one after the other. Each takes as long as its longest task, or longer if tasks wait for a slot.
    """
    levels = {chain.id: chain.level for chain in plan.chains}
    busy: dict[int, dict[int, float]] = {}
    spent: dict[int, dict[int, float]] = {}
    for report in reports:
        level = levels[report.chain]
        for sums, ms in ((busy, report.busy_ms + report.state_ms), (spent, report.spent_ms + report.state_ms)):
            tasks = sums.setdefault(level, {})
            tasks[report.subtask] = tasks.get(report.subtask, 0.0) + ms
    work = waiting = 0.0
    for level, tasks in busy.items():
        needed = max(*tasks.values(), sum(tasks.values()) / max(slots, 1))
        work += needed
        waiting += max(0.0, max(spent[level].values()) - needed)
    work = min(work, elapsed_ms)
    waiting = min(waiting, elapsed_ms - work)
    return Parts(work, waiting, elapsed_ms - work - waiting)


class Epochs:
    """Sums of the parts of all epochs. One thread adds to it while others may read it."""

    def __init__(self) -> None:
        """Start without epochs."""
        self._sums = Parts(0.0, 0.0, 0.0)
        self._last = Parts(0.0, 0.0, 0.0)
        self._count = 0
        self._ways: Counter[str] = Counter()
        self._durations: deque[int] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def add(self, parts: Parts, way: Way) -> None:
        """Add an epoch that ran in this way."""
        with self._lock:
            self._count += 1
            self._last = parts
            self._sums = Parts(*(total + part for total, part in zip(self._sums, parts, strict=True)))
            self._ways[way.name] += 1
            self._durations.append(round(sum(parts)))

    def totals(self) -> list[int]:
        """Return the number of epochs, their work, waiting and engine time (ms), and how many were resident."""
        with self._lock:
            return [self._count, *map(round, self._sums), self._ways[RESIDENT]]

    def durations(self) -> tuple[dict[float, int], int, int]:
        """Return quantiles of the durations (ms) of recent epochs, and number and sum of all of them."""
        with self._lock:
            ordered, count, total = sorted(self._durations), self._count, round(sum(self._sums))
        if not ordered:
            return {}, 0, 0
        return {share: percentile(ordered, share) for share in (0.5, 0.75, 0.95, 0.99)}, count, total

    def metrics(self) -> dict[str, object]:
        """Return the sums, and the last epoch, as metrics of the job."""
        count, work, waiting, engine, resident = self.totals()
        with self._lock:
            last, known = self._last, {f"last{name}": value for name, value in _last_values(self._last)}
        return {
            "numResidentEpochs": resident,
            "epochWorkTimeTotal": work,
            "epochWaitingTimeTotal": waiting,
            "epochEngineTimeTotal": engine,
            **({"lastEpochDuration": round(sum(last), 1), **known} if count else {}),
        }

    def to_json(self) -> dict[str, object]:
        """Return how many epochs ran in which way, and the parts of the last one and of all (ms)."""
        count, work, waiting, engine, _ = self.totals()
        with self._lock:
            last, ways = self._last, dict(self._ways)
        return {
            "count": count,
            "ways": ways,
            "last_ms": {name: round(part, 1) for name, part in last._asdict().items()},
            "total_ms": {"work": work, "waiting": waiting, "engine": engine},
        }


def _last_values(parts: Parts) -> list[tuple[str, float]]:
    return [(f"Epoch{name.capitalize()}Time", round(part, 1)) for name, part in parts._asdict().items()]
