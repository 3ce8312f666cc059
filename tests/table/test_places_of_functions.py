"""A Python function is opened, and gives the same result as an expression, wherever a statement calls it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import DataTypes, ScalarFunction, StreamTableEnvironment
from flintstream.table.expressions import col
from flintstream.table.udf import udf

TABLES: dict[str, list[tuple[int | None, int | None]]] = {
    "b": [(1, 10), (2, 20), (3, 30), (5, None), (None, 2)],
    "c": [(2, 11), (3, 21), (4, 11)],
}
STATEMENTS = [
    "SELECT p(id), p(p(v)) FROM b",
    "SELECT CASE WHEN p(id) = 2 THEN p(v) ELSE p(0) END FROM b",
    "SELECT p(1)",
    "VALUES (p(CAST(1 AS BIGINT)), 2), (p(CAST(NULL AS BIGINT)), 3)",
    "SELECT x FROM (VALUES (p(CAST(1 AS BIGINT))), (5)) AS t (x)",
    "SELECT id FROM b WHERE p(id) = 2 OR p(v) IS NULL",
    "SELECT id FROM b WHERE id IN (p(0), 5)",
    "SELECT DISTINCT p(id) FROM b",
    "SELECT p(id), COUNT(*) FROM b GROUP BY p(id)",
    "SELECT SUM(p(v)), COUNT(DISTINCT p(id)), SUM(v) FILTER (WHERE p(id) > 2) FROM b",
    "SELECT id, SUM(v) FROM b GROUP BY id HAVING p(SUM(v)) > 15",
    "SELECT p(id), SUM(v) FROM b GROUP BY ROLLUP (p(id))",
    "SELECT id FROM b ORDER BY p(id) DESC LIMIT 2",
    "SELECT * FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY p(id) ORDER BY p(v) DESC) AS r FROM b) WHERE r = 1",
    "SELECT x FROM b CROSS JOIN UNNEST(ARRAY[p(id), p(v)]) AS u (x)",
    "SELECT p(id) FROM b UNION SELECT id FROM b",
    "SELECT p(id) FROM b INTERSECT SELECT id FROM c",
    "SELECT id FROM b EXCEPT SELECT p(id) FROM b",
    *(f"SELECT b.id, c.v FROM b {kind} JOIN c ON p(b.id) = c.id" for kind in ("", "LEFT", "RIGHT", "FULL")),
    *(f"SELECT b.id, c.v FROM b {kind} JOIN c ON b.id = p(c.id) AND p(b.v) > c.v" for kind in ("", "LEFT", "FULL")),
    "SELECT b.id, c.id FROM b JOIN c ON p(b.id) > c.id",
    "SELECT b.id FROM b, c WHERE p(b.id) = c.id AND p(c.v) > 3 AND b.v = p(9)",
    "SELECT b.id, d.id FROM b JOIN c ON p(b.id) = c.id JOIN b d ON p(d.id) = c.id AND d.v = b.v",
    "SELECT k.n, c.v FROM (SELECT id, COUNT(*) AS n FROM b GROUP BY id) k JOIN c ON p(k.id) = c.id",
    "SELECT id FROM b WHERE p(id) IN (SELECT id FROM c)",
    "SELECT id FROM b WHERE id IN (SELECT p(id) FROM c)",
    "SELECT id FROM b WHERE p(id) NOT IN (SELECT p(id) FROM c)",
    "SELECT id FROM b WHERE EXISTS (SELECT 1 FROM c WHERE p(c.id) = p(b.id) AND p(c.v) > 1)",
    "SELECT id FROM b WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.id = p(b.id))",
    "SELECT id FROM b WHERE p(id) > ALL (SELECT p(id) FROM b WHERE id < 2)",
    "SELECT id, p(id) IN (SELECT id FROM c) FROM b",
    "SELECT id, EXISTS (SELECT 1 FROM c WHERE p(b.id) = c.id) FROM b",
    "SELECT id, (SELECT MAX(p(v)) FROM c WHERE c.id = p(b.id)) FROM b",
    "SELECT SUM(p(n)) OVER (PARTITION BY p(n) ORDER BY ts) FROM timed",
    "SELECT a.n, b.n FROM timed a JOIN timed b ON p(a.n) = b.n AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR",
    "SELECT a.n, b.n FROM timed a JOIN versions FOR SYSTEM_TIME AS OF a.ts AS b ON p(a.n) = b.n",
    (
        "SELECT p(n), COUNT(*) FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
        "GROUP BY p(n), window_start, window_end"
    ),
]  # fmt: skip


class Plus(ScalarFunction):
    """One more, as ``open`` says."""

    def __init__(self):
        self.more = None

    def open(self, function_context):
        self.more = 1

    def eval(self, n):
        return None if n is None else n + self.more

    def close(self):
        self.more = None


@pytest.fixture(scope="module", params=["STREAMING", "BATCH"])
def t_env(request):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("execution.runtime-mode", request.param)
    t_env.create_temporary_system_function("p", udf(Plus(), result_type=DataTypes.BIGINT()))
    row = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("v", DataTypes.BIGINT())])
    for name, rows in TABLES.items():
        t_env.create_temporary_view(name, t_env.from_elements(rows, row))
    timed = "n BIGINT, ts AS TIMESTAMP '2020-01-01 00:00:00', WATERMARK FOR ts AS ts"
    for name, key in (("timed", ""), ("versions", ", PRIMARY KEY (n) NOT ENFORCED")):
        column = timed.replace("n BIGINT", f"n BIGINT{' NOT NULL' if key else ''}")
        t_env.execute_sql(
            f"CREATE TABLE {name} ({column}{key}) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
            "'fields.n.start' = '1', 'fields.n.end' = '4')"
        )
    return t_env


def rows_left(t_env, query):
    """Return the rows that the changes of a query leave, and how often."""
    found: Counter[tuple[object, ...]] = Counter()
    with t_env.execute_sql(query).collect() as rows:
        for row in rows:
            found[tuple(row)] += -1 if row.get_row_kind().name in {"UPDATE_BEFORE", "DELETE"} else 1
    return +found


def with_sums(statement):
    """Return a statement with ``(x + 1)`` for ``p(x)``."""
    while "p(" in re.sub(r"\w+p\(", "", statement):
        statement = re.sub(r"\bp\(((?:[^()]|\([^()]*\))*)\)", r"((\1) + 1)", statement)
    return statement


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_function_gives_what_an_expression_gives(t_env, statement):
    expected = rows_left(t_env, with_sums(statement))
    assert rows_left(t_env, statement) == expected
    assert expected, "a statement without rows shows nothing"


def test_a_function_stands_in_the_condition_of_a_join_of_tables(t_env):
    plus = udf(Plus(), result_type=DataTypes.BIGINT())
    left, right = t_env.from_path("b").select(col("id")), t_env.from_path("c").select(col("id").alias("other"))
    made = left.join(right, plus(col("id")) == col("other"))
    with made.execute().collect() as rows:
        assert sorted(map(tuple, rows)) == [(1, 2), (2, 3), (3, 4)]
