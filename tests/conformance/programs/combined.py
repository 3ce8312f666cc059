# mypy: disable-error-code="import-not-found,import-untyped"
"""Several features together, as in real programs: state, timers, windows, side outputs, broadcast, unions."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.conformance.registry import BOTH, collected, program

ORDERS = [
    ("ann", "tea", 3, 1_000),
    ("bob", "nut", 1, 2_000),
    ("ann", "nut", 2, 4_000),
    ("cid", "tea", 7, 6_000),
    ("bob", "tea", 5, 11_000),
    ("ann", "jam", 4, 13_000),
    ("cid", "nut", 6, 21_000),
]


def order_type():
    return Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()])


class LastField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[-1]


def orders(env):
    """Return the orders with timestamps, in their order."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(LastField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(ORDERS, order_type()).assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


# One stream after another


class Baskets(KeyedProcessFunction):
    """Collect the orders of a customer, and emit them 10 s after the last one."""

    def open(self, runtime_context: RuntimeContext):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.STRING()))
        self.until = runtime_context.get_state(ValueStateDescriptor("until", Types.LONG()))

    def process_element(self, value, ctx):
        if self.until.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.until.value())
        self.items.add(value[1])
        self.until.update(value[3] + 10_000)
        ctx.timer_service().register_event_time_timer(value[3] + 10_000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), list(self.items.get()), timestamp
        self.items.clear()
        self.until.clear()


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def baskets_that_are_left_alone(env):
    return orders(env).key_by(lambda o: o[0], Types.STRING()).process(Baskets())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def totals_of_windows_ranked_in_the_next_window(env):
    class Total(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield key, sum(e[2] for e in elements), context.window().end

    class Best(ProcessAllWindowFunction):
        def process(self, context, elements):
            yield max(elements, key=lambda e: (e[1], e[0]))[:2]

    window = TumblingEventTimeWindows.of(Time.seconds(10))
    totals = orders(env).key_by(lambda o: o[1], Types.STRING()).window(window).process(Total())
    return totals.window_all(window).process(Best())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def large_orders_leave_by_the_side(env):
    large = OutputTag("large", Types.TUPLE([Types.STRING(), Types.INT()]))

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            if value[2] >= 5:
                yield large, (value[0], value[2])
            else:
                yield value[0], value[2]

    main = orders(env).process(Split(), Types.TUPLE([Types.STRING(), Types.INT()]))
    counted = main.get_side_output(large).map(lambda t: (t[0], 1), Types.TUPLE([Types.STRING(), Types.INT()]))
    return [main, counted.key_by(lambda t: t[0], Types.STRING()).sum(1)]


@program(parallelism=(1, 2), ordering="multiset")
def side_output_of_a_window(env):
    small = OutputTag("small", Types.STRING())

    class Total(ProcessWindowFunction):
        def process(self, key, context, elements):
            total = sum(e[2] for e in elements)
            if total < 5:
                yield small, f"{key} {total}"
            else:
                yield key, total

    window = TumblingEventTimeWindows.of(Time.seconds(10))
    main = orders(env).key_by(lambda o: o[1], Types.STRING()).window(window).process(Total())
    return [main, main.get_side_output(small)]


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def customers_in_sliding_windows(env):
    class Names(AggregateFunction):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            return [*accumulator, value[0]]

        def get_result(self, accumulator):
            return "+".join(sorted(set(accumulator)))

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    window = SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5))
    keyed = orders(env).key_by(lambda o: o[1], Types.STRING())
    return keyed.window(window).aggregate(Names(), output_type=Types.STRING())


@program(parallelism=(1, 2), ordering="per_key")
def sessions_with_a_count_trigger(env):
    class Items(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield key, [e[1] for e in elements], context.window().start, context.window().end

    keyed = orders(env).key_by(lambda o: o[0], Types.STRING())
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(10)))
    return sessions.trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Items())


# Several streams


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def streams_of_two_types_become_one(env):
    class Words(CoMapFunction):
        def map1(self, value):
            return f"{value[0]} {value[2]}"

        def map2(self, value):
            return value.upper()

    names = env.from_collection(["x", "y"], Types.STRING())
    return orders(env).connect(names).map(Words(), Types.STRING())


