"""What PyFlink takes although it looks wrong, a job here takes, too: recorded from PyFlink 2.3."""

from __future__ import annotations

import pytest

from flintstream.common import Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import MapFunction, StreamExecutionEnvironment
from flintstream.datastream.functions import ProcessWindowFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.testing.harness import KeyedHarness


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Counted(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, len(list(elements))


@pytest.fixture
def pairs():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    values = [("a", 1), ("a", 4), ("b", 2), ("a", 12), ("a", 3)]
    stream = env.from_collection(values, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return stream.assign_timestamps_and_watermarks(strategy)


def collected(stream):
    with stream.execute_and_collect() as results:
        return sorted(results)


def test_with_a_negative_lateness_no_record_is_late(pairs):
    windows = pairs.key_by(lambda value: value[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    assert collected(windows.allowed_lateness(-5).process(Counted())) == [
        ("a", 0, 10, 3),
        ("a", 10, 20, 1),
        ("b", 0, 10, 1),
    ]

    def sums(numbers):
        keyed = numbers.key_by(lambda number: 0)
        return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(-1).reduce(sum_of)

    with KeyedHarness(sums) as harness:
        harness.process_element(1, 3)
        harness.process_watermark(1_000_000)
        harness.process_element(2, 4)
        assert harness.extract_output_values() == [1, 3]


def sum_of(first, second):
    return first + second


def test_a_count_window_of_a_negative_size_has_one_record(pairs):
    windows = pairs.key_by(lambda value: value[0]).count_window(-1)
    assert collected(windows.reduce(sum_of)) == [("a", 1), ("a", 3), ("a", 4), ("a", 12), ("b", 2)]


@pytest.mark.parametrize(
    ("size", "slide", "sums"),
    [
        (-2, 0, [("a", 1), ("a", 3), ("a", 4), ("a", 16), ("b", 2)]),
        (2, -1, []),
        (3, -2, []),
        (0, -1, []),
        (-1, -1, []),
        (1, -1, [("a", 1), ("b", 2)]),
        (1, -3, [("a", 1), ("b", 2)]),
        (-1, 2, []),
        (0, 1, []),
    ],
)
@pytest.mark.filterwarnings("ignore:count_window.* loses records:UserWarning")
def test_count_windows_of_negative_sizes_and_slides_hold_what_they_hold_in_pyflink(pairs, size, slide, sums):
    windows = pairs.key_by(lambda value: value[0]).count_window(size, slide)
    assert collected(windows.reduce(lambda one, other: (one[0], one[1] + other[1]))) == sums


def test_a_count_window_that_loses_records_warns(pairs):
    with pytest.warns(UserWarning, match=r"count_window\(2, -1\) loses records"):
        pairs.key_by(lambda value: value[0]).count_window(2, -1)


def test_an_exception_of_close_is_a_warning(pairs, caplog):
    class Closing(MapFunction):
        def map(self, value):
            return value[1]

        def close(self):
            raise RuntimeError("the connection is gone")

    assert collected(pairs.map(Closing()).name("closing")) == [1, 2, 3, 4, 12]
    assert "operator 'closing': close() raised RuntimeError: the connection is gone" in caplog.text
