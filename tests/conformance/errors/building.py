# mypy: disable-error-code="import-not-found,import-untyped"
"""Mistakes that are detected while the program is built."""

import threading

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.datastream import AsyncDataStream, AsyncFunction, OutputTag, ProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.conformance.registry import failing


def numbers(env):
    return env.from_collection([1, 2, 3], Types.INT())


def pairs(env):
    return env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))


def keyed(env):
    return numbers(env).key_by(lambda i: i)


def windowed(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.seconds(1)))


# Arguments that are not functions, or functions of another kind


@failing("build", "TypeError", "MapFunction")
def map_of_none(env):
    return numbers(env).map(None)


@failing("build", "TypeError", "ProcessFunction")
def map_of_a_class_in_place_of_an_object(env):
    return numbers(env).map(ProcessFunction())


@failing("run", "AttributeError", "function")
def process_of_a_lambda(env):
    return numbers(env).process(lambda i: i)


@failing("build", "AttributeError", "")
def window_of_a_number(env):
    return keyed(env).window(5).reduce(lambda x, y: x + y)


@failing("build", "AttributeError", "")
def window_all_of_a_number(env):
    return numbers(env).window_all(5).reduce(lambda x, y: x + y)


@failing("build", "TypeError", "ReduceFunction")
def window_reduce_of_none(env):
    return windowed(env).reduce(None)


@failing("build", "TypeError", "AggregateFunction")
def window_aggregate_of_a_lambda(env):
    return windowed(env).aggregate(lambda i: i)


@failing("run", "AttributeError", "function")
def window_apply_of_a_lambda(env):
    return windowed(env).apply(lambda i: i)


@failing("run", "AttributeError", "function")
def window_process_of_a_lambda(env):
    return windowed(env).process(lambda i: i)


@failing("build", "TypeError", "CoMapFunction")
def connected_map_of_a_lambda(env):
    return numbers(env).connect(numbers(env)).map(lambda i: i)


@failing("build", "TypeError", "CoFlatMapFunction")
def connected_flat_map_of_a_lambda(env):
    return numbers(env).connect(numbers(env)).flat_map(lambda i: i)


@failing("build", "TypeError", "KeyedCoProcessFunction")
def connected_process_of_a_lambda(env):
    return numbers(env).connect(numbers(env)).process(lambda i: i)


@failing("build", "TypeError", "partitioner")
def partition_custom_of_a_number(env):
    return numbers(env).partition_custom(42, lambda i: i)


@failing("build", "TypeError", "key_selector")
def partition_custom_with_a_number_as_key(env):
    return numbers(env).partition_custom(lambda key, n: 0, 42)


@failing("build", "AttributeError", "function")
def async_wait_of_a_lambda(env):
    return AsyncDataStream.unordered_wait(numbers(env), lambda i: i, Time.seconds(1), 10)


