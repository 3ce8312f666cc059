"""Groups that combine the rows of a block before they go to the subtasks of their keys."""

from __future__ import annotations

from unittest.mock import patch

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common.types import RowKind
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._expressions.aggregates import AggregateCall
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table._operators.partial_groups import SKIPPED, PartialGroups
from flintstream.table._operators.rows import key_at

ROWS = DataTypes.ROW(
    [
        DataTypes.FIELD("k", DataTypes.STRING()),
        DataTypes.FIELD("s", DataTypes.SMALLINT()),
        DataTypes.FIELD("v", DataTypes.INT()),
    ]
)
NUMBERS = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))
QUERIES = (
    "SELECT k, COUNT(*), COUNT(s), SUM(v), AVG(s), MIN(v), MAX(k), SUM(s) FILTER (WHERE v > 0) FROM given GROUP BY k",
    "SELECT k, s, MAX(v) FROM given GROUP BY k, s",
    "SELECT COUNT(*), SUM(v), AVG(s) FROM given WHERE v > 0",
    "SELECT DISTINCT k FROM given",
)


def results(rows, batch, phase, query):
    made = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    t_env = TableEnvironment.create(made)
    options = {
        "flintstream.engine": "inline",
        "table.optimizer.agg-phase-strategy": phase,
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "100",
    }
    for name, value in options.items():
        t_env.get_config().set(name, value)
    t_env.create_temporary_view("given", t_env.from_elements(rows, ROWS))
    left: list[tuple[object, ...]] = []
    with t_env.execute_sql(query).collect() as changes:
        for change in changes:
            if change.get_row_kind() in {RowKind.DELETE, RowKind.UPDATE_BEFORE}:
                left.remove(tuple(change))
            else:
                left.append(tuple(change))
    return sorted(left, key=str)


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=8, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(-3, 3), NUMBERS), min_size=1, max_size=40),
    batch=st.booleans(),
)
def test_results_are_the_same_in_one_phase_and_in_two(query, rows, batch):
    assert results(rows, batch, "TWO_PHASE", query) == results(rows, batch, "ONE_PHASE", query)


@pytest.mark.parametrize(("phase", "combines"), [("ONE_PHASE", False), ("TWO_PHASE", True), ("AUTO", True)])
def test_the_option_decides_whether_rows_of_a_block_are_combined(phase, combines):
    with patch.object(PartialGroups, "process", autospec=True, side_effect=PartialGroups.process) as process:
        assert results([("a", 1, 1)] * 9, True, phase, QUERIES[1]) == [("a", 1, 1)]
    assert process.called is combines


class Collected:
    """Keeps what an operator emits."""

    def __init__(self):
        self.blocks = []

    def emit(self, values, timestamps):
        self.blocks.append((values, timestamps))


@pytest.fixture
def operator():
    count = AggregateCall("COUNT", None, DataTypes.BIGINT(), DataTypes.BIGINT())
    made = PartialGroups(aggregation([count], retracts=False), 1, key_at([0]))
    made.output = Collected()  # type: ignore[assignment]  # watermarks pass it by
    made.open()
    return made


def test_a_key_with_many_rows_is_one_record_of_a_block(operator):
    operator.process([("hot", n) for n in range(1000)] + [("cold", 1)], list(range(1001)))
    assert operator.output.blocks == [([("hot", [1000, 1000]), ("cold", [1, 1])], [1000, 1000])]


def test_rows_of_many_keys_stay_as_they_are_until_a_block_is_tried_again(operator):
    many = [(str(n), n) for n in range(100)]
    few = [("hot", n) for n in range(100)]
    operator.process(many, None)
    for _ in range(SKIPPED):
        operator.process(few, None)
    operator.process(few, None)
    assert operator.output.blocks == [(many, None), *[(few, None)] * SKIPPED, ([("hot", [100, 100])], None)]
