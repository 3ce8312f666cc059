from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Duration, Instant, Time


@pytest.mark.parametrize(
    ("duration", "nanos"),
    [
        (Duration.of_days(1), 86_400_000_000_000),
        (Duration.of_hours(1), 3_600_000_000_000),
        (Duration.of_minutes(1), 60_000_000_000),
        (Duration.of_seconds(1), 1_000_000_000),
        (Duration.of_millis(1), 1_000_000),
        (Duration.of_nanos(1), 1),
    ],
)
def test_a_duration_counts_its_unit(duration: Duration, nanos: int):
    assert duration.to_nanos() == nanos
    assert duration == Duration.of_nanos(nanos)
    assert hash(duration) == hash(Duration.of_nanos(nanos))


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("10 s", 10_000),
        ("10s", 10_000),
        ("250", 250),
        (" 3 min ", 180_000),
        ("2 h", 7_200_000),
        ("1 d", 86_400_000),
        ("7 MILLISECONDS", 7),
        ("5000 us", 5),
        ("1000000 ns", 1),
        ("PT1M30S", 90_000),
        ("pt0.25s", 250),
        ("PT-0.25S", -250),
        ("-PT1S", -1_000),
        ("P1DT2H", 93_600_000),
    ],
)
def test_durations_are_read_as_flink_writes_them(text: str, millis: int):
    assert Duration.parse(text) == Duration.of_millis(millis)


@pytest.mark.parametrize("text", ["", "s", "10 parsecs", "P", "PT", "1.5 s", "-5 s"])
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(text)


@pytest.mark.parametrize("value", [1.5, True, "5", None])
def test_a_duration_counts_whole_units(value: Any):
    with pytest.raises(TypeError, match="whole number of units"):
        Duration(value)


@given(st.integers(-(10**15), 10**15))
def test_the_text_of_a_duration_in_milliseconds_can_be_read_again(millis: int):
    duration = Duration.of_millis(abs(millis))
    assert Duration.parse(str(duration)) == duration
    assert Duration.of_millis(millis).to_millis() == millis


def test_durations_add_compare_and_convert():
    assert Duration.of_seconds(1) + Duration.of_millis(5) == Duration.of_millis(1005)
    assert Duration.of_seconds(1) - Duration.of_millis(5) == Duration.of_millis(995)
    assert Duration.of_seconds(1) < Duration.of_minutes(1)
    assert Duration.of_millis(1500).to_timedelta() == timedelta(seconds=1.5)
    assert not Duration.of_millis(0)
    assert (str(Duration.of_nanos(5)), repr(Duration.of_seconds(1))) == ("5 ns", "Duration('1000 ms')")
    for value in (Duration.of_seconds(5), Time.seconds(5), timedelta(seconds=5), 5000, "5 s"):
        assert Duration.of(value) == Duration.of_seconds(5)
    assert Duration.of(Time.minutes(0.1)) == Duration.of_seconds(6)  # type: ignore[arg-type]  # as public programs write
    with pytest.raises(TypeError):
        _ = Duration.of_seconds(1) + 5


def test_a_time_is_a_number_of_milliseconds():
    times = [Time.milliseconds(5), Time.seconds(1), Time.minutes(1), Time.hours(1), Time.days(1)]
    assert [time.to_milliseconds() for time in times] == [5, 1_000, 60_000, 3_600_000, 86_400_000]
    assert (str(Time.seconds(1)), repr(Time.seconds(1))) == ("1000 ms", "Time('1000 ms')")
    assert Time.seconds(1) == Time.milliseconds(1000)
    assert hash(Time.seconds(1)) == hash(Time.milliseconds(1000))
    assert Time.seconds(1) != 1000


@given(st.integers(-(10**15), 10**15))
def test_an_instant_gives_back_its_milliseconds_also_before_1970(millis: int):
    assert Instant.of_epoch_milli(millis).to_epoch_milli() == millis


@given(st.integers(-(10**15), 10**15), st.integers(-(10**15), 10**15))
def test_instants_are_ordered_as_their_milliseconds(one: int, two: int):
    first, second = Instant.of_epoch_milli(one), Instant.of_epoch_milli(two)
    assert (first < second, first <= second, first == second) == (one < two, one <= two, one == two)


def test_an_instant_is_a_value():
    assert Instant(1, 5) == Instant(1, 5)
    assert Instant(1, 5) != (1, 5)
    assert len({Instant(1, 5), Instant(1, 5)}) == 1
    assert repr(Instant(-1, 999_000_000)) == "Instant<-1, 999000000>"


@pytest.mark.parametrize("value", [Duration.of_seconds(5), Time.seconds(5), Instant(1, 5)])
def test_times_survive_pickling_and_copying(value: object):
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
