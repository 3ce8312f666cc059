"""Slow functions: finished results move on while the function works, and time passes between its records.

The distance between the function and the printed output is counted in records. A busy machine only reduces it.
"""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

import pytest
from tests.datastream.inline import assign_second_field, move_every_epoch
from tests.engine.sources import PacedSplit

from flintstream.common import Time, Types, WatermarkStrategy
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.connectors.source import Source, SourceReader, StaticEnumerator
from flintstream.datastream import AsyncDataStream, AsyncFunction, OutputTag
from flintstream.datastream.functions import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.errors import notes
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

PAUSE = 0.01
RECORDS = 200
HELD = 120
"""Half a second at most, some for what ends it, and as many again."""
CHECKPOINTS = {
    "execution.checkpointing.interval": "100 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1",
    "restart-strategy.fixed-delay.delay": "0 ms",
}


class Log(Sink):
    """Record commits, in the list where functions record their calls."""

    waits_for_checkpoint = False
    events: ClassVar[list[tuple[str, int]]] = []

    def create_writer(self, context):
        return LogWriter()

    def create_committer(self):
        return LogCommitter()


class LogWriter(SinkWriter):
    def __init__(self):
        self.values = []

    def write(self, values, timestamps):
        self.values += values

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        values, self.values = self.values, []
        return values


class LogCommitter(Committer):
    def commit(self, committables):
        Log.events += [("printed", value) for value in committables]


def note(value):
    Log.events.append(("done", value))
    return value


def slow(value):
    time.sleep(PAUSE)
    return note(value)


def busy(value):
    until = time.perf_counter() + PAUSE
    while time.perf_counter() < until:
        pass
    return note(value)


def slow_at_last(value):
    return slow(value) if value >= 6000 else note(value)


def sometimes_slow(value):
    if value % 100 == 50:
        time.sleep(0.7)
    return note(value)


class Process(ProcessFunction):
    def __init__(self, function):
        self.function = function

    def process_element(self, value, ctx):
        yield self.function(value)


class Lookup(BroadcastProcessFunction):
    def __init__(self, rules):
        self.rules = rules

    def process_element(self, value, ctx):
        yield ctx.get_broadcast_state(self.rules).contains(value)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(value, value)


class Keyed(KeyedProcessFunction):
    def __init__(self, function):
        self.function = function

    def process_element(self, value, ctx):
        yield self.function(value)


