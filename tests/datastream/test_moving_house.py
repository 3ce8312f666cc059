"""What functions have seen and counted goes along when every epoch of a subtask runs in another worker."""

from __future__ import annotations

import pytest
from tests.datastream.inline import NO_WATERMARKS, SHORT_EPOCHS, make_env, move_every_epoch
from tests.engine.sources import PacedSource

from flintstream.datastream.functions import MapFunction


@pytest.fixture(autouse=True)
def _moving(monkeypatch):
    move_every_epoch(monkeypatch)


class Counting(MapFunction):
    def open(self, runtime_context):
        self.counter = runtime_context.get_metrics_group().counter("seen")

    def map(self, value):
        self.counter.inc()
        return value


def test_counters_go_on():
    env = make_env(settings=SHORT_EPOCHS)
    env.from_source(PacedSource(20, 0.02), NO_WATERMARKS, "paced").map(Counting()).name("counting").print()
    result = env.execute()
    assert result.get_accumulator_result("numEpochs") > 3
    assert result.get_accumulator_result("counting.seen") == 20
