"""Metrics of user functions in the result of a job."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.sources import PacedSource
from tests.engine.tally import FailOnce

from flintstream.common import Duration, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import OutputTag, RuntimeExecutionMode
from flintstream.datastream.functions import MapFunction, ProcessFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.testing import CollectSink


class Measured(MapFunction):
    """Report every kind of metric."""

    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        self.seen = 0
        self.counter = group.counter("counter")
        self.meter = group.meter("meter")
        self.distribution = group.distribution("distribution")
        group.gauge("gauge", lambda: self.seen)

    def map(self, value):
        self.seen += 1
        self.counter.inc()
        self.meter.mark_event()
        self.distribution.update(value)
        return value


@pytest.mark.on_spark
def test_metrics_count_everything_once_over_many_epochs(make_env):
    env = make_env(2, {"flintstream.epoch.idle-duration": "20"})
    paced = env.from_source(PacedSource(24, 0.02), WatermarkStrategy.no_watermarks(), "paced")
    measured = paced.rebalance().map(Measured()).name("measured")
    with measured.execute_and_collect() as results:
        assert sorted(results) == list(range(24))
        metrics = results._client.get_accumulators().result()
    assert metrics["numEpochs"] > 3
    assert metrics["measured.counter"] == metrics["measured.meter.count"] == 24
    assert metrics["measured.distribution.count"] == 24
    assert metrics["measured.distribution.sum"] == sum(range(24))
    assert (metrics["measured.distribution.min"], metrics["measured.distribution.max"]) == (0, 23)
    assert metrics["measured.distribution.mean"] == 11.5
    assert len(metrics["measured.gauge"]) == 2
    assert sum(metrics["measured.gauge"]) <= 24


def shown(result):
    """Return the values of the operators' subtasks by operator, the subtasks in order."""
    operators: dict[str, list[dict[str, Any]]] = {}
    for metric in result.get_metrics():
        operators.setdefault(metric.operator, []).append(dict(metric.values))
    return operators


def summed(result, operator, name):
    return sum(values[name] for values in shown(result)[operator])


ODD = OutputTag("odd", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield ODD, value
        yield value
        yield value


@pytest.mark.parametrize("mode", list(RuntimeExecutionMode)[:2])
def test_every_operator_tells_how_many_records_came_and_went(make_env, mode):
    env = make_env(2)
    env.set_runtime_mode(mode)
    split = env.from_collection(list(range(10)), Types.INT()).rebalance().process(Split(), Types.INT()).name("split")
    split.get_side_output(ODD).map(lambda i: i).name("odd").print()
    split.key_by(lambda i: i % 3).map(lambda i: i).name("keyed")
    split.filter(lambda i: i > 7).name("filter").print()
    result = env.execute()
    assert len(shown(result)["split"]) == 2
    assert (summed(result, "split", "numRecordsIn"), summed(result, "split", "numRecordsOut")) == (10, 25)
    assert (summed(result, "odd", "numRecordsIn"), summed(result, "odd", "numRecordsOut")) == (5, 5)
    assert (summed(result, "filter", "numRecordsIn"), summed(result, "filter", "numRecordsOut")) == (20, 4)
    accumulators = result.get_all_accumulator_results()
    assert (accumulators["split.numRecordsIn"], accumulators["split.numRecordsOut"]) == (10, 25)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def test_windows_tell_what_was_late_and_how_far_event_time_is(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20", "pipeline.auto-watermark-interval": "1"})
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(Stamp())
    times = env.from_source(PacedSource(12, 0.02), WatermarkStrategy.no_watermarks(), "paced").map(
        lambda i: 5000 if i < 6 else 100, Types.LONG()
    )
    stamped = times.assign_timestamps_and_watermarks(strategy)
    windows = stamped.key_by(lambda _: 0).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows.reduce(lambda x, _: x).name("window").print()
    result = env.execute()
    window = shown(result)["window"][0]
    assert window["numRecordsIn"] == 12
    assert window["numLateRecordsDropped"] > 0
    assert window["currentInputWatermark"] == 2**63 - 1


class Shaky(MapFunction):
    """Count, with an unreadable gauge and a counter under the name of another kind of metric."""

    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        self.counter = group.add_group("inner").add_group("key", "value").counter("seen")
        self.halves = group.counter("halves")
        group.gauge("broken", lambda: 1 // 0)
        group.meter("halves").mark_event()

    def map(self, value):
        self.counter.inc()
        self.halves.inc(0.5)
        return value


def test_metrics_that_fail_do_not_disturb_the_job(make_env):
    env = make_env(2)
    env.from_collection(list(range(8)), Types.INT()).rebalance().map(Shaky()).name("shaky").print()
    result = env.execute()
    assert summed(result, "shaky", "inner.key.value.seen") == 8
    assert summed(result, "shaky", "halves") == 4.0
    assert [values["broken"] for values in shown(result)["shaky"]] == [None, None]


class Attempts(MapFunction):
    """Count, and report the number of the attempt and of the task."""

    def open(self, runtime_context):
        self.counter = runtime_context.get_metrics_group().counter("seen")
        self.attempt = runtime_context.get_attempt_number()
        self.names = runtime_context.get_task_name(), runtime_context.get_task_name_with_subtasks()

    def map(self, value):
        self.counter.inc()
        return value, self.attempt, self.names


@pytest.mark.parametrize("interval", ["50 ms", None], ids=["from a checkpoint", "from the beginning"])
def test_what_is_done_again_after_a_failure_counts_once(make_env, tmp_path, interval):
    settings = {
        "flintstream.epoch.idle-duration": "20",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "2",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    if interval is not None:
        settings["execution.checkpointing.interval"] = interval
        settings["execution.checkpointing.dir"] = (tmp_path / "checkpoints").as_uri()
    env = make_env(2, settings)
    sink = CollectSink()
    paced = env.from_source(PacedSource(30, 0.02), WatermarkStrategy.no_watermarks(), "paced")
    failing = paced.map(FailOnce(20, str(tmp_path / "failed"))).name("failing")
    failing.rebalance().map(Attempts()).name("counting").sink_to(sink)
    result = env.execute()
    assert result.get_accumulator_result("numRestarts") == 1
    assert summed(result, "counting", "seen") == summed(result, "counting", "numRecordsIn") == 30
    rows = sink.get_results(True, False)
    assert {value: attempt for value, attempt, _ in rows}[29] == 1
    assert {names for _, attempt, names in rows if attempt == 1} <= {
        ("counting -> Sink", "counting -> Sink (1/2)#1"),
        ("counting -> Sink", "counting -> Sink (2/2)#1"),
    }
