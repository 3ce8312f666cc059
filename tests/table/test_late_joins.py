"""Late rows in joins by time. The results are those of PyFlink 2.3 for the same rows, one by one, at parallelism 1."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

import datetime as dt

from flintstream.table._operators.joins.interval import IntervalJoin
from flintstream.table._operators.joins.temporal import TemporalJoin
from flintstream.testing.harness import TwoInputHarness

ROWS = (
    "1 l a 1; 101 r a 2; 2 l b 2; 102 r c 5; 3 l c 3; 103 r b 1; 4 l a 12; 104 r a 13; 5 l b 4; 6 l d 13; 105 r d 14; "
    "7 l c 1; 106 r b 3; 8 l a 11; 9 l b 25; 107 r e 27; 10 l a 24; 11 l c 26; 108 r b 26; 12 l d 2; 109 r a 3; "
    "13 l a 38; 14 l b 30; 110 r c 25; 15 l e 26; 16 l e 40; 111 r d 41; 17 l e 41; 112 r f 1; 18 l f 2"
)
"""Number, side, key and second of each row; after it, the watermark is a second before the latest one."""
NEAR = {(1, 101), (2, 103), (3, 102), (4, 104), (6, 105), (8, 104), (9, 108)}
LEFT_OVER = {(number, None) for number in (5, 7, *range(10, 19))}
RIGHT_OVER = {(None, number) for number in (106, 107, 109, 110, 111, 112)}
AFTER = {(4, 101), (5, 103), (8, 101), (10, 104), (14, 108), (16, 107), (17, 107)}
LATER = AFTER | {
    *((number, None) for number in (1, 2, 3, 6, 7, 9, 11, 12, 13, 15, 18)),
    *((None, number) for number in (102, 105, 106, 109, 110, 111, 112)),
}


def joined(function):
    """Return the numbers of both rows of each pair."""
    start = dt.datetime(2020, 1, 1)
    with TwoInputHarness(
        lambda left, right: left.connect(right).key_by(lambda r: r[1], lambda r: r[1]).process(function)
    ) as harness:
        latest = 0
        for row in ROWS.split("; "):
            number, side, key, second = row.split()
            given = (int(number), key, start + dt.timedelta(seconds=int(second)))
            (harness.process_element1 if side == "l" else harness.process_element2)(given)
            latest = max(latest, int(second))
            seconds = int(start.replace(tzinfo=dt.timezone.utc).timestamp()) + latest - 1
            harness.process_both_watermarks(seconds * 1000)
        harness.end_input()
        found = [(pair[0], pair[3]) for pair in harness.extract_output_values()]
    assert len(found) == len(set(found))
    return set(found)


def interval_join(lower, upper, *, outer=(False, False)):
    return IntervalJoin(
        bounds=(lower * 1000, upper * 1000),
        times=(2, 2),
        outer=outer,
        event_time=True,
        kinds=(False, False),
        widths=(3, 3),
        condition=None,
        keys=1,
    )


@pytest.mark.parametrize(
    ("outer", "expected"),
    [
        ((False, False), NEAR),
        ((True, False), NEAR | LEFT_OVER),
        ((False, True), NEAR | RIGHT_OVER),
        ((True, True), NEAR | LEFT_OVER | RIGHT_OVER),
    ],
)
def test_late_rows_meet_what_has_not_left_yet(outer, expected):
    assert joined(interval_join(-3, 3, outer=outer)) == expected


def test_late_rows_of_a_long_interval_meet_earlier_ones():
    assert joined(interval_join(-20, 0)) == AFTER


def test_rows_of_an_interval_that_does_not_begin_at_once_wait_for_each_other():
    assert joined(interval_join(-15, -1, outer=(True, True))) == LATER


def test_late_rows_get_the_version_of_their_time_if_it_is_still_known():
    function = TemporalJoin(times=(2, 2), outer=True, kinds=(False, False), widths=(3, 3), condition=None, keys=1)
    versions = dict(joined(function))
    assert {number: versions[number] for number in (4, 10, 11, 14, 16, 17)} == {
        4: 101, 10: 104, 11: 102, 14: 108, 16: 107, 17: 107,
    }  # fmt: skip
    assert [versions[number] for number in (1, 2, 3, 7, 12, 15)] == [None] * 6
