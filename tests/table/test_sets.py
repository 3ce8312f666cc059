"""UNION, INTERSECT, EXCEPT, ORDER BY and LIMIT."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.test_over import changes, environment, left

from flintstream.table._errors import SqlError, UnsupportedClauseError

A = "SELECT x FROM (VALUES (1), (1), (2), (CAST(NULL AS INT))) AS a (x)"
B = "SELECT y FROM (VALUES (1), (3), (CAST(NULL AS INT))) AS b (y)"


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("UNION", [1, 2, 3, None]),
        ("INTERSECT", [1, None]),
        ("INTERSECT ALL", [1, None]),
        ("EXCEPT", [2]),
        ("EXCEPT ALL", [1, 2]),
    ],
)
def test_set_operations_leave_the_same_rows_behind_in_both_modes(mode, operation, expected):
    assert left(changes(environment(mode).sql_query(f"{A} {operation} {B}"))) == [(each,) for each in expected]


def test_a_batch_is_sorted_and_cut():
    t_env = environment("batch")
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY x DESC"))] == [2, 1, 1, None]
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY x NULLS LAST LIMIT 2 OFFSET 1"))] == [1, 2]
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY 1 FETCH FIRST 1 ROW ONLY"))] == [None]


def test_the_first_rows_of_a_stream_change_with_an_order_and_stay_without(t_env):
    assert changes(t_env.sql_query(f"{A} LIMIT 2")) == [("+I", 1), ("+I", 1)]
    assert left(changes(t_env.sql_query(f"{A} ORDER BY x DESC LIMIT 2"))) == [(1,), (2,)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"{A} ORDER BY x", "ORDER BY at line 1, column 77 of a stream needs one rowtime column"),
        (f"{A} ORDER BY x + 1 LIMIT 1", "ORDER BY an expression at line 1"),
        (f"{A} ORDER BY z LIMIT 1", "Column 'z' not found at line 1"),
        (f"{A} UNION SELECT 'a', 'b'", "different numbers of columns"),
    ],
)
def test_what_cannot_be_sorted_is_refused_with_its_place(t_env, query, message):
    with pytest.raises((SqlError, UnsupportedClauseError), match=message):
        t_env.sql_query(query)
