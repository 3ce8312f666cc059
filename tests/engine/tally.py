"""A program with every kind of state, whose output shows whether any record was lost or counted twice."""

from __future__ import annotations

from pathlib import Path

from tests.engine.sources import PacedSource

from flintstream.common import Duration, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, MapFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.testing import CollectSink

KEYS = 5


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class FailOnce(MapFunction):
    """Fail at one value, while a file does not exist."""

    def __init__(self, value, marker):
        self.value = value
        self.marker = Path(marker)

    def map(self, value):
        if value == self.value and not self.marker.exists():
            self.marker.touch()
            raise ValueError("this time it fails")
        return value


class Millis(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Tally(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.last = runtime_context.get_map_state(MapStateDescriptor("last", Types.STRING(), Types.LONG()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))
        self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Sum(), Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        self.last.put(f"{value % 3}", value)
        self.sum.add(value)
        self.mean.add(value)
        ctx.timer_service().register_event_time_timer(10_000 + value)
        yield self.row(ctx.get_current_key())

    def row(self, key):
        return (key, self.count.value(), sum(self.seen.get()), dict(self.last.items()), self.sum.get(), self.mean.get())

    def on_timer(self, timestamp, ctx):
        yield ("timer", timestamp - 10_000)


def expected(numbers):
    rows: list[tuple] = [("timer", n) for n in numbers]
    for key in range(KEYS):
        mine = [n for n in numbers if n % KEYS == key]
        for count in range(1, len(mine) + 1):
            seen = mine[:count]
            last = {f"{n % 3}": n for n in seen}
            rows.append((key, count, sum(seen), last, sum(seen), sum(seen)))
    return ordered(rows)


def ordered(rows):
    return sorted(rows, key=repr)


def tally(env, limit=40, pause=0.01, *, fail_at=None, marker=None, sink=None, hold=None, hurry=None):
    """Add the program to an environment and return its sink."""
    sink = sink or CollectSink()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1)).with_timestamp_assigner(Millis())
    numbers = env.from_source(PacedSource(limit, pause, hold, hurry), WatermarkStrategy.no_watermarks(), "paced").uid(
        "numbers"
    )
    numbers = numbers.assign_timestamps_and_watermarks(strategy).uid("watermarks")
    if fail_at is not None:
        numbers = numbers.map(FailOnce(fail_at, str(marker))).uid("fails")
    tallied = numbers.key_by(lambda n: n % KEYS).process(Tally()).uid("tally")
    tallied.sink_to(sink).uid("sink")
    return sink
