"""The loops of ranks give the same with and without compiled modules, and the same as the functions for single rows."""

from __future__ import annotations

import math
from operator import itemgetter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compiled.plain import plain

from flintstream.compiled import load
from flintstream.runtime.selectors import field_of
from flintstream.table._operators.ordering import RowOrder, Sorted, key_of_parts
from flintstream.table._operators.ranks import LastRow, Ranked

compiled = load("ranked")
modules = [plain("ranked")] if compiled is None else [plain("ranked"), compiled]

keys = st.sampled_from([1, 2, "a", None])
values = st.one_of(st.none(), st.integers(0, 3))
texts = st.one_of(st.none(), st.sampled_from(["", "a", "b"]))
reals = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, math.inf, math.nan]))
lists = st.one_of(st.none(), st.lists(values, max_size=2))
rows = st.lists(st.tuples(keys, values, texts, reals, lists), max_size=30)
columns = st.builds(
    lambda index, descending, none_first: Sorted(
        index, descending=descending, none_first=none_first, key=key_of_parts if index == 4 else None
    ),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)


class State:
    """What the function keeps of the current key."""

    def __init__(self):
        self.key = None
        self.values = {}

    def value(self):
        return self.values.get(self.key)

    def update(self, value):
        self.values[self.key] = value

    def clear(self):
        self.values.pop(self.key, None)


def row_by_row(function, given, key):
    state = State()
    function.open(SimpleNamespace(get_state=lambda _: state))
    results = []
    for time, row in enumerate(given):
        state.key = key(row)
        results += [(result, time) for result in function.process_element(row, None)]
    return repr((results, state.values))


def in_a_block(loop, given, key, *arguments):
    kept: dict[object, object] = {}
    dirty: dict[object, int] = {}
    results: list[object] = []
    stamps: list[int] = []
    loop(iter(given), list(range(len(given))), key, field_of(key), kept, dirty, *arguments, results, stamps)
    assert set(dirty) == set(kept)
    return repr((list(zip(results, stamps, strict=True)), kept))


@given(
    rows,
    st.lists(columns, max_size=3),
    st.tuples(st.integers(1, 3), st.integers(0, 3)),
    st.booleans(),
    st.booleans(),
    st.sampled_from([itemgetter(0), itemgetter(0, 1)]),
)
def test_first_rows_are_those_of_single_rows(given, order, limits, number, newest, key):
    first, more = limits
    settings = {"number": number, "newest": newest, "changelog": False, "changes": True, "batch": False}
    function = Ranked(RowOrder(order), first, first + more, **settings)
    wanted = row_by_row(function, given, key)
    found = (function.order.columns, newest, first - 1, first + more, number, True)
    for module in modules:
        assert in_a_block(module.keep_first, given, key, *found) == wanted


@given(rows, st.sampled_from([None, 1, 2]), st.booleans(), st.sampled_from([itemgetter(0), itemgetter(0, 1)]))
def test_newest_rows_are_those_of_single_rows(given, time, number, key):
    wanted = row_by_row(LastRow(time, number=number, ttl_ms=0), given, key)
    for module in modules:
        found = in_a_block(module.keep_last, given, key, -1 if time is None else time, 1 if number else None)
        assert found == wanted


def test_rows_of_one_place_come_in_the_order_of_their_arrival_or_the_newest_first():
    given = [(1, 5, "a"), (1, 5, "b"), (1, 4, "c")]
    for module in modules:
        for newest, wanted in ((False, [(1, 4, "c"), (1, 5, "a")]), (True, [(1, 4, "c"), (1, 5, "b")])):
            kept: dict[object, object] = {}
            results: list[object] = []
            order = RowOrder([Sorted(1)]).columns
            arguments = (order, newest, 0, 2, False, True)
            module.keep_first(iter(given), None, itemgetter(0), 0, kept, None, *arguments, results, [])
            assert kept == {1: wanted}
            assert results[-1] == (1, 4, "c", None, 0)


@pytest.mark.parametrize("module", modules)
def test_a_row_that_is_no_tuple_is_an_error(module):
    with pytest.raises((TypeError, KeyError, IndexError)):
        module.keep_last(iter([5]), None, itemgetter(0), 0, {}, None, 1, None, [], [])
