"""How the watermarks of several channels are combined."""

from __future__ import annotations

import pytest

from flintstream.runtime.operators.watermarks import Valve
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP


class Watched:
    def __init__(self, channels="ab"):
        self.seen: list[int | str] = []
        self.valve = Valve(list(channels), self.seen.append, lambda idle: self.seen.append(f"idle {idle}"), print)

    def said(self):
        seen, self.seen[:] = list(self.seen), []
        return seen


@pytest.fixture
def watched():
    return Watched()


def test_the_lowest_channel_counts(watched):
    watched.valve.watermark("a", 5)
    assert watched.said() == []
    watched.valve.watermark("b", 3)
    assert watched.said() == [3]


def test_an_idle_channel_is_not_waited_for(watched):
    watched.valve.watermark("a", 5)
    watched.valve.idle("b", idle=True)
    assert watched.said() == [5]


def test_a_channel_that_has_ended_and_an_idle_one_do_not_end_event_time(watched):
    watched.valve.watermark("b", 7)
    watched.valve.watermark("a", MAX_TIMESTAMP)
    assert watched.said() == [7]
    watched.valve.idle("b", idle=True)
    assert watched.said() == ["idle True"]
    assert not watched.valve.ended
    watched.valve.watermark("b", 9)
    assert watched.said() == [9, "idle False"]
    watched.valve.watermark("b", MAX_TIMESTAMP)
    assert watched.said() == [MAX_TIMESTAMP]
    assert watched.valve.ended


def test_an_idle_channel_whose_neighbour_ends_is_idle_still(watched):
    watched.valve.idle("b", idle=True)
    watched.valve.watermark("a", MAX_TIMESTAMP)
    assert watched.said() == ["idle True"]
    assert watched.valve.combined == MIN_TIMESTAMP


def test_when_all_are_idle_the_highest_counts(watched):
    watched.valve.watermark("a", 5)
    watched.valve.watermark("b", 3)
    watched.valve.idle("b", idle=True)
    watched.valve.idle("a", idle=True)
    assert watched.said() == [3, 5, "idle True"]


def test_a_channel_that_wakes_up_behind_is_left_out_until_it_has_caught_up(watched):
    watched.valve.watermark("a", 5)
    watched.valve.idle("b", idle=True)
    watched.valve.watermark("b", 2)
    watched.valve.watermark("a", 6)
    assert watched.said() == [5, 6]
    watched.valve.watermark("b", 6)
    watched.valve.watermark("a", 9)
    assert watched.said() == []
    watched.valve.watermark("b", 8)
    assert watched.said() == [8]
