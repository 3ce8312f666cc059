# mypy: disable-error-code="import-not-found,import-untyped"
"""Timestamps and watermarks."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction
from tests.conformance.registry import program

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class AfterTheFormer(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 1000


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


@program(("STREAMING", "BATCH"))
def monotonous_timestamps(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    return env.from_collection([("a", 7), ("b", 9)], PAIR).assign_timestamps_and_watermarks(strategy).process(Show())


@program(parallelism=(1, 2), ordering="multiset")
def timestamps_survive_functions_and_exchanges(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(
        SecondField()
    )
    stream = env.from_collection([("a", 7), ("b", 9), ("c", 8)], PAIR).assign_timestamps_and_watermarks(strategy)
    return stream.map(lambda t: t[0]).rebalance().flat_map(lambda c: [c, c + c]).process(Show())


@program()
def timestamps_assigned_twice(env):
    """The second assigner sees the timestamps of the first one."""
    first = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    second = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(AfterTheFormer())
    stream = env.from_collection([("a", 7), ("b", 9)], PAIR).assign_timestamps_and_watermarks(first)
    return stream.assign_timestamps_and_watermarks(second).process(Show())


@program()
def no_watermarks_still_end(env):
    """The end of the input sends the last watermark whatever the strategy is."""

    class Timer(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1])

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), timestamp

    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(SecondField())
    stream = env.from_collection([("a", 7), ("b", 9)], PAIR).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda t: t[0]).process(Timer())


@program()
def without_timestamps_timers_fire_too(env):
    class Timer(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value)
            yield "element", value, ctx.timestamp()

        def on_timer(self, timestamp, ctx):
            yield "timer", timestamp, ctx.timer_service().current_watermark()

    return env.from_collection([30, 10, 20], Types.INT()).key_by(lambda i: i % 2).process(Timer())


@program(("BATCH",), ordering="per_key")
def batch_sorts_a_key_by_time(env):
    """Within a key, records arrive in the order of their timestamps."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    records = [("a", 30), ("b", 5), ("a", 10), ("b", 1), ("a", 20)]

    class Pass(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], value[1], ctx.timestamp(), ctx.timer_service().current_watermark()

    stream = env.from_collection(records, PAIR).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda t: t[0], Types.STRING()).process(Pass())
