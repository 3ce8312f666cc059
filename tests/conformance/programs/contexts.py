# mypy: disable-error-code="import-not-found,import-untyped"
"""The contexts of functions, and their metrics, states and strategies."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    async_retry_predicates,
)
from pyflink.datastream.async_retry_strategies import (
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
    NoRetryStrategy,
    RetryPredicate,
)
from pyflink.datastream.functions import AsyncRetryPredicate, NullByteKeySelector
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from tests.conformance.registry import collected, program

PAIRS = [("a", 1), ("b", 2), ("a", 3)]
SMALLEST = -(2**63)


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def pair():
    return Types.TUPLE([Types.STRING(), Types.LONG()])


def stamped(env, records=PAIRS):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(records, pair()).assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


def keyed(env, records=PAIRS):
    return stamped(env, records).key_by(lambda t: t[0], Types.STRING())


# The runtime context


class WhoAmI(MapFunction):
    def open(self, runtime_context):
        self.told = (
            runtime_context.get_max_number_of_parallel_subtasks(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
        )
        name = runtime_context.get_task_name()
        place = f"({runtime_context.get_index_of_this_subtask() + 1}/{self.told[1]})"
        self.named = place in runtime_context.get_task_name_with_subtasks() and name != ""

    def map(self, value):
        return (value, *self.told, self.named)


@program(parallelism=(1, 2), ordering="multiset")
def functions_know_their_subtask(env):
    return env.from_collection([1, 2, 3]).rebalance().map(WhoAmI()).set_max_parallelism(32)


class Measured(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        inner = group.add_group("inner").add_group("kind", "value")
        self.counter = inner.counter("records")
        self.meter = inner.meter("rate", 10)
        self.values = group.distribution("values")
        self.last = 0
        group.gauge("last", lambda: self.last)

    def map(self, value):
        self.last = value
        self.counter.inc()
        self.counter.inc(value)
        self.counter.dec()
        self.counter.dec(2)
        self.meter.mark_event()
        self.meter.mark_event(value)
        self.values.update(value)
        return value, self.counter.get_count(), self.meter.get_count()


@program()
def metrics_count_within_a_function(env):
    return env.from_collection([10, 20]).map(Measured())


# Contexts of process functions


class Clocks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        now = timers.current_processing_time()
        timers.register_processing_time_timer(now + 3_600_000)
        timers.delete_processing_time_timer(now + 3_600_000)
        timers.register_event_time_timer(value[1] + 10)
        timers.register_event_time_timer(value[1] + 11)
        timers.delete_event_time_timer(value[1] + 11)
        yield ctx.get_current_key(), ctx.timestamp(), now > 10**12, timers.current_watermark() == SMALLEST

    def on_timer(self, timestamp, ctx):
        domain = getattr(ctx.time_domain(), "name", ctx.time_domain())
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), str(domain), ctx.timer_service().current_watermark()


@program(("STREAMING",), parallelism=(1, 2), ordering="per_key")
def the_context_of_a_keyed_process_function(env):
    return keyed(env).process(Clocks())


class TwoClocks(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        yield ctx.get_current_key(), 1, ctx.timestamp(), ctx.timer_service().current_watermark() == SMALLEST

    def process_element2(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 20)
        yield ctx.get_current_key(), 2, ctx.timestamp(), ctx.timer_service().current_processing_time() > 10**12

    def on_timer(self, timestamp, ctx):
        domain = getattr(ctx.time_domain(), "name", ctx.time_domain())
        yield ctx.get_current_key(), "timer", timestamp, str(domain)


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def the_context_of_a_keyed_co_process_function(env):
    return keyed(env).connect(keyed(env, [("a", 5), ("c", 6)])).process(TwoClocks())


class PlainClocks(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value, 1, ctx.timestamp(), ctx.timer_service().current_processing_time() > 10**12

    def process_element2(self, value, ctx):
        yield value, 2, ctx.timestamp(), ctx.timer_service().current_watermark() == SMALLEST


@program(parallelism=(1, 2), ordering="multiset")
def the_context_of_a_co_process_function(env):
    return stamped(env).connect(stamped(env, [("x", 9)])).process(PlainClocks())


# Broadcast state


class Rules(BroadcastProcessFunction):
    def __init__(self, rules, seen):
        self.rules = rules
        self.seen = seen

    def process_element(self, value, ctx):
        rules, seen = ctx.get_broadcast_state(self.rules), ctx.get_broadcast_state(self.seen)
        yield (
            value,
            ctx.timestamp(),
            ctx.current_processing_time() > 10**12,
            ctx.current_watermark() == SMALLEST,
            (rules.get("r"), rules.get("s"), rules.contains("gone"), seen.contains(5)),
        )

    def process_broadcast_element(self, value, ctx):
        rules, seen = ctx.get_broadcast_state(self.rules), ctx.get_broadcast_state(self.seen)
        rules.put_all({value[0]: value[1], "gone": 0})
        rules.remove("gone")
        seen.put(value[1], ctx.timestamp())
        seen.clear()
        yield value, ctx.timestamp(), rules.get("r"), rules.contains("gone"), ctx.current_processing_time() > 10**12


@program(("BATCH",), parallelism=(1, 2), ordering="multiset")
def broadcast_states_are_read_and_written(env):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    seen = MapStateDescriptor("seen", Types.LONG(), Types.LONG())
    env.set_parallelism(env.get_parallelism())
    broadcast = stamped(env, [("r", 5), ("s", 6)]).broadcast(rules, seen)
    return stamped(env).connect(broadcast).process(Rules(rules, seen))


class KeyedRules(KeyedBroadcastProcessFunction):
    def __init__(self, rules):
        self.rules = rules
        self.count = ValueStateDescriptor("count", Types.LONG())

    def open(self, runtime_context):
        self.state = runtime_context.get_state(self.count)

    def process_element(self, value, ctx):
        self.state.update((self.state.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(100)
        yield ctx.get_current_key(), ctx.timestamp(), ctx.current_processing_time() > 10**12

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        domain = str(getattr(ctx.time_domain(), "name", ctx.time_domain()))
        state = ctx.get_broadcast_state(self.rules)
        read = state.is_empty(), sorted(state.keys()), sorted(state.values()), sorted(state.items())
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), domain, read, self.state.value()


@program(parallelism=(1, 2), ordering="multiset")
def the_context_of_a_keyed_broadcast_process_function(env):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    return keyed(env).connect(stamped(env, [("r", 5)]).broadcast(rules)).process(KeyedRules(rules))


# States


class AllEntries(KeyedProcessFunction):
    def open(self, runtime_context):
        self.table = runtime_context.get_map_state(MapStateDescriptor("table", Types.STRING(), Types.LONG()))

    def process_element(self, value, ctx):
        self.table.put_all({"first": value[1], "second": value[1] * 2})
        yield value[0], sorted(self.table.items())


@program(("BATCH",), ordering="per_key")
def several_entries_of_a_map_at_once(env):
    """In a worker process, PyFlink fails at `put_all`."""
    return keyed(env).process(AllEntries())


# Rows


@program()
def rows_whose_fields_are_named_later(env):
    row = Row("x", 1, None)
    row.set_field_names(["text", "number", "nothing"])
    return collected(
        [
            (row.text, row["number"], row.as_dict()),
            row.get_fields_by_names(["number", "text"]),
            row.get_fields_by_names(["text", "number", "nothing"]),
            Row(1, 2).get_fields_by_names(["a"]),
        ]
    )


# Functions that come with PyFlink


@program()
def a_key_selector_for_one_key(env):
    return collected([NullByteKeySelector().get_key("x"), NullByteKeySelector().get_key(None)])


# Asynchronous functions


@program()
def retry_strategies_by_hand(env):
    def described(strategy):
        predicate = strategy.get_retry_predicate()
        return (
            type(strategy).__name__,
            [strategy.can_retry(attempt) for attempt in (1, 2, 3, 4)],
            [strategy.get_backoff_time_millis(attempt) for attempt in (1, 2, 3, 4, 1)],
            predicate.result_predicate() is async_retry_predicates.empty_result_predicate,
            predicate.exception_predicate() is async_retry_predicates.has_exception_predicate,
        )

    empty, has_exception = async_retry_predicates.empty_result_predicate, async_retry_predicates.has_exception_predicate
    return collected(
        described(strategy)
        for strategy in (
            AsyncRetryStrategy.no_restart(),
            NoRetryStrategy(),
            AsyncRetryStrategy.fixed_delay(3, 10, empty, has_exception),
            FixedDelayRetryStrategy(1, 20, None, has_exception),
            AsyncRetryStrategy.exponential_backoff(3, 10, 35, 2.0, empty, None),
            ExponentialBackoffDelayRetryStrategy(2, 8, 100, 1.5, None, None),
        )
    )


@program()
def retry_predicates_by_hand(env):
    predicates = async_retry_predicates
    both = RetryPredicate(predicates.empty_result_predicate, None)
    return collected(
        [
            [predicates.empty_result_predicate(result) for result in ([], None, [0], [None])],
            [predicates.has_exception_predicate(error) for error in (None, ValueError("x"))],
            [
                predicates.exception_type_predicate(error, ValueError)
                for error in (None, ValueError("x"), KeyError("y"))
            ],
            (both.result_predicate()([]), both.exception_predicate()),
        ]
    )


class Failing(AsyncFunction):
    def __init__(self):
        self.attempts = {}

    async def async_invoke(self, value):
        self.attempts[value] = self.attempts.get(value, 0) + 1
        if self.attempts[value] < value:
            raise ValueError(f"{value} fails")
        return [(value, self.attempts[value])]

    def timeout(self, value):
        return [(value, -1)]


@program()
def exceptions_are_retried_in_order(env):
    strategy = AsyncRetryStrategy.exponential_backoff(
        5, 10, 50, 2.0, None, async_retry_predicates.has_exception_predicate
    )
    numbers = env.from_collection([3, 1, 4, 2], Types.INT())
    return AsyncDataStream.ordered_wait_with_retry(numbers, Failing(), Time.seconds(60), strategy, 2)


class Patient(AsyncRetryStrategy):
    """A user-defined strategy."""

    def can_retry(self, current_attempts):
        return current_attempts <= 4

    def get_backoff_time_millis(self, current_attempts):
        return 5 * current_attempts

    def get_retry_predicate(self):
        return OnValueErrors()


class OnValueErrors(AsyncRetryPredicate):
    def result_predicate(self):
        return None

    def exception_predicate(self):
        return lambda error: async_retry_predicates.exception_type_predicate(error, ValueError)


@program(parallelism=(1, 2), ordering="multiset")
def a_retry_strategy_of_the_program(env):
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return AsyncDataStream.unordered_wait_with_retry(numbers, Failing(), Time.seconds(60), Patient(), 10)
