"""Methods of tables that statements do not cover: windows OVER rows, functions of whole rows, rows for each group."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.test_grouping import numbers
from tests.table.test_over import changes, environment, left
from tests.waiting import wait_for_numbers

from flintstream.common import Row, RowKind, Types
from flintstream.table import DataTypes, TableAggregateFunction
from flintstream.table._errors import SqlError
from flintstream.table.expressions import CURRENT_RANGE, col, lit
from flintstream.table.udf import udaf, udf, udtaf, udtf
from flintstream.table.window import Over
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow


class Ends(TableAggregateFunction):
    """The least and the greatest value, each with its name; the values stay in a list."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        accumulator.append(value)

    def retract(self, accumulator, value):
        accumulator.remove(value)

    def emit_value(self, accumulator):
        yield "least", min(accumulator)
        if len(accumulator) > 1:
            yield Row("greatest", max(accumulator))


NAMED = "ROW<name STRING, `value` BIGINT>"


def scores(t_env):
    return t_env.from_elements([("a", 3), ("b", 1), ("a", 5), ("a", 1)], ["k", "n"])


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_table_aggregate_leaves_its_last_rows_behind(mode):
    t = scores(environment(mode))
    found = t.group_by(col("k")).flat_aggregate(udtaf(Ends(), result_type=NAMED)(col("n")))
    rows = left(changes(found.select(col("k"), col("name"), col("value"))))
    assert rows == [("a", "greatest", 5), ("a", "least", 1), ("b", "least", 1)]


def test_a_table_aggregate_takes_rows_back(t_env):
    kinds = [(RowKind.INSERT, 3), (RowKind.INSERT, 7), (RowKind.DELETE, 7), (RowKind.DELETE, 3), (RowKind.INSERT, 4)]
    stream = t_env._env.from_collection(
        [Row.of_kind(kind, n) for kind, n in kinds], Types.ROW_NAMED(["n"], [Types.LONG()])
    )
    table = t_env.from_changelog_stream(stream)
    found = table.flat_aggregate(udtaf(Ends(), result_type=NAMED)(col("n")).alias("w", "v")).select(col("w"), col("v"))
    assert changes(found) == [
        ("+I", "least", 3), ("-D", "least", 3), ("+I", "least", 3), ("+I", "greatest", 7),
        ("-D", "least", 3), ("-D", "greatest", 7), ("+I", "least", 3), ("-D", "least", 3), ("+I", "least", 4),
    ]  # fmt: skip


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_savepoint_restores_table_aggregates_at_another_parallelism(engine, tmp_path):
    def start(parallelism, **more):
        settings = {
            "flintstream.engine": engine,
            "parallelism.default": str(parallelism),
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        }
        env, t_env = numbers(settings | more)
        table = t_env.from_path("numbers").group_by(col("k")).flat_aggregate(udtaf(Ends(), result_type=NAMED)(col("n")))
        t_env.to_changelog_stream(table.select(col("k"), col("name"), col("value"))).sink_to(sink).uid("sink")
        return env.execute_async("numbers")

    sink = CollectSink()
    job = start(2)
    wait_for_numbers(job, numCheckpoints=2)
    savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    start(3, **{"execution.savepoint.path": savepoint}).get_job_execution_result().result()
    rows = left([(str(row.get_row_kind()), *row) for row in sink.get_results(True, False)])
    expected = [(k, "least", k) for k in range(7)] + [(k, "greatest", max(range(k, 2000, 7))) for k in range(7)]
    assert rows == sorted(expected, key=repr)


def test_what_a_method_does_not_take_is_refused(t_env):
    t, ends = scores(t_env), udtaf(Ends(), result_type=NAMED)
    over = Over.order_by(col("n")).preceding(lit(1).rows)
    for call, message in [
        (
            lambda: t.group_by(col("k")).select(ends(col("n"))),
            "is a table aggregate function: call it in flat_aggregate",
        ),
        (lambda: t.flat_aggregate(col("n").sum), r"flat_aggregate\(\) needs a function of udtaf\(\)"),
        (lambda: t.flat_aggregate(ends(col("n")).alias("only")), r"1 names for 2 columns: only"),
        (lambda: t.order_by(col("n")).fetch(1).offset(1), r"fetch\(\) is the last part"),
        (lambda: t.order_by(col("n")).offset(1).offset(2), r"offset\(\) can only be called once"),
        (lambda: t.fetch(-1), "at least 0, but got -1"),
        (lambda: t.over_window(over.alias("w")).select(col("n").sum.over(col("w"))), "defined on a time attribute"),
        (lambda: t.over_window(over.alias("w")).select(col("n").sum.over(col("v"))), "'v'; available: w"),
        (lambda: t.minus(t.select(col("k"))), "different numbers of columns"),
    ]:
        with pytest.raises(SqlError, match=message):
            call()
    batch = scores(environment("batch"))
    wrong = over.following(CURRENT_RANGE).alias("w")
    with pytest.raises(SqlError, match="needs CURRENT_ROW"):
        batch.over_window(wrong).select(col("n").sum.over(col("w")))
    with pytest.raises(TypeError, match="needs a TableAggregateFunction"):
        udtaf(len, result_type="INT")
    with pytest.raises(ValueError, match="func_type must be 'general'"):
        udtaf(Ends(), result_type=NAMED, func_type="pandas")


def test_a_function_that_is_not_called_gets_rows_with_names(t_env):
    t = scores(t_env)
    assert changes(t.map(udf(lambda r: f"{r.k}{r.n}", result_type="STRING")))[0] == ("+I", "a3")
    spread = udaf(lambda f: f.n.max() - f.n.min(), result_type="BIGINT", func_type="pandas")
    found = t.group_by(col("k")).aggregate(spread.alias("d")).select(col("k"), col("d"))
    assert left(changes(found)) == [("a", 4), ("b", 0)]
    assert [change[1:] for change in changes(t.map(udf(lambda f: f.n * 2, result_type=DataTypes.BIGINT(), func_type="pandas")))] == [
        (6,), (2,), (10,), (2,)
    ]  # fmt: skip


def test_a_table_function_that_is_not_called_joins_each_row_with_what_it_gives(t_env):
    @udtf(result_types=[DataTypes.INT(), DataTypes.STRING()])
    def split(row):
        for part in (row[1] or "").split("|"):
            if part:
                yield row.id, part

    texts = t_env.from_elements([(1, "a|b"), (2, None)], ["id", "text"])
    joined = texts.join_lateral(split)
    assert [tuple(row) for row in joined.execute().collect()] == [(1, "a|b", 1, "a"), (1, "a|b", 1, "b")]
    joined = texts.left_outer_join_lateral(split.alias("k", "part"))
    assert joined.get_schema().get_field_names() == ["id", "text", "k", "part"]
    assert [tuple(row) for row in joined.execute().collect()][2:] == [(2, None, None, None)]
