"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Time, Types
from pyflink.datastream.functions import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

from benchmarks.sources import in_event_time, numbers
from benchmarks.workloads.windows import GAP, SIZE, SLIDE, in_bursts, steady

ASSIGNERS = {
    "tumbling": lambda: TumblingEventTimeWindows.of(Time.milliseconds(SIZE)),
    "sliding": lambda: SlidingEventTimeWindows.of(Time.milliseconds(SIZE), Time.milliseconds(SLIDE)),
    "session": lambda: EventTimeSessionWindows.with_gap(Time.milliseconds(GAP)),
}


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        for count, total in elements:
            yield key, window.start, window.end, count, total


def build(env, run):
    half = run.half
    event = in_bursts if run.settings["kind"] == "session" else steady
    events = numbers(env, run.records).map(lambda n: event(n, half), output_type=Types.TUPLE([Types.LONG()] * 3))
    return (
        in_event_time(events)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .window(ASSIGNERS[run.settings["kind"]]())
        .aggregate(
            CountAndSum(),
            WithWindow(),
            accumulator_type=Types.TUPLE([Types.LONG()] * 2),
            output_type=Types.TUPLE([Types.LONG()] * 5),
        )
    )
