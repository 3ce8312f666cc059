"""Texts of times: what Java's DateTimeFormatter and SimpleDateFormat write, and invalid patterns."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from tests.table.support import environment

from flintstream.table._errors import SqlError
from flintstream.table._expressions.times.helpers import from_unixtime, unix_timestamp
from flintstream.table._expressions.times.patterns import format_date
from flintstream.table._expressions.times.texts import format_text, read_timestamp

NOON = datetime(2020, 2, 29, 12, 0, 5, 678901)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("ppH|pppd|ppppMMM", "12| 29| Feb"),
        ("[z]yyyy[ X[ H]]", "2020"),
        ("yyyyy Y YY G GGGG GGGGG", "02020 2020 20 AD Anno Domini A"),
        ("Q QQ QQQ QQQQ qqqqq", "1 01 Q1 1st quarter 1"),
        ("E EEEE EEEEE e ee c cccc", "Sat Saturday S 7 07 7 Saturday"),
        ("B, BBBBB", "noon, n"),
        ("F W w D DDD g", "1 5 9 60 060 58908"),
        ("A N n SSS", "43205678 43205678901000 678901000 678"),
        ("'a''b' ''", "a'b '"),
    ],
)
def test_date_format_writes_what_a_date_time_formatter_writes(pattern, text):
    assert format_date(NOON, pattern) == text


@pytest.mark.parametrize(
    "pattern", ["b", "z", "VV", "p", "pp ", "'", "]", "{", "yyyyyyyyyyyyyyyyyyyyy", "SSSSSSSSSS", "HHH", "[HHH]"]
)
def test_a_date_format_that_java_refuses_is_refused_in_words(pattern):
    with pytest.raises(ValueError, match=r"DATE_FORMAT|quote"):
        format_date(NOON, pattern)


def test_a_number_that_is_wider_than_its_padding_is_refused():
    assert format_date(NOON.replace(hour=1), "pH") == "1"
    with pytest.raises(ValueError, match="cannot pad '12' to 1"):
        format_date(NOON, "pH")


@pytest.mark.parametrize(
    ("zone", "pattern", "text"),
    [
        ("UTC", "z|zzzz|Z|X|XX|XXX", "UTC|Coordinated Universal Time|+0000|Z|Z|Z"),
        ("Europe/Berlin", "z|Z|X|XX|XXX", "CEST|+0200|+02|+0200|+02:00"),
        ("Asia/Kolkata", "z|Z|X|XX|XXX", "IST|+0530|+05|+0530|+05:30"),
        ("GMT-03:30", "z|Z|X|XX|XXX", "GMT-03:30|-0330|-03|-0330|-03:30"),
        ("UTC", "u F yy MMMMM LLL SSSS ''''[{#", "7 2 20 September Sep 0000 ''[{#"),
    ],
)
def test_from_unixtime_writes_what_a_simple_date_format_writes(zone, pattern, text):
    assert from_unixtime(zone, 1_600_000_000, pattern) == text


@pytest.mark.parametrize("pattern", ["n", "XXXX", "VV", "Q", "'a", "p"])
def test_a_simple_date_format_that_java_refuses_is_refused_in_words(pattern):
    with pytest.raises(ValueError, match=r"FROM_UNIXTIME|quote"):
        from_unixtime("UTC", 0, pattern)


def test_date_format_reads_texts_leniently_and_the_others_are_null():
    assert format_text("2020-13-45 24:61:61 x", "yyyy-MM-dd HH:mm:ss") == "2021-02-15 01:02:01"
    assert format_text("2020-01-31", "yyyy") is None
    assert format_text("99999-01-01 00:00:00", "yyyy") == "99999"
    assert format_text("9" * 5000, "yyyy") is None


@pytest.mark.parametrize(
    "expression",
    ["DATE_FORMAT(LOCALTIMESTAMP, 'b')", "DATE_FORMAT(s, 'Q')", "FROM_UNIXTIME(1, 'XXXX')", "FROM_UNIXTIME(1, '''')"],
)
def test_an_invalid_constant_pattern_is_refused_when_planned(expression):
    t_env = environment("BATCH")
    with pytest.raises(SqlError, match=r"DATE_FORMAT|FROM_UNIXTIME|quote"):
        t_env.sql_query(f"SELECT {expression} FROM (VALUES ('2020-01-01 00:00:00')) AS t (s)")


@pytest.mark.parametrize(
    ("text", "pattern", "strict", "lenient"),
    [
        ("11/01/10", "MM/dd/yy", "2010-11-01", "2010-11-01"),
        ("11/01/70", "MM/dd/yy", "2070-11-01", "1970-11-01"),
        ("11/01/1970", "MM/dd/yy", None, "1970-11-01"),
        ("11/01/1970", "M/d/y", "1970-11-01", "1970-11-01"),
        ("11/01/10", "M/d/y", "0010-11-01", None),
        ("11/01/10", "MM/dd/yyyy", None, None),
        ("1/1/10", "MM/dd/yy", None, "2010-01-01"),
        ("2024-13-01", "yyyy-MM-dd", None, "2025-01-01"),
        ("20240105", "yyyyMMdd", "2024-01-05", "2024-01-05"),
    ],
)
def test_texts_are_read_as_java_reads_them(text, pattern, strict, lenient):
    """TO_TIMESTAMP is strict; UNIX_TIMESTAMP is lenient (None: not recorded)."""
    found = read_timestamp(text, pattern)
    assert (None if found is None else str(found.date())) == strict
    if lenient is not None:
        seconds = unix_timestamp("UTC", text, pattern)
        assert str(datetime.fromtimestamp(seconds, timezone.utc).date()) == lenient
