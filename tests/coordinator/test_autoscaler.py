"""The autoscaler decides from samples, with a simulated clock."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.coordinator.autoscaler import Autoscaler, AutoscalerSettings, Sample, waiting_records
from flintstream.errors import PlanError
from flintstream.metrics.subtask import SubtaskMetrics

STEP_MS = 3_000
SETTINGS = AutoscalerSettings(
    stabilization_ms=60_000, window_ms=30_000, scale_down_ms=300_000, catch_up_ms=600_000, least=1, most=16
)


class Job:
    """A job whose subtasks do a number of records per second each, and the lag of its source."""

    def __init__(self, parallelism, speed, *, knows_backlog=True):
        self.parallelism, self.speed, self.knows_backlog = parallelism, speed, knows_backlog
        self.at_ms, self.worked_ms, self.records, self.backlog = 0, 0.0, 0.0, 0.0
        self.scaler = Autoscaler(SETTINGS)
        self.changes = []

    def run(self, minutes, arriving):
        """Let ``arriving`` records come per second."""
        for _ in range(int(minutes * 60_000 / STEP_MS)):
            self.backlog += arriving * STEP_MS / 1000
            possible = self.speed * self.parallelism * STEP_MS / 1000
            read = min(self.backlog, possible)
            self.at_ms += STEP_MS
            self.backlog -= read
            self.records += read
            self.worked_ms += STEP_MS * read / possible
            backlog = int(self.backlog) if self.knows_backlog else None
            sample = Sample(self.at_ms, self.worked_ms, int(self.records), backlog)
            wanted = self.scaler.decide(sample, self.parallelism)
            if wanted is not None:
                self.changes.append((self.at_ms, self.parallelism, wanted))
                self.parallelism = wanted


@pytest.mark.parametrize("knows_backlog", [True, False])
def test_a_job_that_works_too_much_gets_more(knows_backlog):
    job = Job(1, 100, knows_backlog=knows_backlog)
    job.run(5, 95)
    assert [change[1:] for change in job.changes] == [(1, 2)]


def test_a_job_that_falls_behind_gets_what_it_takes_to_catch_up():
    job = Job(1, 100)
    job.run(30, 500)
    assert job.changes[0][2] > 500 / 100 / 0.7
    assert job.backlog == 0
    assert 500 / (100 * job.parallelism) < SETTINGS.highest


def test_a_job_that_falls_behind_without_a_known_lag_gets_more_step_by_step():
    job = Job(1, 100, knows_backlog=False)
    job.run(60, 500)
    assert job.backlog == 0
    assert [wanted > before for _, before, wanted in job.changes] == [True] * len(job.changes)


def test_a_job_is_scaled_down_only_after_a_long_time_and_to_the_most_that_it_needed():
    job = Job(8, 100)
    job.run(3, 100)
    job.run(1, 300)
    assert job.changes == []
    job.run(4, 100)
    ((at_ms, _, wanted),) = job.changes
    assert at_ms > SETTINGS.scale_down_ms
    assert wanted == 5


def test_a_job_that_works_as_much_as_it_should_is_left_alone():
    job = Job(4, 100)
    job.run(120, 250)
    assert job.changes == []


def test_nothing_happens_in_the_time_after_a_change():
    job = Job(1, 100)
    job.run(120, 900)
    times = [at_ms for at_ms, _, _ in job.changes]
    assert times[0] >= SETTINGS.stabilization_ms
    assert all(later - earlier >= SETTINGS.stabilization_ms for earlier, later in itertools.pairwise(times))


def test_a_change_that_fails_is_tried_again_only_after_that_time():
    scaler = Autoscaler(SETTINGS)
    asked = [
        at_ms
        for at_ms in range(0, 600_000, STEP_MS)
        if scaler.decide(Sample(at_ms, at_ms, at_ms, None), 2) is not None  # it stays at 2
    ]
    assert len(asked) > 1
    assert all(later - earlier >= SETTINGS.stabilization_ms for earlier, later in itertools.pairwise(asked))


@given(parallelism=st.integers(1, 16), speed=st.integers(10, 1000), arriving=st.integers(0, 20_000))
def test_a_constant_load_raises_the_parallelism_then_lowers_it_and_then_leaves_it(parallelism, speed, arriving):
    job = Job(parallelism, speed, knows_backlog=False)
    job.run(60, min(arriving, speed * 11))
    raised = [wanted > before for _, before, wanted in job.changes]
    assert raised == sorted(raised, reverse=True)
    settled = job.parallelism
    job.run(60, min(arriving, speed * 11))
    assert job.parallelism == settled


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 10**6), st.none() | st.integers(0, 10**9)), min_size=1, max_size=200
    ),
    st.integers(1, 40),
)
def test_whatever_comes_decisions_are_within_the_bounds_and_not_too_close(moments, parallelism):
    scaler, at_ms, worked, records, last = Autoscaler(SETTINGS), 0, 0.0, 0, -math.inf
    for share, read, backlog in moments:
        at_ms, worked, records = at_ms + STEP_MS, worked + share * STEP_MS, records + read
        wanted = scaler.decide(Sample(at_ms, worked, records, backlog), parallelism)
        if wanted is not None:
            assert SETTINGS.least <= wanted <= SETTINGS.most
            assert wanted != parallelism
            assert at_ms - last >= SETTINGS.stabilization_ms
            parallelism, last = wanted, at_ms


@pytest.mark.parametrize(
    "wrong",
    [
        {"utilization.min": "0.8"},
        {"utilization.max": "0.5"},
        {"vertex.min-parallelism": "9", "vertex.max-parallelism": "8"},
    ],
)
def test_settings_that_do_not_fit_together_are_refused(wrong):
    given_ = {f"flintstream.autoscaler.{name}": value for name, value in wrong.items()}
    with pytest.raises(PlanError, match=r"is more than 'flintstream.autoscaler"):
        AutoscalerSettings.of({"flintstream.autoscaler.enabled": "true", **given_})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([(1, 0, 5), (1, 1, 7), (2, 0, None)], 12),  # the second operator is no source
        ([(1, 0, 5), (1, 1, None)], None),  # a subtask that cannot tell yet may have any number
        ([(1, 0, None)], None),
        ([], None),
    ],
)
def test_the_backlog_is_known_when_all_subtasks_of_a_source_know_theirs(values, expected):
    subtasks = [
        SubtaskMetrics("", operator, subtask, {} if pending is None else {"pendingRecords": pending})
        for operator, subtask, pending in values
    ]
    assert waiting_records(subtasks) == expected


def test_it_is_off_unless_it_is_switched_on():
    assert AutoscalerSettings.of({}) is None
    assert AutoscalerSettings.of({"flintstream.autoscaler.enabled": "true"}) == AutoscalerSettings()
