"""The newest row of each key is the same, with the same changes, as that of the general form of top-N."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given
from hypothesis import strategies as st

from flintstream.table._expressions.times.helpers import from_millis
from flintstream.table._operators.ordering import RowOrder, Sorted
from flintstream.table._operators.ranks import LastRow, Ranked
from flintstream.testing.harness import KeyedHarness

times = st.none() | st.integers(0, 5).map(from_millis)
rows = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), times), max_size=12)


def changes(function, given_rows):
    with KeyedHarness(lambda stream: stream.key_by(lambda row: row[0]).process(function)) as harness:
        harness.process_elements(given_rows)
        return harness.extract_output_values()


@given(rows, st.booleans(), st.booleans())
def test_a_last_row_is_the_first_of_a_descending_order(given_rows, number, by_time):
    order = RowOrder([Sorted(2, True, False)] if by_time else [])
    general = Ranked(order, 1, 1, number=number, newest=True, changelog=False, changes=True, batch=False)
    last = LastRow(2 if by_time else None, number=number, ttl_ms=0)
    assert changes(last, given_rows) == changes(general, given_rows)
