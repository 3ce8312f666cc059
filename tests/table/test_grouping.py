"""GROUP BY, aggregates, DISTINCT and windows of tables."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import pairwise

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import wait_for_numbers

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.table import Schema, StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._expressions.aggregates import AggregateCall
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table.expressions import col
from flintstream.table.types import DataTypes
from flintstream.testing import CollectSink

PAIRS = "(VALUES ('a', 1), ('b', 2), ('a', 3), ('b', CAST(NULL AS INT))) AS T(k, v)"


def changes(table_or_result):
    result = table_or_result.execute() if hasattr(table_or_result, "execute") else table_or_result
    with result.collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def left(found):
    """Return the rows that changes leave behind."""
    rows: Counter[tuple[object, ...]] = Counter()
    for kind, *values in found:
        rows[tuple(values)] += 1 if kind in {"+I", "+U"} else -1
    return {row: count for row, count in rows.items() if count}


def test_each_row_changes_the_result_of_its_group(t_env):
    found = changes(t_env.sql_query(f"SELECT k, SUM(v) AS s, COUNT(*) AS c FROM {PAIRS} GROUP BY k"))
    assert found == [
        ("+I", "a", 1, 1),
        ("+I", "b", 2, 1),
        ("-U", "a", 1, 1),
        ("+U", "a", 4, 2),
        ("-U", "b", 2, 1),
        ("+U", "b", 2, 2),
    ]


MEASURES = """(VALUES (1, 10, CAST(1 AS BIGINT), 1.5), (1, 20, CAST(2 AS BIGINT), 2.5), (1, 40, CAST(1 AS BIGINT), NULL),
(2, CAST(NULL AS INT), CAST(1 AS BIGINT), 9.0)) AS T(k, v, f, d)"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("PERCENTILE(v, 0.5)", 20.0),
        ("PERCENTILE(v, 0.3)", 16.0),
        ("PERCENTILE(v, ARRAY[0.25, 0.75])", [15.0, 30.0]),
        ("PERCENTILE(v, 0.5, f)", 20.0),
        ("PERCENTILE(v, ARRAY[0, 1], f)", [10.0, 40.0]),
        ("PERCENTILE(DISTINCT v, 1)", 40.0),
        ("PERCENTILE(v, 0.5, -f)", None),
        ("PERCENTILE(v, 0.5) FILTER (WHERE f = 1)", 25.0),
        ("PERCENTILE(CAST(d AS FLOAT), 0.333)", 1.8330000000000002),
    ],
)
def test_a_percentile_lies_between_values_as_in_flink(env, t_env, call, expected):
    for mode in (RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH):
        env.set_runtime_mode(mode)
        found = left(
            (kind, key, str(value))
            for kind, key, value in changes(t_env.sql_query(f"SELECT k, {call} FROM {MEASURES} GROUP BY k"))
        )
        assert found == {(1, str(expected)): 1, (2, "9.0" if "CAST(d" in call else "None"): 1}


@pytest.mark.parametrize(
    "arguments", ["v, 1.5", "v, -0.1", "v, CAST(NULL AS DOUBLE)", "'a', 0.5", "v, '0.5'", "v, 0.5, 1.5", "v, 0.5, 1, 1"]
)
def test_a_percentile_of_something_else_is_refused(t_env, arguments):
    with pytest.raises(SqlError, match="PERCENTILE"):
        t_env.sql_query(f"SELECT PERCENTILE({arguments}) FROM {MEASURES}")


def test_in_batch_mode_only_the_last_result_is_there(env, t_env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert sorted(changes(t_env.sql_query(f"SELECT k, MAX(v) AS m FROM {PAIRS} GROUP BY k"))) == [
        ("+I", "a", 3),
        ("+I", "b", 2),
    ]


def test_a_group_whose_rows_are_all_taken_back_is_deleted(env, t_env):
    rows = []
    for kind, *fields in [
        (RowKind.INSERT, "a", 1),
        (RowKind.INSERT, "a", 2),
        (RowKind.DELETE, "a", 1),
        (RowKind.DELETE, "a", 2),
    ]:
        row = Row(*fields)
        row.set_row_kind(kind)
        rows.append(row)
    stream = env.from_collection(rows, Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]))
    t_env.create_temporary_view("changes", t_env.from_changelog_stream(stream))
    query = "SELECT k, MIN(v) AS lo, MAX(v) AS hi, LISTAGG(CAST(v AS STRING)) AS l FROM changes GROUP BY k"
    assert changes(t_env.sql_query(query)) == [
        ("+I", "a", 1, 1, "1"),
        ("-U", "a", 1, 1, "1"),
        ("+U", "a", 1, 2, "1,2"),
        ("-U", "a", 1, 2, "1,2"),
        ("+U", "a", 2, 2, "2"),
        ("-D", "a", 2, 2, "2"),
    ]


