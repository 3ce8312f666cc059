# mypy: disable-error-code="import-not-found,import-untyped"
"""Edges of windows, partitioning and asynchronous functions."""

import asyncio

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    async_retry_predicates,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.conformance.registry import BOTH, program


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(env, records, disorder=0):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(disorder))
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))
    env.set_parallelism(parallelism)
    return stream


def keyed(env, records):
    return stamped(env, records).key_by(lambda t: t[0], Types.STRING())


RECORDS = [("a", 1), ("b", 3), ("a", 6), ("a", 14), ("b", 12), ("a", 30)]


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


class AllContents(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, sorted(e[1] for e in elements)


class Joined(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value[1]]

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


# Windows over all records


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def all_windows_of_every_assigner(env):
    ten, five = Time.milliseconds(10), Time.milliseconds(5)
    return [
        stamped(env, RECORDS).window_all(SlidingEventTimeWindows.of(ten, five)).process(AllContents()),
        stamped(env, RECORDS).window_all(EventTimeSessionWindows.with_gap(five)).process(AllContents()),
        stamped(env, RECORDS).window_all(EventTimeSessionWindows.with_gap(five)).aggregate(Joined()),
        stamped(env, RECORDS).window_all(TumblingEventTimeWindows.of(ten)).reduce(lambda x, y: ("*", x[1] + y[1])),
    ]


class CountAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield len(list(elements))


@program(BOTH, ordering="multiset")
def all_windows_with_a_count_trigger(env):
    windows = stamped(env, RECORDS).window_all(GlobalWindows.create())
    purging = stamped(env, RECORDS).window_all(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(4)))
    return [windows.trigger(CountTrigger.of(2)).process(CountAll()), purging.process(CountAll())]


# Sessions


class Visits(ProcessWindowFunction):
    """Count the ended sessions in the state of the key."""

    def process(self, key, context, elements):
        visits = context.global_state().get_state(ValueStateDescriptor("visits", Types.INT()))
        visits.update((visits.value() or 0) + 1)
        own = context.window_state() is not None
        yield key, context.window().start, context.window().end, list(elements), visits.value(), own


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def aggregated_sessions_with_state_of_the_key(env):
    sessions = keyed(env, RECORDS).window(EventTimeSessionWindows.with_gap(Time.milliseconds(6)))
    return sessions.aggregate(Joined(), Visits())


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def reduced_sessions_in_disorder(env):
    records = [("a", 30), ("a", 1), ("b", 8), ("a", 3), ("b", 2), ("a", 33)]
    sessions = keyed(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    return sessions.reduce(lambda x, y: (x[0], x[1] + y[1]), Contents())


@program(BOTH, ordering="per_key")
def sessions_purged_by_a_count(env):
    sessions = keyed(env, [("a", 1), ("a", 2), ("a", 3), ("a", 4)]).window(
        EventTimeSessionWindows.with_gap(Time.milliseconds(5))
    )
    return sessions.trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Contents())


@program(("STREAMING",), ordering="per_key")
def a_continuous_trigger_on_sessions_that_fires_once(env):
    sessions = keyed(env, RECORDS).window(EventTimeSessionWindows.with_gap(Time.milliseconds(6)))
    return sessions.trigger(ContinuousEventTimeTrigger.of(Time.seconds(10))).process(Contents())


@program(BOTH, ordering="per_key")
def offsets_and_days_before_1970(env):
    records = [("a", -1), ("a", -86_400_000), ("a", 0), ("b", -3_600_001)]
    days = TumblingEventTimeWindows.of(Time.days(1), Time.hours(-8))
    hours = SlidingEventTimeWindows.of(Time.hours(2), Time.hours(1), Time.minutes(30))
    return [keyed(env, records).window(days).process(Contents()), keyed(env, records).window(hours).process(Contents())]


# Timers


