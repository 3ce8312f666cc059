"""Windows and aggregate functions of the Table API."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.test_grouping import PAIRS, changes, declare, left

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.table import AggregateFunction, DataTypes, ListView, Session, Slide, StreamTableEnvironment, Tumble
from flintstream.table._errors import SqlError
from flintstream.table.expressions import call, col, lit, row_interval
from flintstream.table.udf import udaf


def windowed(t_env, window, *fields):
    named = window.on(col("ts")).alias("w")
    return changes(t_env.from_path("events").window(named).group_by(col("w")).select(*fields))


def test_a_tumbling_window_has_its_start_and_end(t_env, tmp_path):
    declare(t_env, tmp_path)
    found = windowed(t_env, Tumble.over(lit(10).seconds), col("w").start, col("w").end, col("n").sum.alias("s"))
    assert [(kind, start.second, end.second, s) for kind, start, end, s in found] == [
        ("+I", 0, 10, 3),  # 4 came too late
        ("+I", 10, 20, 3),
        ("+I", 20, 30, 5),
    ]


def test_sliding_windows_overlap_and_sessions_end_with_a_gap(t_env, tmp_path):
    declare(t_env, tmp_path)
    found = windowed(t_env, Slide.over(lit(20).seconds).every(lit(10).seconds), col("w").end, col("n").count)
    assert [count for *_, count in found] == [2, 4, 2, 1]  # 4 is late for the first window only
    found = windowed(t_env, Session.with_gap(lit(8).seconds), col("w").start, col("w").end, col("n").sum)
    assert [(start.second, end.second, total) for _, start, end, total in found] == [(1, 19, 10), (25, 33, 5)]


def test_a_window_has_keys_and_its_time_stays_a_time_attribute(t_env, tmp_path):
    declare(t_env, tmp_path)
    window = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
    inner = t_env.from_path("events").window(window).group_by(col("k"), col("w"))
    first = inner.select(col("k"), col("n").sum.alias("s"), col("w").rowtime.alias("ts"))
    again = Tumble.over(lit(1).minute).on(col("ts")).alias("v")
    assert changes(first.window(again).group_by(col("v")).select(col("s").sum)) == [("+I", 11)]


def test_a_window_of_rows_ends_with_its_last_row(t_env):
    table = t_env.sql_query("SELECT v, PROCTIME() AS p FROM (VALUES (1), (2), (3), (4), (5)) AS T(v)")
    window = Tumble.over(row_interval(2)).on(col("p")).alias("w")
    assert changes(table.window(window).group_by(col("w")).select(col("v").sum)) == [("+I", 3), ("+I", 7)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda table, w: table.window(w).group_by(col("k")), r"needs the name of the window: col\('w'\)"),
        (lambda table, w: table.window(w).group_by(col("w")).select(col("k")), "Expression 'k' is not being grouped"),
        (
            lambda table, _: (
                table.window(Tumble.over(lit(1).second).on(col("k")).alias("w")).group_by(col("w")).select(col("n").sum)
            ),
            "can only be defined over a time attribute column, but k is STRING",
        ),
        (
            lambda table, _: (
                table.window(Session.with_gap(lit(2).rows).on(col("ts")).alias("w")).group_by(col("w")).select(lit(1))
            ),
            "a session needs a time",
        ),
    ],
)
def test_a_wrong_window_of_the_table_api_is_named(t_env, tmp_path, make, message):
    declare(t_env, tmp_path)
    with pytest.raises(SqlError, match=message):
        make(t_env.from_path("events"), Tumble.over(lit(1).second).on(col("ts")).alias("w"))


class WeightedAverage(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, value, weight):
        if value is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        if value is not None:
            accumulator[0] -= value * weight
            accumulator[1] -= weight

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_result_type(self):
        return "DOUBLE"


class Collected(AggregateFunction):
    """Returns its state itself, which later rows change."""

    def open(self, function_context):
        self.prefix = function_context.get_job_parameter("prefix", "v")

    def create_accumulator(self):
        return ListView()

    def accumulate(self, accumulator, value):
        accumulator.add(f"{self.prefix}{value}")

    def get_value(self, accumulator):
        return accumulator.get()

    def get_result_type(self):
        return DataTypes.ARRAY(DataTypes.STRING())


def test_an_aggregate_function_of_the_program_works_in_sql_and_the_table_api(t_env):
    t_env.create_temporary_function("weighted", udaf(WeightedAverage()))
    query = f"SELECT k, weighted(v, 2) AS a, weighted(v, 1) FILTER (WHERE v > 1) AS b FROM {PAIRS} GROUP BY k"
    assert left(changes(t_env.sql_query(query))) == {("a", 2.0, 3.0): 1, ("b", 2.0, 2.0): 1}
    table = t_env.sql_query(f"SELECT * FROM {PAIRS}")
    for aggregate in (udaf(WeightedAverage())(col("v"), 1), call("weighted", col("v"), 1)):
        made = table.group_by(col("k")).select(col("k"), aggregate.alias("a"))
        assert left(changes(made)) == {("a", 2.0): 1, ("b", 2.0): 1}
    named = table.group_by(col("k")).aggregate(call("weighted", col("v"), 1).alias("a"))
    assert left(changes(named.select(col("a"), col("k")))) == {(2.0, "a"): 1, (2.0, "b"): 1}


def test_a_result_does_not_change_with_the_state_that_it_comes_from(t_env):
    table = t_env.sql_query(f"SELECT * FROM {PAIRS} WHERE k = 'a'")
    assert changes(table.select(udaf(Collected())(col("v")).alias("c"))) == [
        ("+I", ["v1"]),
        ("-U", ["v1"]),
        ("+U", ["v1", "v3"]),
    ]


def test_rows_are_taken_back_from_a_function_with_retract_and_others_refuse_them(env, t_env):
    kinds = [(RowKind.INSERT, 1), (RowKind.INSERT, 5), (RowKind.DELETE, 1)]
    rows = [Row.of_kind(kind, value) for kind, value in kinds]
    table = t_env.from_changelog_stream(env.from_collection(rows, Types.ROW_NAMED(["v"], [Types.INT()])))
    assert left(changes(table.select(udaf(WeightedAverage())(col("v"), 1)))) == {(5.0,): 1}
    with pytest.raises(SqlError, match=r"has no method retract\(\)"):
        table.select(udaf(Collected())(col("v")))


def test_sessions_merge_the_states_of_a_function(t_env, tmp_path):
    declare(t_env, tmp_path)
    average = udaf(WeightedAverage())(col("n"), 1)
    assert [a for _, a in windowed(t_env, Session.with_gap(lit(8).seconds), average)] == [2.5, 5.0]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_function_of_series_sees_all_rows_of_a_group(env, t_env, mode):
    pytest.importorskip("pandas", reason="pandas is not installed: make setup")
    env.set_runtime_mode(RuntimeExecutionMode[mode])

    @udaf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def spread(values):
        return values.max() - values.min()

    table = t_env.from_elements([("a", 1), ("b", 2), ("a", 4)], ["k", "v"])
    assert left(changes(table.group_by(col("k")).select(col("k"), spread(col("v"))))) == {("a", 3): 1, ("b", 0): 1}


@pytest.mark.spark
def test_functions_of_the_program_run_in_tasks_of_spark():
    settings = {"flintstream.engine": "spark", "flintstream.master": "local[2]", "parallelism.default": "2"}
    t_env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(settings))
    t_env.create_temporary_function("weighted", udaf(WeightedAverage()))
    query = f"SELECT k, weighted(v, 2) AS a, COUNT(*) AS c FROM {PAIRS} GROUP BY ROLLUP (k)"
    expected = {("a", 2.0, 2): 1, ("b", 2.0, 2): 1, (None, 2.0, 4): 1}
    assert left(changes(t_env.sql_query(query))) == expected


def test_a_plain_function_is_no_aggregate_function():
    with pytest.raises(TypeError, match="needs an AggregateFunction, or func_type='pandas'"):
        udaf(lambda x: x, result_type=DataTypes.INT())
