"""The operator of ``reduce``, driven directly: with and without direct access to the state."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flintstream.runtime.operators.adapters import PlainFunction
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.reduce import ReduceOperator
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.state.hash_map import HashMapStateBackend


class Sink:
    def __init__(self):
        self.values = []

    def emit(self, values, timestamps):
        self.values += values

    def emit_watermark(self, timestamp):
        pass

    def emit_idle(self, idle):
        pass


class Delegating:
    """A backend of a user: state objects are the only access to its state."""

    def __init__(self, backend):
        self.__dict__["backend"] = backend

    def __getattr__(self, name):
        return getattr(self.backend, name)

    def __setattr__(self, name, value):
        setattr(self.backend, name, value)


def total_or_none(one, other):
    """Return None for totals of 0, which drops the state of the key."""
    total = one[1] + other[1]
    return (one[0], total) if total else None


def operator_on(backend):
    operator = ReduceOperator(PlainFunction("reduce", total_or_none), lambda record: record[0])
    runtime = StreamingRuntimeContext("reduce", 0, 1, 128, {}, backend)
    context = OperatorContext("reduce", 0, 1, 128, False, runtime, backend, InternalTimerService())
    operator.setup(context, Sink(), {})
    return operator


def reduced(records):
    """Return what each record leads to."""
    current: dict = {}
    results = []
    for record in records:
        before = current.get(record[0])
        current[record[0]] = after = record if before is None else total_or_none(before, record)
        results.append(after)
    return results


blocks = st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-2, 2)), min_size=1), max_size=5)


@given(blocks)
def test_each_record_gives_the_running_value_whatever_access_the_backend_allows(blocks):
    direct, by_objects = HashMapStateBackend(), HashMapStateBackend()
    operators = [operator_on(direct), operator_on(Delegating(by_objects))]
    direct.tracking = by_objects.tracking = True
    for block in blocks:
        for operator in operators:
            operator.process(block, None)
        assert direct.take_delta() == by_objects.take_delta()
    for operator in operators:
        assert operator.output.values == reduced([record for block in blocks for record in block])


def test_a_result_that_is_changed_in_place_later_was_copied():
    operator = operator_on(HashMapStateBackend())

    def in_place(one, other):
        one[1] += other[1]
        return one

    operator.function.reduce = in_place
    operator.process([["a", 1], ["a", 2]], None)
    assert operator.output.values == [["a", 1], ["a", 3]]
