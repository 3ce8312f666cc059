"""Many rows of a key, which are entries of a map, have the ranks that a list of them has."""

from __future__ import annotations

from unittest.mock import patch

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.table._operators import ordered_rows, ranks
from flintstream.table._operators.ordering import RowOrder, Sorted
from flintstream.table._operators.ranks import Ranked
from flintstream.table._types.row_kinds import DELETE, INSERT
from flintstream.testing.harness import KeyedHarness

rows = st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 3), st.sampled_from([0, 1, [1]]))
steps = st.lists(st.tuples(rows, st.booleans()) | st.none(), max_size=40)


def harness_of(backend, **more):
    def build(stream):
        function = Ranked(RowOrder([Sorted(1, True, False)]), changelog=True, changes=True, batch=False, **more)
        return stream.key_by(lambda row: row[0]).process(function)

    return KeyedHarness(build, configuration={"state.backend.type": backend})


def changes(given_steps, most, backend, **more):
    found = []
    with patch.object(ordered_rows, "MOST_IN_LIST", most), patch.object(ranks, "MOST_IN_LIST", most):
        harness = harness_of(backend, **more)
        try:
            for step in given_steps:
                if step is None:
                    found += harness.extract_output_values()
                    snapshot = harness.snapshot()
                    harness.close()
                    harness = harness_of(backend, **more)
                    harness.initialize_state(snapshot)
                else:
                    row, comes = step
                    harness.process_element((*row, INSERT if comes else DELETE))
            return found + harness.extract_output_values()
        finally:
            harness.close()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@settings(max_examples=40, deadline=None)
@given(steps, st.sampled_from([(1, 1), (1, 2), (2, 3), (1, 9)]), st.booleans(), st.booleans())
def test_ranks_are_those_of_a_list_also_after_restores(backend, given_steps, wanted, number, newest):
    more = {"first": wanted[0], "last": wanted[1], "number": number, "newest": newest}
    assert changes(given_steps, 3, backend, **more) == changes(given_steps, 1000, "hashmap", **more)


def test_rows_that_are_used_least_leave_the_memory():
    with patch.object(ordered_rows, "MOST_REMEMBERED", 250):
        more = {"first": 1, "last": 1, "number": True, "newest": False}
        steps = [((key, number, 0), True) for number in range(150) for key in "abc"]
        found = changes(steps, 100, "hashmap", **more)
        assert found[-2:] == [("c", 148, 0, 1, 1), ("c", 149, 0, 1, 2)]
