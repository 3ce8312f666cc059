"""Jobs of several epochs: state, timers and positions continue from the end of the previous epoch."""

from __future__ import annotations

import time

import pytest
from tests.engine.sources import PacedSource, SilentSource
from tests.waiting import wait_for_numbers

from flintstream.common import Duration, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, MapFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.errors import JobCancelledError, PlanError, notes

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


class Mean(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


class Everything(KeyedProcessFunction):
    """Keep every kind of state."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.squares = runtime_context.get_map_state(MapStateDescriptor("squares", Types.LONG(), Types.LONG()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))
        self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), None))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        self.squares.put(value, value * value)
        self.sum.add(value)
        self.mean.add(value)
        squares = sum(self.squares.values())
        yield ctx.get_current_key(), self.count.value(), list(self.seen.get()), squares, self.sum.get(), self.mean.get()


def expected(numbers, key):
    mine = [n for n in numbers if n % 2 == key]
    return (key, len(mine), mine, sum(n * n for n in mine), sum(mine), sum(mine) / len(mine))


@pytest.mark.on_spark
def test_all_kinds_of_state_survive_many_epochs(make_env):
    env = make_env(2, {"flintstream.epoch.idle-duration": "20"})
    numbers = env.from_source(PacedSource(24, 0.02), NO_WATERMARKS, "paced")
    with numbers.key_by(lambda n: n % 2).process(Everything()).execute_and_collect() as results:
        rows = list(results)
        accumulators = results._client.get_accumulators().result()
    assert len(rows) == 24
    last = {row[0]: row for row in rows}
    assert last == {0: expected(range(24), 0), 1: expected(range(24), 1)}
    assert accumulators["numEpochs"] > 3
    assert accumulators["numRecordsIn"] == accumulators["numRecordsOut"] == 24


class Alarm(KeyedProcessFunction):
    """Set a timer on the worker's clock for each record."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 300)
        return [("set", value)]

    def on_timer(self, timestamp, ctx):
        return [("rang", ctx.get_current_key())]


@pytest.mark.on_spark
def test_processing_time_timers_fire_without_input(make_env):
    env = make_env()
    stream = env.from_source(SilentSource(), NO_WATERMARKS, "silent").key_by(lambda v: v).process(Alarm())
    started = time.monotonic()
    with stream.execute_and_collect() as results:
        assert next(results) == ("set", "only")
        assert next(results) == ("rang", "only")
    assert time.monotonic() - started > 0.25


def test_pending_processing_time_timers_are_dropped_when_bounded_input_ends(make_env):
    env = make_env()
    stream = env.from_collection([1, 2]).key_by(lambda v: v).process(Alarm())
    assert stream.execute_and_collect(limit=10) == [("set", 1), ("set", 2)]


class Deadline(KeyedProcessFunction):
    """Both kinds of timer in one function."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(5)
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 50)

    def on_timer(self, timestamp, ctx):
        yield ctx.time_domain().name, ctx.get_current_key()


def test_event_time_and_processing_time_timers_work_in_one_function(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    stream = env.from_source(PacedSource(20, 0.02), NO_WATERMARKS, "paced").key_by(lambda v: "all").process(Deadline())
    with stream.execute_and_collect() as results:
        rows = list(results)
    assert rows.count(("EVENT_TIME", "all")) == 1
    assert ("PROCESSING_TIME", "all") in rows


@pytest.mark.on_spark
def test_a_job_without_end_is_cancelled_by_its_client(make_env):
    env = make_env()
    env.from_source(PacedSource(None, 0.01), NO_WATERMARKS, "paced").map(lambda v: v)
    client = env.execute_async("endless")
    wait_for_numbers(client, numRecordsIn=1)
    assert client.get_job_status().result().name == "RUNNING"
    client.cancel().result()
    assert client.get_job_status().result().name == "CANCELED"
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()


class Inverse(MapFunction):
    def map(self, value):
        return 1 / (value - 3)


@pytest.mark.on_spark
def test_a_users_exception_comes_back_with_the_operator_and_the_record(make_env):
    env = make_env()
    env.from_collection([1, 2, 3, 4]).map(Inverse()).name("invert").print()
    with pytest.raises(ZeroDivisionError) as failure:
        env.execute()
    assert "operator 'invert', subtask 1 while processing 3" in str(failure.value.__cause__)
    assert "in map\n    return 1 / (value - 3)" in str(failure.value.__cause__)
    assert notes(failure.value) == ["in operator 'invert', subtask 1 while processing 3"]


def test_the_environment_runs_again_after_a_failure(make_env):
    env = make_env()
    env.from_collection([3]).map(Inverse()).print()
    with pytest.raises(ZeroDivisionError):
        env.execute()
    assert env.from_collection([1, 2]).map(lambda v: v + 1).execute_and_collect(limit=5) == [2, 3]


def test_what_is_emitted_does_not_change_when_the_function_changes_it_later(make_env):
    class Batches(KeyedProcessFunction):
        def open(self, runtime_context):
            self.buffer = []

        def process_element(self, value, ctx):
            self.buffer.append(value)
            if len(self.buffer) == 2:
                yield self.buffer
                self.buffer.clear()

    env = make_env()
    stream = env.from_collection(range(6)).key_by(lambda v: 0).process(Batches()).map(lambda b: b)
    assert stream.execute_and_collect(limit=9) == [[0, 1], [2, 3], [4, 5]]


def test_two_consumers_do_not_see_each_others_changes(make_env):
    def spoil(record):
        record["spoiled"] = True
        return record

    env = make_env()
    stream = env.from_collection([{"n": 1}])
    both = stream.map(spoil).union(stream.map(lambda record: record))
    assert sorted(both.execute_and_collect(limit=9), key=len) == [{"n": 1}, {"n": 1, "spoiled": True}]


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_an_aligned_source_waits_for_the_slowest_one_of_its_group(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    aligned = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    aligned = aligned.with_watermark_alignment("group", Duration.of_millis(50), Duration.of_millis(20))

    def paced(name, step):
        source = env.from_source(PacedSource(16, 0.01), NO_WATERMARKS, name)
        return source.map(lambda n: (name, n * step)).assign_timestamps_and_watermarks(aligned)

    stream = paced("slow", 10).union(paced("fast", 1000)).map(lambda v: (*v, time.monotonic()))
    with stream.execute_and_collect() as results:
        rows = list(results)
    assert len(rows) == 32
    end_of_slow = max(at for name, _, at in rows if name == "slow")
    early = [at for name, _, at in rows if name == "fast" and at < end_of_slow]
    assert len(early) < 16


class AtItsTimestamp(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        yield timestamp


def test_an_idle_source_does_not_hold_back_event_time(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    env.get_config().set_auto_watermark_interval(10)
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    silent = env.from_source(SilentSource(), NO_WATERMARKS, "silent").map(lambda v: (v, 0))
    lively = env.from_source(PacedSource(None, 0.02), NO_WATERMARKS, "lively").map(lambda n: ("n", n * 10 + 10))
    timers = (
        silent.assign_timestamps_and_watermarks(by_time.with_idleness(Duration.of_millis(100)))
        .union(lively.assign_timestamps_and_watermarks(by_time))
        .key_by(lambda v: v[0])
        .process(AtItsTimestamp())
    )
    with timers.execute_and_collect() as results:
        assert [next(results) for _ in range(4)] == [0, 10, 20, 30]


def epochs_of(env, timeout=None):
    numbers = env.from_source(PacedSource(40, 0.005), NO_WATERMARKS, "numbers")
    doubled = numbers.map(lambda n: n * 2)
    if timeout is not None:
        doubled.set_buffer_timeout(timeout)
    doubled.print()
    return env.execute().get_all_accumulator_results()["numEpochs"]


def test_a_buffer_timeout_bounds_epochs(make_inline_env):
    env = make_inline_env(1, {"flintstream.epoch.max-duration": "1 h"})
    unbounded = epochs_of(env)
    assert unbounded < 4
    assert epochs_of(env, 20) > 4
    assert epochs_of(env, -1) < 4
    assert env.set_buffer_timeout(20).get_buffer_timeout() == 20
    assert epochs_of(env) > 4
    assert epochs_of(env, 10_000) > 4


def test_a_buffer_timeout_is_a_number_of_milliseconds(make_inline_env):
    env = make_inline_env(1)
    with pytest.raises(ValueError, match=r"-1 \(none\) or more ms, but got -2"):
        env.set_buffer_timeout(-2)
    with pytest.raises(ValueError, match=r"timeout of 'Map' must be -1 \(none\) or more ms, got -2"):
        env.from_collection([1]).map(lambda n: n).set_buffer_timeout(-2)


def test_steps_without_a_uid_are_refused_where_none_shall_be_made(make_inline_env):
    env = make_inline_env(1)
    env.get_config().disable_auto_generated_uids()
    numbers = env.from_collection([1]).uid("numbers").map(lambda n: n)
    numbers.print().uid("out")
    with pytest.raises(PlanError, match=r"^'Map' must have a uid, because disable_auto_generated_uids"):
        env.execute()
    numbers.uid("map")
    env.execute()