def test_in_mini_batches_results_between_the_rows_of_a_block_do_not_appear(t_env):
    table = t_env.from_elements([(n % 2, n) for n in range(1000)], ["k", "v"])
    grouped = table.group_by(col("k")).select(col("k"), col("v").sum.alias("s"), col("v").count.alias("c"))
    totals = {(0, sum(range(0, 1000, 2)), 500): 1, (1, sum(range(1, 1000, 2)), 500): 1}
    found = changes(grouped)
    assert (left(found), len(found)) == (totals, 1998)
    t_env.get_config().set("table.exec.mini-batch.enabled", "true")
    grouped = table.group_by(col("k")).select(col("k"), col("v").sum.alias("s"), col("v").count.alias("c"))
    found = changes(grouped)
    assert left(found) == totals
    assert len(found) < 500


def test_a_group_of_all_rows_is_deleted_when_its_rows_are_taken_back(t_env):
    inner = f"SELECT k, COUNT(*) AS c FROM {PAIRS} WHERE k = 'a' GROUP BY k"
    assert changes(t_env.sql_query(f"SELECT SUM(c) AS s FROM ({inner})")) == [("+I", 1), ("-D", 1), ("+I", 2)]


def test_aggregates_of_no_rows_are_there_in_batch_mode_or_if_no_row_can_come(env, t_env):
    def counted(condition):
        return changes(t_env.sql_query(f"SELECT COUNT(*) AS c, SUM(v) AS s FROM {PAIRS} WHERE {condition}"))

    assert counted("v > 100") == []
    assert counted("FALSE") == [("+I", 0, None)]
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert counted("v > 100") == [("+I", 0, None)]


@pytest.mark.parametrize("made", ["ARRAY[k, 'x']", "MAP[k, v]", "ROW(k, ARRAY[k])"])
def test_distinct_counts_lists_and_maps(t_env, made):
    query = f"SELECT COUNT(DISTINCT a) AS c FROM (SELECT {made} AS a FROM {PAIRS} WHERE v < 3)"
    assert left(changes(t_env.sql_query(query))) == {(2,): 1}


def test_having_distinct_and_expressions_of_keys(t_env):
    query = f"SELECT UPPER(k) || '!' AS k, SUM(v) + 1 AS s FROM {PAIRS} GROUP BY UPPER(k) HAVING COUNT(v) > 1"
    assert left(changes(t_env.sql_query(query))) == {("A!", 5): 1}
    assert changes(t_env.sql_query(f"SELECT DISTINCT k FROM {PAIRS}")) == [("+I", "a"), ("+I", "b")]


def test_a_row_counts_once_in_each_set_of_keys(t_env):
    query = f"SELECT k, v, GROUPING_ID(k, v) AS g, COUNT(*) AS c FROM {PAIRS} GROUP BY {{}}"
    by_k = {("a", None, 1, 2): 1, ("b", None, 1, 2): 1}
    by_v = {(None, 1, 2, 1): 1, (None, 2, 2, 1): 1, (None, 3, 2, 1): 1, (None, None, 2, 1): 1}
    both = {("a", 1, 0, 1): 1, ("b", 2, 0, 1): 1, ("a", 3, 0, 1): 1, ("b", None, 0, 1): 1}
    every = {(None, None, 3, 4): 1}
    for keys, expected in [
        ("GROUPING SETS ((k), (v))", by_k | by_v),
        ("GROUPING SETS ((k, v), ())", both | every),
        ("ROLLUP (k, v)", both | by_k | every),
        ("CUBE (k, v)", both | by_k | by_v | every),
        ("k, GROUPING SETS (v, ())", both | by_k),
        ("k, v", both),
    ]:
        assert left(changes(t_env.sql_query(query.format(keys)))) == expected, keys


def test_json_of_a_group_keeps_or_leaves_out_null(t_env):
    columns = (
        "JSON_ARRAYAGG(v) AS a, JSON_ARRAYAGG(v NULL ON NULL) AS b, JSON_OBJECTAGG(KEY k VALUE v ABSENT ON NULL) AS c"
    )
    query = f"SELECT {columns}, JSON_OBJECTAGG(KEY k VALUE v) AS d FROM {PAIRS} WHERE v IS NULL OR v < 2"
    assert changes(t_env.sql_query(query))[-1] == ("+U", "[1]", "[1,null]", '{"a":1}', '{"a":1,"b":null}')


