"""Rates, shares of time and latency follow from what subtasks report of their epochs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from flintstream.coordinator.engine import Way
from flintstream.coordinator.monitoring.epochs import RESIDENT, Epochs, Parts, parts_of
from flintstream.coordinator.monitoring.load import Load
from flintstream.metrics.reported import Counted
from flintstream.runtime.protocol import NodeReport, Report

SOURCE, REST = 0, 1
PLAN: Any = SimpleNamespace(
    chains=[
        SimpleNamespace(id=chain, level=chain, parallelism=1, inputs=inputs, nodes=[SimpleNamespace(id=10 + chain)])
        for chain, inputs in ((SOURCE, ()), (REST, ("an exchange",)))
    ]
)


def report(chain, records=0, spent_ms=0.0, *, waited_ms=0.0, more=False, left=()):
    told = NodeReport(10 + chain, {"numRecordsOut": Counted(records)}, records, more=more, waited_ms=waited_ms)
    return Report(chain, 0, "", (told,), spent_ms=spent_ms, left=left)


def test_rates_are_those_of_the_last_minute():
    load = Load(PLAN, 0)
    for second in range(10):
        load.add([report(SOURCE, 500)], second * 1000, second * 1000 + 1000)
    assert load.rates(10_000) == {(10, 0): (500, 500)}
    for second in range(10, 100):
        load.add([report(SOURCE, 100)], second * 1000, second * 1000 + 1000)
    assert load.rates(100_000) == {(10, 0): (100, 100)}


def test_rates_of_a_job_that_rests_go_down_to_zero():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 1000)], 0, 1000)
    assert load.rates(10_000) == {(10, 0): (100, 100)}
    assert load.rates(61_000) == {(10, 0): (0, 0)}


def test_a_subtask_is_busy_for_the_time_that_it_spent_and_did_not_wait():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 5, 1000, waited_ms=800), report(REST, 5, 300)], 0, 1000)
    shares = load.shares(1000)
    assert shares[SOURCE, 0] == (200, 0, 800, 0)
    assert shares[REST, 0] == (300, 0, 700, 0)


def test_a_source_with_more_to_read_is_held_back_while_others_work():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 5, 250, more=True), report(REST, 5, 750)], 0, 1000)
    assert load.shares(1000) == {(SOURCE, 0): (250, 750, 0, 0), (REST, 0): (750, 0, 250, 0)}


def test_a_subtask_is_not_idle_while_the_engine_holds_up_a_job_with_more_to_read():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 5, 250, more=True), report(REST, 5, 50)], 0, 1000, engine_ms=700)
    assert load.shares(1000) == {(SOURCE, 0): (250, 50, 0, 700), (REST, 0): (50, 0, 250, 700)}
    assert [chain[4] for chain in load.by_chain()] == [[700], [700]]


def test_a_job_that_has_read_everything_is_idle_whatever_the_engine_needs():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 5, 250), report(REST, 5, 50)], 0, 1000, engine_ms=700)
    assert load.shares(1000) == {(SOURCE, 0): (250, 0, 750, 0), (REST, 0): (50, 0, 950, 0)}


def test_the_parts_of_an_epoch_are_those_of_the_longest_tasks():
    slow = Report(REST, 1, "", (), spent_ms=400, state_ms=20)
    reports = [report(SOURCE, 5, 300, waited_ms=200), report(REST, 5, 100), slow]
    assert parts_of(PLAN, reports, 1000, slots=2) == (100 + 420, 200, 280)
    assert parts_of(PLAN, reports, 1000, slots=1) == (100 + 520, 200, 180)
    assert parts_of(PLAN, reports, 600, slots=1) == (600, 0, 0)  # clocks of other processes may say more


def test_epochs_are_summed_up_by_the_way_in_which_they_ran():
    epochs = Epochs()
    assert epochs.durations() == ({}, 0, 0)
    assert "lastEpochDuration" not in epochs.metrics()
    epochs.add(Parts(10, 0, 90), Way("Spark jobs", 2))
    epochs.add(Parts(10, 5, 5), Way(RESIDENT, 2))
    assert epochs.totals() == [2, 20, 5, 95, 1]
    assert epochs.durations() == ({0.5: 20, 0.75: 100, 0.95: 100, 0.99: 100}, 2, 120)
    told = epochs.metrics()
    assert (told["numResidentEpochs"], told["lastEpochDuration"], told["lastEpochEngineTime"]) == (1, 20, 5)
    assert epochs.to_json()["ways"] == {"Spark jobs": 1, RESIDENT: 1}


def test_shares_make_up_a_second_whatever_the_reports_say():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 5, 5000, more=True), report(REST, 5, 700)], 0, 1000)
    for share in load.shares(1000).values():
        assert sum(share) == 1000
        assert min(share) >= 0


def test_latency_is_the_time_from_the_start_of_an_epoch_to_its_end():
    load = Load(PLAN, 0)
    assert load.latency() == {}
    for number in range(100):
        load.add([report(SOURCE, 1)], number * 1000, number * 1000 + number + 1)
    assert load.latency() == {0.5: 50, 0.75: 75, 0.95: 95, 0.99: 99}


def test_latency_goes_on_while_input_is_left_for_later_epochs():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 9), report(REST, 1, left=("an item",))], 0, 100)
    load.add([report(SOURCE, 0), report(REST, 1, left=("an item",))], 100, 200)
    assert load.latency() == {}
    load.add([report(SOURCE, 0), report(REST, 7)], 200, 300)
    assert load.latency()[0.5] == 300


def test_an_epoch_without_records_says_nothing_about_latency():
    load = Load(PLAN, 0)
    load.add([report(SOURCE, 0), report(REST, 3)], 0, 5000)
    assert load.latency() == {}
    assert load.epochs_with_latency == 0
