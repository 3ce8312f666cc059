"""Functions of arrays and maps, and conditions that Flink refuses."""

from __future__ import annotations

from datetime import datetime

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError


def value(t_env, expression):
    with t_env.execute_sql(f"SELECT {expression} AS v").collect() as found:
        (row,) = found
    return row[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ARRAY_SLICE(ARRAY[1, 2, 3, 4], -3, -2)", [2, 3]),
        ("ARRAY_SLICE(ARRAY[1, 2, 3], 0)", [1, 2, 3]),
        ("ARRAY_SLICE(ARRAY[1, 2, 3], 3, 2)", []),
        ("ARRAY_SORT(ARRAY[2, CAST(NULL AS INT), 1])", [None, 1, 2]),
        ("ARRAY_SORT(ARRAY[2, CAST(NULL AS INT), 1], FALSE)", [2, 1, None]),
        ("ARRAY_SORT(ARRAY[2, CAST(NULL AS INT), 1], FALSE, TRUE)", [None, 2, 1]),
        ("ARRAY_REMOVE(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))", [1]),
        ("ARRAY_POSITION(ARRAY[1, 2], 3)", 0),
        ("ARRAY_APPEND(ARRAY[1], CAST(NULL AS INT))", [1, None]),
        ("ARRAY_DISTINCT(ARRAY[ARRAY[1], ARRAY[1]])", [[1]]),
        ("ARRAY_MAX(ARRAY[CAST(NULL AS INT), 1])", 1),
        ("CARDINALITY(ARRAY_CONCAT(ARRAY[1], ARRAY[1, 2], ARRAY[1]))", 4),
        ("ARRAY_UNION(CAST(NULL AS ARRAY<INT>), ARRAY[1])", None),
        ("ARRAY_CONTAINS(CAST(NULL AS ARRAY<INT>), 1)", None),
        ("MAP_UNION(MAP['a', 1], MAP['a', 2])", {"a": 2}),
    ],
)
def test_functions_of_arrays_and_maps(t_env, expression, expected):
    assert value(t_env, expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("ARRAY_JOIN(ARRAY[1], ',')", r"ARRAY_JOIN\(.*line 1, column .*it takes \(ARRAY of STRING"),
        ("ARRAY_CONTAINS(1, 1)", r"ARRAY_CONTAINS\(.*it takes \(ARRAY, any\)"),
        ("MAP_KEYS(ARRAY[1])", r"MAP_KEYS\(.*it takes \(MAP\)"),
        ("TIMESTAMP '2020-01-01 00:00:00' = DATE '2020-01-01'", r"=\(TIMESTAMP.*DATE.*has arguments of the wrong type"),
        ("TRUE AND NULL", r"AND\(BOOLEAN NOT NULL, NULL\)"),
        ("12345678901234567890", "out of the range of BIGINT"),
        ("1e400", "line 1, column 8 is out of the range of DOUBLE"),
        ("'a' LIKE NULL", r"LIKE\(CHAR\(1\) NOT NULL, NULL\)"),
    ],
)
def test_wrong_types_are_refused_when_planned(t_env, expression, message):
    with pytest.raises(SqlError, match=message):
        t_env.sql_query(f"SELECT {expression} AS v")


def test_element_refuses_an_array_of_several(t_env):
    with pytest.raises(Exception, match="ELEMENT takes an array with one element"):
        value(t_env, "ELEMENT(ARRAY[1, 2])")


def test_months_between_count_days_first(t_env):
    months = "TIMESTAMPDIFF(MONTH, TIMESTAMP '2019-01-31 12:00:00', TIMESTAMP '{}')"
    assert value(t_env, months.format("1969-12-31 23:59:59")) == -589
    assert value(t_env, months.format("2019-02-28 11:00:00")) == 0
    assert value(t_env, months.format("2019-02-28 12:00:00")) == 1


