from __future__ import annotations

import abc

import cloudpickle
import pytest

from flintstream.datastream import functions
from flintstream.datastream.functions import (
    AggregateFunction,
    AsyncFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeyedStateStore,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    ReduceFunctionWrapper,
    RuntimeContext,
    SinkFunction,
    WindowFunction,
)
from flintstream.datastream.output_tag import OutputTag
from flintstream.datastream.time_domain import TimeDomain

REQUIRED = {
    MapFunction: {"map"},
    CoMapFunction: {"map1", "map2"},
    FlatMapFunction: {"flat_map"},
    CoFlatMapFunction: {"flat_map1", "flat_map2"},
    FilterFunction: {"filter"},
    ReduceFunction: {"reduce"},
    AggregateFunction: {"create_accumulator", "add", "get_result", "merge"},
    KeySelector: {"get_key"},
    Partitioner: {"partition"},
    ProcessFunction: {"process_element"},
    KeyedProcessFunction: {"process_element"},
    CoProcessFunction: {"process_element1", "process_element2"},
    KeyedCoProcessFunction: {"process_element1", "process_element2"},
    WindowFunction: {"apply"},
    ProcessWindowFunction: {"process"},
    ProcessAllWindowFunction: {"process"},
    KeyedBroadcastProcessFunction: {"process_element", "process_broadcast_element"},
    AsyncFunction: {"async_invoke"},
}


def call(method, *arguments):
    """Call a method with arguments of any type."""
    return method(*arguments)


@pytest.mark.parametrize("base", REQUIRED)
def test_a_function_must_implement_its_methods_and_only_those(base):
    assert base.__abstractmethods__ == REQUIRED[base]
    with pytest.raises(TypeError, match="abstract"):
        base()
    complete = type("Complete", (base,), {name: lambda self, *args: None for name in REQUIRED[base]})
    complete().open(None)
    complete().close()


@pytest.mark.parametrize("base", REQUIRED)
def test_every_kind_is_a_function(base):
    assert issubclass(base, Function)


def test_a_process_window_function_need_not_clear():
    class Count(ProcessWindowFunction):
        def process(self, key, context, elements):
            return [len(list(elements))]

    call(Count().clear, None)


def test_a_keyed_process_function_need_not_have_timers():
    class Pass(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value

    assert call(Pass().on_timer, 0, None) is None


def test_a_reduce_wrapper_calls_the_plain_function():
    assert ReduceFunctionWrapper(lambda a, b: (a, b)).reduce(1, 2) == (1, 2)


def test_the_null_byte_selector_gives_all_records_one_key():
    selector = NullByteKeySelector()
    assert selector.get_key("a") == selector.get_key(None) == 0


def test_a_sink_function_must_implement_invoke():
    with pytest.raises(NotImplementedError, match=r"Nothing must implement invoke\(value, context\)"):
        type("Nothing", (SinkFunction,), {})().invoke(1, None)


def test_the_runtime_context_gives_access_to_keyed_state():
    assert issubclass(RuntimeContext, KeyedStateStore)


@pytest.mark.parametrize(
    "context",
    [
        ProcessFunction.Context,
        KeyedProcessFunction.Context,
        KeyedProcessFunction.OnTimerContext,
        CoProcessFunction.Context,
        KeyedCoProcessFunction.OnTimerContext,
        ProcessWindowFunction.Context,
        KeyedBroadcastProcessFunction.ReadOnlyContext,
    ],
)
def test_contexts_are_interfaces(context):
    assert isinstance(context, abc.ABCMeta)
    assert context.__abstractmethods__


def test_an_on_timer_context_is_a_context():
    assert issubclass(KeyedProcessFunction.OnTimerContext, KeyedProcessFunction.Context)
    assert issubclass(KeyedCoProcessFunction.OnTimerContext, KeyedCoProcessFunction.Context)
    broadcast = KeyedBroadcastProcessFunction
    assert issubclass(broadcast.OnTimerContext, broadcast.ReadOnlyContext)


def test_functions_of_a_script_can_be_pickled():
    class Tag(MapFunction):
        def __init__(self, tag):
            self.tag = tag

        def map(self, value):
            return self.tag, value

    assert cloudpickle.loads(cloudpickle.dumps(Tag("x"))).map(1) == ("x", 1)


def test_all_names_exist():
    for name in vars(functions)["__all__"]:
        assert hasattr(functions, name)


def test_generic_functions_can_be_parametrized():
    class Sum(AggregateFunction[int, int, int]):
        def create_accumulator(self):
            return 0

        def add(self, value, accumulator):
            return value + accumulator

        def get_result(self, accumulator):
            return accumulator

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    assert Sum().add(1, 2) == 3
    assert WindowFunction[tuple, tuple, str, object] is not None


# -- what goes with functions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["", None, 5, b"x"])
def test_an_output_tag_needs_a_name(bad):
    with pytest.raises(ValueError, match="tag_id"):
        OutputTag(bad)


def test_an_output_tag_keeps_name_and_type():
    from flintstream.common import Types

    tag = OutputTag("late", Types.INT())
    assert (tag.tag_id, tag.type_info) == ("late", Types.INT())
    assert OutputTag("late").type_info is None
    assert OutputTag("late", [Types.INT(), Types.STRING()]).type_info == Types.ROW([Types.INT(), Types.STRING()])


def test_time_domains_have_pyflinks_numbers():
    assert (TimeDomain.EVENT_TIME.value, TimeDomain.PROCESSING_TIME.value) == (0, 1)
