# mypy: disable-error-code="import-not-found,import-untyped"
"""Keyed streams: keys, rolling aggregations, state and timers."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    CoFlatMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    ReduceFunction,
    RuntimeContext,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from tests.conformance.registry import BOTH, program

PAIRS = [("a", 3), ("b", 1), ("a", 2), ("c", 5), ("b", 4), ("a", 1)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def pairs(env):
    return env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()]))


def stamped(env, records):
    """Return records (key, timestamp) with timestamps, in their order: two subtasks would mix them up on the way."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream = stream.assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


# Keys


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def reduce_by_string_key(env):
    """STREAMING gives the running value for every record, BATCH one value per key."""
    return pairs(env).key_by(lambda t: t[0], key_type=Types.STRING()).reduce(lambda x, y: (x[0], x[1] + y[1]))


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def reduce_by_key_without_type(env):
    return env.from_collection(PAIRS).key_by(lambda t: t[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))


class Largest(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if value1[1] >= value2[1] else value2


@program(BOTH, ordering="per_key")
def reduce_function_class(env):
    return pairs(env).key_by(lambda t: t[0]).reduce(Largest())


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def key_by_integer(env):
    numbers = env.from_collection([(0, 3), (1, 4), (-2, 5), (0, 6), (1, 7), (300, -3)])
    return numbers.key_by(lambda t: t[0], Types.INT()).reduce(lambda x, y: (x[0], x[1] + y[1]))


@program(parallelism=(1, 2), ordering="per_key")
def key_by_tuple(env):
    records = [(1, "x", 1), (1, "y", 2), (1, "x", 3), (2, "x", 4)]
    kind = Types.TUPLE([Types.INT(), Types.STRING(), Types.INT()])
    keyed = env.from_collection(records, kind).key_by(
        lambda t: (t[0], t[1]), Types.TUPLE([Types.INT(), Types.STRING()])
    )
    return keyed.reduce(lambda x, y: (*x[:2], x[2] + y[2])).map(lambda t: (f"{t[0]}{t[1]}", t[2]))


@program(ordering="per_key")
def key_by_tuple_without_type(env):
    records = [(1, "x", 1), (1, "y", 2), (1, "x", 3)]
    keyed = env.from_collection(records).key_by(lambda t: t[:2])
    return keyed.reduce(lambda x, y: (*x[:2], x[2] + y[2])).map(lambda t: (t[1], t[2]))


@program(parallelism=(1, 2), ordering="per_key")
def key_by_none(env):
    keyed = env.from_collection([("n", None, 1), ("z", 0, 2), ("n", None, 3)]).key_by(lambda t: t[1])
    return keyed.reduce(lambda x, y: (x[0], x[1], x[2] + y[2]))


@program(ordering="per_key")
def key_by_dict(env):
    keyed = env.from_collection([("p", {"k": 1}, 1), ("q", {"k": 2}, 2), ("p", {"k": 1}, 3)]).key_by(lambda t: t[1])
    return keyed.reduce(lambda x, y: (x[0], x[1], x[2] + y[2]))


@program(parallelism=(1, 2), ordering="multiset")
def key_by_row(env):
    row_type = Types.ROW([Types.STRING(), Types.BOOLEAN()])
    keyed = pairs(env).key_by(lambda t: Row(t[0], t[1] > 1), row_type)
    return keyed.reduce(lambda x, y: (x[0], x[1] + y[1])).map(lambda t: (t[0], t[1]))


class FirstLetter(KeySelector):
    def get_key(self, value):
        return value[0]


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def key_selector_class(env):
    words = env.from_collection(["ant", "bee", "asp", "boa"], Types.STRING())
    return words.key_by(FirstLetter(), Types.STRING()).reduce(lambda x, y: x + "-" + y)


@program(ordering="multiset")
def boolean_and_float_keys(env):
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return [
        numbers.key_by(lambda i: i > 2, Types.BOOLEAN()).reduce(lambda x, y: x * 10 + y),
        numbers.key_by(lambda i: i // 2 / 2, Types.DOUBLE()).reduce(lambda x, y: x * 10 + y),
    ]


@program(parallelism=(2,), ordering="per_key")
def key_by_twice(env):
    """The second `key_by` starts from the records, not from the first keys."""
    return pairs(env).key_by(lambda t: t[1]).key_by(lambda t: t[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))


@program(ordering="exact")
def keyed_stream_as_a_result(env):
    """The key is stripped."""
    return [pairs(env).key_by(lambda t: t[0]), pairs(env).key_by(lambda t: t[0], Types.STRING())]


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def keyed_map_filter_flat_map(env):
    keyed = pairs(env).key_by(lambda t: t[0])
    return [
        keyed.map(lambda t: (t[0], t[1] * 10)),
        keyed.filter(lambda t: t[1] > 1),
        keyed.flat_map(lambda t: [t] * (t[1] % 3)),
    ]


# Rolling aggregations


@program(BOTH, ordering="per_key")
def sum_by_position(env):
    """Tuples have positions only: `sum("f1")` fails."""
    return pairs(env).key_by(lambda t: t[0]).sum(1)


@program(BOTH, ordering="per_key")
def min_and_max_replace_only_the_field(env):
    triples = env.from_collection(
        [("a", 3, "x"), ("a", 1, "y"), ("b", 2, "z"), ("a", 5, "w")],
        Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()]),
    )
    return [triples.key_by(lambda t: t[0]).min(1), triples.key_by(lambda t: t[0]).max(1)]


