"""The compiled methods of state objects do what those in Python do."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Time, Types
from flintstream.common._clock import another_clock
from flintstream.compiled import load
from flintstream.datastream.functions import AggregateFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.state import heap_states, ttl
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.kinds import KINDS, StateKind

if load("keyed") is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)


class InPython(HashMapStateBackend):
    kinds = {  # noqa: RUF012 - as in the class
        descriptor: StateKind(
            kind.name, getattr(heap_states, kind.state.__name__), getattr(ttl, kind.state_with_ttl.__name__)
        )
        for descriptor, kind in KINDS.items()
    }


class Longest(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value]

    def get_result(self, accumulator):
        return len(accumulator), sum(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


LONG = Types.LONG()
DESCRIPTORS = {
    "value": lambda: ValueStateDescriptor("value", LONG),
    "list": lambda: ListStateDescriptor("list", LONG),
    "map": lambda: MapStateDescriptor("map", LONG, LONG),
    "reducing": lambda: ReducingStateDescriptor("reducing", lambda a, b: a + b, LONG),
    "aggregating": lambda: AggregatingStateDescriptor("aggregating", Longest(), LONG),
}
numbers = st.integers(-2, 2)
nothing = st.just(())
one = st.tuples(numbers)
METHODS: dict[str, dict[str, st.SearchStrategy]] = {
    "value": {"value": nothing, "update": st.tuples(numbers | st.none())},
    "list": {
        "get": nothing, "add": one, "update": st.tuples(st.lists(numbers)), "add_all": st.tuples(st.lists(numbers)),
    },
    "map": {
        "get": one, "put": st.tuples(numbers, numbers), "remove": one, "contains": one, "is_empty": nothing,
        "items": nothing, "put_all": st.tuples(st.dictionaries(numbers, numbers)),
    },
    "reducing": {"get": nothing, "add": st.tuples(numbers | st.none())},
    "aggregating": {"get": nothing, "add": st.tuples(numbers | st.none())},
}  # fmt: skip


@st.composite
def settings_of_ttl(draw):
    milliseconds = draw(st.none() | st.sampled_from([1, 3, 2**62, 2**63 - 1]))
    if milliseconds is None:
        return None
    kind = draw(st.sampled_from(list(StateTtlConfig.UpdateType)[1:]))
    seen = draw(st.sampled_from(list(StateTtlConfig.StateVisibility)))
    builder = StateTtlConfig.new_builder(Time.milliseconds(milliseconds))
    return builder.set_update_type(kind).set_state_visibility(seen).build()


@st.composite
def programs(draw):
    kind = draw(st.sampled_from(list(METHODS)))
    calls = st.one_of(*[st.tuples(st.just(name), item) for name, item in METHODS[kind].items()])
    others = st.sampled_from([("clear", ()), ("take delta", ()), ("take snapshot", ())])
    passing = st.sampled_from([0, 0, 0, 1, 2, 5])
    return kind, draw(settings_of_ttl()), draw(st.lists(st.tuples(passing, st.sampled_from("ab"), calls | others)))


def results(backend, kind, config, steps):
    """Return what each step returns, and the entries and changes after it."""
    found: list = []
    descriptor = DESCRIPTORS[kind]()
    if config is not None:
        descriptor.enable_time_to_live(config)
    state = backend.state(descriptor)
    backend.tracking = True
    now = 1_000
    with another_clock(lambda: now):
        for passed, key, (name, arguments) in steps:
            now += passed
            backend.key = key
            if name == "take delta":
                found.append(repr(backend.take_delta()))
            elif name == "take snapshot":
                found.append(repr(list(backend.take_snapshot())))
            else:
                result = getattr(state, name)(*arguments)
                found.append(list(result) if name == "items" or (kind, name) == ("list", "get") else result)
            [table] = backend.tables.values()
            found.append(repr((table.values, table.dirty, table.noted)))
    return found


@given(programs())
@settings(max_examples=400)
def test_states_do_the_same(program):
    compiled = results(HashMapStateBackend(), *program)
    with patch.object(heap_states, "_compiled", None):
        assert compiled == results(InPython(), *program)
