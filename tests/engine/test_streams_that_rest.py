"""Streams that are idle, end before others, or are joined with themselves: no record is lost or taken for late."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
from tests.waiting import SECONDS, wait_for

from flintstream.common import Duration, Encoder, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.connectors.source import (
    Boundedness,
    Source,
    SourceReader,
    SourceSplit,
    SplitEnumerator,
    StaticEnumerator,
)
from flintstream.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from flintstream.datastream.functions import KeyedProcessFunction, ProcessWindowFunction
from flintstream.datastream.state import StateTtlConfig, ValueStateDescriptor
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.errors import CheckpointError
from flintstream.savepoint import Savepoint

pytestmark = pytest.mark.slow

QUICK = {"flintstream.epoch.idle-duration": "20"}


@dataclass
class ScriptSplit(SourceSplit):
    position: int = 0


class Script(Source):
    """Emit the given records; a number is a pause in seconds, during which it may report that it has no input."""

    def __init__(self, script, *, bounded=True, asks_for_patience=False):
        self.script = script
        self.asks_for_patience = asks_for_patience
        self.boundedness = Boundedness.BOUNDED if bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism):
        return StaticEnumerator([ScriptSplit("script")])

    def create_reader(self) -> SourceReader:
        return ScriptReader(self)


class ScriptReader(SourceReader):
    def __init__(self, source):
        self.source = source
        self.until: dict[int, float] = {}

    def read(self, split, fetch):
        script = self.source.script
        while split.position < len(script):
            step = script[split.position]
            if isinstance(step, float):
                until = self.until.setdefault(split.position, time.monotonic() + step)
                if self.source.asks_for_patience and time.monotonic() < until:
                    return False
                time.sleep(max(0.0, until - time.monotonic()))
                split.position += 1
                continue
            split.position += 1
            yield [step]
        return True


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def ascending(idleness=None):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return strategy.with_idleness(Duration.of_millis(idleness)) if idleness else strategy


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, len(list(elements))


def windows(stream):
    return stream.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1))).process(Count())


def collect(stream):
    with stream.execute_and_collect() as results:
        return list(results)


NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def test_an_idle_stream_beside_one_that_has_ended_is_read_to_its_end(make_env):
    env = make_env(1, QUICK)
    ended = env.from_collection([("a", 1), ("a", 2)]).assign_timestamps_and_watermarks(ascending())
    pause = env.from_source(Script([("b", 1), 0.6, ("b", 5), ("b", 6)]), NO_WATERMARKS, "script")
    both = ended.union(pause.assign_timestamps_and_watermarks(ascending(100)))
    rows = collect(both.key_by(lambda pair: pair[0]).map(lambda pair: pair))
    assert sorted(rows) == [("a", 1), ("a", 2), ("b", 1), ("b", 5), ("b", 6)]


def test_a_watermark_right_before_idleness_crosses_an_exchange(make_env):
    env = make_env(1, QUICK)
    script = Script([("a", 100), ("a", 20_000), 3600.0], bounded=False, asks_for_patience=True)
    stream = env.from_source(script, NO_WATERMARKS, "script").assign_timestamps_and_watermarks(ascending(100))
    with windows(stream).execute_and_collect() as results:
        assert next(results) == ("a", 0, 1)


class AtEveryRecord(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(event_timestamp - 1)

    def on_periodic_emit(self, output):
        pass


def test_a_stream_united_with_itself_counts_twice(make_env):
    env = make_env(2)
    strategy = WatermarkStrategy.for_generator(AtEveryRecord).with_timestamp_assigner(Second())
    stream = env.from_collection([("a", i * 1000) for i in range(5)]).assign_timestamps_and_watermarks(strategy)
    assert collect(windows(stream.union(stream))) == [("a", i * 1000, 2) for i in range(5)]


class Stops(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        if value == 500:
            raise StopIteration
        return value


def test_stop_iteration_in_a_timestamp_assigner_is_an_error(make_env):
    env = make_env()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stops())
    stream = env.from_collection(list(range(1000))).assign_timestamps_and_watermarks(strategy)
    with pytest.raises(RuntimeError, match="the function raised StopIteration"):
        collect(stream.map(lambda n: n))


def test_a_batch_job_waits_for_a_source_that_asks_for_patience(make_env):
    env = make_env(1, {"execution.runtime-mode": "BATCH"})
    script = Script([("a", 1), 0.3, ("a", 2), 0.3, ("b", 3)], asks_for_patience=True)
    assert collect(env.from_source(script, NO_WATERMARKS, "script")) == [("a", 1), ("a", 2), ("b", 3)]


class InSteps(Script):
    """Discover the splits one after the other."""

    def create_enumerator(self, parallelism):
        return Steps()


class Steps(SplitEnumerator):
    def __init__(self):
        self.left = 3
        self.next = time.monotonic()

    def discover(self):
        if not self.left or time.monotonic() < self.next:
            return []
        self.left -= 1
        self.next = time.monotonic() + 0.2
        return [ScriptSplit(f"{self.left}")]

    def is_finished(self):
        return not self.left


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
def test_splits_that_are_discovered_later_are_read(make_env, mode):
    env = make_env(1, {"execution.runtime-mode": mode, **QUICK})
    assert collect(env.from_source(InSteps([("a", 1)]), NO_WATERMARKS, "steps")) == [("a", 1)] * 3


def test_waiting_for_idleness_costs_no_epochs(make_env):
    env = make_env(1, {"pipeline.auto-watermark-interval": "2 s", **QUICK})
    stream = env.from_source(InSteps([("a", 1)]), NO_WATERMARKS, "steps").assign_timestamps_and_watermarks(
        ascending(50)
    )
    with stream.map(lambda pair: pair).execute_and_collect() as results:
        assert len(list(results)) == 3
        assert results._client.get_accumulators().result()["numEpochs"] < 15


class Rests(Script):
    """Emit nothing after the script, without ending."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, script):
        super().__init__(script, bounded=False)

    def create_enumerator(self, parallelism):
        return Waiting()