class Both(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield slow(value)

    def process_element2(self, value, ctx):
        yield slow(value)


class Waiting(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(10 * PAUSE)
        return [note(value)]


def keyed(stream, function=slow):
    return stream.key_by(lambda value: value % 3).process(Keyed(function))


def most_ahead(numbers):
    """Return the largest number of results held back; all must have arrived."""
    done = printed = most = 0
    for event, _ in Log.events:
        if event == "done":
            done += 1
            most = max(most, done - printed)
        else:
            printed += 1
    assert sorted(value for event, value in Log.events if event == "printed") == list(numbers)
    return most


@pytest.fixture(autouse=True)
def events():
    Log.events.clear()


SHAPES = {
    "map": lambda stream: stream.map(slow),
    "computing": lambda stream: stream.map(busy),
    "typed": lambda stream: stream.map(slow, Types.LONG()),
    "fused": lambda stream: stream.filter(lambda value: True).map(slow).flat_map(lambda value: [value]),
    "process": lambda stream: stream.process(Process(slow)),
    "after an exchange": lambda stream: stream.rebalance().map(slow),
    "before an exchange": lambda stream: (
        stream.map(slow).key_by(lambda value: value).process(Keyed(lambda value: value))
    ),
    "keyed": keyed,
    "after another one": lambda stream: keyed(keyed(stream, lambda value: value)),
    "connected": lambda stream: (
        stream.filter(lambda value: value % 2 == 0)
        .key_by(lambda value: value % 3)
        .connect(stream.filter(lambda value: value % 2 == 1).key_by(lambda value: value % 3))
        .process(Both())
    ),
    "async": lambda stream: AsyncDataStream.unordered_wait(stream, Waiting(), Time.seconds(60), 10),
    "async, in order": lambda stream: AsyncDataStream.ordered_wait(stream.rebalance(), Waiting(), Time.seconds(60), 10),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_results_go_on_while_the_function_works(make_inline_env, shape):
    env = make_inline_env()
    SHAPES[shape](env.from_collection(list(range(RECORDS)))).sink_to(Log())
    env.execute("slow")
    assert most_ahead(range(RECORDS)) < HELD


SUDDEN = {
    "map": lambda stream: stream.map(slow_at_last),
    "typed": lambda stream: stream.map(slow_at_last, Types.LONG()),
    "fused": lambda stream: stream.map(lambda value: value).map(slow_at_last).filter(lambda value: True),
    "filter": lambda stream: stream.filter(lambda value: slow_at_last(value) >= 0),
    "flat map": lambda stream: stream.flat_map(lambda value: [slow_at_last(value)]),
    "behind watermarks": lambda stream: stream.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps()
    ).map(slow_at_last),
    "keyed": lambda stream: keyed(stream, slow_at_last),
}


@pytest.mark.parametrize("shape", SUDDEN)
def test_a_function_that_becomes_slow_holds_back_no_full_block(make_inline_env, shape):
    env = make_inline_env()
    numbers = list(range(6000 + RECORDS))
    SUDDEN[shape](env.from_collection(numbers, *([Types.INT()] if shape == "typed" else []))).sink_to(Log())
    env.execute("slow at last")
    most_ahead(range(6000 + RECORDS))
    Log.events[:] = [event for event in Log.events if event[1] >= 6000]
    assert most_ahead(range(6000, 6000 + RECORDS)) < HELD


def test_a_pause_now_and_then_holds_back_no_more_than_it_has_to(make_inline_env):
    env = make_inline_env()
    keyed(env.from_collection(list(range(500))), sometimes_slow).sink_to(Log())
    env.execute("pauses")
    assert most_ahead(range(500)) < 250  # the results held back include at most two pauses


@pytest.mark.parametrize("parallelism", [1, 2])
def test_records_of_a_key_stay_in_order(make_inline_env, monkeypatch, parallelism):
    move_every_epoch(monkeypatch)
    env = make_inline_env(parallelism)
    keyed(env.from_collection(list(range(100))).map(lambda value: value).rebalance(), slow).sink_to(Log())
    keyed(env.from_collection(list(range(100, 300))), slow_at_last).sink_to(Log())
    env.execute("ordered")
    printed = [value for event, value in Log.events if event == "printed"]
    assert sorted(printed) == list(range(300))
    if parallelism == 1:
        assert [value for value in printed if value < 100] == sorted(value for value in printed if value < 100)
    for key in range(3):
        mine = [value for value in printed if value >= 100 and value % 3 == key]
        assert mine == sorted(mine)


def test_a_collection_that_subtasks_are_slow_with_keeps_its_order(make_inline_env):
    """One of the subtasks is slower than the other, so that it leaves more."""
    env = make_inline_env(2)
    stream = env.from_collection(list(range(RECORDS))).map(lambda value: slow(value) if value % 2 else note(value))
    with stream.execute_and_collect() as results:
        assert list(results) == list(range(RECORDS))
        accumulators = results._client.get_accumulators().result()
    assert accumulators["numEpochs"] > 1


def test_rules_that_are_broadcast_are_there_before_the_events_of_their_epoch(make_inline_env):
    """There are more rules than the first block of the sources has records."""
    rules = MapStateDescriptor("rules", Types.INT(), Types.INT())
    env = make_inline_env()
    stream = env.from_collection(list(range(3000)))
    events = env.from_collection([2999] * 10)
    results = events.connect(stream.map(lambda value: value).broadcast(rules)).process(Lookup(rules))
    assert results.execute_and_collect(limit=100) == [True] * 10


class Lump(Source):
    """Emit all numbers at once, whatever size the engine requests."""

    def create_enumerator(self, parallelism):
        return StaticEnumerator([PacedSplit("lump")])

    def create_reader(self):
        return LumpReader()


class LumpReader(SourceReader):
    def read(self, split, fetch):
        if split.position == 0:
            split.position = RECORDS
            yield list(range(RECORDS))
        return True


@pytest.mark.parametrize("parallelism", [1, 2])
def test_what_a_source_gave_at_once_is_emitted_in_several_epochs(make_inline_env, monkeypatch, parallelism):
    move_every_epoch(monkeypatch)
    env = make_inline_env(parallelism)
    env.from_source(Lump(), WatermarkStrategy.no_watermarks(), "lump").map(slow).sink_to(Log())
    env.execute("lump")
    assert most_ahead(range(RECORDS)) < HELD


class Count(KeyedProcessFunction):
    """Count slowly, and fail once."""

    def __init__(self, marker):
        self.marker = marker

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        time.sleep(PAUSE)
        if value == 150 and not self.marker.exists():
            self.marker.touch()
            raise ValueError("this time it fails")
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


@pytest.mark.parametrize("lump", [False, True])
def test_checkpoints_contain_each_record_once_although_some_had_to_wait(make_inline_env, tmp_path, lump):
    env = make_inline_env(2, {**CHECKPOINTS, "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri()})
    numbers = (
        env.from_source(Lump(), WatermarkStrategy.no_watermarks(), "lump").map(slow)
        if lump
        else env.from_collection(list(range(RECORDS)))
    )
    sink = CollectSink()
    numbers.key_by(lambda value: value % 3).process(Count(tmp_path / "failed")).sink_to(sink)
    result = env.execute("count").get_all_accumulator_results()
    assert result["numRestarts"] == 1
    assert result["numCheckpoints"] > 0
    counts = [(key, n + 1) for key in range(3) for n in range(len(range(key, RECORDS, 3)))]
    assert sorted(sink.get_results(True, False), key=str) == sorted(counts, key=str)


@pytest.mark.parametrize("after", [1, 3])
def test_a_savepoint_of_a_source_that_gave_too_much_at_once_restores_with_another_parallelism(
    make_inline_env, tmp_path, after
):
    env = make_inline_env(2)
    env.from_source(Lump(), WatermarkStrategy.no_watermarks(), "lump").uid("lump").map(slow).sink_to(Log())
    client = env.execute_async("lump")
    while not any(event == "printed" for event, _ in Log.events):
        time.sleep(0.01)
    path = client.stop_with_savepoint(False, str(tmp_path)).result()
    assert sum(event == "printed" for event, _ in Log.events) < RECORDS
    env = make_inline_env(after, {"execution.state-recovery.path": path})
    env.from_source(Lump(), WatermarkStrategy.no_watermarks(), "lump").uid("lump").map(slow).sink_to(Log())
    env.execute("lump")
    most_ahead(range(RECORDS))


class Fails(KeyedProcessFunction):
    def process_element(self, value, ctx):
        time.sleep(0.3 if value == 40 else 0)
        if value == 40:
            raise ValueError("never")
        yield value


@pytest.mark.parametrize("shape", ["keyed", "map"])
def test_a_slow_function_that_fails_names_its_record(make_inline_env, shape):
    env = make_inline_env()
    numbers = env.from_collection(list(range(60)))

    def fails(value):
        return list(Fails().process_element(value, None))

    stream = numbers.map(fails) if shape == "map" else numbers.key_by(lambda value: 0).process(Fails())
    stream.sink_to(CollectSink())
    with pytest.raises(ValueError, match="never") as raised:
        env.execute("fails")
    assert any("while processing 40" in text for text in notes(raised.value))


def test_metrics_count_each_record_once(make_inline_env):
    env = make_inline_env()
    stream = env.from_collection(list(range(6100))).map(lambda value: value).name("one").map(slow_at_last).name("two")
    stream.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()).sink_to(Log())
    result = env.execute("counted").get_all_accumulator_results()
    counts = {name: count for name, count in result.items() if "numRecords" in name}
    assert set(counts.values()) == {6100}, counts


class Timed(KeyedProcessFunction):
    """Set a processing-time timer at the first record, and emit the time at which it fired."""

    def process_element(self, value, ctx):
        if value == 0:
            service = ctx.timer_service()
            service.register_processing_time_timer(service.current_processing_time() + 50)
        time.sleep(PAUSE)
        yield value

    def on_timer(self, timestamp, ctx):
        yield "timer"


def test_processing_time_timers_fire_between_slow_records(make_inline_env):
    env = make_inline_env()
    stream = env.from_collection(list(range(RECORDS))).key_by(lambda value: 0, Types.LONG()).process(Timed())
    with stream.execute_and_collect() as results:
        rows = list(results)
    assert 0 < rows.index("timer") < HELD


def windows(env, records, pause):
    """Return the results of windows with lateness behind a slow function, and the late records."""

    def wait(value):
        time.sleep(pause)
        return value

    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    late = OutputTag("late", pair)
    stream = env.from_collection(records, pair).rebalance().map(wait, pair)
    keyed_stream = assign_second_field(stream).key_by(lambda value: value[0])
    result = (
        keyed_stream.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(5)
        .side_output_late_data(late)
        .reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]))
    )
    main, side = CollectSink(), CollectSink()
    result.sink_to(main)
    result.get_side_output(late).sink_to(side)
    return main, side


