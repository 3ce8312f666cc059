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
    assert left(changes(environment(mode).sql_query(f"{A} {operation} {B}"))) == [(item,) for item in expected]


METHODS = ["union", "union_all", "intersect", "intersect_all", "minus", "minus_all", "join", "left_outer_join"]


@pytest.mark.parametrize("method", METHODS)
def test_tables_of_two_environments_are_refused(method):
    here, there = environment("batch").sql_query("SELECT 1 AS a"), environment("batch").sql_query("SELECT 1 AS b")
    with pytest.raises(SqlError, match="same TableEnvironment"):
        getattr(here, method)(there)


@pytest.mark.parametrize("operation", ["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
def test_an_error_names_the_operation_whose_tables_differ(operation):
    t_env = environment("batch")
    with pytest.raises(SqlError, match=rf"the tables of {operation} at line 1, column \d+ have different numbers"):
        t_env.sql_query(f"SELECT 1 AS a {operation} SELECT 1 AS a, 2 AS b")
    with pytest.raises(SqlError, match=rf"column 'a' of {operation} at .* has different types"):
        t_env.sql_query(f"SELECT 1 AS a {operation} SELECT ROW(1) AS a")


def test_a_batch_is_sorted_and_cut():
    t_env = environment("batch")
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY x DESC"))] == [2, 1, 1, None]
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY x NULLS LAST LIMIT 2 OFFSET 1"))] == [1, 2]
    assert [row[1] for row in changes(t_env.sql_query(f"{A} ORDER BY 1 FETCH FIRST 1 ROW ONLY"))] == [None]


def test_the_first_rows_of_a_stream_change_with_an_order_and_stay_without(t_env):
    assert changes(t_env.sql_query(f"{A} LIMIT 2")) == [("+I", 1), ("+I", 1)]
    assert left(changes(t_env.sql_query(f"{A} ORDER BY x DESC LIMIT 2"))) == [(1,), (2,)]


def test_an_order_reads_columns_that_the_result_does_not_have():
    t_env = environment("batch")
    rows = "(VALUES (1, 'b', 3), (2, 'a', 2), (3, 'b', 1)) AS t (i, k, v)"
    for query, expected in [
        (f"SELECT i FROM {rows} ORDER BY v", [3, 2, 1]),
        (f"SELECT i AS v, v AS i FROM {rows} ORDER BY v + 0 DESC", [3, 2, 1]),
        (f"SELECT i FROM {rows} ORDER BY t.k, v * 2 DESC", [2, 1, 3]),
        (f"SELECT COUNT(*) FROM {rows} GROUP BY k ORDER BY MAX(v) DESC", [2, 1]),
        (f"SELECT SUM(i) AS s FROM {rows} GROUP BY k ORDER BY s * -1", [4, 2]),
        (f"SELECT i FROM {rows} ORDER BY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v), i", [2, 3, 1]),
        (f"SELECT i FROM {rows} UNION ALL SELECT 9 ORDER BY MOD(i, 3), i DESC LIMIT 3", [9, 3, 1]),
        (f"SELECT DISTINCT v FROM {rows} ORDER BY 0 - v", [3, 2, 1]),
    ]:
        table = t_env.sql_query(query)
        assert len(table.get_schema().get_field_names()) == query.partition("FROM")[0].count(",") + 1
        assert [row[1] for row in changes(table)] == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"{A} ORDER BY x", "ORDER BY at line 1, column 77 of a stream begins with a rowtime column"),
        (f"{A} ORDER BY x + 1", r"ORDER BY at line 1, column \d+ of a stream begins with a rowtime column"),
        (f"{A} ORDER BY 2 LIMIT 1", "has no column 2: the query has 1"),
        (f"{A.replace('SELECT', 'SELECT DISTINCT')} ORDER BY y LIMIT 1", "Column 'y' not found at line 1"),
        (f"{A} ORDER BY z LIMIT 1", "Column 'z' not found at line 1"),
        (f"{A} UNION SELECT 'a', 'b'", "different numbers of columns"),
    ],
)
def test_what_cannot_be_sorted_is_refused_with_its_place(t_env, query, message):
    with pytest.raises((SqlError, UnsupportedClauseError), match=message):
        t_env.sql_query(query)