def test_microseconds_reach_python(t_env):
    assert value(t_env, "TIMESTAMP '2020-01-02 03:04:05.123456'") == datetime(2020, 1, 2, 3, 4, 5, 123456)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("LOG(2, 8)", 3.0),
        ("LN(0)", float("-inf")),
        ("LOG10(0)", float("-inf")),
        ("RAND_INTEGER(1)", 0),
        ("RAND_INTEGER(5, 1)", 0),
        ("HEX(-1)", "FFFFFFFFFFFFFFFF"),
        ("HEX('a')", "61"),
        ("CAST(CEIL(CAST(-0.5 AS DOUBLE)) AS STRING)", "-0.0"),
        ("CEIL(CAST('Infinity' AS DOUBLE))", float("inf")),
        ("CHAR_LENGTH(MD5('a'))", 32),
        ("ROUND(CAST(1e300 AS DOUBLE))", 1e300),
        ("TYPEOF(0.1 + 0.2)", "DECIMAL(3, 1) NOT NULL"),
        ("TYPEOF(1.5 * 1.5)", "DECIMAL(5, 2) NOT NULL"),
        ("CAST(FLOOR(TIMESTAMP '1969-12-31 23:59:59.5' TO YEAR) AS STRING)", "1970-01-01 00:00:00.0"),
    ],
)
def test_functions_of_numbers_at_their_limits(t_env, expression, expected):
    assert value(t_env, expression) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT x FROM (SELECT COLLECT(k) AS m FROM {rows}) CROSS JOIN UNNEST(m) AS u (x)", [("a",), ("a",), ("b",)]),
        (
            "SELECT x, o FROM (SELECT COLLECT(k) AS m FROM {rows}) CROSS JOIN UNNEST(m) WITH ORDINALITY AS u (x, o)",
            [("a", 1), ("a", 2), ("b", 3)],
        ),
        (
            "SELECT u.* FROM (SELECT COLLECT(ROW(n, k)) AS m FROM {rows}) CROSS JOIN UNNEST(m) AS u",
            [(1, "a"), (2, "b"), (3, "a")],
        ),
        (
            "SELECT k, GROUP_ID(), GROUPING(k) FROM {rows} GROUP BY GROUPING SETS ((k), (k), ())",
            [("a", 0, 0), ("a", 1, 0), ("b", 0, 0), ("b", 1, 0), (None, 0, 1)],
        ),
        ("SELECT k, GROUP_ID() FROM {rows} GROUP BY k", [("a", 0), ("b", 0)]),
        (
            "SELECT TIMESTAMPDIFF(HOUR, c, TIME '12:00:00'), TIMESTAMPDIFF(SECOND, TIME '12:00:00', c) FROM {rows}",
            [(0, -1800), (0, 0), (2, -7200)],
        ),
        ("SELECT TIMESTAMPDIFF(DAY, c, TIME '12:00:00') FROM {rows}", [(0,), (0,), (0,)]),
    ],
)
def test_a_batch_gives_what_pyflink_gives(query, expected):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    rows = "(VALUES (1, 'a', TIME '10:00:00'), (2, 'b', TIME '11:30:00'), (3, 'a', TIME '12:00:00')) AS T(n, k, c)"
    with t_env.execute_sql(query.format(rows=rows)).collect() as found:
        assert sorted(map(tuple, found), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("'1'::INT", r"'::' at line 1, column 8 is not SQL of Flink: CAST\('1' AS ...\)"),
        ("k::STRING", r"'::' at line 1, column 8 is not SQL of Flink: CAST\(k AS ...\)"),
        ("k ILIKE 'A'", r"ILIKE at line 1, column 16 is not SQL of Flink: LOWER\(k\) LIKE"),
        ("GROUP_ID(k)", "GROUP_ID at line 1, column 8 takes no arguments"),
    ],
)
def test_what_other_databases_have_is_named(t_env, expression, message):
    with pytest.raises(SqlError, match=message):
        t_env.sql_query(f"SELECT {expression} FROM (VALUES ('a')) AS T(k) GROUP BY k")
