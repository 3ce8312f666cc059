from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Duration, WatermarkStrategy
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.common.watermark_strategy import (
    BoundedOutOfOrdernessWatermarks,
    NoWatermarksGenerator,
    TimestampAssigner,
    WatermarkAlignment,
    WatermarkGenerator,
    WatermarkOutput,
)


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]


class Output:
    def __init__(self) -> None:
        self.emitted: list[int] = []

    def emit_watermark(self, timestamp: int) -> None:
        self.emitted.append(timestamp)

    def mark_idle(self) -> None:
        raise AssertionError

    def mark_active(self) -> None:
        raise AssertionError


class Punctuated(WatermarkGenerator):
    def on_event(self, value: Any, timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


def run(generator: WatermarkGenerator, timestamps: list[int]) -> list[int]:
    output = Output()
    generator.on_periodic_emit(output)
    for timestamp in timestamps:
        generator.on_event(None, timestamp, output)
        generator.on_periodic_emit(output)
    return output.emitted


def test_the_watermark_trails_the_largest_timestamp_by_the_bound_and_one():
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))
    assert run(strategy.create_generator(), [10, 7, 20]) == [MIN_LONG_VALUE, 4, 4, 14]


def test_monotonous_timestamps_are_the_bound_of_zero():
    generator = WatermarkStrategy.for_monotonous_timestamps().create_generator()
    assert isinstance(generator, BoundedOutOfOrdernessWatermarks)
    assert generator.delay_ms == 0
    assert run(generator, [10]) == [MIN_LONG_VALUE, 9]


def test_no_watermarks_are_none():
    generator = WatermarkStrategy.no_watermarks().create_generator()
    assert isinstance(generator, NoWatermarksGenerator)
    assert run(generator, [1, 2, 3]) == []


def test_a_generator_of_ones_own_is_made_anew_each_time():
    strategy = WatermarkStrategy.for_generator(Punctuated)
    assert strategy.create_generator() is not strategy.create_generator()
    assert run(strategy.create_generator(), [3, 5]) == [3, 5]


def test_setting_the_assigner_changes_the_strategy_itself_as_in_pyflink():
    strategy = WatermarkStrategy.no_watermarks()
    assigner = Second()
    assert strategy.with_timestamp_assigner(assigner) is strategy
    assert strategy.timestamp_assigner is assigner


def test_idleness_and_alignment_make_a_new_strategy_that_keeps_the_assigner_unlike_in_pyflink():
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    idle = strategy.with_idleness(Duration.of_minutes(1))
    aligned = idle.with_watermark_alignment("g", Duration.of_seconds(20), Duration.of_seconds(2))
    assert strategy.idle_timeout_ms is None
    assert idle is not strategy
    assert aligned.timestamp_assigner is strategy.timestamp_assigner
    assert (aligned.idle_timeout_ms, aligned.alignment) == (60_000, WatermarkAlignment("g", 20_000, 2_000))
    assert aligned.with_idleness(Duration.of_seconds(1)).alignment == aligned.alignment
    assert isinstance(aligned.create_generator(), BoundedOutOfOrdernessWatermarks)


def test_alignment_is_checked_every_second_by_default():
    strategy = WatermarkStrategy.no_watermarks().with_watermark_alignment("g", Duration.of_seconds(1))
    assert strategy.alignment == WatermarkAlignment("g", 1_000, 1_000)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1)), ValueError),
        (lambda: WatermarkStrategy.no_watermarks().with_idleness(Duration.of_millis(0)), ValueError),
        (lambda: WatermarkStrategy.for_generator(Punctuated()), TypeError),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_when_the_program_is_built(make, error):
    with pytest.raises(error):
        make()


@given(st.integers(0, 10**6), st.lists(st.integers(MIN_LONG_VALUE // 2, 2**62)))
def test_the_built_in_watermark_never_goes_back_nor_below_the_smallest(delay: int, timestamps: list[int]):
    emitted = run(BoundedOutOfOrdernessWatermarks(delay), timestamps)
    assert emitted == sorted(emitted)
    assert emitted[0] == MIN_LONG_VALUE


def test_strategies_and_generators_survive_pickling():
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(Second())
    again = pickle.loads(pickle.dumps(strategy))
    assert again.timestamp_assigner.extract_timestamp(("a", 7), -1) == 7
    generator = again.create_generator()
    run(generator, [10])
    assert run(pickle.loads(pickle.dumps(generator)), []) == [4]
