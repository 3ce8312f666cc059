"""Metrics of several epochs and subtasks are combined."""

from __future__ import annotations

from functools import partial

from flintstream.coordinator.monitoring.metrics import JobMetrics
from flintstream.metrics import Meter, MetricGroup
from flintstream.metrics.subtask import SubtaskMetrics
from flintstream.runtime.protocol import NodeReport, Report


def epoch(job, groups, node=1):
    """Report the metrics of groups, one per subtask."""
    for subtask, group in enumerate(groups):
        job.add(Report(0, subtask, "", (NodeReport(node, group.take()),)))


def test_counters_add_up_over_epochs_and_subtasks():
    job, groups = JobMetrics({1: "op"}), [MetricGroup(), MetricGroup()]
    for n in (1, 10, 100):
        groups[0].counter("c").inc(n)
        groups[1].counter("c").inc(2 * n)
        epoch(job, groups)
        epoch(job, groups)  # nothing has happened since
    assert job.values() == {"op": {"c": 333}}


def test_a_subtask_that_goes_on_elsewhere_does_not_start_again():
    job = JobMetrics({1: "op"})
    for numbers in ([5, 3], [9]):
        group = MetricGroup()  # in a new process, every time
        for number in numbers:
            group.counter("c").inc()
            group.meter("m").mark_event()
            group.distribution("d").update(number)
        epoch(job, [group])
    values = job.values()["op"]
    assert values["c"] == values["m.count"] == values["d.count"] == 3
    assert (values["d.sum"], values["d.min"], values["d.max"], values["d.mean"]) == (17, 3, 9, 17 / 3)


def test_a_distribution_without_numbers_does_not_disturb_the_others():
    job, groups = JobMetrics({1: "op"}), [MetricGroup(), MetricGroup()]
    groups[0].distribution("d")
    groups[1].distribution("d").update(7)
    epoch(job, groups)
    epoch(job, groups)
    assert job.values() == {"op": {"d.count": 1, "d.sum": 7, "d.min": 7, "d.max": 7, "d.mean": 7}}


def test_a_gauge_shows_the_last_value_of_each_subtask():
    job, groups, sizes = JobMetrics({1: "op"}), [MetricGroup(), MetricGroup()], [0, 0]
    for subtask, group in enumerate(groups):
        group.gauge("size", partial(sizes.__getitem__, subtask))
    for sizes[:] in ([1, 2], [5, 4]):
        epoch(job, groups)
    assert job.values() == {"op": {"size": [5, 4]}}


def test_rates_of_subtasks_add_up_but_not_those_of_epochs(monkeypatch):
    monkeypatch.setattr(Meter, "get_rate", lambda self: 4.0)
    job, groups = JobMetrics({1: "op"}), [MetricGroup(), MetricGroup()]
    for group in groups:
        group.meter("m").mark_event()
    epoch(job, groups)
    epoch(job, groups)
    assert job.values() == {"op": {"m.count": 2, "m.rate": 8}}


def test_operators_of_the_same_name_are_shown_as_one():
    job, first, second = JobMetrics({1: "op", 2: "op"}), MetricGroup(), MetricGroup()
    first.counter("c").inc()
    second.counter("c").inc()
    first.gauge("x", lambda: 0.5)
    second.counter("x").inc(7)
    epoch(job, [first], node=1)
    epoch(job, [second], node=2)
    assert job.values() == {"op": {"c": 2, "x": 7}}


def test_each_subtask_is_shown_by_itself():
    job, groups = JobMetrics({1: "op", 2: "op"}), [MetricGroup(), MetricGroup()]
    for number, group in enumerate(groups):
        group.counter("c").inc(number + 1)
        group.gauge("g", partial(int, str(10 * number)))
    epoch(job, groups)
    epoch(job, groups[:1], node=2)
    assert job.by_subtask() == [
        SubtaskMetrics("op", 1, 0, {"c": 1, "g": 0}),
        SubtaskMetrics("op", 1, 1, {"c": 2, "g": 10}),
        SubtaskMetrics("op", 2, 0, {"c": 0, "g": 0}),
    ]


def test_what_is_done_again_after_a_checkpoint_counts_once():
    job, group = JobMetrics({1: "op"}), MetricGroup()
    group.counter("c").inc(1)
    epoch(job, [group])
    job.keep(7)
    group.counter("c").inc(10)
    group.counter("later").inc()
    epoch(job, [group])
    job.go_back_to(7)
    assert job.values() == {"op": {"c": 1}}
    group.counter("c").inc(100)
    epoch(job, [group])
    job.go_back_to(7)
    assert job.values() == {"op": {"c": 1}}
    job.go_back_to(None)
    assert job.values() == {}


def test_a_gauge_that_cannot_be_read_is_told_once(caplog):
    job, group = JobMetrics({1: "op"}), MetricGroup()
    group.gauge("broken", lambda: 1 // 0)
    epoch(job, [group])
    epoch(job, [group])
    assert job.values() == {"op": {"broken": [None]}}
    messages = [record.message for record in caplog.records]
    expected = "gauge 'broken' of operator 'op' cannot be read in subtask 1: ZeroDivisionError: integer division or mod"
    assert [message[: len(expected)] for message in messages] == [expected]