@program(("BATCH",), parallelism=(1, 2), ordering="multiset")
def a_union_is_keyed_and_reduced(env):
    def pairs(records):
        return env.from_collection(records, Types.TUPLE([Types.STRING(), Types.INT()]))

    both = pairs([("a", 1), ("b", 2)]).union(pairs([("a", 10)]), pairs([("c", 100), ("b", 20)]))
    totals = both.key_by(lambda t: t[0], Types.STRING()).reduce(lambda x, y: (x[0], x[1] + y[1]))
    return totals.filter(lambda t: t[0] != "b" or t[1] == 22)


class Latest(KeyedCoProcessFunction):
    """Emit an order with all prices of its item at the end of time, whichever came first."""

    def open(self, runtime_context: RuntimeContext):
        self.orders = runtime_context.get_list_state(ListStateDescriptor("orders", Types.PICKLED_BYTE_ARRAY()))
        self.prices = runtime_context.get_map_state(MapStateDescriptor("prices", Types.LONG(), Types.INT()))

    def process_element1(self, value, ctx):
        self.orders.add(tuple(value))
        ctx.timer_service().register_event_time_timer(100_000)

    def process_element2(self, value, ctx):
        self.prices.put(value[2], value[1])

    def on_timer(self, timestamp, ctx):
        for order in self.orders.get():
            at = max((t for t in list(self.prices.keys()) if t <= order[3]), default=None)
            yield order[0], order[1], None if at is None else order[2] * self.prices.get(at)


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def orders_meet_the_price_of_their_time(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(LastField())
    prices = env.from_collection(
        [("tea", 10, 0), ("nut", 3, 3_000), ("tea", 12, 5_000)],
        Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()]),
    ).assign_timestamps_and_watermarks(strategy)
    by_item = orders(env).key_by(lambda o: o[1], Types.STRING())
    return by_item.connect(prices.key_by(lambda p: p[0], Types.STRING())).process(Latest())


@program(BOTH, ordering="multiset")
def one_side_of_a_connection_is_empty(env):
    class Both(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield "first", value

        def process_element2(self, value, ctx):
            yield "second", value

    some = env.from_collection([1, 2], Types.INT())
    none = env.from_collection([3], Types.INT()).filter(lambda n: n > 3)
    return some.connect(none).process(Both())


class Limits(KeyedBroadcastProcessFunction):
    """Two broadcast states, read at the end of time."""

    def __init__(self, limits, names):
        self.limits, self.names = limits, names

    def open(self, runtime_context: RuntimeContext):
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.INT())
        )

    def process_element(self, value, ctx):
        self.total.add(value[2])
        ctx.timer_service().register_event_time_timer(1_000_000)

    def process_broadcast_element(self, value, ctx):
        if value[0] == "limit":
            ctx.get_broadcast_state(self.limits).put(value[1], value[2])
        else:
            ctx.get_broadcast_state(self.names).put(value[1], f"no. {value[2]}")

    def on_timer(self, timestamp, ctx):
        key = ctx.get_current_key()
        limit = ctx.get_broadcast_state(self.limits).get(key)
        yield ctx.get_broadcast_state(self.names).get(key), self.total.get(), limit is None or self.total.get() <= limit


@program(parallelism=(1, 2), ordering="multiset")
def two_broadcast_states(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(LastField())
    limits = MapStateDescriptor("limits", Types.STRING(), Types.INT())
    names = MapStateDescriptor("names", Types.STRING(), Types.STRING())
    rules = env.from_collection(
        [("limit", "ann", 8, 1), ("name", "ann", 1, 2), ("name", "bob", 2, 3), ("limit", "bob", 6, 4)],
        Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()]),
    ).assign_timestamps_and_watermarks(strategy)
    keyed = orders(env).key_by(lambda o: o[0], Types.STRING())
    return keyed.connect(rules.broadcast(limits, names)).process(Limits(limits, names))


