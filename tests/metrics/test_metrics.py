from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.metrics import Counter, Distribution, Meter, Metric, MetricGroup
from flintstream.metrics.reported import Gauged


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_same_name_gives_the_same_metric():
    group = MetricGroup()
    assert group.counter("c") is group.counter("c")
    assert group.add_group("g").meter("m") is group.add_group("g").meter("m")


def test_a_name_that_is_taken_by_another_kind_gives_a_metric_that_is_not_reported(caplog):
    group = MetricGroup()
    group.counter("x").inc()
    group.gauge("g", lambda: 1)
    meter = group.meter("x")
    meter.mark_event(5)
    assert meter.get_count() == 5
    group.gauge("x", lambda: 7)
    group.counter("g").inc(9)
    assert group.values() == {"x": 1, "g": 1}
    assert [record.message for record in caplog.records] == [
        "the metric name 'x' belongs to a Counter: the Meter with that name is not reported",
        "the metric name 'x' belongs to a Counter: the Gauge with that name is not reported",
        "the metric name 'g' belongs to a Gauge: the Counter with that name is not reported",
    ]


def test_values_are_flat_and_carry_the_names_of_the_groups():
    group = MetricGroup()
    group.counter("c").inc(3)
    group.gauge("g", lambda: 7)
    group.add_group("inner").counter("c").dec()
    group.add_group("key", "value").counter("c").inc()
    assert group.values() == {"c": 3, "g": 7, "inner.c": -1, "key.value.c": 1}


def test_a_gauge_that_raises_is_left_out_of_the_values():
    group = MetricGroup()
    group.counter("c").inc()
    group.gauge("broken", lambda: 1 // 0)
    assert group.values() == {"c": 1}
    assert group.take()["broken"] == Gauged([None], "ZeroDivisionError: integer division or modulo by zero")


@pytest.mark.parametrize("value", [1, 0.5, True, "open", None])
def test_a_gauge_shows_numbers_and_texts(value: object):
    group = MetricGroup()
    group.gauge("g", lambda: value)  # type: ignore[arg-type, return-value]
    assert group.take() == {"g": Gauged([value])}


def test_a_gauge_that_returns_anything_else_says_so():
    group = MetricGroup()
    group.gauge("g", threading.Lock)  # type: ignore[arg-type]
    reported = group.take()["g"]
    assert isinstance(reported, Gauged)
    assert reported.by_subtask == [None]
    assert "must return a number or a str, but returned <unlocked" in reported.error


def test_a_gauge_must_be_callable():
    with pytest.raises(TypeError, match="without parameters"):
        MetricGroup().gauge("g", 5)  # type: ignore[arg-type]


def test_a_later_gauge_replaces_an_earlier_one():
    group = MetricGroup()
    group.gauge("g", lambda: 1)
    group.gauge("g", lambda: 2)
    assert group.values() == {"g": 2}


def test_a_meter_averages_over_its_span():
    clock = Clock()
    meter = Meter(10, clock)
    assert meter.get_rate() == 0
    meter.mark_event(50)
    clock.now += 5
    assert meter.get_rate() == 10
    clock.now += 10
    assert meter.get_rate() == 0  # the 50 events lie before the last 10 s
    meter.mark_event()
    clock.now += 10
    assert meter.get_rate() == 0.1
    assert meter.get_count() == 51


def test_a_meter_keeps_few_samples_however_often_it_is_read():
    clock = Clock()
    meter = Meter(10, clock)
    for _ in range(2000):
        clock.now += 0.05
        meter.mark_event()
        meter.get_rate()
    assert len(meter._samples) <= 12
    assert meter.get_rate() == pytest.approx(20, rel=0.1)


def test_a_meter_needs_a_positive_span():
    with pytest.raises(ValueError, match="positive"):
        MetricGroup().meter("m", 0)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1))
def test_a_distribution_knows_its_numbers(numbers: list[int]):
    distribution = Distribution()
    for number in numbers:
        distribution.update(number)
    assert distribution.values() == {
        ".count": len(numbers),
        ".sum": sum(numbers),
        ".min": min(numbers),
        ".max": max(numbers),
        ".mean": sum(numbers) / len(numbers),
    }


def test_an_empty_distribution_reports_only_its_count():
    assert Distribution().values() == {".count": 0}


def test_what_was_reported_stays_in_the_values():
    group = MetricGroup()
    for number in (4, 2):
        group.counter("c").inc()
        group.meter("m").mark_event()
        group.distribution("d").update(number)
        group.take()
    values = group.values()
    assert (values["c"], values["m.count"]) == (2, 2)
    assert [values[f"d.{name}"] for name in ("count", "sum", "min", "max")] == [2, 6, 2, 4]


def test_all_metrics_are_metrics():
    assert all(issubclass(kind, Metric) for kind in (Counter, Meter, Distribution))
