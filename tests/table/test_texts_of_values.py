"""Texts of arrays, maps and rows, and fractions of TIME; the values are those of PyFlink 2.3."""

from __future__ import annotations

from datetime import datetime, time

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import EnvironmentSettings, TableEnvironment

RECORDED = [
    ("UTC", "CAST(ARRAY[TO_TIMESTAMP_LTZ(1577836800123, 3), CAST(NULL AS TIMESTAMP_LTZ(3))] AS STRING)", "[2020-01-01 00:00:00.123, NULL]"),
    ("UTC", "CAST(ROW(TO_TIMESTAMP_LTZ(1577836800123, 3), 1, CAST(NULL AS INT)) AS STRING)", "(2020-01-01 00:00:00.123, 1, NULL)"),
    ("UTC", "CAST(MAP['a', TO_TIMESTAMP_LTZ(1577836800123, 3)] AS STRING)", "{a=2020-01-01 00:00:00.123}"),
    ("UTC", "CAST(MAP[TO_TIMESTAMP_LTZ(1577836800123, 3), 'b'] AS STRING)", "{2020-01-01 00:00:00.123=b}"),
    ("UTC", "CAST(ARRAY[ARRAY[TIMESTAMP '2020-01-01 00:00:00.1']] AS STRING)", "[[2020-01-01 00:00:00.1]]"),
    ("UTC", "CAST(ARRAY[TIMESTAMP '2020-01-01 00:00:00'] AS STRING)", "[2020-01-01 00:00:00]"),
    ("UTC", "CAST(ARRAY[DATE '2020-01-01'] AS STRING)", "[2020-01-01]"),
    ("UTC", "CAST(ARRAY[TIME '01:02:03.5'] AS STRING)", "[01:02:03.5]"),
    ("UTC", "CAST(ARRAY[1.50, 2] AS STRING)", "[1.50, 2.00]"),
    ("UTC", "CAST(ARRAY[TRUE] AS STRING)", "[TRUE]"),
    ("UTC", "CAST(ARRAY[X'61'] AS STRING)", "[a]"),
    ("UTC", "CAST(ARRAY['a', 'b c'] AS STRING)", "[a, b c]"),
    ("UTC", "CAST(ROW('a', ROW(1, ARRAY[1])) AS STRING)", "(a, (1, [1]))"),
    ("UTC", "CAST(MAP['a', MAP[1, 2.5]] AS STRING)", "{a={1=2.5}}"),
    ("UTC", "CAST(ROW(INTERVAL '1' DAY, INTERVAL '1' MONTH) AS STRING)", "(+1 00:00:00.000, +0-01)"),
    ("UTC", "CAST(ARRAY[INTERVAL '1' DAY] AS STRING)", "[+1 00:00:00.000]"),
    ("UTC", "TIME '01:02:03.456'", time(1, 2, 3, 456000)),
    ("UTC", "TYPEOF(TIME '01:02:03.456')", "TIME(3) NOT NULL"),
    ("UTC", "CAST(TIME '01:02:03.456' AS STRING)", "01:02:03.456"),
    ("UTC", "TIME '01:02:03'", time(1, 2, 3)),
    ("UTC", "TYPEOF(TIME '01:02:03')", "TIME(0) NOT NULL"),
    ("UTC", "CAST(TIME '01:02:03.450' AS STRING)", "01:02:03.45"),
    ("UTC", "TYPEOF(TIME '01:02:03.450')", "TIME(3) NOT NULL"),
    ("UTC", "CAST(TIME '01:02:03.000' AS STRING)", "01:02:03.0"),
    ("UTC", "CAST(CAST('01:02:03.456' AS TIME(3)) AS STRING)", "01:02:03.456"),
    ("UTC", "CAST('01:02:03.456' AS TIME)", time(1, 2, 3)),
    ("UTC", "CAST(CAST('01:02:03' AS TIME(3)) AS STRING)", "01:02:03.0"),
    ("UTC", "CAST(CAST('01:02:03.456789' AS TIME(6)) AS STRING)", "01:02:03.457"),
    ("UTC", "CAST(TIMESTAMP '2020-01-01 01:02:03.456' AS TIME(3))", time(1, 2, 3, 456000)),
    ("UTC", "CAST(CAST(TIMESTAMP '2020-01-01 01:02:03.456' AS TIME(3)) AS STRING)", "01:02:03.456"),
    ("UTC", "CAST(TIMESTAMP '2020-01-01 01:02:03.456' AS TIME)", time(1, 2, 3)),
    ("UTC", "TIME '01:02:03.456' = TIME '01:02:03'", False),
    ("UTC", "TIME '01:02:03.456789'", time(1, 2, 3, 456000)),
    ("UTC", "CAST(TIME '01:02:03.456' AS TIMESTAMP(3))", datetime(1970, 1, 1, 1, 2, 3, 456000)),
    ("UTC", "CAST(TIME '01:02:03.456' AS TIME(0))", time(1, 2, 3)),
    ("UTC", "EXTRACT(MILLISECOND FROM TIME '01:02:03.456')", 456),
    ("UTC", "TIME '01:02:03.456' + INTERVAL '1.5' SECOND", time(1, 2, 4, 956000)),
    ("UTC", "TYPEOF(TIMESTAMP '2020-01-01 00:00:00.120')", "TIMESTAMP(3) NOT NULL"),
    ("UTC", "CAST(TIMESTAMP '2020-01-01 00:00:00.120' AS STRING)", "2020-01-01 00:00:00.120"),
    ("UTC", "CAST(TO_TIMESTAMP_LTZ(1577836800123, 3) AS STRING)", "2020-01-01 00:00:00.123"),
    ("UTC", "CAST(CAST(TO_TIMESTAMP_LTZ(1577836800123, 3) AS TIME(3)) AS STRING)", "00:00:00.123"),
    ("UTC", "TRY_CAST('a' AS TIME)", None),
    ("UTC", "CAST('1:2:3' AS TIME)", time(1, 2, 3)),
    ("UTC", "CAST('01:02' AS TIME)", time(1, 2)),
    ("Asia/Kolkata", "CAST(ARRAY[TO_TIMESTAMP_LTZ(1577836800123, 3), CAST(NULL AS TIMESTAMP_LTZ(3))] AS STRING)", "[2020-01-01 05:30:00.123, NULL]"),
    ("Asia/Kolkata", "CAST(ROW(TO_TIMESTAMP_LTZ(1577836800123, 3), 1, CAST(NULL AS INT)) AS STRING)", "(2020-01-01 05:30:00.123, 1, NULL)"),
    ("Asia/Kolkata", "CAST(MAP['a', TO_TIMESTAMP_LTZ(1577836800123, 3)] AS STRING)", "{a=2020-01-01 05:30:00.123}"),
    ("Asia/Kolkata", "CAST(MAP[TO_TIMESTAMP_LTZ(1577836800123, 3), 'b'] AS STRING)", "{2020-01-01 05:30:00.123=b}"),
    ("Asia/Kolkata", "CAST(TO_TIMESTAMP_LTZ(1577836800123, 3) AS STRING)", "2020-01-01 05:30:00.123"),
    ("Asia/Kolkata", "CAST(CAST(TO_TIMESTAMP_LTZ(1577836800123, 3) AS TIME(3)) AS STRING)", "05:30:00.123"),
    ("UTC", "TIME '01:02:03.456' = TIME '01:02:03'", False),
]  # fmt: skip
"""Time zones of the session, expressions, values."""

