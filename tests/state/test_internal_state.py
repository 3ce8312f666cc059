"""States have the attributes of PyFlink's that programs use: a name, a namespace, and the internal state."""

from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.common.time import Time
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)


class Longest(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return max(value, accumulator, key=len)

    def get_result(self, accumulator):
        return len(accumulator)

    def merge(self, acc_a, acc_b):
        return max(acc_a, acc_b, key=len)


class Look(KeyedProcessFunction):
    def __init__(self, *, ttl):
        self.ttl = ttl

    def open(self, runtime_context):
        descriptors = [
            ValueStateDescriptor("value", Types.STRING()),
            ListStateDescriptor("list", Types.STRING()),
            MapStateDescriptor("map", Types.STRING(), Types.INT()),
            ReducingStateDescriptor("reducing", lambda one, other: one + other, Types.STRING()),
            AggregatingStateDescriptor("aggregating", Longest(), Types.STRING()),
        ]
        for descriptor in descriptors if self.ttl else ():
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        asks = ("get_state", "get_list_state", "get_map_state", "get_reducing_state", "get_aggregating_state")
        self.states = [getattr(runtime_context, a)(d) for a, d in zip(asks, descriptors, strict=True)]

    def process_element(self, value, ctx):
        one, several, mapped, reduced, aggregated = self.states
        inner = mapped.get_internal_state()
        yield [state.name for state in self.states], [state.namespace for state in self.states]
        yield [list(state.get_internal_state().read()) for state in (one, several, reduced, aggregated)]
        yield inner.is_empty()
        for state in (one, several, reduced, aggregated):
            state.get_internal_state().add(value)
            state.get_internal_state().commit()
        inner.put(value, 1)
        inner.put_all({"more": 2})
        inner.remove("more")
        inner.commit()
        yield one.value(), list(several.get()), reduced.get(), aggregated.get(), list(mapped.items())
        yield [list(state.get_internal_state().read()) for state in (one, several, reduced, aggregated)]
        yield inner.get(value), inner.contains("x"), sorted(inner.keys()), list(inner.values()), list(inner.items())
        several.get_internal_state().clear()
        inner.clear()
        yield list(several.get()), mapped.is_empty()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("ttl", [False, True], ids=["for good", "time to live"])
def test_the_internal_state_is_the_state(backend, ttl):
    configuration = {"flintstream.engine": "inline", "state.backend.type": backend}
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    stream = env.from_collection(["ab"], Types.STRING()).key_by(lambda word: word).process(Look(ttl=ttl))
    assert list(stream.execute_and_collect()) == [
        (["value", "list", "map", "reducing", "aggregating"], [None] * 5),
        [[], [], [], []],
        True,
        ("ab", ["ab"], "ab", 2, [("ab", 1)]),
        [["ab"], ["ab"], ["ab"], [2]],
        (1, False, ["ab"], [1], [("ab", 1)]),
        ([], True),
    ]


def test_state_of_a_window_says_which(env):
    class OfWindow(ProcessWindowFunction):
        def process(self, key, context, elements):
            descriptor = ValueStateDescriptor("v", Types.INT())
            state = context.window_state().get_state(descriptor)
            yield state.namespace == context.window(), context.global_state().get_state(descriptor).namespace

        def clear(self, context):
            pass

    stream = env.from_collection([("a", 1)]).key_by(lambda pair: pair[0]).count_window(1).process(OfWindow())
    assert list(stream.execute_and_collect()) == [(True, None)]


def test_a_broadcast_function_is_told_the_time_and_reads_what_it_writes(env):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())

    class Rules(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            with pytest.raises(Exception, match="only supported on a keyed stream"):
                ctx.timer_service().register_event_time_timer(1)
            yield ctx.timer_service().current_processing_time() > 0

        def process_broadcast_element(self, value, ctx):
            state = ctx.get_broadcast_state(rules)
            state.put("a", value)
            reading = state.to_read_only_broadcast_state()
            yield reading.get("a"), ctx.timer_service().current_watermark() == ctx.current_watermark()

    broadcast = env.from_collection([1]).broadcast(rules)
    stream = env.from_collection([5]).connect(broadcast).process(Rules())
    assert sorted(map(str, stream.execute_and_collect())) == ["(1, True)", "True"]