def test_watermarks_come_between_the_records_of_a_slow_function(make_inline_env):
    """The pause is long compared with the interval: a watermark follows each record."""
    env = make_inline_env(settings={"pipeline.auto-watermark-interval": "10 ms"})
    records = [("a", 1), ("a", 12), ("a", 3), ("a", 16), ("a", 4), ("a", 30)]
    main, side = windows(env, records, 0.1)
    env.execute("late")
    assert main.get_results(True, False) == [("a", 1), ("aa", 4), ("aa", 28), ("a", 30)]
    assert side.get_results(True, False) == [("a", 4)]


@pytest.mark.spark
def test_on_spark_results_of_a_slow_keyed_function_come_epoch_by_epoch(make_spark_env):
    env = make_spark_env(2)
    numbers = env.from_collection(list(range(RECORDS))).key_by(lambda value: value % 3)
    sink = CollectSink()
    numbers.process(Keyed(slow)).sink_to(sink)
    result = env.execute("slow").get_all_accumulator_results()
    printed = sink.get_results(True, False)
    assert sorted(printed) == list(range(RECORDS))
    for key in range(3):
        mine = [value for value in printed if value % 3 == key]
        assert mine == sorted(mine)
    assert result["numEpochs"] > 2  # 67 records or more take a subtask 0.67 s or more
