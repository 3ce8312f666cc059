# mypy: disable-error-code="import-not-found,import-untyped"
"""Mistakes that are detected while the program is built, and some that are detected when it runs."""

from pyflink.common import Row, Time, Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
)
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, EventTimeSessionWindows, Trigger, TriggerResult
from tests.conformance.registry import failing


class Plain(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


def numbers(env):
    return env.from_collection([1, 2, 3], Types.INT())


@failing("build", "TypeError", "KeyedProcessFunction")
def process_function_on_a_keyed_stream(env):
    return numbers(env).key_by(lambda i: i).process(Plain())


@failing("build", "TypeError", "MapFunction")
def map_of_something_that_is_no_function(env):
    return numbers(env).map(42)


@failing("build", "TypeError", "FlatMapFunction")
def flat_map_of_something_that_is_no_function(env):
    return numbers(env).flat_map("x")


@failing("build", "TypeError", "FilterFunction")
def filter_of_something_that_is_no_function(env):
    return numbers(env).filter(None)


@failing("build", "TypeError", "key_selector")
def key_by_something_that_is_no_function(env):
    return numbers(env).key_by(0)


@failing("build", "TypeError", "ReduceFunction")
def reduce_with_something_that_is_no_function(env):
    return numbers(env).key_by(lambda i: i).reduce(1)


@failing("build", "Exception", "KeyedStream")
def rebalance_of_a_keyed_stream(env):
    return numbers(env).key_by(lambda i: i).rebalance()


@failing("build", "Exception", "KeyedStream")
def parallelism_of_a_keyed_stream(env):
    return numbers(env).key_by(lambda i: i).set_parallelism(2)


@failing("build", "Exception", "KeyedStream")
def name_of_a_keyed_stream(env):
    return numbers(env).key_by(lambda i: i).name("keyed")


@failing("build", "ValueError", "empty")
def output_tag_without_a_name(env):
    return numbers(env).process(Plain()).get_side_output(OutputTag("", Types.INT()))


@failing("build", "Exception", "Tuple")
def project_of_a_stream_without_tuples(env):
    return numbers(env).project(0)


class NoMerge(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def can_merge(self):
        return False

    def clear(self, window, ctx):
        pass


@failing("build", "TypeError", "trigger")
def a_trigger_that_cannot_merge_on_sessions(env):
    windows = numbers(env).window_all(EventTimeSessionWindows.with_gap(Time.seconds(1)))
    return windows.trigger(NoMerge()).reduce(lambda x, y: x + y)


RULES = "rules"


class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        return []


class KeyedRules(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        return []


@failing("build", "TypeError", "BroadcastProcessFunction")
def broadcast_process_function_on_a_keyed_stream(env):
    rules = numbers(env).broadcast(MapStateDescriptor(RULES, Types.INT(), Types.INT()))
    return numbers(env).key_by(lambda i: i).connect(rules).process(Rules())


@failing("build", "TypeError", "KeyedBroadcastProcessFunction")
def keyed_broadcast_process_function_on_a_plain_stream(env):
    rules = numbers(env).broadcast(MapStateDescriptor(RULES, Types.INT(), Types.INT()))
    return numbers(env).connect(rules).process(KeyedRules())


@failing("build", "ValueError", "'a'")
def collection_that_does_not_fit_its_type(env):
    return env.from_collection(["a"], Types.TUPLE([Types.INT()]))


@failing("build", "Exception", "EventTimeSessionWindows")
def session_without_a_gap(env):
    windows = numbers(env).key_by(lambda i: i).window(EventTimeSessionWindows.with_gap(Time.milliseconds(0)))
    return windows.trigger(CountTrigger.of(1)).reduce(lambda x, y: x + y)


# Failures of the job


@failing("run", "ZeroDivisionError", "division")
def exception_of_a_function(env):
    return numbers(env).map(lambda i: 1 // (i - 2))


class WithState(ProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("s", Types.INT()))

    def process_element(self, value, ctx):
        yield value


@failing("run", "Exception", "KeyedStream")
def keyed_state_without_a_key(env):
    return numbers(env).process(WithState())


class WithTimer(ProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)
        yield value


@failing("run", "Exception", "keyed")
def timer_without_a_key(env):
    return numbers(env).process(WithTimer())


@failing("run", "TypeError", "NoneType")
def flat_map_that_returns_none(env):
    return numbers(env).flat_map(lambda i: None)


@failing("run", "OverflowError", "")
def integer_that_does_not_fit(env):
    return numbers(env).map(lambda i: i * 2**40, Types.INT())


@failing("run", "TypeError", "")
def string_under_int(env):
    return numbers(env).map(lambda i: f"<{i}>", Types.INT())


@failing("run", "AttributeError", "name")
def missing_field_of_a_row(env):
    rows = env.from_collection([Row(1)], Types.ROW_NAMED(["id"], [Types.INT()]))
    return rows.map(lambda row: row.name)


class Corrupted(KeyedProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("s", Types.INT()))
        runtime_context.get_map_state(MapStateDescriptor("s", Types.INT(), Types.INT()))

    def process_element(self, value, ctx):
        yield value


@failing("run", "Exception", "in use")
def one_name_for_two_kinds_of_state(env):
    return numbers(env).key_by(lambda i: i).process(Corrupted())