@program(BOTH, ordering="per_key")
def min_by_and_max_by_keep_the_record(env):
    """The first of equal values is kept."""
    triples = env.from_collection(
        [("a", 3, "x"), ("a", 1, "y"), ("b", 2, "z"), ("a", 1, "v"), ("a", 3, "w")],
        Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()]),
    )
    return [triples.key_by(lambda t: t[0]).min_by(1), triples.key_by(lambda t: t[0]).max_by(1)]


@program(ordering="per_key")
def aggregate_rows_by_name(env):
    rows = env.from_collection(
        [Row("a", 3, 1.5), Row("b", 1, 2.5), Row("a", 2, 0.5)],
        Types.ROW_NAMED(["key", "count", "price"], [Types.STRING(), Types.INT(), Types.DOUBLE()]),
    )

    def keyed():
        return rows.key_by(lambda row: row.key)

    return [
        keyed().sum("count"),
        keyed().min("price"),
        keyed().max("count"),
        keyed().min_by("price"),
        keyed().max_by("price"),
    ]


@program(BOTH, ordering="multiset")
def aggregate_numbers(env):
    numbers = env.from_collection([3, 1, 4, 1, 5], Types.INT())
    return [
        numbers.key_by(lambda _: True).sum(),
        numbers.key_by(lambda i: i % 2).min(0),
        numbers.key_by(lambda i: i % 2).max(),
        numbers.key_by(lambda i: i % 2).max_by(0),
    ]


@program(ordering="per_key")
def sum_of_floats_and_strings(env):
    """Any type with `+` can be summed."""
    return [
        env.from_collection([("a", 0.5), ("a", 0.25)]).key_by(lambda t: t[0]).sum(1),
        env.from_collection([("a", "x"), ("a", "y")]).key_by(lambda t: t[0]).max(1),
    ]


# State


class Counting(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return value[0], count, value[1]


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def map_with_value_state(env):
    return pairs(env).key_by(lambda t: t[0]).map(Counting())


class OnlyNew(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def filter(self, value):
        if self.seen.value():
            return False
        self.seen.update(True)
        return True


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def filter_with_value_state(env):
    return env.from_collection(list("abacabad"), Types.STRING()).key_by(lambda c: c).filter(OnlyNew())


class InTwos(FlatMapFunction):
    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.INT()))

    def flat_map(self, value):
        self.waiting.add(value[1])
        items = list(self.waiting)
        if len(items) == 2:
            self.waiting.clear()
            yield value[0], items


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def flat_map_with_list_state(env):
    return pairs(env).key_by(lambda t: t[0]).flat_map(InTwos())