class Later(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


@failing("build", "AttributeError", "")
def watermarks_of_a_number(env):
    return numbers(env).assign_timestamps_and_watermarks(42)


@failing("build", "AttributeError", "function")
def timestamps_of_a_lambda(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    return numbers(env).assign_timestamps_and_watermarks(strategy)


@failing("build", "AttributeError", "")
def out_of_orderness_of_a_number(env):
    return numbers(env).assign_timestamps_and_watermarks(WatermarkStrategy.for_bounded_out_of_orderness(5))


@failing("run", "IllegalArgumentException", "negative")
def out_of_orderness_below_zero(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1))
    return numbers(env).assign_timestamps_and_watermarks(strategy)


@failing("build", "IllegalArgumentException", "must")
def idleness_of_no_time(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(0))
    return numbers(env).assign_timestamps_and_watermarks(strategy)


@failing("build", "TypeError", "_thread")
def function_that_cannot_be_pickled(env):
    lock = threading.Lock()

    def locked(value):
        with lock:
            return value

    return numbers(env).map(locked)


class Unfinished(ProcessFunction):
    pass


@failing("build", "TypeError", "process_element")
def process_function_without_its_method(env):
    return numbers(env).process(Unfinished())


# Numbers out of range


@failing("build", "IllegalArgumentException", "parallelism")
def parallelism_of_zero(env):
    return numbers(env).map(lambda i: i).set_parallelism(0)


@failing("build", "IllegalArgumentException", "parallelism")
def parallelism_below_zero(env):
    return numbers(env).map(lambda i: i).set_parallelism(-2)


@failing("build", "Py4JError", "")
def parallelism_of_text(env):
    return numbers(env).map(lambda i: i).set_parallelism("2")


@failing("build", "IllegalArgumentException", "parallelism")
def max_parallelism_of_zero(env):
    return numbers(env).map(lambda i: i).set_max_parallelism(0)


@failing("build", "IllegalArgumentException", "parallelism")
def max_parallelism_that_is_too_large(env):
    return numbers(env).map(lambda i: i).set_max_parallelism(40000)


@failing("run", "JobException", "parallelism")
def parallelism_above_max_parallelism(env):
    return numbers(env).map(lambda i: i).set_max_parallelism(2).set_parallelism(3)


@failing("build", "IllegalArgumentException", "Parallelism")
def parallelism_of_zero_for_all(env):
    env.set_parallelism(0)
    return numbers(env)


@failing("build", "Py4JError", "")
def parallelism_of_text_for_all(env):
    env.set_parallelism("many")
    return numbers(env)


@failing("build", "IllegalArgumentException", "")
def max_parallelism_of_zero_for_all(env):
    env.set_max_parallelism(0)
    return numbers(env)


@failing("build", "Exception", "TumblingEventTimeWindows")
def tumbling_windows_of_no_size(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.seconds(0))).reduce(lambda x, y: x)


@failing("build", "Exception", "TumblingEventTimeWindows")
def tumbling_windows_of_a_negative_size(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.seconds(-1))).reduce(lambda x, y: x)


@failing("build", "Exception", "TumblingProcessingTimeWindows")
def tumbling_processing_time_windows_of_no_size(env):
    return keyed(env).window(TumblingProcessingTimeWindows.of(Time.seconds(0))).reduce(lambda x, y: x)


@failing("build", "Exception", "TumblingEventTimeWindows")
def tumbling_windows_of_an_offset_beyond_their_size(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.seconds(1), Time.seconds(2))).reduce(lambda x, y: x)


@failing("build", "Exception", "SlidingEventTimeWindows")
def sliding_windows_of_no_slide(env):
    windows = SlidingEventTimeWindows.of(Time.seconds(1), Time.seconds(0))
    return keyed(env).window(windows).reduce(lambda x, y: x)


@failing("build", "Exception", "SlidingEventTimeWindows")
def sliding_windows_of_a_negative_size(env):
    windows = SlidingEventTimeWindows.of(Time.seconds(-1), Time.seconds(1))
    return keyed(env).window(windows).reduce(lambda x, y: x)


@failing("build", "Exception", "EventTimeSessionWindows")
def session_of_a_negative_gap(env):
    windows = EventTimeSessionWindows.with_gap(Time.seconds(-1))
    return keyed(env).window(windows).reduce(lambda x, y: x)


@failing("run", "ZeroDivisionError", "")
def count_windows_of_no_size(env):
    return keyed(env).count_window(0).reduce(lambda x, y: x)


# Partitioning and connecting


@failing("build", "AttributeError", "")
def union_with_a_number(env):
    return numbers(env).union(42)


@failing("build", "IllegalArgumentException", "")
def union_of_two_types(env):
    return numbers(env).union(pairs(env))


@failing("run", "AttributeError", "")
def connect_with_a_number(env):
    return numbers(env).connect(42)


@failing("run", "UnsupportedOperationException", "parallelism")
def forward_to_another_parallelism(env):
    return numbers(env).map(lambda i: i).set_parallelism(2).forward().map(lambda i: i).set_parallelism(1)


@failing("run", "IllegalArgumentException", "unique")
def one_uid_for_two_operators(env):
    return numbers(env).map(lambda i: i).uid("same").rebalance().map(lambda i: i).uid("same")


@failing("build", "IllegalArgumentException", "")
def uid_hash_that_is_no_hash(env):
    return numbers(env).map(lambda i: i).set_uid_hash("zz")


@failing("build", "AttributeError", "")
def side_output_of_a_text(env):
    return numbers(env).map(lambda i: i).get_side_output("late")


