"""Sources get most of the time that an epoch leaves them, whatever else an epoch costs."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.connectors.source import Source, SplitEnumerator
from flintstream.coordinator.coordinator import Coordinator
from flintstream.coordinator.engine import Way
from flintstream.coordinator.job import Job
from flintstream.coordinator.pace import Pace
from flintstream.errors import JobCancelledError
from flintstream.runtime.exchange.receiving import Item
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.plan import ChainPlan, JobPlan, JobSettings, NodePlan, Superstep
from flintstream.runtime.protocol import REPORT, NodeReport, Report

EPOCHS = 24
SETTLED = 12
"""The epochs after which the pace must have settled."""


class Endless(SplitEnumerator):
    """There is no end, and no split: the engine makes up what subtasks do."""

    def discover(self):
        return []

    def snapshot(self):
        return None

    def restore(self, state):
        pass


class EndlessSource(Source):
    def create_enumerator(self, parallelism):
        return Endless()

    def create_reader(self):
        raise NotImplementedError


class VirtualClock:
    """A clock that only the engine and sleeping advance."""

    def __init__(self):
        self.now = 0.0

    def now_ms(self):
        return int(self.now)

    wall_ms = now_ms

    def sleep(self, seconds):
        self.now += seconds * 1000

    def wake(self):
        pass


class DelayedReports:
    """Subtasks that read as long as they may, and process it, and whose reports reach the driver one by one."""

    way = Way("delayed", 1)

    def __init__(self, clock: VirtualClock, empty_ms: float, work: float, waves: int) -> None:
        self.clock, self.empty_ms, self.work, self.waves = clock, empty_ms, work, waves
        self.coordinator: Any = None
        self.epochs: list[tuple[float, float]] = []
        """How long each took, and how much of it was reading."""

    def run_epoch(self, items):
        started = self.clock.now
        if len(self.epochs) == EPOCHS:
            self.coordinator.cancel()
        instructions = [pickle.loads(item.payload) for item in items]
        limit = instructions[0].max_epoch_ms
        read = 1000 if limit is None else min(limit, 1000)
        self.clock.now += (read + read * self.work) * self.waves
        reports = []
        for told in instructions:
            self.clock.now += self.empty_ms / len(instructions)
            source = told.chain == 0
            nodes = (NodeReport(told.chain, {}, records=read * 100, more=source, unread=source),)
            report = Report(
                told.chain, told.subtask, "v", nodes, pieces=() if told.snapshot else None,
                spent_ms=read if source else read * self.work,
            )  # fmt: skip
            reports.append(Item(2, 0, REPORT, 0, 0, 0, pickle.dumps(report)))
        self.epochs.append((self.clock.now - started, read))
        return reports

    def start(self, plan):
        pass

    def run_tasks(self, functions):
        raise NotImplementedError

    def forget(self, names):
        pass

    def cancel(self):
        pass

    def stop(self):
        pass


def simulated(empty_ms, *, work=0.0, waves=1, interval_ms=None, subtasks=4):
    """Run a job without waiting for anything; return its epochs once the pace has settled."""
    node = [NodePlan(number, name, name, Frozen(b"", "")) for number, name in enumerate(("source", "sink"))]
    edge: Any = object()
    steps = tuple(
        Superstep(level, (ChainPlan(level, level, subtasks // 2, 1024, (node[level],), (), (edge,) * level, ()),))
        for level in (0, 1)
    )
    plan = JobPlan("job", "id", False, steps, JobSettings(bounded=False))
    clock = VirtualClock()
    engine: Any = DelayedReports(clock, empty_ms, work, waves)
    coordinator = Coordinator(
        Job(plan, {0: EndlessSource()}, {}, CheckpointSettings(interval_ms=interval_ms)),
        engine,
        clock=clock,  # type: ignore[arg-type]
    )
    engine.coordinator = coordinator
    with pytest.raises(JobCancelledError):
        coordinator.run()
    return engine.epochs[SETTLED:]


def share_of_reading(epochs):
    return sum(read for _, read in epochs) / sum(took for took, _ in epochs)


def test_sources_read_most_of_the_time_that_a_thousand_subtasks_leave_them():
    assert share_of_reading(simulated(2500, interval_ms=1000, subtasks=1000)) > 0.28


@pytest.mark.parametrize("interval_ms", [None, 200, 10_000])
def test_the_time_for_reading_does_not_depend_on_the_interval_of_checkpoints(interval_ms):
    assert share_of_reading(simulated(2500, interval_ms=interval_ms)) > 0.28


def test_a_source_waits_for_slow_functions_even_if_empty_epochs_are_long():
    for took, _ in simulated(2500, work=9.0):
        assert took < 2500 + 2 * 1000


def test_subtasks_that_run_in_turn_are_not_taken_for_the_cost_of_an_empty_epoch():
    for took, _ in simulated(100, waves=8):
        assert took < 100 + 2 * 1000


def test_the_estimate_follows_a_cluster_that_shrinks_or_grows():
    pace = Pace(1000)
    for empty_ms in (2500, 6000, 300):
        for _ in range(EPOCHS):
            limit = 1000 if pace.limit_ms is None else pace.limit_ms
            pace.observe(empty_ms + limit, limit)
        assert pace.limit_ms is None


def test_a_stall_does_not_let_slow_functions_delay_checkpoints_for_long():
    pace = Pace(1000)
    took = []
    for epoch in range(2 * EPOCHS):
        limit = 1000 if pace.limit_ms is None else pace.limit_ms
        took.append(100 + 5 * limit)
        pace.observe(took[-1] + 60_000 * (epoch == EPOCHS), 5 * limit)
    assert max(took[EPOCHS + SETTLED :]) < 100 + 2 * 1000
