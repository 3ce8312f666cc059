"""State objects do the same whether their methods are compiled or not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiled.state_calls import state_calls

from flintstream.common import Time
from flintstream.compiled import load
from flintstream.datastream.state import StateTtlConfig

if load("state") is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)

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


@given(program=programs())
@settings(max_examples=400)
def test_states_do_the_same(in_python, program):
    assert state_calls(*program) == in_python("state_calls", program)
