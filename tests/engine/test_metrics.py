"""Metrics of user functions, as the result of a job shows them."""

from __future__ import annotations

from tests.engine.sources import PacedSource

from flintstream.common import WatermarkStrategy
from flintstream.datastream.functions import MapFunction


class Measured(MapFunction):
    """Reports every kind of metric."""

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
