# mypy: disable-error-code="import-not-found,import-untyped"
"""Mistakes that are detected when the program runs."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    WindowFunction,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor, TumblingEventTimeWindows
from tests.conformance.registry import failing


def numbers(env):
    return env.from_collection([1, 2, 3], Types.INT())


def keyed(env):
    return numbers(env).key_by(lambda i: i, Types.INT())


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def stamped(env, assigner):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)
    return numbers(env).assign_timestamps_and_watermarks(strategy)


# Values that do not fit their declared type


@failing("run", "TypeError", "unsupported")
def none_under_int(env):
    return numbers(env).map(lambda i: None, Types.INT()).map(lambda i: i + 1, Types.INT())


@failing("run", "AttributeError", "")
def int_under_string(env):
    return numbers(env).map(lambda i: i, Types.STRING())


@failing("run", "TypeError", "")
def string_under_double(env):
    return numbers(env).map(lambda i: "x", Types.DOUBLE())


@failing("run", "TypeError", "")
def string_under_boolean(env):
    return numbers(env).map(lambda i: "x", Types.BOOLEAN())


@failing("run", "TypeError", "tuple")
def int_under_tuple(env):
    return numbers(env).map(lambda i: i, Types.TUPLE([Types.INT(), Types.INT()]))


@failing("run", "AttributeError", "")
def int_under_row(env):
    return numbers(env).map(lambda i: i, Types.ROW([Types.INT()]))


@failing("run", "TypeError", "integer")
def wrong_field_of_a_row(env):
    return numbers(env).map(lambda i: Row("x"), Types.ROW([Types.INT()]))


@failing("run", "TypeError", "list")
def int_under_list(env):
    return numbers(env).map(lambda i: i, Types.LIST(Types.INT()))


@failing("run", "AttributeError", "list")
def list_under_map(env):
    return numbers(env).map(lambda i: [i], Types.MAP(Types.INT(), Types.INT()))


@failing("run", "AttributeError", "")
def string_under_date(env):
    return numbers(env).map(lambda i: "2024-01-01", Types.SQL_DATE())


@failing("run", "TypeError", "bytes")
def string_under_bytes(env):
    return numbers(env).map(lambda i: "x", Types.PRIMITIVE_ARRAY(Types.BYTE()))


@failing("run", "TypeError", "integer")
def key_that_does_not_fit_its_type(env):
    return numbers(env).key_by(str, Types.INT()).map(lambda i: i)


@failing("run", "OverflowError", "")
def byte_that_does_not_fit(env):
    return numbers(env).map(lambda i: 1000, Types.BYTE())


# Functions that raise, or return invalid results


@failing("run", "KeyError", "missing")
def key_selector_that_raises(env):
    return numbers(env).key_by(lambda i: {"one": 1}["missing"]).map(lambda i: i)


@failing("run", "ValueError", "good")
def filter_that_raises(env):
    def bad(value):
        raise ValueError("no good")

    return numbers(env).filter(bad)


@failing("run", "TypeError", "generator")
def generator_where_a_value_is_expected(env):
    def many(value):
        yield value

    return numbers(env).map(many)


@failing("run", "TypeError", "iterable")
def flat_map_that_returns_a_number(env):
    return numbers(env).flat_map(lambda i: i)


@failing("run", "TypeError", "map_with_two_parameters")
def map_with_two_parameters(env):
    return numbers(env).map(lambda a, b: a)


class OpensBadly(MapFunction):
    def open(self, runtime_context):
        raise RuntimeError("cannot open")

    def map(self, value):
        return value


@failing("run", "RuntimeError", "cannot")
def open_that_raises(env):
    return numbers(env).map(OpensBadly())


class ReturnsANumber(ProcessFunction):
    def process_element(self, value, ctx):
        return value


@failing("run", "TypeError", "iterable")
def process_function_that_returns_a_number(env):
    return numbers(env).process(ReturnsANumber())


@failing("run", "TypeError", "unsupported")
def reduce_of_what_cannot_be_added(env):
    return env.from_collection([("a", 1), ("a", "x")]).key_by(lambda t: t[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))


@failing("run", "IndexError", "tuple")
def sum_of_a_field_that_there_is_not(env):
    return env.from_collection([("a", 1), ("a", 2)]).key_by(lambda t: t[0]).sum(7)


@failing("run", "TypeError", "integers")
def sum_of_a_name_in_a_tuple(env):
    return env.from_collection([("a", 1), ("a", 2)]).key_by(lambda t: t[0]).sum("amount")


@failing("run", "ArrayIndexOutOfBoundsException", "")
def partitioner_that_names_a_partition_that_there_is_not(env):
    return numbers(env).partition_custom(lambda key, n: n + 5, lambda i: i).map(lambda i: i).set_parallelism(2)


class ReturnsAValue(AsyncFunction):
    async def async_invoke(self, value):
        return value


@failing("run", "RuntimeError", "AsyncFunction")
def async_function_that_returns_no_list(env):
    return AsyncDataStream.unordered_wait(numbers(env), ReturnsAValue(), Time.seconds(5), 10, Types.INT())


class Raises(AsyncFunction):
    async def async_invoke(self, value):
        raise ValueError("no answer")


@failing("run", "Exception", "answer")
def async_function_that_raises(env):
    return AsyncDataStream.unordered_wait(numbers(env), Raises(), Time.seconds(5), 10, Types.INT())


# Time


@failing("run", "Exception", "assign_timestamps_and_watermarks")
def event_time_window_without_timestamps(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda x, y: x + y)


class NoStamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return None


@failing("run", "TypeError", "")
def timestamp_of_none(env):
    return stamped(env, NoStamp()).map(lambda i: i)


class TextStamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return "now"


@failing("run", "TypeError", "")
def timestamp_of_text(env):
    return stamped(env, TextStamp()).map(lambda i: i)


class NoGap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 0


@failing("run", "Exception", "Dynamic")
def session_with_a_dynamic_gap_of_zero(env):
    windows = EventTimeSessionWindows.with_dynamic_gap(NoGap())
    return stamped(env, Stamp()).key_by(lambda i: i).window(windows).reduce(lambda x, y: x + y)


class ReturnsNoWindows(WindowFunction):
    def apply(self, key, window, inputs):
        return 5


@failing("run", "TypeError", "iterable")
def window_function_that_returns_a_number(env):
    windows = TumblingEventTimeWindows.of(Time.seconds(1))
    return stamped(env, Stamp()).key_by(lambda i: i).window(windows).apply(ReturnsNoWindows())


class Halves(AggregateFunction):
    def create_accumulator(self):
        return None

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a


@failing("run", "TypeError", "unsupported")
def accumulator_that_cannot_be_added_to(env):
    windows = TumblingEventTimeWindows.of(Time.seconds(1))
    return stamped(env, Stamp()).key_by(lambda i: i).window(windows).aggregate(Halves())


class TextTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer("soon")
        yield value


@failing("run", "TypeError", "")
def timer_at_a_text(env):
    return keyed(env).process(TextTimer())


# State


def with_state(get):
    class Uses(KeyedProcessFunction):
        def open(self, runtime_context):
            get(self, runtime_context)

        def process_element(self, value, ctx):
            yield value

    return Uses()


@failing("run", "AttributeError", "")
def state_of_a_name_without_a_descriptor(env):
    return keyed(env).process(with_state(lambda self, context: context.get_state("s")))


@failing("run", "Exception", "KeyedStream")
def list_state_without_a_key(env):
    class Uses(ProcessFunction):
        def open(self, runtime_context):
            runtime_context.get_list_state(ListStateDescriptor("s", Types.INT()))

        def process_element(self, value, ctx):
            yield value

    return numbers(env).process(Uses())


RULES = MapStateDescriptor("rules", Types.INT(), Types.INT())


def broadcast(env, function):
    return numbers(env).connect(numbers(env).broadcast(RULES)).process(function)


class WritesRules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.get_broadcast_state(MapStateDescriptor("rules", Types.INT(), Types.INT())).put(1, 1)
        yield value

    def process_broadcast_element(self, value, ctx):
        yield value


@failing("run", "AttributeError", "")
def broadcast_state_written_where_it_is_read_only(env):
    return broadcast(env, WritesRules())
