# mypy: disable-error-code="import-not-found,import-untyped"
"""Programs with watermarks between the records: every record is followed by a pause that lets one through.

The pauses are in a function; bundles of one record keep PyFlink from holding the records back. The results depend only
on the clock: the pauses are long enough to be reliable.
"""

import time

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessWindowFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from tests.conformance.registry import program

PACED = {"python.fn-execution.bundle.size": "1", "pipeline.auto-watermark-interval": "10 ms"}
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, sorted(e[1] for e in elements), context.current_watermark()


def paced(env, records, *, exchange=False):
    """Return records with a pause before each. The source is a new one: the old ones keep watermarks back meanwhile."""

    def pause(index):
        time.sleep(0.4)
        return records[index]

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    source = NumberSequenceSource(0, len(records) - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    if exchange:
        numbers = numbers.key_by(lambda index: 0, Types.INT())
    stream = numbers.map(pause, PAIR).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda t: t[0], Types.STRING())


@program(config=PACED)
def late_records_go_to_the_side_output(env):
    """Late but allowed records fire their window again immediately."""
    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))
    records = [("a", 1), ("a", 12), ("a", 3), ("a", 16), ("a", 4), ("a", 30)]
    windows = paced(env, records).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    main = windows.allowed_lateness(5).side_output_late_data(late).process(Bounds())
    return [main, main.get_side_output(late)]


@program(config=PACED)
def late_records_are_dropped(env):
    records = [("a", 1), ("a", 10), ("a", 9), ("a", 11), ("a", 22), ("b", 8)]
    return paced(env, records).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Bounds())


@program(config=PACED)
def sessions_with_watermarks_between(env):
    records = [("a", 1), ("a", 3), ("a", 20), ("a", 22), ("a", 50)]
    return paced(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).process(Bounds())


@program(config={**PACED, "pipeline.auto-watermark-interval": "100 ms"})
def watermarks_come_between_the_records_of_a_slow_function_behind_an_exchange(env):
    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))
    records = [("a", 1), ("a", 12), ("a", 3), ("a", 16), ("a", 4), ("a", 30)]
    windows = paced(env, records, exchange=True).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    main = windows.allowed_lateness(5).side_output_late_data(late).process(Bounds())
    return [main, main.get_side_output(late)]


class Watermarks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        yield "element", value[1], ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield "timer", timestamp, ctx.timer_service().current_watermark()


@program(config=PACED)
def timers_with_watermarks_between(env):
    """A timer below the watermark waits for the next advance of the watermark."""
    return paced(env, [("a", 10), ("a", 20), ("a", 13), ("a", 40)]).process(Watermarks())