class ValueOperations(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("v", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        before = self.state.value()
        if value[1] == 2:
            self.state.clear()
        elif value[1] == 4:
            self.state.update(None)
        else:
            self.state.update({"last": value[1]})
        yield ctx.get_current_key(), before, self.state.value()


@program(BOTH, ordering="per_key")
def value_state_operations(env):
    return pairs(env).key_by(lambda t: t[0]).process(ValueOperations())


class ListOperations(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_list_state(ListStateDescriptor("l", Types.STRING()))

    def process_element(self, value, ctx):
        before = list(self.state.get())
        if value[1] == 1:
            self.state.update(["fresh", "start"])
        elif value[1] == 5:
            self.state.add_all(["five", "more"])
        elif value[1] == 4:
            self.state.clear()
        else:
            self.state.add(str(value[1]))
        yield value[0], before, list(self.state)


@program(BOTH, ordering="per_key")
def list_state_operations(env):
    return pairs(env).key_by(lambda t: t[0]).process(ListOperations())


class MapOperations(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_map_state(MapStateDescriptor("m", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        key, number = value
        yield key, number, self.state.is_empty(), self.state.get("n"), self.state.contains("n")
        self.state.put("n", number)
        self.state["i" + str(number)] = number * 10
        if number == 2:
            self.state.remove("n")
        entries = sorted(self.state.items())
        yield key, entries, sorted(self.state.keys()), sorted(self.state.values()), "n" in self.state
        if number == 4:
            self.state.clear()
            yield key, list(self.state)


@program(BOTH, ordering="per_key")
def map_state_operations(env):
    return pairs(env).key_by(lambda t: t[0]).process(MapOperations())


class ReducingOperations(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("s", lambda x, y: x + y, Types.INT()))
        self.max = runtime_context.get_reducing_state(ReducingStateDescriptor("m", Bigger(), Types.INT()))

    def process_element(self, value, ctx):
        before = self.sum.get()
        self.sum.add(value[1])
        self.max.add(value[1])
        yield value[0], before, self.sum.get(), self.max.get()
        if value[1] == 2:
            self.sum.clear()


class Bigger(ReduceFunction):
    def reduce(self, value1, value2):
        return max(value1, value2)


@program(BOTH, ordering="per_key")
def reducing_state_operations(env):
    return pairs(env).key_by(lambda t: t[0]).process(ReducingOperations())


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class AggregatingOperations(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.TUPLE([Types.INT(), Types.INT()])
        self.average = runtime_context.get_aggregating_state(AggregatingStateDescriptor("avg", Average(), kind))

    def process_element(self, value, ctx):
        before = self.average.get()
        self.average.add(value[1])
        yield value[0], before, self.average.get()


@program(BOTH, ordering="per_key")
def aggregating_state_operations(env):
    return pairs(env).key_by(lambda t: t[0]).process(AggregatingOperations())


class Remembering(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(1))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .build()
        )
        value = ValueStateDescriptor("v", Types.INT())
        items = ListStateDescriptor("l", Types.INT())
        table = MapStateDescriptor("m", Types.INT(), Types.STRING())
        total = ReducingStateDescriptor("r", lambda x, y: x + y, Types.INT())
        for descriptor in (value, items, table, total):
            descriptor.enable_time_to_live(ttl)
        self.value = runtime_context.get_state(value)
        self.items = runtime_context.get_list_state(items)
        self.table = runtime_context.get_map_state(table)
        self.total = runtime_context.get_reducing_state(total)

    def process_element(self, value, ctx):
        self.items.add(value[1])
        self.table.put(value[1], "x" * value[1])
        self.total.add(value[1])
        yield value[0], self.value.value(), list(self.items.get()), sorted(self.table.items()), self.total.get()
        self.value.update(value[1])


@program(ordering="per_key")
def state_that_does_not_expire_in_time(env):
    return pairs(env).key_by(lambda t: t[0]).process(Remembering())


class TwoNames(KeyedProcessFunction):
    def open(self, runtime_context):
        self.one = runtime_context.get_state(ValueStateDescriptor("same", Types.INT()))
        self.two = runtime_context.get_state(ValueStateDescriptor("same", Types.INT()))

    def process_element(self, value, ctx):
        self.one.update(value[1])
        yield value[0], self.two.value()


@program(ordering="per_key")
def descriptors_of_one_name_share_the_state(env):
    return pairs(env).key_by(lambda t: t[0]).process(TwoNames())


@program(ordering="per_key")
def two_keyed_operators_in_a_row(env):
    counted = pairs(env).key_by(lambda t: t[0]).map(Counting(), Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()]))
    return counted.key_by(lambda t: t[1]).map(lambda t: (t[0], t[1])).key_by(lambda t: t[0]).map(Counting())


# Timers


class OneTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
        yield value[0], "element", ctx.timestamp(), ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "timer", timestamp, ctx.timestamp(), ctx.timer_service().current_watermark()


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def event_time_timers(env):
    """All of them fire at the end of the input, in the order of their timestamps."""
    return stamped(env, [("a", 5), ("b", 3), ("a", 1), ("b", 8), ("a", 5)]).key_by(lambda t: t[0]).process(OneTimer())


@program(ordering="exact")
def timers_fire_in_the_order_of_time_over_all_keys(env):
    return stamped(env, [("x", 50), ("y", 20), ("z", 40), ("x", 10)]).key_by(lambda t: t[0]).process(OneTimer())


class Deduplicated(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(100)
        ctx.timer_service().register_event_time_timer(100)
        ctx.timer_service().register_event_time_timer(50)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


@program(BOTH, ordering="per_key")
def a_timer_is_registered_once(env):
    return stamped(env, [("a", 1), ("b", 2), ("a", 3)]).key_by(lambda t: t[0]).process(Deduplicated())


class Withdrawing(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value, ctx):
        if self.last.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.last.value())
        self.last.update(value[1] + 5)
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        ctx.timer_service().delete_event_time_timer(4711)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.last.value()


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def deleted_timers_do_not_fire(env):
    return (
        stamped(env, [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("a", 6)]).key_by(lambda t: t[0]).process(Withdrawing())
    )


class Chained(KeyedProcessFunction):
    def open(self, runtime_context):
        self.rounds = runtime_context.get_state(ValueStateDescriptor("rounds", Types.INT()))

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        return []

    def on_timer(self, timestamp, ctx):
        rounds = (self.rounds.value() or 0) + 1
        self.rounds.update(rounds)
        if rounds < 4:
            ctx.timer_service().register_event_time_timer(timestamp + 10)
        yield ctx.get_current_key(), timestamp, rounds


@program(parallelism=(1, 2), ordering="per_key")
def timers_registered_by_timers(env):
    """In STREAMING they fire in the same advance of the watermark."""
    return stamped(env, [("a", 1), ("b", 2)]).key_by(lambda t: t[0]).process(Chained())


@program(("BATCH",), ordering="per_key")
def timers_registered_by_timers_in_batch(env):
    return stamped(env, [("a", 1), ("b", 2)]).key_by(lambda t: t[0]).process(Chained())


class LateProcessingTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 3_600_000)
        yield value[0], "element"

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "timer"


@program(ordering="per_key")
def pending_processing_time_timers_are_dropped(env):
    """A timer that is due an hour after the end of the input never fires in STREAMING."""
    return env.from_collection([("a", 1), ("b", 2)]).key_by(lambda t: t[0]).process(LateProcessingTimer())


@program(("BATCH",), ordering="per_key")
def pending_processing_time_timers_fire_in_batch(env):
    """At the end of its key a timer fires, whatever the time."""
    return env.from_collection([("a", 1), ("b", 2)]).key_by(lambda t: t[0]).process(LateProcessingTimer())


class Sorted(KeyedProcessFunction):
    def open(self, runtime_context):
        self.buffer = runtime_context.get_map_state(
            MapStateDescriptor("buffer", Types.LONG(), Types.LIST(Types.STRING()))
        )

    def process_element(self, value, ctx):
        self.buffer.put(ctx.timestamp(), [*(self.buffer.get(ctx.timestamp()) or []), f"{value[0]}{value[1]}"])
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        yield from ((ctx.get_current_key(), item) for item in self.buffer.get(timestamp))
        self.buffer.remove(timestamp)


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def sort_by_event_time(env):
    records = [("a", 7), ("b", 9), ("a", 3), ("a", 5), ("b", 1), ("a", 3)]
    return stamped(env, records).key_by(lambda t: t[0], Types.STRING()).process(Sorted())


class Alarm(KeyedProcessFunction):
    def __init__(self, tag):
        self.tag = tag

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 1)
        if value[1] > 5:
            yield self.tag, (value[0], value[1])
        yield value[0], value[1]

    def on_timer(self, timestamp, ctx):
        yield self.tag, (ctx.get_current_key(), -timestamp)
        yield ctx.get_current_key(), -timestamp


@program(BOTH, ordering="per_key")
def side_outputs_of_elements_and_timers(env):
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    tag = OutputTag("alarm", pair)
    main = stamped(env, [("a", 4), ("b", 6), ("a", 9)]).key_by(lambda t: t[0]).process(Alarm(tag), pair)
    return [main, main.get_side_output(tag)]


@program(parallelism=(1, 2), ordering="per_key")
def timestamps_of_timer_output(env):
    """Records that a timer emits have the timestamp of the timer."""

    class Emit(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1] * 100)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), timestamp

    class Show(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], value[1], ctx.timestamp()

    emitted = stamped(env, [("a", 4), ("b", 6), ("a", 2)]).key_by(lambda t: t[0]).process(Emit())
    return emitted.key_by(lambda t: t[0]).process(Show())


