from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, ProcessFunction, RuntimeContext
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.datastream.time_domain import TimeDomain
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.operators.contexts import (
    KeyedProcessContext,
    OnTimerContext,
    ProcessContext,
    StreamingRuntimeContext,
)
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.hash_map import HashMapStateBackend

LONG = Types.LONG()


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


DESCRIPTORS = {
    "get_state": ValueStateDescriptor("v", LONG),
    "get_list_state": ListStateDescriptor("l", LONG),
    "get_map_state": MapStateDescriptor("m", LONG, LONG),
    "get_reducing_state": ReducingStateDescriptor("r", min, LONG),
    "get_aggregating_state": AggregatingStateDescriptor("a", Count(), LONG),
}


@pytest.fixture
def backend():
    backend = HashMapStateBackend()
    backend.key = "a"
    return backend


@pytest.fixture
def timers():
    return InternalTimerService(clock=lambda: 42)


def runtime_context(state=None, attempt=0):
    return StreamingRuntimeContext("Map", 1, 4, 128, {"mode": "fast"}, state, attempt)


# -- runtime context -------------------------------------------------------------------------------------------------


def test_the_runtime_context_tells_where_the_function_runs():
    context = runtime_context(attempt=2)
    assert isinstance(context, RuntimeContext)
    assert context.get_task_name() == "Map"
    assert context.get_index_of_this_subtask() == 1
    assert context.get_number_of_parallel_subtasks() == 4
    assert context.get_max_number_of_parallel_subtasks() == 128
    assert context.get_attempt_number() == 2
    assert context.get_task_name_with_subtasks() == "Map (2/4)#2"


def test_job_parameters_have_a_default():
    context = runtime_context()
    assert context.get_job_parameter("mode", "slow") == "fast"
    assert context.get_job_parameter("other", "slow") == "slow"


def test_there_is_one_metric_group():
    context = runtime_context()
    context.get_metrics_group().counter("n").inc()
    assert context.get_metrics_group().values() == {"n": 1}


@pytest.mark.parametrize("method", DESCRIPTORS)
def test_state_is_that_of_the_current_key(backend, method):
    state = getattr(runtime_context(backend), method)(DESCRIPTORS[method])
    assert state is backend.state(DESCRIPTORS[method])


@pytest.mark.parametrize("method", DESCRIPTORS)
def test_state_needs_a_keyed_stream(method):
    message = r"only accessible by functions executed on a KeyedStream\. Call key_by\(\) before the operator 'Map'"
    with pytest.raises(Exception, match=message):
        getattr(runtime_context(), method)(DESCRIPTORS[method])


@pytest.mark.parametrize("method", DESCRIPTORS)
@pytest.mark.parametrize("other", [*DESCRIPTORS, None])
def test_state_needs_the_descriptor_of_its_kind(backend, method, other):
    if other == method or (method == "get_state" and other is not None):
        return
    with pytest.raises(TypeError, match=f"operator 'Map' needs a {type(DESCRIPTORS[method]).__name__}"):
        getattr(runtime_context(backend), method)(DESCRIPTORS.get(other))


def test_a_descriptor_of_another_kind_counts_where_its_type_says_the_same(backend):
    context = runtime_context(backend)
    words = context.get_state(ListStateDescriptor("words", Types.STRING()))
    words.update(["a"])
    assert words.value() == ["a"]
    numbers = context.get_list_state(ValueStateDescriptor("numbers", Types.LIST(LONG)))
    numbers.add(1)
    assert list(numbers.get()) == [1]
    counts = context.get_map_state(ValueStateDescriptor("counts", Types.MAP(Types.STRING(), LONG)))
    counts.put("a", 1)
    assert counts.get("a") == 1


# -- process contexts ------------------------------------------------------------------------------------------------


def test_the_context_of_a_stream_without_keys_tells_the_time_and_refuses_timers():
    context = ProcessContext()
    assert isinstance(context, ProcessFunction.Context)
    assert context.timestamp() == MIN_TIMESTAMP
    service = context.timer_service()
    assert service.current_watermark() == MIN_TIMESTAMP
    context.watermark(7)
    assert service.current_watermark() == 7
    assert service.current_processing_time() > 1_600_000_000_000
    for method in (service.register_event_time_timer, service.register_processing_time_timer):
        with pytest.raises(Exception, match=r"Register timers is only supported on a keyed stream\."):
            method(5)
    for method in (service.delete_event_time_timer, service.delete_processing_time_timer):
        with pytest.raises(Exception, match=r"Delete timers is only supported on a keyed stream\."):
            method(5)


def test_a_keyed_context_registers_and_deletes_timers_of_the_current_key(backend, timers):
    context = KeyedProcessContext(backend, timers)
    assert isinstance(context, KeyedProcessFunction.Context)
    service = context.timer_service()
    for backend.key in ("a", "b"):
        service.register_event_time_timer(5)
        service.register_processing_time_timer(6)
    service.delete_event_time_timer(5)
    service.delete_processing_time_timer(6)
    assert list(timers.advance_watermark(MAX_TIMESTAMP)) == [(5, "a", None)]
    assert list(timers.due_processing(MAX_TIMESTAMP)) == [(6, "a", None)]


def test_a_keyed_context_tells_the_time(backend, timers):
    service = KeyedProcessContext(backend, timers).timer_service()
    assert service.current_watermark() == MIN_TIMESTAMP
    list(timers.advance_watermark(9))
    assert service.current_watermark() == 9
    assert service.current_processing_time() == 42


@pytest.mark.parametrize("key", ["a", [1, 2], {"x": 1}, None])
def test_the_key_is_what_the_user_made_it(backend, timers, key):
    backend.key = freeze_key(key)
    current = KeyedProcessContext(backend, timers).get_current_key()
    assert type(current) is type(key)
    assert current == key


@pytest.mark.parametrize(("domain", "expected"), [("event", "EVENT_TIME"), ("processing", "PROCESSING_TIME")])
def test_a_timers_context_says_which_kind_of_timer_fires(backend, timers, domain, expected):
    context = OnTimerContext(backend, timers)
    assert isinstance(context, KeyedProcessFunction.OnTimerContext)
    context.set_domain(domain)
    assert context.time_domain() is TimeDomain[expected]
