"""Queries for a value of the outer row, comparisons with ANY and ALL, QUALIFY and samples, beyond what is recorded."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.random_selects.running import plain

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError

A = [(n, None if n % 5 == 0 else f"k{n % 3}", n * 7 % 10) for n in range(12)]
B = [(n, f"k{n % 4}", n) for n in range(9)]


@pytest.fixture(params=["STREAMING", "BATCH"])
def t_env(request):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("execution.runtime-mode", request.param)
    for name, given in (("a", A), ("b", B)):
        values = ", ".join(f"({n}, {'CAST(NULL AS STRING)' if k is None else repr(k)}, {m})" for n, k, m in given)
        t_env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM (VALUES {values}) AS v (id, k, n)")
    return t_env


def left(t_env, query):
    """Return the rows that the changes of a query leave, in order."""
    found: dict[tuple[object, ...], int] = {}
    with t_env.execute_sql(query).collect() as rows:
        for row in rows:
            values = tuple(map(plain, row))
            found[values] = found.get(values, 0) + (1 if str(row.get_row_kind()) in {"+I", "+U"} else -1)
    assert set(found.values()) <= {0, 1}
    return sorted((values for values, count in found.items() if count), key=repr)


def of(key):
    return [m for _, k, m in B if key is not None and k == key]


def test_a_count_of_no_rows_is_0_and_other_aggregates_are_none(t_env):
    query = "SELECT id, (SELECT COUNT(*) FROM b WHERE b.k = a.k), (SELECT MAX(n) FROM b WHERE b.k = a.k) FROM a"
    assert left(t_env, query) == sorted(((n, len(of(k)), max(of(k), default=None)) for n, k, _ in A), key=repr)


def test_conditions_other_than_equality_read_the_outer_row(t_env):
    query = "SELECT id, (SELECT SUM(b.n) FROM b WHERE b.n > a.n AND b.k <> 'k1') FROM a"
    sums = {n: sum(x for _, k, x in B if x > m and k != "k1") or None for n, _, m in A}
    assert left(t_env, query) == sorted(sums.items(), key=repr)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("id IN (SELECT MAX(id) FROM b GROUP BY k)", {5, 6, 7, 8}),
        ("EXISTS (SELECT k FROM b GROUP BY k HAVING COUNT(*) > 2)", set(range(12))),
        ("id NOT IN (VALUES 1, 2)", {0, *range(3, 12)}),
        ("id IN (SELECT id FROM b UNION ALL SELECT 11)", {*range(9), 11}),
        ("id IN (SELECT id FROM b ORDER BY id LIMIT 2)", {0, 1}),
    ],
)
def test_a_member_of_any_query_is_a_value(t_env, condition, holds):
    assert left(t_env, f"SELECT id, {condition} FROM a") == sorted(((n, n in holds) for n, _, _ in A), key=repr)


def test_a_value_filters_the_rows(t_env):
    query = "SELECT id FROM a WHERE a.n < (SELECT AVG(n) FROM b WHERE b.k = a.k) AND id > 1"
    assert left(t_env, query) == [(n,) for n, k, m in A if of(k) and m < sum(of(k)) // len(of(k)) and n > 1]


def test_a_query_that_reads_the_outer_row_has_queries_of_its_own(t_env):
    largest = max(m for _, _, m in B)
    query = "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.n = (SELECT MAX(n) FROM b AS c))"
    keys = {k for _, k, m in B if m == largest}
    assert left(t_env, query) == [(n,) for n, k, _ in A if k in keys]
    query = "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.id IN (SELECT id FROM b AS c WHERE n > 6))"
    keys = {k for _, k, m in B if m > 6}
    assert left(t_env, query) == [(n,) for n, k, _ in A if k in keys]


def test_a_column_beside_an_aggregate_is_not_taken_from_the_outer_row(t_env):
    with pytest.raises(SqlError, match=r"Expression 'n' at line 1, column 30 is not being grouped"):
        t_env.sql_query("SELECT id, (SELECT MAX(id) + n FROM b WHERE b.k = a.k) FROM a")


def test_none_in_the_query_of_all_leaves_no_row(t_env):
    assert left(t_env, "SELECT id FROM b WHERE k <> ALL (SELECT k FROM a)") == []
    assert left(t_env, "SELECT id FROM b WHERE k <> ALL (SELECT k FROM a WHERE k IS NOT NULL)") == [(3,), (7,)]
    assert left(t_env, "SELECT id FROM b WHERE NOT n < ANY (SELECT n - 2 FROM b AS x)") == [(6,), (7,), (8,)]


def test_qualify_counts_the_rows_of_groups(t_env):
    query = "SELECT k, SUM(n) AS s FROM b GROUP BY k QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(n) DESC) <= 2"
    assert left(t_env, query) == [("k0", 12), ("k3", 10)]


def test_a_sample_has_about_its_part_of_the_rows(t_env):
    ids = [f"({n})" for n in range(400)]
    query = f"SELECT x FROM (VALUES {', '.join(ids)}) AS v (x) TABLESAMPLE BERNOULLI (25) REPEATABLE (7)"
    found = left(t_env, query)
    assert 50 < len(found) < 150
    assert left(t_env, query) == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id, (SELECT n FROM b WHERE b.k = a.k LIMIT 1) FROM a", "has clauses other than SELECT and WHERE"),
        (
            "SELECT id, (SELECT a.n + b.n FROM b WHERE b.k = a.k) FROM a",
            "whose SELECT reads the column 'a.n' of the outer query",
        ),
        ("SELECT id = ANY (SELECT id FROM b) FROM a", "ANY of a query here"),
        ("SELECT id FROM a TABLESAMPLE BUCKET (10)", "TABLESAMPLE BUCKET"),
    ],
)
def test_what_is_not_there_is_named_with_its_place(t_env, query, message):
    with pytest.raises(UnsupportedClauseError, match=rf"{message}.* at line 1, column \d+"):
        t_env.execute_sql(query)


def test_qualify_needs_a_condition(t_env):
    with pytest.raises(SqlError, match=r"QUALIFY at line 1, column 31 needs a BOOLEAN"):
        t_env.execute_sql("SELECT id FROM a QUALIFY id + 1")
