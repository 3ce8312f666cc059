"""The clock of processing time is the same object after a way through pickle."""

from __future__ import annotations

import pickle
import time

from flintstream.common._clock import another_clock, wall_clock


def test_the_clock_tells_the_time_in_ms():
    before = time.time_ns() // 1_000_000
    assert before <= wall_clock() <= time.time_ns() // 1_000_000


def test_a_pickled_clock_is_that_of_the_process_that_reads_it():
    read = pickle.loads(pickle.dumps(wall_clock))
    with another_clock(lambda: 42):
        assert read() == wall_clock() == 42