@failing("build", "ValueError", "OutputTag")
def output_tag_of_none(env):
    return numbers(env).get_side_output(OutputTag(None, Types.INT()))


@failing("build", "TypeError", "broadcast_state_descriptor")
def broadcast_with_the_state_of_a_value(env):
    return numbers(env).connect(numbers(env).broadcast(ValueStateDescriptor("rules", Types.INT()))).process(42)


@failing("run", "AttributeError", "function")
def broadcast_process_of_a_lambda(env):
    rules = numbers(env).broadcast(MapStateDescriptor("rules", Types.INT(), Types.INT()))
    return numbers(env).connect(rules).process(lambda i: i)


@failing("build", "Exception", "KeyedStream")
def forward_of_a_keyed_stream(env):
    return keyed(env).forward()


@failing("build", "Exception", "KeyedStream")
def uid_of_a_keyed_stream(env):
    return keyed(env).uid("keyed")


@failing("build", "Exception", "KeyedStream")
def chaining_of_a_keyed_stream(env):
    return keyed(env).disable_chaining()


@failing("build", "IndexOutOfBoundsException", "")
def project_beyond_the_last_field(env):
    return pairs(env).project(2)


# Types and collections


@failing("build", "AttributeError", "")
def type_that_is_a_text(env):
    return numbers(env).map(lambda i: i, output_type="INT")


@failing("build", "NullPointerException", "type")
def tuple_type_of_something_that_is_no_type(env):
    return numbers(env).map(lambda i: (i,), Types.TUPLE([int]))


@failing("build", "IllegalArgumentException", "field")
def row_type_with_fewer_types_than_names(env):
    return numbers(env).map(lambda i: i, Types.ROW_NAMED(["a", "b"], [Types.INT()]))


@failing("build", "TypeError", "iterable")
def collection_that_is_a_number(env):
    return env.from_collection(5, Types.INT())


@failing("build", "AttributeError", "")
def collection_with_a_text_as_its_type(env):
    return env.from_collection([1], "INT")


@failing("build", "AttributeError", "")
def source_that_is_a_number(env):
    return env.from_source(42, WatermarkStrategy.no_watermarks(), "numbers")


@failing("build", "AttributeError", "function")
def sink_that_is_a_lambda(env):
    numbers(env).sink_to(lambda i: i)


@failing("build", "AttributeError", "function")
def sink_function_that_is_a_lambda(env):
    numbers(env).add_sink(lambda i: i)


# Settings


@failing("build", "IllegalStateException", "operators")
def nothing_to_execute(env):
    env.execute("nothing")


@failing("build", "AttributeError", "")
def runtime_mode_of_text(env):
    env.set_runtime_mode("BATCH")
    return numbers(env)


@failing("build", "IllegalArgumentException", "Checkpoint")
def checkpoint_interval_below_zero(env):
    env.enable_checkpointing(-1)
    return numbers(env)


@failing("build", "IllegalArgumentException", "Timeout")
def buffer_timeout_below_zero(env):
    env.set_buffer_timeout(-2)
    return numbers(env)


@failing("build", "Py4JError", "")
def slot_sharing_group_that_is_a_number(env):
    return numbers(env).map(lambda i: i).slot_sharing_group(42)


@failing("build", "IllegalStateException", "")
def collecting_a_negative_number_of_records(env):
    list(numbers(env).execute_and_collect(limit=-1))


# Steps of one subtask


@failing("build", "IllegalArgumentException", "parallelism of non parallel operator must be 1")
def parallelism_of_a_collection(env):
    return numbers(env).set_parallelism(2)


@failing("build", "IllegalArgumentException", "parallelism of non parallel operator must be 1")
def max_parallelism_of_a_collection(env):
    return numbers(env).set_max_parallelism(2)


@failing("build", "IllegalArgumentException", "parallelism of non parallel operator must be 1")
def parallelism_after_force_non_parallel(env):
    return numbers(env).map(lambda i: i, Types.INT()).force_non_parallel().set_parallelism(2)


@failing("build", "AttributeError", "extract_timestamp")
def assigner_that_is_a_function(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, time: 5)
    return numbers(env).assign_timestamps_and_watermarks(strategy)