class Chained(KeyedProcessFunction):
    """Register, in a timer, timers before, at and after the present."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        ctx.timer_service().register_event_time_timer(value[1] + 10)

    def on_timer(self, timestamp, ctx):
        if timestamp < 40:
            ctx.timer_service().register_event_time_timer(timestamp + 25)
            ctx.timer_service().delete_event_time_timer(timestamp + 1)
        yield ctx.get_current_key(), timestamp


@program(("BATCH",), parallelism=(1, 2), ordering="per_key")
def timers_that_set_and_delete_timers(env):
    return keyed(env, [("a", 1), ("a", 2), ("b", 5)]).process(Chained())


class Buffer(KeyedProcessFunction):
    """Keep records until the watermark has passed, and emit them in the order of time."""

    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.LONG()))

    def process_element(self, value, ctx):
        self.items.add(value[1])
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        items = sorted(self.items)
        self.items.update([i for i in items if i > timestamp])
        yield ctx.get_current_key(), [i for i in items if i <= timestamp]


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def a_buffer_in_state_sorts_by_time(env):
    return keyed(env, [("a", 9), ("a", 2), ("b", 5), ("a", 9), ("b", 1)]).process(Buffer())


# Partitioning


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return value, self.index


@program(parallelism=(2,), ordering="multiset")
def forward_stays_in_the_subtask(env):
    numbers = env.from_collection(list(range(6)), Types.INT())
    spread = numbers.rebalance().map(lambda i: i, Types.INT())
    forwarded = spread.map(Subtask()).forward().map(lambda t: t).name("forwarded")
    return forwarded.map(Subtask()).map(lambda t: t[0][1] == t[1])


@program(parallelism=(2,), ordering="multiset")
def rebalance_deals_out_in_turn(env):
    numbers = env.from_collection(list(range(6)), Types.INT())
    return numbers.rebalance().map(Subtask()).map(lambda t: t[1])


@program(parallelism=(1, 2), ordering="multiset")
def broadcast_to_more_subtasks_than_the_default(env):
    numbers = env.from_collection([1, 2], Types.INT())
    return numbers.broadcast().map(Subtask()).set_parallelism(3)


@program(parallelism=(2,), ordering="multiset")
def a_custom_partitioner_of_an_operator_with_its_own_parallelism(env):
    numbers = env.from_collection(list(range(6)), Types.INT())
    return numbers.partition_custom(lambda key, count: key % count, lambda i: i).map(Subtask()).set_parallelism(3)


@program(BOTH, parallelism=(2,), ordering="multiset")
def keys_stay_together_at_any_parallelism(env):
    class Once(KeyedProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            ctx.timer_service().register_event_time_timer(10**6)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), self.count.value()

    numbers = env.from_collection([i % 7 for i in range(50)], Types.INT())
    return numbers.rebalance().key_by(lambda i: i, Types.INT()).process(Once()).set_parallelism(3)


# Asynchronous functions


class Echo(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.02 * (value[1] % 3))
        return [value, value] if value[1] % 2 else []


class Stamps(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


@program(parallelism=(1, 2), ordering="multiset")
def timestamps_survive_asynchronous_functions(env):
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    ordered = AsyncDataStream.ordered_wait(stamped(env, RECORDS), Echo(), Time.seconds(60), 2, pair)
    unordered = AsyncDataStream.unordered_wait(stamped(env, RECORDS), Echo(), Time.seconds(60), 3)
    return [ordered.process(Stamps()), unordered.process(Stamps())]


@program(ordering="multiset")
def watermarks_wait_for_asynchronous_functions(env):
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    slow = AsyncDataStream.unordered_wait(stamped(env, RECORDS), Echo(), Time.seconds(60), 10, pair)
    windows = slow.key_by(lambda t: t[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.process(Contents())


class Flaky(AsyncFunction):
    def __init__(self):
        self.attempts = {}

    async def async_invoke(self, value):
        self.attempts[value] = self.attempts.get(value, 0) + 1
        if value == 1 and self.attempts[value] == 1:
            raise KeyError(value)
        if value == 2 and self.attempts[value] < 3:
            return []
        if value == 3:
            return []
        return [(value, self.attempts[value])]

    def timeout(self, value):
        return [(value, "timeout")]


@program(ordering="multiset")
def results_and_exceptions_are_retried(env):
    strategy = AsyncRetryStrategy.exponential_backoff(
        2,
        10,
        1000,
        1.5,
        async_retry_predicates.empty_result_predicate,
        lambda error: async_retry_predicates.exception_type_predicate(error, KeyError),
    )
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return AsyncDataStream.unordered_wait_with_retry(numbers, Flaky(), Time.seconds(60), strategy, 10)


class Never(AsyncFunction):
    async def async_invoke(self, value):
        if value > 1:
            raise ValueError(value)
        return [value]

    def timeout(self, value):
        return [-value, -value]


@program(ordering="multiset")
def a_timeout_ends_the_retries(env):
    strategy = AsyncRetryStrategy.fixed_delay(1000, 100, None, async_retry_predicates.has_exception_predicate)
    numbers = env.from_collection([1, 2, 3], Types.INT())
    return AsyncDataStream.ordered_wait_with_retry(numbers, Never(), Time.milliseconds(700), strategy, 10, Types.INT())


class Opened(AsyncFunction):
    def open(self, runtime_context):
        self.offset = 100 + runtime_context.get_number_of_parallel_subtasks()

    async def async_invoke(self, value):
        return (i + self.offset for i in range(value))


@program(ordering="multiset")
def asynchronous_functions_are_opened(env):
    numbers = env.from_collection([0, 1, 2], Types.INT())
    return AsyncDataStream.ordered_wait(numbers, Opened(), Time.seconds(60), 1, Types.INT())
