"""What DISTINCT functions count is stored value by value once a group is large, with the same results."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from unittest.mock import patch

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Row, RowKind, Types
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.table import Schema, StreamTableEnvironment
from flintstream.table._operators import group_state
from flintstream.table._operators.group_state import GroupState
from flintstream.testing.harness import OneInputHarness

if TYPE_CHECKING:
    from flintstream.contracts.functions import RuntimeContext

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
QUERY = """SELECT k, COUNT(DISTINCT v) AS n, SUM(DISTINCT v) FILTER (WHERE v > 2) AS s, COUNT(*) AS c, MAX(v) AS high,
    MIN(v) FILTER (WHERE v > 2) AS low, CAST(COLLECT(v) AS STRING) AS vs FROM a GROUP BY k"""
steps = st.lists(
    st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 6), st.booleans()) | st.none(), max_size=30
)


def counted(retracts, ttl=None):
    def build(stream):
        t_env = StreamTableEnvironment.create(stream.get_execution_environment())
        if ttl:
            t_env.get_config().set("table.exec.state.ttl", ttl)
        schema = Schema.new_builder().column("k", "STRING").column("v", "INT").build()
        table = (t_env.from_changelog_stream if retracts else t_env.from_data_stream)(stream, schema)
        t_env.create_temporary_view("a", table)
        return t_env.to_changelog_stream(t_env.sql_query(QUERY))

    return build


def harness_of(backend, build):
    return OneInputHarness(build, type_info=ROWS, configuration={"state.backend.type": backend})


def fold(found):
    """Return the rows that changes leave."""
    rows: dict[str, tuple[object, ...]] = {}
    for row in found:
        if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            collected = [item.split("=") for item in row[6][1:-1].split(", ") if item]
            rows[row[0]] = (*tuple(row)[1:6], {int(value): int(count) for value, count in collected})
        elif row.get_row_kind() is RowKind.DELETE:
            del rows[row[0]]
    return rows


def expect(held):
    """Return the same of the rows that are there."""
    rows: dict[str, tuple[object, ...]] = {}
    for k in "ab":
        values = [v for (key, v), count in held.items() if key == k for _ in range(count)]
        if values:
            known = {v for v in values if v is not None}
            high = {v for v in known if v > 2}
            total = Counter(v for v in values if v is not None)
            rows[k] = (len(known), sum(high) if high else None, len(values))
            rows[k] += (max(known, default=None), min(high, default=None), total)
    return rows


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("retracts", [False, True])
@settings(max_examples=25, deadline=None)
@given(steps)
def test_counts_of_large_groups_are_exact_also_after_restores(backend, retracts, given_steps):
    held: Counter[tuple[str, int | None]] = Counter()
    found = []
    with patch.object(group_state, "MOST_INSIDE", 3):
        harness = harness_of(backend, counted(retracts))
        try:
            for step in given_steps:
                if step is None:
                    found += harness.extract_output_values()
                    snapshot = harness.snapshot()
                    harness.close()
                    harness = harness_of(backend, counted(retracts))
                    harness.initialize_state(snapshot)
                    continue
                key, value, removes = step
                row = Row(key, value)
                if removes and retracts:
                    if not held[key, value]:
                        continue
                    held[key, value] -= 1
                    row.set_row_kind(RowKind.DELETE)
                else:
                    held[key, value] += 1
                harness.process_element(row)
            found += harness.extract_output_values()
        finally:
            harness.close()
    assert fold(found) == expect(held)


def test_a_value_that_comes_again_is_not_forgotten():
    with patch.object(group_state, "MOST_INSIDE", 2), harness_of("hashmap", counted(False, "1 s")) as harness:
        for now in range(0, 3000, 500):
            harness.set_processing_time(now)
            for value in (1, 2, 3):
                harness.process_element(Row("a", value))
        assert {tuple(row)[1] for row in harness.extract_output_values()[6:]} == {3}


def test_one_more_value_changes_one_entry():
    backend = HashMapStateBackend()
    backend.tracking = True
    backend.key = "a"
    context = SimpleNamespace(get_state=backend.state, get_map_state=backend.state)
    state = GroupState(cast("RuntimeContext", context), lambda: [0, {}], [1], 0)
    state.attach(backend)
    group = state.start()
    written = []
    for values in (range(50), range(50, 500), [1000], [1000]):
        for value in values:
            group[0] += 1
            if value not in group[1]:
                group[1][value] = 1
        state.update(group)
        written.append({change.table.name: len(change.keys) for change in backend.take_delta() if change.keys})
        found = state.value()
        assert found is not None
        group = found
    assert written == [{"group": 1}, {"group": 1, "distinct1": 500}, {"group": 1, "distinct1": 1}, {"group": 1}]
