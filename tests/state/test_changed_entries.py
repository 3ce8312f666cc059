"""The notes of changed map entries say the same in both of their forms, and take little memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flintstream.compiled.state import FRESH, map_changes, note, note_removed

KEYS = st.sampled_from([0, 1, "a", float("nan"), (1, 2)])
CHANGES = st.lists(st.tuples(KEYS, KEYS, st.sampled_from([0, FRESH, "removed"])))


@given(CHANGES)
def test_a_change_is_noted_until_a_fresh_entry_is_removed(changes):
    noted: dict[Any, Any] = {}
    expected: dict[Any, int] = {}
    for current, key, how in changes:
        row = (current, key)
        if how != "removed":
            note(noted, current, key, how)
            expected.setdefault(row, how)
            continue
        note_removed(noted, current, key)
        if expected.get(row) == FRESH:
            del expected[row]
        else:
            expected[row] = 0
    rows: list[Any] = []
    map_changes({}, noted, [], [], rows)
    assert len(rows) == len(set(rows))
    assert set(rows) == set(expected)


def test_the_only_changed_entry_of_a_key_takes_no_dict():
    noted: dict[Any, Any] = {}
    tracemalloc.start()
    for key in range(10_000):
        note(noted, key, key, FRESH)
        note(noted, key, key, FRESH)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken < 200 * 10_000
