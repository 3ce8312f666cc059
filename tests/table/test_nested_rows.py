"""Rows that each row makes: elements of arrays, and what functions of tables return."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.types import DataTypes
from flintstream.table.udf import udtf


@pytest.fixture
def tables(t_env):
    count = udtf(lambda k, n: [(k, i) for i in range(n)], result_types=[DataTypes.STRING(), DataTypes.INT()])
    t_env.create_temporary_function("count_up", count)
    t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT 'a' AS k, 3 AS n, ARRAY[1, 2, 3] AS xs")
    return t_env


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.parametrize("join", ["JOIN", "INNER JOIN"])
def test_a_condition_chooses_the_rows_that_a_row_makes(tables, join):
    function = f"SELECT k, y FROM v {join} LATERAL TABLE(count_up(k, n)) AS t (x, y) ON y > 0 AND k = x"
    assert rows(tables, function) == [("a", 1), ("a", 2)]
    assert rows(tables, f"SELECT k, e FROM v {join} UNNEST(xs) AS t (e) ON e <> n - 1") == [("a", 1), ("a", 3)]
    assert rows(tables, f"SELECT k, e FROM v {join} UNNEST(xs) AS t (e) ON FALSE") == []


def test_a_column_that_is_not_there_is_named(tables):
    with pytest.raises(SqlError, match="Column 'z' not found"):
        tables.sql_query("SELECT k FROM v JOIN LATERAL TABLE(count_up(k, n)) AS t (x, y) ON z > 0")


@pytest.mark.parametrize("table", ["LATERAL TABLE(count_up(k, n)) AS t (x, y)", "UNNEST(xs) AS t (y)"])
def test_a_left_join_takes_no_condition_as_in_flink(tables, table):
    with pytest.raises(UnsupportedClauseError, match=r"beside LEFT at line 1, column \d+ .*write ON TRUE"):
        tables.sql_query(f"SELECT k FROM v LEFT JOIN {table} ON y > 1")
    assert len(rows(tables, f"SELECT k FROM v LEFT JOIN {table} ON TRUE")) == 3
