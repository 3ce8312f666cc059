"""Windows that have fired do not fire again after a restart from a savepoint without lateness."""

from __future__ import annotations

import pytest

from flintstream.common import Time
from flintstream.datastream import ProcessWindowFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.testing.harness import KeyedHarness


class Sum(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sum(value for _, value in elements)


def windows(lateness_ms, *, reduced):
    def build(stream):
        found = stream.key_by(lambda record: record[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
        found = found.allowed_lateness(lateness_ms)
        return found.reduce(lambda a, b: (a[0], a[1] + b[1])) if reduced else found.process(Sum())

    return build


@pytest.mark.parametrize("reduced", [True, False], ids=["reduced", "listed"])
def test_a_window_that_has_fired_does_not_fire_again_without_lateness(reduced):
    with KeyedHarness(windows(500, reduced=reduced)) as harness:
        harness.process_element(("a", 1), 0)
        harness.process_watermark(999)
        assert harness.extract_output_values() == [("a", 1)]
        saved = harness.snapshot()
    with KeyedHarness(windows(0, reduced=reduced)) as harness:
        harness.initialize_state(saved)
        harness.process_watermark(5_000)
        assert harness.extract_output_values() == []