@program(parallelism=(1, 2), ordering="multiset")
def what_is_broadcast_is_seen_by_every_subtask(env):
    descriptor = MapStateDescriptor("seen", Types.INT(), Types.INT())

    class Echo(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield from ()

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(descriptor).put(value, value)
            yield value, len(list(ctx.get_broadcast_state(descriptor).keys()))

    numbers = env.from_collection([1, 2, 3], Types.INT())
    return env.from_collection(["x"], Types.STRING()).connect(numbers.broadcast(descriptor)).process(Echo())


# State


class Changes(KeyedProcessFunction):
    """Clear, overwrite and count in every kind of state that can be empty."""

    def open(self, runtime_context: RuntimeContext):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.STRING()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.STRING()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        before = self.value.value(), list(self.list.get() or []), sorted(self.map.items()), self.map.is_empty()
        if value[1] == "nut":
            self.value.clear()
            self.list.clear()
            self.map.clear()
        else:
            self.value.update(value[1])
            self.list.add_all([value[1], value[1].upper()])
            self.map.put(value[1], value[2])
        yield value[0], value[1], before, self.map.contains("tea")


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def state_is_cleared_and_filled_again(env):
    return orders(env).key_by(lambda o: o[0], Types.STRING()).process(Changes())


class Entries(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        self.map.put(value[1], value[2])
        if value[1] == "jam":
            self.map.remove("tea")
        yield value[0], sorted(self.map.keys()), sorted(self.map.values()), self.map.get("tea")


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def entries_of_a_map_are_removed(env):
    return orders(env).key_by(lambda o: o[0], Types.STRING()).process(Entries())


@program(parallelism=(1, 2), ordering="per_key")
def windows_count_how_often_a_key_has_fired(env):
    class Count(ProcessWindowFunction):
        def open(self, runtime_context):
            self.descriptor = ValueStateDescriptor("fired", Types.INT())

        def process(self, key, context, elements):
            fired = context.global_state().get_state(self.descriptor)
            fired.update((fired.value() or 0) + 1)
            yield key, fired.value(), len(list(elements))

    window = TumblingEventTimeWindows.of(Time.seconds(5))
    return orders(env).key_by(lambda o: o[0], Types.STRING()).window(window).process(Count())


# Records


@program(BOTH, ordering="multiset")
def rows_by_name_through_several_steps(env):
    kind = Types.ROW_NAMED(["who", "amount"], [Types.STRING(), Types.INT()])
    rows = orders(env).map(lambda o: Row(who=o[0], amount=o[2]), kind)
    doubled = rows.map(lambda r: Row(who=r.who.upper(), amount=r["amount"] * 2), kind)
    return doubled.key_by(lambda r: r.who, Types.STRING()).sum("amount")


@program(BOTH, ordering="multiset")
def nested_collections_in_fields(env):
    kind = Types.TUPLE([Types.STRING(), Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.LONG())])
    stream = env.from_collection([("a", [1, 2], {"x": 1}), ("b", [], {})], kind)
    return stream.map(lambda t: (t[0], [*t[1], 9], {**t[2], "y": 2}), kind)


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def none_travels_untyped(env):
    stream = env.from_collection([None, 1, None, "x"])
    return stream.rebalance().map(lambda v: (v, v is None)).filter(lambda t: t[1] or t[0] == 1)


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def records_of_several_types_in_one_stream(env):
    stream = env.from_collection([1, "one", 1.5, (1, "x"), [1], {"k": 1}, {1}, b"b", True, None])
    return stream.map(lambda v: f"{type(v).__name__} {v}").key_by(lambda text: text[0]).map(lambda text: text)


# Jobs


@program(("BATCH",), parallelism=(1, 2), ordering="multiset")
def totals_of_keys_that_come_late(env):
    keyed = env.from_collection([("b", 1), ("a", 2), ("b", 3), ("a", 4)], Types.TUPLE([Types.STRING(), Types.INT()]))
    return keyed.key_by(lambda t: t[0], Types.STRING()).min(1)


@program(("BATCH",), ordering="multiset")
def a_cached_stream_is_read_by_the_next_job(env):
    cached = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: n * 10, Types.INT()).cache()
    with cached.execute_and_collect() as results:
        first = sorted(results)
    with cached.map(lambda n: n + 1, Types.INT()).execute_and_collect() as results:
        return collected([first, sorted(results)])


@program(BOTH, ordering="multiset")
def one_program_of_two_jobs(env):
    with env.from_collection([1, 2, 3]).map(lambda n: n * n).execute_and_collect() as results:
        squares = sorted(results)
    return env.from_collection(squares, Types.INT()).map(lambda n: n + 1, Types.INT())
