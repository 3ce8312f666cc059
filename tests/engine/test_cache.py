"""``DataStream.cache``: later jobs read the results of the first one."""

from __future__ import annotations

import pytest

from flintstream.common import Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import OutputTag, RuntimeExecutionMode
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import PlanError

NEGATIVE = OutputTag("negative", Types.INT())


class Log:
    """Append to a file, so that a test sees what jobs in other processes compute."""

    def __init__(self, path):
        self.path = path

    def __call__(self, value):
        with self.path.open("a") as file:
            file.write(f"{value}\n")
        return value * 10

    def computed(self):
        return sorted(map(int, self.path.read_text().split())) if self.path.exists() else []


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value < 0:
            yield NEGATIVE, value
        else:
            yield value


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


@pytest.fixture
def env(make_env, tmp_path):
    return make_env(2, {"flintstream.state.dir": str(tmp_path / "state")}).set_runtime_mode(RuntimeExecutionMode.BATCH)


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "computed")


def collected(stream):
    with stream.execute_and_collect() as results:
        return sorted(results)


@pytest.mark.on_spark
def test_only_the_first_job_computes_a_cached_stream(env, log):
    cached = env.from_collection([1, 2, 3]).rebalance().map(log).cache()
    assert collected(cached) == [10, 20, 30]
    assert collected(cached.map(lambda x: x + 1)) == [11, 21, 31]
    assert collected(cached.key_by(lambda x: x % 20).reduce(lambda a, b: a + b)) == [20, 40]
    assert log.computed() == [1, 2, 3]


def test_the_job_that_fills_the_cache_uses_it_as_often_as_it_likes(env, log):
    cached = env.from_collection([1, 2]).map(log).cache()
    assert collected(cached.map(lambda x: x + 1).union(cached)) == [10, 11, 20, 21]
    assert collected(cached) == [10, 20]
    assert log.computed() == [1, 2]


def test_an_invalidated_cache_is_computed_again(env, log):
    cached = env.from_collection([1, 2]).map(log).cache()
    for _ in range(2):
        assert collected(cached) == [10, 20]
        assert collected(cached) == [10, 20]
        cached.invalidate()
    assert log.computed() == [1, 1, 2, 2]


@pytest.mark.on_spark
def test_what_is_lost_is_computed_again(env, log, tmp_path):
    cached = env.from_collection([1, 2]).map(log).cache()
    collected(cached)
    for file in (tmp_path / "state").glob("flintstream-cache-*/*"):
        file.unlink()
    assert collected(cached) == [10, 20]
    assert log.computed() == [1, 1, 2, 2]


def test_a_job_that_fails_leaves_no_cache(env, log):
    cached = env.from_collection([1, 2]).map(log).cache()
    with pytest.raises(ZeroDivisionError):
        collected(cached.map(lambda x: 1 // 0))
    assert collected(cached) == [10, 20]
    assert log.computed() == [1, 1, 2, 2]


def test_a_cache_of_a_cache_needs_only_one_of_them(env, log):
    first = env.from_collection([1, 2]).map(log).cache()
    second = first.map(log).cache()
    assert collected(second) == [100, 200]
    first.invalidate()
    assert collected(second.map(lambda x: x)) == [100, 200]
    assert log.computed() == [1, 2, 10, 20]
    assert collected(first) == [10, 20]


def test_an_empty_stream_is_cached_too(env, log):
    cached = env.from_collection([1, 2]).map(log).filter(lambda x: x > 100).cache()
    assert collected(cached) == collected(cached) == []
    assert log.computed() == [1, 2]


def test_a_side_output_is_cached(env, log):
    split = env.from_collection([1, -2, -3]).process(Split())
    cached = split.get_side_output(NEGATIVE).map(log, Types.INT()).cache()
    side = split.get_side_output(NEGATIVE).cache()
    assert collected(cached) == collected(cached) == [-30, -20]
    assert collected(side) == collected(side) == [-3, -2]
    with pytest.raises(PlanError, match=r"has no side output .*negative.*: call get_side_output\(\) on the"):
        side.get_side_output(NEGATIVE)


def test_timestamps_are_kept(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    cached = env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy).cache()
    collected(cached)
    assert collected(cached.process(Stamped())) == [(1, 1000), (2, 2000)]


def test_closing_the_environment_deletes_what_is_cached(env, log, tmp_path):
    collected(env.from_collection([1, 2]).map(log).cache())
    assert list((tmp_path / "state").glob("flintstream-cache-*/*"))
    env.close()
    assert not list((tmp_path / "state").glob("flintstream-cache-*"))


def test_a_streaming_job_cannot_use_a_cache(make_inline_env):
    env = make_inline_env(1)
    env.from_collection([1]).map(lambda x: x).cache().print()
    with pytest.raises(
        PlanError, match=r"stream 'Map' is cached, which only BATCH jobs support: call env.set_runtime_mode"
    ):
        env.execute()


def test_only_what_a_step_computes_can_be_cached(make_inline_env):
    stream = make_inline_env(1).from_collection([1])
    with pytest.raises(PlanError, match="only forwards records: call it on the stream before"):
        stream.key_by(lambda x: x).cache()