def test_aggregates_of_the_table_api(t_env):
    table = t_env.from_elements([("a", 1), ("b", 2), ("a", 3)], ["k", "v"])
    grouped = table.group_by(col("k")).select(col("k"), col("v").sum.alias("s"), col("v").count.distinct.alias("c"))
    assert left(changes(grouped)) == {("a", 4, 2): 1, ("b", 2, 1): 1}
    assert left(changes(table.select(col("v").avg))) == {(2,): 1}
    assert changes(table.select(col("k")).distinct()) == [("+I", "a"), ("+I", "b")]


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        (f"SELECT k, v FROM {PAIRS} GROUP BY k", SqlError, "Expression 'v' at line 1, column 11 is not being grouped"),
        (
            f"SELECT SUM(k) FROM {PAIRS}",
            SqlError,
            r"SUM\(CHAR\(1\) NOT NULL\) at line 1, column 8 has arguments of the wrong type",
        ),
        (
            f"SELECT k FROM {PAIRS} WHERE SUM(v) > 1",
            SqlError,
            "the aggregate function SUM at line 1, column .* only allowed in SELECT",
        ),
        (f"SELECT k FROM {PAIRS} GROUP BY k HAVING k", SqlError, "HAVING at .* needs a BOOLEAN"),
        (f"SELECT GROUPING(v) FROM {PAIRS} GROUP BY k", SqlError, "GROUPING at .* takes keys of GROUP BY"),
        (
            f"SELECT k FROM {PAIRS} GROUP BY CUBE (k, v, v + 1, v + 2, v + 3, v + 4, v + 5)",
            SqlError,
            "has 128 grouping sets",
        ),
    ],
)
def test_a_wrong_grouping_is_named(t_env, query, error, message):
    with pytest.raises(error, match=message):
        t_env.sql_query(query)


CALLS = [
    AggregateCall(name, 0, DataTypes.BIGINT(), DataTypes.BIGINT(), distinct)
    for name in ("COUNT", "SUM", "SUM0", "AVG", "MIN", "MAX", "COLLECT")
    for distinct in (False, True)
]


@given(st.lists(st.none() | st.integers(-5, 5), max_size=12), st.data())
def test_rows_that_are_taken_back_leave_the_aggregates_of_the_others(values, data):
    code = aggregation(CALLS, retracts=True).compile_code()
    gone = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True) if values else st.just([]))
    group = code["start"]()
    for value in values:
        code["add"]((value,), group)
    for index in gone:
        code["remove"]((values[index],), group)
    other = code["start"]()
    for index, value in enumerate(values):
        if index not in gone:
            code["add"]((value,), other)
    assert code["result"](group) == code["result"](other)


@given(*[st.lists(st.none() | st.integers(-5, 5), max_size=8)] * 2)
def test_merged_windows_have_the_aggregates_of_all_their_rows(first, second):
    code = aggregation(CALLS, retracts=False).compile_code()

    def grouped(values):
        group = code["start"]()
        for value in values:
            code["add"]((value,), group)
        return group

    merged = grouped(first)
    code["merge"](merged, grouped(second))
    assert code["result"](merged) == code["result"](grouped([*first, *second]))


EVENTS = [(1, "a", 1000), (2, "b", 4000), (3, "a", 11_000), (4, "b", 2000), (5, "a", 25_000)]


def declare(t_env, directory):
    lines = "\n".join(f"{n},{k},{ms}" for n, k, ms in EVENTS)
    (directory / "events.csv").write_text(f"{lines}\n")
    t_env.execute_sql(
        "CREATE TABLE events (n INT, k STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory / 'events.csv'}', 'format' = 'csv')"
    )


def test_windows_of_event_time_drop_late_rows(t_env, tmp_path):
    declare(t_env, tmp_path)
    found = changes(
        t_env.sql_query(
            "SELECT window_end, COUNT(*) AS c, SUM(n) AS s FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
            "GROUP BY window_start, window_end"
        )
    )
    assert [(end.second, c, s) for _, end, c, s in found] == [(10, 2, 3), (20, 1, 3), (30, 1, 5)]  # 4 came too late


