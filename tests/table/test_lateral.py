"""``LATERAL (SELECT ...)``: the rows of a query for each row, beyond what is recorded."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.random_selects.running import plain

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.udf import udtf

A = [(n, None if n % 5 == 0 else f"k{n % 3}", n * 7 % 10) for n in range(12)]
B = [(n, f"k{n % 4}", n * 3 % 8) for n in range(9)]


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


def first(key, skipped, limit):
    rows = sorted(((n, i) for i, k, n in B if k == key), key=lambda row: (-row[0], row[1]))
    return [i for _, i in rows[skipped : skipped + limit]]


@pytest.mark.parametrize(("skipped", "limit"), [(0, 1), (0, 2), (1, 1), (1, 5)])
def test_a_limit_is_one_for_each_row(t_env, skipped, limit):
    part = f"ORDER BY n DESC, id LIMIT {limit} OFFSET {skipped}"
    query = f"SELECT a.id, t.id FROM a, LATERAL (SELECT id FROM b WHERE b.k = a.k {part}) AS t"
    assert left(t_env, query) == sorted(((n, i) for n, k, _ in A for i in first(k, skipped, limit)), key=repr)


def test_rows_without_any_stay_beside_left_join(t_env):
    part = "ORDER BY n DESC, id LIMIT 1"
    query = f"SELECT a.id, t.x FROM a LEFT JOIN LATERAL (SELECT id FROM b WHERE a.k = b.k {part}) AS t (x) ON TRUE"
    assert left(t_env, query) == sorted(((n, *(first(k, 0, 1) or [None])) for n, k, _ in A), key=repr)


def test_an_order_may_name_a_position_or_a_column_that_is_not_listed(t_env):
    named, numbered = (
        left(
            t_env,
            f"SELECT a.id, t.{columns[-2:].strip()} FROM a, LATERAL (SELECT {columns} FROM b WHERE b.k = a.k {order}) AS t",
        )
        for columns, order in (("id", "ORDER BY n, b.id LIMIT 1"), ("n, id", "ORDER BY 1, 2 LIMIT 1"))
    )
    assert named == numbered
    assert named


def test_what_the_query_reads_may_change(t_env):
    grouped = "SELECT k, COUNT(*) AS c FROM b GROUP BY k"
    query = f"SELECT a.id, t.c FROM a, LATERAL (SELECT c FROM ({grouped}) AS g WHERE g.k = a.k) AS t"
    counts = {k: sum(key == k for _, key, _ in B) for _, k, _ in B}
    assert left(t_env, query) == sorted(((n, counts[k]) for n, k, _ in A if k in counts), key=repr)


def test_a_column_of_the_query_may_be_computed_from_the_outer_row(t_env):
    query = (
        "SELECT a.id, t.z FROM a LEFT JOIN LATERAL (SELECT a.n * 100 + b.id AS z FROM b WHERE b.k = a.k) AS t ON TRUE"
    )
    expected = [(i, m * 100 + n) for i, k, m in A for n, key, _ in B if k == key]
    alone = [(i, None) for i, k, _ in A if k not in {key for _, key, _ in B}]
    assert left(t_env, query) == sorted({*expected, *alone}, key=repr)


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT MAX(n) FROM b WHERE b.n > a.n", UnsupportedClauseError, "a condition other than =, at line 1, column 5"),
        ("SELECT n FROM b WHERE b.n > a.n LIMIT 1", UnsupportedClauseError, "a condition other than =, at line 1"),
        ("SELECT MAX(b.n) + a.n FROM b WHERE b.k = a.k", UnsupportedClauseError, "whose SELECT reads the outer row"),
        ("SELECT SUM(n) OVER (ORDER BY id) FROM b WHERE b.k = a.k", UnsupportedClauseError, "LATERAL of a query with OVER"),
        ("SELECT *, a.n + 1 FROM b WHERE b.k = a.k", UnsupportedClauseError, "beside a column that reads the outer row"),
        ("SELECT n FROM b WHERE b.k = a.kk", SqlError, "Column 'a.kk' not found"),
        ("SELECT n FROM b UNION ALL SELECT n FROM b", UnsupportedClauseError, "of a query other than SELECT"),
    ],
)  # fmt: skip
def test_a_query_that_cannot_be_is_refused_when_it_is_planned(t_env, query, error, message):
    with pytest.raises(error, match=message):
        t_env.sql_query(f"SELECT a.id FROM a, LATERAL ({query}) AS t")


@udtf(result_types=["INT"])
def count_to(n):
    yield from range(1, n + 1)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ("TABLE(count_to(2)) AS t(x)", [(1,), (2,)]),
        ("TABLE(count_to(2))", [(1,), (2,)]),
        ("count_to(2) AS t(x)", [(1,), (2,)]),
        ("LATERAL TABLE(count_to(2)) t(x)", [(1,), (2,)]),
        ("TABLE(count_to(2)) AS t(x), TABLE(count_to(1)) AS u(y)", [(1, 1), (2, 1)]),
        ("TABLE(count_to(2)) AS t(x) JOIN TABLE(count_to(3)) AS u(y) ON x + 1 = y", [(1, 2), (2, 3)]),
    ],
)
def test_a_table_function_is_a_table_without_other_tables(t_env, tables, expected):
    t_env.create_temporary_system_function("count_to", count_to)
    with t_env.execute_sql(f"SELECT * FROM {tables}").collect() as found:
        assert [tuple(row) for row in found] == expected
