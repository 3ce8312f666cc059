"""What the subtasks of a job did in the last minute: rates, shares of time, and how long records took."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from flintstream.metrics.families import percentile

if TYPE_CHECKING:
    from collections.abc import Collection

    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report

WINDOW_MS = 60_000
"""Rates and shares are those of this time, as in Flink."""

SAMPLE_MS = 5_000
"""The totals are kept once in this time."""

LATENCIES = 128
"""The number of epochs whose latency is kept, as in Flink's histograms."""


class Shares(NamedTuple):
    """How a subtask spent its time, in ms per second."""

    busy: float
    back_pressured: float
    idle: float
    engine: float
    """It had to wait for the engine, because the job had more to do."""


@dataclass
class _Totals:
    """Sums since the start, at one moment."""

    at_ms: int
    received: dict[tuple[int, int], int] = field(default_factory=dict)
    """(Node, subtask) -> records."""
    sent: dict[tuple[int, int], int] = field(default_factory=dict)
    busy: dict[tuple[int, int], float] = field(default_factory=dict)
    """(Chain, subtask) -> ms."""
    held: dict[tuple[int, int], float] = field(default_factory=dict)
    """(Chain, subtask) -> ms in which it had more to read, but the rest of the epoch ran."""
    engine: dict[tuple[int, int], float] = field(default_factory=dict)
    """(Chain, subtask) -> ms in which the job had more to do, but only the engine worked."""

    def copy(self) -> _Totals:
        parts = (self.received, self.sent, self.busy, self.held, self.engine)
        return _Totals(self.at_ms, *map(dict, parts))  # type: ignore[arg-type]


class Load:
    """Sums up the reports of each epoch. One thread adds to it while others may read it.

    These sums never go back, unlike metrics after a restart: work that is done again is work.
    """

    def __init__(self, plan: JobPlan, now_ms: int) -> None:
        """Start at ``now_ms``, on a clock for durations."""
        self._reading = {chain.id for chain in plan.chains if not chain.inputs}
        self.plan = plan
        """The plan whose subtasks these are."""
        self._began_ms = now_ms
        self._totals = _Totals(now_ms)
        self._samples: deque[_Totals] = deque([_Totals(now_ms)])
        self._latencies: deque[int] = deque(maxlen=LATENCIES)
        self._waiting_since: int | None = None
        """When the first epoch began whose input is not processed completely."""
        self.latency_sum_ms = 0
        self.epochs_with_latency = 0
        self._lock = threading.Lock()

    def add(self, reports: Collection[Report], began_ms: int, now_ms: int, engine_ms: float = 0) -> None:
        """Add an epoch that began at ``began_ms`` and counts from ``now_ms`` on.

        In ``engine_ms`` of the time since the previous epoch, the engine worked rather than a subtask.
        """
        if not any(report.more or report.left for report in reports):
            engine_ms = 0  # the job had nothing else to do, so the engine did not hold it up
        with self._lock:
            totals = self._totals
            elapsed = max(0, now_ms - totals.at_ms)
            totals.at_ms = now_ms
            read = 0
            for report in reports:
                key = (report.chain, report.subtask)
                busy = min(report.busy_ms, elapsed)
                totals.busy[key] = totals.busy.get(key, 0.0) + busy
                engine = min(engine_ms, elapsed - busy)
                held = 0.0
                if report.chain in self._reading:
                    read += sum(told.records for told in report.nodes)
                    if report.more:
                        held = max(0.0, elapsed - max(busy, report.spent_ms) - engine)
                totals.held[key] = totals.held.get(key, 0.0) + held
                totals.engine[key] = totals.engine.get(key, 0.0) + engine
                for told in report.nodes:
                    place = (told.node, report.subtask)
                    totals.received[place] = totals.received.get(place, 0) + told.records
                    out = told.metrics.get("numRecordsOut")
                    totals.sent[place] = totals.sent.get(place, 0) + getattr(out, "count", 0)
            self._measure_latency(reports, read, began_ms, now_ms)
            if now_ms - self._samples[-1].at_ms >= SAMPLE_MS:
                self._samples.append(totals.copy())
                while len(self._samples) > 1 and self._samples[1].at_ms <= now_ms - WINDOW_MS:
                    self._samples.popleft()

    def _measure_latency(self, reports: Collection[Report], read: int, began_ms: int, now_ms: int) -> None:
        since = began_ms if self._waiting_since is None else self._waiting_since
        if any(report.left for report in reports):  # its records arrive in a later epoch
            self._waiting_since = since
        elif read or self._waiting_since is not None:
            self._waiting_since = None
            self._latencies.append(now_ms - since)
            self.latency_sum_ms += now_ms - since
            self.epochs_with_latency += 1

    def _window(self, now_ms: int) -> tuple[_Totals, float]:
        """Return the totals at the beginning of the window, and the seconds since then."""
        start = self._samples[0]
        for sample in self._samples:
            if sample.at_ms <= now_ms - WINDOW_MS:
                start = sample
        if now_ms - self._totals.at_ms >= WINDOW_MS:  # nothing has happened since
            start = self._totals
        return start, max(now_ms - start.at_ms, 1) / 1000

    def rates(self, now_ms: int) -> dict[tuple[int, int], tuple[float, float]]:
        """Return the records in and out per second, by node and subtask."""
        with self._lock:
            start, seconds = self._window(now_ms)
            return {
                place: (
                    (received - start.received.get(place, 0)) / seconds,
                    (self._totals.sent[place] - start.sent.get(place, 0)) / seconds,
                )
                for place, received in self._totals.received.items()
            }

    def shares(self, now_ms: int) -> dict[tuple[int, int], Shares]:
        """Return how subtasks spent their time, by chain and subtask. The parts make up a second."""
        with self._lock:
            start, seconds = self._window(now_ms)
            shares = {}
            for key, total in self._totals.busy.items():
                busy = min(1000.0, (total - start.busy.get(key, 0.0)) / seconds)
                held = min(1000.0 - busy, (self._totals.held[key] - start.held.get(key, 0.0)) / seconds)
                engine = (self._totals.engine[key] - start.engine.get(key, 0.0)) / seconds
                engine = min(1000.0 - busy - held, engine)
                shares[key] = Shares(busy, held, 1000.0 - busy - held - engine, engine)
            return shares

    def by_chain(self) -> list[list[list[int]]]:
        """Return totals of the subtasks since the start, in the order of the plan.

        For each chain these are five lists: records in, records out, ms that it worked, ms that it was held back, ms
        that it waited for the engine.
        """
        with self._lock:
            totals = self._totals
            return [
                [
                    [totals.received.get((chain.nodes[0].id, subtask), 0) for subtask in range(chain.parallelism)],
                    [totals.sent.get((chain.nodes[-1].id, subtask), 0) for subtask in range(chain.parallelism)],
                    [round(totals.busy.get((chain.id, subtask), 0.0)) for subtask in range(chain.parallelism)],
                    [round(totals.held.get((chain.id, subtask), 0.0)) for subtask in range(chain.parallelism)],
                    [round(totals.engine.get((chain.id, subtask), 0.0)) for subtask in range(chain.parallelism)],
                ]
                for chain in self.plan.chains
            ]

    def lived_ms(self, now_ms: int) -> int:
        """Return the time (ms) since the start."""
        return max(0, now_ms - self._began_ms)

    def latency(self) -> dict[float, int]:
        """Return quantiles of the latency (ms) of recent epochs; empty before the first records."""
        with self._lock:
            ordered = sorted(self._latencies)
        return {share: percentile(ordered, share) for share in (0.5, 0.75, 0.95, 0.99)} if ordered else {}
