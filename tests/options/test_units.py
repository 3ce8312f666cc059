"""Durations and memory sizes in the format of Flink's configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Duration
from flintstream.datastream import MemorySize
from flintstream.options.units import duration_text, parse_bytes, parse_nanos, size_text

MS = 1_000_000
SECOND = 1_000 * MS


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("250", 250 * MS),
        ("5 s", 5 * SECOND),
        ("5s", 5 * SECOND),
        (" 5\tS ", 5 * SECOND),
        ("500 ms", 500 * MS),
        ("1 min", 60 * SECOND),
        ("PT5S", 5 * SECOND),
        ("pt1m30.5s", 90_500 * MS),
        ("P1DT1H", 90_000 * SECOND),
        ("-PT5S", -5 * SECOND),
        *((f"2 {unit}", 2 * 86_400 * SECOND) for unit in ("d", "day", "days")),
        *((f"2 {unit}", 2 * 3_600 * SECOND) for unit in ("h", "hour", "hours")),
        *((f"2 {unit}", 120 * SECOND) for unit in ("m", "min", "minute", "minutes")),
        *((f"2 {unit}", 2 * SECOND) for unit in ("s", "sec", "secs", "second", "seconds")),
        *((f"2 {unit}", 2 * MS) for unit in ("ms", "milli", "millis", "millisecond", "milliseconds")),
        *(
            (f"2 {unit}", 2_000)
            for unit in ("us", "\u00b5s", "\u03bcs", "micro", "micros", "microsecond", "microseconds")
        ),
        *((f"2 {unit}", 2) for unit in ("ns", "nano", "nanos", "nanosecond", "nanoseconds")),
    ],
)
def test_a_duration_may_be_written_in_all_forms_of_flink(text, nanos):
    assert parse_nanos(text) == Duration.parse(text).to_nanos() == nanos


@pytest.mark.parametrize(
    "text", ["", "s", "5 parsecs", "1.5 s", "-5 s", "5 s s", "1_000", "P", "PT", "\u0665 s", "5 \u017f"]
)
def test_other_texts_are_no_durations(text):
    with pytest.raises(ValueError, match="is not a duration: write it like '10 s'"):
        parse_nanos(text)


@pytest.mark.parametrize("form", ["{}", "{} s", "P{}D", "PT{}S", "PT-{}H", "PT1M{}S"])
def test_a_duration_of_thousands_of_digits_is_refused_as_others_are(form):
    with pytest.raises(ValueError, match="is not a duration: write it like '10 s'"):
        parse_nanos(form.format("9" * 5000))
    assert parse_nanos(f"{10**39} ns") == 10**39


@given(st.integers(0, 10**20))
def test_a_printed_duration_parses_back(nanos):
    assert parse_nanos(duration_text(nanos)) == nanos
    assert parse_nanos(str(Duration.of_nanos(nanos))) == nanos


@given(st.integers(1, 10**6), st.sampled_from(["d", "h", "min", "s", "ms", "us", "ns"]))
def test_a_duration_is_printed_in_the_largest_unit_that_fits(amount, unit):
    text = f"{amount} {unit}"
    assert int(duration_text(parse_nanos(text)).split()[0]) <= amount


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("64 mb", 64 << 20),
        ("64MB", 64 << 20),
        *((f"3 {unit}", 3) for unit in ("b", "bytes")),
        *((f"3 {unit}", 3 << 10) for unit in ("k", "kb", "kibibytes")),
        *((f"3 {unit}", 3 << 20) for unit in ("m", "mb", "mebibytes")),
        *((f"3 {unit}", 3 << 30) for unit in ("g", "gb", "gibibytes")),
        *((f"3 {unit}", 3 << 40) for unit in ("t", "tb", "tebibytes")),
    ],
)
def test_a_size_may_be_written_in_all_forms_of_flink(text, size):
    assert parse_bytes(text) == MemorySize.parse(text).get_bytes() == size


@pytest.mark.parametrize("text", ["", "mb", "64 megs", "1.5 gb", "-1", "64 mb mb", "5 \u212a"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(ValueError, match="is not a memory size: write it like"):
        parse_bytes(text)


@pytest.mark.parametrize("form", ["{}", "{} mb"])
def test_a_size_of_thousands_of_digits_is_refused_as_others_are(form):
    with pytest.raises(ValueError, match="is not a memory size: write it like"):
        parse_bytes(form.format("9" * 5000))
    assert parse_bytes(f"{10**39}") == 10**39


@given(st.integers(0, 2**63 - 1))
def test_a_printed_size_parses_back(size):
    assert parse_bytes(size_text(size)) == size
    assert parse_bytes(str(MemorySize(size))) == size
