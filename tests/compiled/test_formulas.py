"""Functions that the compiled loops compute themselves give what a call gives."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datastream.inline import collect, make_env

from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.errors import notes
from flintstream.runtime.copies import ATOMS, copy_mutable
from flintstream.state.backend import Scope

keyed = load("keyed")
needs_compiled = pytest.mark.skipif(keyed is None, reason="there are no compiled modules here")


class Sums:
    def reduce(self, a, b):
        return a[0], a[1] + b[1]


OF_TWO = [
    lambda a, b: (a[0], a[1] + b[1]),
    lambda a, b: (b[-1], a, "x", None, 1 + b[0]),
    lambda a, b: a + b,
    lambda a, b: a,
    lambda a, b: b[0],
    lambda a, b: 7,
    Sums().reduce,
]
OTHERS = [
    max,
    lambda a, b: a[0] - b[0],
    lambda a, b: a[b],
    lambda a, b: a[0][0],
    lambda a, b: (a[0], (b[0],)),
    lambda a, b: a[0] + a[1] + b[0],
    lambda a, b: a["x"],
    lambda a, b: a[2**40],
    lambda a, *b: a,
    lambda a, b: (yield a),
    lambda a, b: a if b else b,
    lambda a, b: [a, b],
    lambda a, b: keyed,
    lambda a: a,
    lambda a, b: tuple(a[:1]),
    lambda a, b: (a,) * 2,
    Sums.reduce,
]

values = st.recursive(
    st.integers() | st.text(max_size=3) | st.floats(allow_nan=False) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=2),
    max_leaves=5,
)


@pytest.mark.parametrize("number", range(len(OF_TWO)))
def test_what_picks_fields_and_adds_is_a_formula(number):
    assert formula_of(OF_TWO[number], 2) is not None


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_everything_else_is_called(number):
    assert formula_of(OTHERS[number], 2) is None


def reduced(function, formula, records):
    """Return the results of the compiled loop, or its error."""
    results: list[object] = []
    try:
        keyed.reduce_each(
            function, formula, Scope(), lambda _: 0, -1, iter(records), {}, {}, False, ATOMS, copy_mutable, results
        )
    except Exception as error:  # noqa: BLE001
        return results, type(error), str(error)
    return results


@needs_compiled
@given(st.sampled_from(OF_TWO), st.lists(values.filter(lambda value: value is not None), max_size=4))
def test_a_formula_gives_what_the_call_gives(function, records):
    found, expected = reduced(function, formula_of(function, 2), records), reduced(function, None, records)
    assert repr(found) == repr(expected)


class Odd(int):
    def __add__(self, other):
        return "added"


@needs_compiled
def test_classes_that_define_what_adding_does_are_asked():
    function = OF_TWO[0]
    assert reduced(function, formula_of(function, 2), [("a", Odd(1)), ("a", 2)])[1] == ("a", "added")


def test_an_error_in_a_formula_is_that_of_the_function():
    stream = make_env().from_collection([("a", 1), ("a",)]).key_by(lambda pair: pair[0])
    with pytest.raises(IndexError) as raised:
        collect(stream.reduce(lambda a, b: (a[0], a[1] + b[1])).name("sum"))
    assert "operator 'sum'" in "".join(notes(raised.value))
    assert "a[1] + b[1]" in "".join(traceback.format_exception(raised.value))