class Waiting(StaticEnumerator):
    def __init__(self):
        super().__init__([ScriptSplit("script")])

    def is_finished(self):
        return False


def epochs_of(client):
    return client.get_accumulators().result().get("numEpochs", 0)


def comes_to_rest(client):
    """Wait for a second without epochs."""
    until = time.monotonic() + SECONDS
    before = -1
    while before != (before := epochs_of(client)):
        assert time.monotonic() < until, "the job does not rest"
        time.sleep(1)
    return before


@pytest.mark.on_spark("with")
@pytest.mark.parametrize("checkpoints", [{}, {"execution.checkpointing.interval": "100 ms"}], ids=["without", "with"])
def test_a_file_that_is_old_enough_is_finished_although_no_record_comes_and_then_the_job_rests(
    make_env, tmp_path, checkpoints
):
    env = make_env(1, {**QUICK, **checkpoints})
    made = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    made = made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).with_bucket_check_interval(50)
    policy = RollingPolicy.default_rolling_policy(rollover_interval=5000, inactivity_interval=400)
    records = env.from_source(Rests(["a", "b"]), NO_WATERMARKS, "script").map(str, Types.STRING())
    records.sink_to(made.with_rolling_policy(policy).build())
    client = env.execute_async()
    wait_for(lambda: list(tmp_path.glob("part-*")))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["a\nb\n"]
    assert comes_to_rest(client) < 15
    client.cancel().result()


class Asks(Sink):
    """Its writers ask for some epochs."""

    def create_writer(self, context):
        return AskingWriter()


class AskingWriter(SinkWriter):
    def __init__(self):
        self.left = 3

    def write(self, values, timestamps):
        pass

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        self.left -= 1
        return ()

    def next_prepare_commit(self):
        return int(time.time() * 1000) + 100 if self.left > 0 else None

    def snapshot(self):
        return self.left

    def restore(self, state):
        self.left = state


def test_a_writer_of_ones_own_is_given_the_epochs_it_asks_for(make_inline_env):
    env = make_inline_env(1, QUICK)
    env.from_source(Rests([]), NO_WATERMARKS, "script").sink_to(Asks())
    client = env.execute_async()
    wait_for(lambda: epochs_of(client) >= 3)
    assert comes_to_rest(client) == 3
    client.cancel().result()


class Remembers(KeyedProcessFunction):
    def __init__(self, ttl_ms):
        self.ttl_ms = ttl_ms

    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("last", Types.STRING())
        if self.ttl_ms is not None:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(self.ttl_ms)).build())
        self.last = runtime_context.get_state(descriptor)
        self.ever = runtime_context.get_state(ValueStateDescriptor("ever", Types.STRING()))

    def process_element(self, value, ctx):
        self.last.update(value)
        self.ever.update(value)
        yield value


def remembering(env, tmp_path, ttl_ms):
    env.set_parallelism(2)
    stream = env.from_source(Rests(["a", "b", "c"]), NO_WATERMARKS, "script").map(str, Types.STRING())
    stream.key_by(lambda value: value, Types.STRING()).process(Remembers(ttl_ms)).uid("remembers")
    return env.execute_async()


def with_checkpoints(tmp_path, backend):
    return {
        **QUICK,
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": tmp_path.as_uri(),
        "state.backend.type": backend,
    }


def remembered(tmp_path):
    """Return the number of entries in the newest checkpoint, None while it changes or does not exist."""
    found = sorted(tmp_path.glob("*/chk-*"), key=lambda path: int(path.name[4:]))
    try:
        return len(list(Savepoint.load(str(found[-1])).entries("remembers")))
    except (IndexError, CheckpointError, OSError):
        return None


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_state_that_has_expired_leaves_the_checkpoint_although_no_record_comes_and_then_the_job_rests(
    make_env, tmp_path, backend
):
    client = remembering(make_env(2, with_checkpoints(tmp_path, backend)), tmp_path, 2000)
    wait_for(lambda: remembered(tmp_path), client, lambda count: count == 3)  # those that do not expire
    assert comes_to_rest(client) < 15
    client.cancel().result()


@pytest.mark.parametrize("ttl_ms", [None, 24 * 3_600_000], ids=["that does not expire", "that lives for long"])
def test_a_stream_with_state_rests(make_inline_env, tmp_path, ttl_ms):
    client = remembering(make_inline_env(2, with_checkpoints(tmp_path, "hashmap")), tmp_path, ttl_ms)
    wait_for(lambda: remembered(tmp_path), client, lambda count: count == 6)
    assert comes_to_rest(client) < 10
    client.cancel().result()