def test_a_window_takes_rows_back_and_is_silent_if_none_is_left(env, t_env):
    kinds = [(RowKind.INSERT, 1), (RowKind.INSERT, 2), (RowKind.DELETE, 1), (RowKind.INSERT, 15), (RowKind.DELETE, 15)]
    rows = [Row.of_kind(kind, n, n * 1000) for kind, n in kinds]
    stream = env.from_collection(rows, Types.ROW_NAMED(["n", "ms"], [Types.INT(), Types.LONG()]))
    builder = Schema.new_builder().column("n", "INT").column("ms", "BIGINT")
    schema = builder.column_by_expression("ts", "TO_TIMESTAMP_LTZ(ms, 3)").watermark("ts", "ts - INTERVAL '20' SECOND")
    t_env.create_temporary_view("events", t_env.from_changelog_stream(stream, schema.build()))
    query = (
        "SELECT SUM(n) AS s, COUNT(*) AS c, MAX(n) AS m FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert changes(t_env.sql_query(query)) == [("+I", 2, 1, 2)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "TUMBLE(TABLE events, DESCRIPTOR(n), INTERVAL '1' SECOND)",
            "requires the time column 'n' to be a time attribute",
        ),
        ("TUMBLE(TABLE events, DESCRIPTOR(tss), INTERVAL '1' SECOND)", "Column 'tss' not found in DESCRIPTOR.*'ts'"),
        ("TUMBLE(TABLE events, DESCRIPTOR(ts), 5)", "SIZE must be an INTERVAL"),
        ("HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND)", "HOP at .* needs SLIDE, SIZE"),
        (
            "CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '5' SECOND)",
            "must be a multiple of the step",
        ),
        ("TUMBLE(TABLE nothing, DESCRIPTOR(ts), INTERVAL '1' SECOND)", "Object 'nothing' not found"),
    ],
)
def test_a_wrong_window_is_named(t_env, tmp_path, call, message):
    declare(t_env, tmp_path)
    with pytest.raises(SqlError, match=message):
        t_env.sql_query(f"SELECT window_start, COUNT(*) FROM TABLE({call}) GROUP BY window_start, window_end")


@pytest.mark.parametrize(("first", "hours"), [("2024-03-09", 23), ("2024-11-02", 25)])
def test_days_of_a_time_zone_are_shorter_and_longer_when_clocks_change(t_env, tmp_path, first, hours):
    start = dt.datetime.fromisoformat(f"{first}T00:00:00+00:00").timestamp()
    lines = [f"{hour},{int(start + hour * 3600) * 1000}\n" for hour in range(72)]
    (tmp_path / "hours.csv").write_text("".join(lines), encoding="utf-8")
    t_env.execute_sql(
        "CREATE TABLE hours (n INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'hours.csv'}', 'format' = 'csv')"
    )
    t_env.get_config().set("table.local-time-zone", "America/New_York")
    days = "TABLE(TUMBLE(TABLE hours, DESCRIPTOR(ts), INTERVAL '1' DAY))"
    query = f"SELECT window_start, COUNT(*) FROM {days} GROUP BY window_start, window_end"
    counted = "SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS rn"
    last = f"SELECT window_start, n FROM ({counted} FROM {days}) WHERE rn = 1"
    midnight = dt.datetime.fromisoformat(first)
    with t_env.execute_sql(query).collect() as found:
        counts = sorted(tuple(row) for row in found)
    assert counts[1:3] == [(midnight, 24), (midnight + dt.timedelta(days=1), hours)]
    with t_env.execute_sql(last).collect() as found:
        newest = sorted(tuple(row) for row in found)
    numbers = [number for _, number in newest]
    assert [b - a for a, b in pairwise(numbers)][:2] == [24, hours]


QUERIES = {
    "groups": "SELECT k, COUNT(*) AS c, SUM(n) AS s, MAX(n) AS m FROM numbers GROUP BY k",
    "windows": "SELECT k, COUNT(*) AS c, SUM(n) AS s, MAX(n) AS m FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), "
    "INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end",
}


def numbers(configuration):
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(
        "CREATE TABLE numbers (n BIGINT, ms AS n * 10, k AS MOD(n, 7), ts AS TO_TIMESTAMP_LTZ(n * 10, 3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'datagen', 'rows-per-second' = '2000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', "
        "'fields.n.end' = '1999')"
    )
    return env, t_env


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_savepoint_restores_groups_and_windows_at_another_parallelism(engine, tmp_path, query):
    def start(parallelism, **more):
        settings = {
            "flintstream.engine": engine,
            "parallelism.default": str(parallelism),
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        }
        env, t_env = numbers(settings | more)
        t_env.to_changelog_stream(t_env.sql_query(QUERIES[query])).sink_to(sink).uid("sink")
        return env.execute_async("numbers")

    sink = CollectSink()  # one for both: what the savepoint has not committed yet, the second job commits again
    job = start(2)
    wait_for_numbers(job, numCheckpoints=2)
    savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    job = start(3, **{"execution.savepoint.path": savepoint})
    job.get_job_execution_result().result()
    rows = left([(str(row.get_row_kind()), *row) for row in sink.get_results(True, False)])
    if query == "groups":
        assert rows == {(k, len(r := range(k, 2000, 7)), sum(r), r[-1]): 1 for k in range(7)}
    else:
        assert sum(row[1] for row in rows) == 2000
        assert sum(row[2] for row in rows) == sum(range(2000))
        assert len(rows) == 20 * 7
