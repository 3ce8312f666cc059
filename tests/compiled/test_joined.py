"""The loop of a join gives the same with and without compiled modules."""

from __future__ import annotations

from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compiled.plain import plain

from flintstream.compiled import load
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.selectors import field_of

compiled = load("joined")
if compiled is None:
    pytest.skip(
        "there are no compiled modules here: `make setup` builds them if there is a C compiler", allow_module_level=True
    )
python = plain("joined")

keys = st.sampled_from([None, 1, 2, "a"])
rows = st.lists(st.tuples(keys, keys, st.sampled_from([0, 0.5, "text", [1], None])), max_size=6)
blocks = st.lists(st.tuples(st.booleans(), rows), max_size=6)


def joined(module, given, key, *, timed, tracked, condition):
    sides: list[dict[object, object]] = [{}, {}]
    changes: list[dict[object, int]] = [{}, {}]
    results: list[object] = []
    stamps: list[int] = []
    for left, block in given:
        mine, others = sides if left else reversed(sides)
        times = list(range(len(block))) if timed else None
        several = len(key.__reduce__()[1]) > 1
        module.join_each(
            *(iter(block), times, key, field_of(key), several, mine, others, changes[not left] if tracked else None),
            *(condition, left, freeze_key, results, stamps),
        )
    return repr((results, stamps, sides, changes))


@given(
    blocks,
    st.sampled_from([itemgetter(0), itemgetter(0, 1)]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, lambda pair: pair[1] == pair[4], lambda pair: None if pair[2] is None else True]),
)
def test_pairs_and_rows_are_the_same(given, key, timed, tracked, condition):
    settings = {"timed": timed, "tracked": tracked, "condition": condition}
    assert joined(compiled, given, key, **settings) == joined(python, given, key, **settings)


def test_equal_rows_are_counted_and_each_pair_comes_so_often():
    blocks = [(True, [(1, "a"), (1, "a")]), (False, [(1, "b"), (None, "c")]), (True, [(None, "d")])]
    for module in (compiled, python):
        found = joined(module, blocks, itemgetter(0), timed=False, tracked=False, condition=None)
        pair = (1, "a", 1, "b")
        left, right = {1: {(1, "a"): ((1, "a"), 2, 0)}}, {1: {(1, "b"): ((1, "b"), 1, 2)}}
        assert found == repr(([pair, pair], [], [left, right], [{}, {}]))