# Two inputs


class Joining(CoFlatMapFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.INT()))

    def flat_map1(self, value):
        self.left.add(value[1])
        yield from ((value[0], value[1], other) for other in self.right.get())

    def flat_map2(self, value):
        self.right.add(value[1])
        yield from ((value[0], other, value[1]) for other in self.left.get())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def connected_keyed_streams_share_state(env):
    kind = Types.TUPLE([Types.STRING(), Types.INT()])
    left = env.from_collection([("a", 1), ("b", 2), ("a", 3)], kind).key_by(lambda t: t[0], Types.STRING())
    right = env.from_collection([("a", 10), ("c", 20), ("b", 30), ("a", 40)], kind).key_by(
        lambda t: t[0], Types.STRING()
    )
    return left.connect(right).flat_map(Joining(), Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()]))


class Summing(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element1(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.sum.update((self.sum.value() or 0) - value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.sum.value()


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def keyed_co_process_with_timers(env):
    plus = stamped(env, [("a", 10), ("b", 20), ("a", 30)]).key_by(lambda t: t[0])
    minus = stamped(env, [("b", 5), ("c", 7)]).key_by(lambda t: t[0])
    return plus.connect(minus).process(Summing())


class Sight(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield ctx.get_current_key(), "one", value

    def process_element2(self, value, ctx):
        yield ctx.get_current_key(), "two", value


@program(ordering="multiset")
def connected_streams_keyed_afterwards(env):
    numbers = env.from_collection([1, 2, 3], Types.INT())
    words = env.from_collection(["x", "yy"], Types.STRING())
    return numbers.connect(words).key_by(lambda i: i % 2, len).process(Sight())