LISTS = [
    ("a ARRAY<INT>, b STRING", "ARRAY[1, CAST(NULL AS INT), 2], 'x'", "", "1;;2,x\n"),
    ("a ARRAY<INT>, b STRING", "ARRAY[CAST(NULL AS INT)], 'x'", "", ",x\n"),
    ("a ARRAY<STRING>, b STRING", "ARRAY['a', CAST(NULL AS STRING), '', 'b;c'], CAST(NULL AS STRING)", "", "a;;;b;c,\n"),
    ("a ARRAY<INT>, b INT", "ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT)", "null-literal=n/a", "1;n/a,n/a\n"),
    ("a ARRAY<INT>, b INT", "ARRAY[1, 2], 1", "array-element-delimiter=|", "1|2,1\n"),
    ("a ROW<x INT, y STRING>, b INT", "CAST(ROW(1, 'q') AS ROW<x INT, y STRING>), 1", "array-element-delimiter=|", "1|q,1\n"),
]  # fmt: skip
"""Columns, values and options of CSV, and the file."""


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    return t_env


@pytest.mark.parametrize(("zone", "expression", "expected"), RECORDED)
def test_values_are_those_of_flink(t_env, zone, expression, expected):
    t_env.get_config().set("table.local-time-zone", zone)
    with t_env.execute_sql(f"SELECT {expression}").collect() as rows:
        assert [row[0] for row in rows] == [expected]


@pytest.mark.parametrize(("columns", "values", "option", "expected"), LISTS)
def test_null_in_arrays_is_written_to_csv(t_env, tmp_path, columns, values, option, expected):
    key, _, value = option.partition("=")
    more = f", 'csv.{key}' = '{value}'" if key else ""
    t_env.execute_sql(
        f"CREATE TABLE o ({columns}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv'{more})"
    )
    t_env.execute_sql(f"INSERT INTO o VALUES ({values})").wait()
    files = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert "".join(path.read_text() for path in files) == expected


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("item", ["COUNT(*)", "MAX(v)", "COUNT(*) + 1"])
@pytest.mark.parametrize(("where", "negated"), [("b.k = a.k", False), ("b.k = 77", False), ("b.k = a.k", True)])
def test_aggregates_of_all_rows_always_exist(t_env, mode, item, where, negated):
    t_env.get_config().set("execution.runtime-mode", mode)
    t_env.execute_sql("CREATE TEMPORARY VIEW a AS SELECT * FROM (VALUES (1, 1), (2, 2), (9, 9)) AS t (id, k)")
    t_env.execute_sql("CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES (1, 10), (1, 11), (2, 20)) AS t (k, v)")
    exists = f"{'NOT ' if negated else ''}EXISTS (SELECT {item} FROM b WHERE {where})"
    with t_env.execute_sql(f"SELECT id FROM a WHERE {exists}").collect() as rows:
        assert [row[0] for row in rows] == ([] if negated else [1, 2, 9])
    with t_env.execute_sql(f"SELECT id, {exists} FROM a").collect() as rows:
        assert [tuple(row) for row in rows] == [(i, not negated) for i in (1, 2, 9)]
