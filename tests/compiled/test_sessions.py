"""Session windows give the same results with and without compiled modules."""

from __future__ import annotations

import random

import pytest
from tests.datastream.inline import collect, make_env

from flintstream.common import Duration, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import AggregateFunction, ProcessWindowFunction
from flintstream.datastream.window import EventTimeSessionWindows
from flintstream.errors import notes
from flintstream.runtime.windows import fast_path

GAP = 20


class LastField(TimestampAssigner):
    def extract_timestamp(self, value, timestamp):
        return value[-1]


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        if value[1] == "bad":
            raise ValueError("a bad one")
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, list(elements)


def results(records, kind, lateness):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(15)).with_timestamp_assigner(
        LastField()
    )
    stream = make_env().from_collection(records).assign_timestamps_and_watermarks(strategy)
    windows = stream.key_by(lambda value: value[0]).window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP)))
    windows = windows.allowed_lateness(lateness)
    if kind == "list":
        return collect(windows.process(WithWindow()))
    if kind == "reduce":
        return collect(windows.reduce(lambda a, b: (a[0], a[1] + b[1], b[2]), WithWindow()))
    return collect(windows.aggregate(CountAndSum(), WithWindow(), Types.TUPLE([Types.LONG()] * 2)))


def times(kind):
    """Return records of three keys whose sessions start, grow at both ends, and merge; some are late."""
    draw = random.Random(5)
    far = 2**62 if kind == "far" else 0
    return [(draw.randrange(3), n, far + n * 3 + draw.randrange(-60, 25)) for n in range(600)]


@pytest.mark.parametrize("lateness", [0, 30])
@pytest.mark.parametrize("kind", ["list", "reduce", "aggregate"])
@pytest.mark.parametrize("near", ["near", "far"])
def test_sessions_grow_and_merge_as_without_compiled_modules(monkeypatch, kind, lateness, near):
    records = times(near)
    found = results(records, kind, lateness)
    monkeypatch.setattr(fast_path, "_compiled", None)
    assert found == results(records, kind, lateness)
    assert len(found) > 20


def test_an_error_names_the_record_that_was_added():
    records = [(1, 1, 0), (1, 2, 5), (1, "bad", 7), (1, 4, 8)]
    with pytest.raises(ValueError, match="a bad one") as raised:
        results(records, "aggregate", 0)
    assert "(1, 'bad', 7)" in "".join(notes(raised.value))
