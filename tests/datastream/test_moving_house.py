"""State and counts of functions survive when every epoch of a subtask runs in another worker."""

from __future__ import annotations

import pytest
from tests.datastream.inline import (
    NO_WATERMARKS,
    SHORT_EPOCHS,
    assign_second_field,
    collect,
    make_env,
    move_every_epoch,
)
from tests.engine.sinks import WatermarkSink
from tests.engine.sources import PacedSource
from tests.engine.test_keys import SpoilTheKey

from flintstream.datastream.functions import (
    BroadcastProcessFunction,
    CoProcessFunction,
    MapFunction,
    ProcessFunction,
)
from flintstream.datastream.state import MapStateDescriptor


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


def stamped(env):
    """Return the pairs (n, n * 1000), whose second field is their event time, over several epochs."""
    env.get_config().set_auto_watermark_interval(1)
    paced = env.from_source(PacedSource(20, 0.02), NO_WATERMARKS, "paced")
    return assign_second_field(paced.map(lambda n: (n, n * 1000)))


class Watching(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timer_service().current_watermark()


class WatchingTwo(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        return ()


class WatchingBroadcast(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.current_watermark()

    def process_broadcast_element(self, value, ctx):
        return ()


def alone(env):
    return stamped(env).process(Watching())


def connected(env):
    return stamped(env).connect(env.from_collection(["other"])).process(WatchingTwo())


def broadcast(env):
    rules = env.from_collection(["rule"]).broadcast(MapStateDescriptor("rules", None, None))
    return stamped(env).connect(rules).process(WatchingBroadcast())


@pytest.mark.parametrize("stream", [alone, connected, broadcast])
def test_functions_without_keys_know_the_watermark(stream):
    watermarks = collect(stream(make_env(settings=SHORT_EPOCHS)))
    assert len(watermarks) == 20
    assert watermarks == sorted(watermarks)
    assert watermarks[-1] > 0


def test_sinks_know_the_watermark():
    WatermarkSink.committed.clear()
    env = make_env(settings=SHORT_EPOCHS)
    stamped(env).sink_to(WatermarkSink())
    env.execute()
    watermarks = [watermark for _, watermark in WatermarkSink.committed if watermark is not None]
    assert 15 < len(watermarks) < 20  # the first few records precede the first watermark
    assert watermarks == sorted(watermarks)
    assert [value for value, watermark in WatermarkSink.committed[-15:] if watermark is None] == []


def test_changing_an_object_that_was_a_key_changes_no_key():
    env = make_env(settings=SHORT_EPOCHS)
    paced = env.from_source(PacedSource(10, 0.02), NO_WATERMARKS, "paced").map(lambda n: (["key"], n))
    counts = paced.key_by(lambda pair: pair[0]).process(SpoilTheKey())
    assert collect(counts) == [(["key"], n) for n in range(1, 11)]
