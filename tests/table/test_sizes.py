"""Statements and expressions of sizes that programs generate: long chains, many branches, deep nesting."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from flintstream.common import Configuration
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment, _deep_stack
from flintstream.table._deep_stack import on_deep_stack
from flintstream.table._errors import SqlError
from flintstream.table._sql.nesting import LEVELS, TYPES
from flintstream.table.expressions import col, if_then_else, lit

ROWS = "(VALUES (1, 'a'), (7, 'b'), (CAST(NULL AS INT), 'c')) AS T(n, s)"


@pytest.fixture
def t_env() -> TableEnvironment:
    inline = Configuration.from_dict({"flintstream.engine": "inline"})
    settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    made = TableEnvironment.create(settings)
    made.execute_sql(f"CREATE TEMPORARY VIEW v AS SELECT * FROM {ROWS}")
    return made


@pytest.fixture
def numbers(t_env):
    columns = [DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())]
    return t_env.from_elements([(1, "a"), (7, "b")], DataTypes.ROW(columns))


def rows(table) -> list[tuple]:
    return [tuple(row) for row in table.execute().collect()]


def values(t_env, expression: str) -> list:
    return [row[0] for row in rows(t_env.sql_query(f"SELECT {expression} AS x FROM v"))]


def nested(before: str, inner: str, after: str, levels: int) -> str:
    return before * levels + inner + after * levels


EXPRESSIONS = {
    "CASE with conditions": (
        "CASE " + " ".join(f"WHEN n = {i} THEN {i * 2}" for i in range(1000)) + " ELSE -1 END",
        [2, 14, -1],
    ),
    "CASE with values": (
        "CASE n " + " ".join(f"WHEN {i} THEN 'v{i}'" for i in range(400)) + " END",
        ["v1", "v7", None],
    ),
    "CASE within CASE": (nested("CASE WHEN n = 0 THEN 0 ELSE ", "5", " END", 300), [5, 5, 5]),
    "parentheses": (nested("(", "n", ")", 300), [1, 7, None]),
    "sums in parentheses": (nested("(1 + ", "n", ")", 300), [301, 307, None]),
    "conditions in parentheses": (nested("(n = 1 OR ", "n = 7", ")", 300), [True, True, None]),
    "functions": (nested("ABS(", "n", ")", 300), [1, 7, None]),
    "casts": (nested("CAST(", "n", " AS BIGINT)", 300), [1, 7, None]),
    "NOT": ("NOT " * 300 + "(n = 1)", [True, False, None]),
    "signs": ("- " * 300 + "n", [1, 7, None]),
    "arrays": (f"CARDINALITY({nested('ARRAY[', 'n', ']', TYPES - 1)})", [1, 1, 1]),
    "+": (" + ".join(["n"] * 1000), [1000, 7000, None]),
    "+ and -": ("n" + " + n - n" * 500, [1, 7, None]),
    "+ of two types": (" + ".join(["n", "CAST(n AS BIGINT)"] * 100), [200, 1400, None]),
    "||": (f"CHAR_LENGTH({' || '.join(['s'] * 500)})", [500, 500, 500]),
    "OR": (" OR ".join(f"n = {i}" for i in range(2, 1000)), [False, True, None]),
    "AND": (" AND ".join(f"n <> {i}" for i in range(2, 1000)), [True, False, None]),
    "IN": (f"n IN ({', '.join(map(str, range(2, 2000)))})", [False, True, None]),
    "IN with texts": (f"s IN ({', '.join(repr(c) for c in 'bcdef' * 400)})", [False, True, True]),
    "IN with NULL": (f"n IN (CAST(NULL AS INT), {', '.join(map(str, range(2, 400)))})", [None, True, None]),
    "IN with other types": (f"n IN (7.0, {', '.join(map(str, range(8, 400)))})", [False, True, None]),
    "IN with columns": (f"n IN (n + 1, n, {', '.join(map(str, range(8, 400)))})", [True, True, None]),
    "NOT IN": (f"n NOT IN ({', '.join(map(str, range(2, 2000)))})", [True, False, None]),
    "COALESCE": (f"COALESCE({'CAST(NULL AS INT), ' * 500}n, 9)", [1, 7, 9]),
}


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_sql_takes_large_expressions(t_env, kind):
    expression, expected = EXPRESSIONS[kind]
    assert values(t_env, expression) == expected


def test_a_constant_of_in_that_cannot_be_converted_fails_as_in_an_or(t_env):
    assert values(t_env, "n = 1 OR s IN ('a', 'b')") == [True, True, None]
    with pytest.raises(Exception, match="abc"):
        values(t_env, "n IN ('1', 'abc')")


def test_the_branches_of_a_long_case_are_evaluated_only_if_needed(t_env):
    branches = " ".join(f"WHEN n = {i} THEN {i}" for i in range(20))
    assert values(t_env, f"CASE {branches} WHEN 1 / (n - n) > 0 THEN 1 ELSE 2 END")[:2] == [1, 7]


def test_subqueries_are_within_each_other(t_env):
    inner = nested("SELECT n + 1 AS n FROM (", "SELECT n FROM v", ") WHERE n > 0", 300)
    assert rows(t_env.sql_query(inner)) == [(301,), (307,)]


def test_queries_build_on_each_other(t_env):
    steps = "".join(f", c{i} AS (SELECT n + 1 AS n FROM c{i - 1})" for i in range(1, 200))
    assert rows(t_env.sql_query(f"WITH c0 AS (SELECT n FROM v){steps} SELECT n FROM c199")) == [(200,), (206,), (None,)]


def test_views_build_on_each_other(t_env):
    t_env.execute_sql("CREATE VIEW v0 AS SELECT n FROM v")
    for i in range(1, 200):
        t_env.execute_sql(f"CREATE VIEW v{i} AS SELECT n + 1 AS n FROM v{i - 1}")
    assert rows(t_env.sql_query("SELECT n FROM v199")) == [(200,), (206,), (None,)]


def test_unions_have_hundreds_of_parts(t_env):
    assert len(rows(t_env.sql_query(" UNION ALL ".join(["SELECT n FROM v"] * 200)))) == 600


def test_sums_of_aggregates_are_long(t_env):
    assert rows(t_env.sql_query(f"SELECT {' + '.join(['SUM(n)'] * 500)} FROM v")) == [(4000,)]


def test_tables_have_a_thousand_columns(t_env, numbers):
    (first, *_) = rows(t_env.sql_query(f"SELECT {', '.join(f'n + {i}' for i in range(1000))} FROM v"))
    assert first == tuple(range(1, 1001))
    assert len(rows(numbers.select(*(col("n") + i for i in range(1000))))[0]) == 1000


def chained(operate, first, count=1000):
    for i in range(count):
        first = operate(first, i)
    return first


CONDITIONS: dict[str, Callable[[], Any]] = {
    "|": lambda: chained(lambda found, i: found | (col("n") == i + 2), col("n") == -1),
    "| to the left": lambda: chained(lambda found, i: (col("n") == i + 2) | found, col("n") == -1, 300),
    "&": lambda: chained(lambda found, i: found & (col("n") != i + 10), col("n") > 1),
    "in_": lambda: col("n").in_(*range(2, 1000)),
    "+": lambda: chained(lambda found, i: found + i, col("n")) == sum(range(1000)) + 7,
    "if_then_else": lambda: (
        chained(lambda found, i: if_then_else(col("n") == i + 10, lit(0), found), col("n"), 300) == 7
    ),
    "if_then_else, the other way": lambda: (
        chained(lambda found, i: if_then_else(col("n") < i + 10, found, lit(0)), col("n"), 300) == 7
    ),
}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_the_table_api_takes_large_expressions(numbers, kind):
    assert rows(numbers.filter(CONDITIONS[kind]())) == [(7, "b")]


def test_long_expressions_have_a_text(numbers):
    total = chained(lambda found, i: found + i, col("n"))
    assert repr(total).startswith("Expression(n + 0 + 1 + 2")
    assert str(total).endswith("997), 998), 999)")
    assert "select=[" in numbers.select(total).explain()


STEPS: dict[str, Callable[[Any, int], Any]] = {
    "select": lambda table, i: table.select((col("n") + 1).alias("n")),
    "filter": lambda table, i: table.filter(col("n") != i + 1000),
    "add_or_replace_columns": lambda table, i: table.add_or_replace_columns((col("n") + 1).alias("n")),
    "union_all": lambda table, i: table.union_all(table) if i < 1 else table.alias("n"),
}


@pytest.mark.parametrize("kind", STEPS)
def test_tables_are_built_in_hundreds_of_steps(numbers, kind):
    table = chained(STEPS[kind], numbers, 300)
    assert table.explain().count("\n") >= 300
    added = 300 if kind in {"select", "add_or_replace_columns"} else 0
    assert {row[0] for row in rows(table)} == {1 + added, 7 + added}


def test_hundreds_of_tables_are_united(numbers):
    assert len(rows(chained(lambda found, i: found.union_all(numbers), numbers, 300))) == 602


def test_a_statement_that_nests_too_deeply_is_refused_with_its_place(t_env):
    with pytest.raises(
        SqlError, match=rf"'\(' at line 2, column {LEVELS + 1} is nested in more than 1,000 parentheses"
    ):
        t_env.sql_query("SELECT\n" + nested("(", "1", ")", LEVELS + 1))
    with pytest.raises(SqlError, match="more than 100 rows, arrays and maps"):
        t_env.sql_query(f"SELECT {nested('ARRAY[', '1', ']', TYPES + 1)}")


def test_an_expression_that_no_stack_can_hold_is_refused(numbers, monkeypatch):
    monkeypatch.setattr(_deep_stack, "STACKS", ((64 << 20, 2000),))
    endless = chained(lambda found, i: lit(i) + found, col("n"), 5000)
    with pytest.raises(SqlError, match="nested too deeply"):
        numbers.select(endless)


def test_a_deep_stack_leaves_the_limit_of_the_program_as_it_is():
    before = sys.getrecursionlimit(), threading.stack_size()

    def depth(left: int) -> int:
        return 1 + depth(left - 1) if left else 0

    assert on_deep_stack(lambda: depth(5000)) == 5000
    with pytest.raises(ValueError, match="x"):
        on_deep_stack(lambda: int("x"))
    assert (sys.getrecursionlimit(), threading.stack_size()) == before
