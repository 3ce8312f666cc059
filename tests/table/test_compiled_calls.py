"""Compiled plans of what programs build with the Table API."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.test_grouping import numbers
from tests.waiting import wait_for_numbers

from flintstream.common import Row, Types
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import DataTypes, PlanReference, StreamTableEnvironment
from flintstream.table._compiled.contents import Json, PlanFileError
from flintstream.table._compiled.values import read_type, read_value, write_type, write_value
from flintstream.table._logical.recording import is_recorded
from flintstream.table._steps import grouped, over
from flintstream.table._types.reader import data_type_of
from flintstream.table._types.rules import IntervalType, RowsType, text_type
from flintstream.table.expressions import (
    CURRENT_ROW,
    UNBOUNDED_ROW,
    array,
    call,
    coalesce,
    col,
    concat,
    lit,
    map_,
    row,
    with_columns,
)
from flintstream.table.table import Table
from flintstream.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf
from flintstream.table.window import Over, Session, Slide, Tumble


@udf(result_type="STRING")
def shout(text):
    return f"{text}!"


@udf(result_type="ROW<`text` STRING, size INT>")
def measured(line):
    return Row(line.b, line.a)


@udtf(result_types=["STRING", "INT"])
def letters(text):
    for number, letter in enumerate(text):
        yield letter, number


@udtf(result_types=["STRING"])
def twice(line):
    yield line.b
    yield line.b


class Longest(AggregateFunction):
    def create_accumulator(self):
        return [""]

    def accumulate(self, accumulator, text):
        accumulator[0] = max(accumulator[0], str(text), key=len)

    def retract(self, accumulator, text):
        pass

    def get_value(self, accumulator):
        return accumulator[0]


class Each(TableAggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, number):
        accumulator.append(number)

    def emit_value(self, accumulator):
        yield from map(Row, accumulator)


longest = udaf(Longest(), result_type="STRING", accumulator_type="ARRAY<STRING>")
each = udtaf(Each(), result_type="ROW<n INT>", accumulator_type="ARRAY<INT>")
FUNCTIONS = {
    "shout": shout, "measured": measured, "letters": letters, "twice": twice, "longest": longest, "each_of": each,
}  # fmt: skip
KIND = DataTypes.ROW([DataTypes.FIELD("c", DataTypes.INT()), DataTypes.FIELD("d", DataTypes.STRING())])
TEXT = DataTypes.STRING()
TIMED = Over.partition_by(col("b")).order_by(col("ts"))


def right(t):
    return t.from_elements([(1, "one"), (2, "two"), (2, "zwei")], KIND)


def ab(t):
    return t.from_path("src").select(col("a"), col("b"))


def same(t):
    return t.from_elements([(1, "x"), (9, "q"), (9, "q")], DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
    ))  # fmt: skip


QUERIES = {
    "filter and alias": lambda t: ab(t).where(col("a") > 1).alias("n", "s").filter(col("s") != "z"),
    "columns": lambda t: (
        t.from_path("src")
        .add_columns(concat(col("b"), "!").alias("e"))
        .add_or_replace_columns((col("a") * 10).alias("a"))
        .rename_columns(col("e").alias("f"))
        .drop_columns(col("ts"), col("b"))
    ),
    "literals": lambda t: ab(t).select(
        col("a") + lit(Decimal("2.50")).cast(DataTypes.INT()),
        coalesce(lit(None, DataTypes.STRING()), lit(date(2026, 5, 17)).cast(TEXT), col("b"))
        + lit(datetime(2026, 5, 17, 8, 30)).cast(TEXT)
        + lit(time(8, 30)).cast(TEXT)
        + lit(2.5).cast(TEXT)
        + lit(b"ab").cast(TEXT)
        + array(1, 2).at(1).cast(TEXT)
        + map_("k", "v")["k"]
        + row(1, "r").get(1)
        + (lit(datetime(2026, 5, 17)) + lit(2).days).cast(TEXT)
        + (col("a") > 1).then("", "many")
        + col("b").in_("x", "y").cast(TEXT),
    ),
    "chosen columns": lambda t: t.from_path("src").select(with_columns("a", 2)),
    "sets": lambda t: ab(t).union_all(same(t)),
    "joins": lambda t: ab(t).join(right(t), col("a") == col("c")).select(col("a"), concat(col("b"), col("d"))),
    "left joins": lambda t: ab(t).left_outer_join(right(t), col("a") == col("c")).select(col("a"), col("d")),
    "right joins": lambda t: right(t).right_outer_join(ab(t), col("a") == col("c")).select(col("a"), col("d")),
    "full joins": lambda t: ab(t).full_outer_join(right(t), col("a") == col("c")).select(col("a"), col("d")),
    "a join with itself": lambda t: ab(t).join(ab(t).alias("c", "d"), col("a") == col("c")).select(col("c"), col("b")),
    "groups": lambda t: same(t).group_by(col("b").upper_case.alias("k")).select(col("a").sum.alias("s"), col("k")),
    "distinct aggregates": lambda t: same(t).select(col("a").sum.distinct, col("b").max),
    "distinct": lambda t: same(t).distinct(),
    "windows": lambda t: (
        t.from_path("src")
        .window(Tumble.over(lit(10).minutes).on(col("ts")).alias("w"))
        .group_by(col("w"), col("b"))
        .select(col("a").sum, concat(col("b"), col("w").start.cast(TEXT)))
    ),
    "sliding windows": lambda t: (
        t.from_path("src")
        .window(Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("ts")).alias("w"))
        .group_by(col("w"))
        .select(col("a").sum, col("w").end.cast(TEXT))
    ),
    "sessions with an aggregate": lambda t: (
        t.from_path("src")
        .window(Session.with_gap(lit(1).hours).on(col("ts")).alias("w"))
        .group_by(col("w"))
        .aggregate(longest(col("b")).alias("l"))
        .select(lit(1), col("l"))
    ),
    "over windows": lambda t: (
        t.from_path("src")
        .over_window(TIMED.preceding(UNBOUNDED_ROW).following(CURRENT_ROW).alias("w"))
        .select(col("a").sum.over(col("w")), col("b"))
    ),
    "functions": lambda t: ab(t).select(col("a"), call("shout", col("b"))),
    "functions that are registered": lambda t: ab(t).select(col("a"), shout(col("b"))),
    "rows of functions": lambda t: ab(t).map(measured).select(col("size"), col("text")),
    "table functions": lambda t: (
        ab(t).join_lateral(letters(col("b")).alias("l", "i")).select(col("i"), col("l"))
    ),
    "left table functions": lambda t: (
        ab(t).left_outer_join_lateral(letters(col("b")).alias("l", "i")).select(col("i"), col("l"))
    ),
    "flat maps": lambda t: ab(t).flat_map(twice.alias("s")).select(lit(1), col("s")),
    "an aggregate": lambda t: ab(t).aggregate(longest(col("b")).alias("l")).select(lit(1), col("l")),
    "an aggregate of groups": lambda t: (
        same(t).group_by(col("a")).aggregate(longest(col("b")).alias("l")).select(col("a"), col("l"))
    ),
    "in a table": lambda t: ab(t).where(col("a").in_(same(t).select(col("a"))) & (col("b") == "x")),
    "queries that read steps": lambda t: t.sql_query(f"SELECT a, UPPER(b) FROM {ab(t).where(col('a') > 1)}"),
    "views of steps": lambda t: t.from_path("larger").select(col("a"), col("b")),
}  # fmt: skip
STREAMING = {
    "a table aggregate": lambda t: ab(t).flat_aggregate(each(col("a")).alias("n")).select(col("n"), lit("x")),
    "a table aggregate of groups": lambda t: (
        ab(t).group_by(col("b")).flat_aggregate(each(col("a")).alias("n")).select(col("n"), col("b"))
    ),
}
BATCH = {
    "union": lambda t: ab(t).union(same(t)),
    "intersect": lambda t: ab(t).intersect(same(t)),
    "intersect all": lambda t: ab(t).intersect_all(same(t)),
    "minus": lambda t: same(t).minus(ab(t)),
    "minus all": lambda t: same(t).minus_all(ab(t)),
    "order": lambda t: ab(t).order_by(col("a").desc, col("b")).offset(1).fetch(1),
    "limit": lambda t: ab(t).order_by(col("b")).limit(2),
}


def environment(mode="STREAMING", engine="inline"):
    options = {"flintstream.engine": engine, "parallelism.default": "1", "table.dml-sync": "true"}
    settings = {**options, "execution.runtime-mode": mode}
    return StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(settings))


def declare(t_env, folder, out):
    (folder / "in.csv").write_text("1,x,2026-05-17 08:00:00\n2,y,2026-05-17 08:04:00\n3,xyz,2026-05-17 09:30:00\n")
    t_env.execute_sql(
        "CREATE TABLE src (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'format' = 'csv', 'path' = '{folder}/in.csv')"
    )
    t_env.execute_sql(
        "CREATE TABLE snk (a BIGINT, b STRING) WITH "
        f"('connector' = 'filesystem', 'format' = 'debezium-json', 'path' = '{folder}/{out}')"
    )
    t_env.create_temporary_view("larger", t_env.from_path("src").where(col("a") > 1))
    return t_env


def written(folder, out):
    return sorted(line for path in (folder / out).glob("[!.]*") for line in path.read_text().splitlines())


def register(t_env):
    for name, function in FUNCTIONS.items():
        t_env.create_temporary_system_function(name, function)
    return t_env


def same_rows(query, folder, mode="STREAMING", engine="inline"):
    """Run a query as it is and as a plan in a session that has only the functions, and return the rows of both."""
    direct = register(declare(environment(mode, engine), folder, "direct"))
    query(direct).insert_into("snk").execute().wait()
    text = (
        query(register(declare(environment(mode), folder, "plan"))).insert_into("snk").compile_plan().as_json_string()
    )
    other = register(environment(mode, engine))
    plan = other.load_plan(PlanReference.from_json_string(text))
    assert plan.as_json_string() == text
    plan.execute().wait()
    assert other.list_tables() == []
    return written(folder, "direct"), written(folder, "plan")


@pytest.mark.parametrize("name", [*QUERIES, *STREAMING])
def test_a_plan_of_steps_gives_the_rows_of_the_steps(tmp_path, name):
    direct, plan = same_rows({**QUERIES, **STREAMING}[name], tmp_path)
    assert direct == plan != []


@pytest.mark.parametrize("name", [*QUERIES, *BATCH])
def test_a_plan_of_steps_gives_their_rows_in_batch_mode_too(tmp_path, name):
    direct, plan = same_rows({**QUERIES, **BATCH}[name], tmp_path, "BATCH")
    assert direct == plan != []


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_plans_of_steps_run_on_spark(tmp_path, mode):
    direct, plan = same_rows(QUERIES["functions that are registered"], tmp_path, mode, "spark")
    assert direct == plan != []


def test_every_step_of_the_table_api_is_in_one_of_these_queries(tmp_path):
    called: set[str] = set()
    for mode, queries in ("STREAMING", STREAMING), ("BATCH", {**QUERIES, **BATCH}):
        t_env = register(declare(environment(mode), tmp_path, "out"))
        for query in queries.values():
            plan = json.loads(query(t_env).insert_into("snk").compile_plan().as_json_string())
            called.update(found["call"] for found in plan["calls"] if "call" in found)
    classes: list[type] = [Table]
    classes += [item for module in (grouped, over) for _, item in inspect.getmembers(module, inspect.isclass)]
    steps = {name for item in classes for name in vars(item) if is_recorded(item, name)} - {"where"}
    assert called == steps


def test_a_plan_in_a_file_needs_neither_the_program_nor_its_rows(tmp_path):
    t_env = declare(environment(), tmp_path, "out")
    statements = (
        t_env.create_statement_set().add_insert("snk", same(t_env)).add_insert_sql("INSERT INTO snk VALUES (4, 'f')")
    )
    statements.compile_plan().write_to_file(tmp_path / "plan.json")
    environment().execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").wait()
    rows = [tuple(json.loads(line)["after"].values()) for line in written(tmp_path, "out")]
    assert rows == [(1, "x"), (4, "f"), (9, "q"), (9, "q")]


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_plan_starts_from_the_savepoint_of_a_job_of_the_same_plan(engine, tmp_path):
    settings = {
        "flintstream.engine": engine,
        "parallelism.default": "2",
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    _, t_env = numbers(settings)
    t_env.execute_sql(
        "CREATE TABLE sums (k BIGINT, s BIGINT) WITH "
        f"('connector' = 'filesystem', 'format' = 'debezium-json', 'path' = '{tmp_path}/sums')"
    )
    totals = t_env.from_path("numbers").group_by(col("k")).select(col("k"), col("n").sum)
    text = totals.insert_into("sums").compile_plan().as_json_string()

    def start(**more):
        found = StreamExecutionEnvironment.get_execution_environment({**settings, **more})
        plan = StreamTableEnvironment.create(found).load_plan(PlanReference.from_json_string(text))
        return plan.execute().get_job_client()

    job = start()
    wait_for_numbers(job, numCheckpoints=2)
    savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    start(**{"execution.savepoint.path": savepoint}).get_job_execution_result().result()
    left: Counter[tuple[int, int]] = Counter()
    for line in written(tmp_path, "sums"):
        change = json.loads(line)
        for rows, count in ("before", -1), ("after", 1):
            if change[rows] is not None:
                left[tuple(change[rows].values())] += count
    assert sorted(left.elements()) == [(k, sum(range(k, 2000, 7))) for k in range(7)]


def test_a_function_that_is_not_registered_is_refused(tmp_path):
    t_env = declare(environment(), tmp_path, "out")
    plan = ab(t_env).select(col("a"), shout(col("b"))).insert_into("snk").compile_plan()
    with pytest.raises(PlanFileError, match=r"Anonymous function 'shout' is not serializable.* register"):
        plan.as_json_string()
    plan.execute().wait()
    assert len(written(tmp_path, "out")) == 3


def test_a_function_of_the_plan_must_be_registered_where_it_runs(tmp_path):
    t_env = register(declare(environment(), tmp_path, "out"))
    text = QUERIES["functions"](t_env).insert_into("snk").compile_plan().as_json_string()
    with pytest.raises(PlanFileError, match=r"calls the function 'shout', which is not in the session: register it"):
        environment().execute_plan(PlanReference.from_json_string(text))


def test_tables_of_streams_are_refused(tmp_path):
    t_env = declare(environment(), tmp_path, "out")
    stream = t_env._env.from_collection([(1, "x")], Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]))
    for table in (t_env.from_data_stream(stream), ab(t_env).union_all(t_env.from_data_stream(stream))):
        plan = table.insert_into("snk").compile_plan()
        with pytest.raises(PlanFileError, match=r"Cannot serialize the table as it's an external inline table"):
            plan.as_json_string()


def test_a_plan_has_no_steps_but_those_of_tables(tmp_path):
    t_env = declare(environment(), tmp_path, "out")
    text = ab(t_env).where(col("a") > 1).insert_into("snk").compile_plan().as_json_string()
    for old, new, message in (
        ('"call": "filter"', '"call": "execute"', "Table has no step 'execute'"),
        ('"call": "filter"', '"call": "__init__"', "Table has no step '__init__'"),
        ('"syntax": "Apply"', '"syntax": "Select"', "call 2 fails with KeyError"),
        ('"of": 1', '"of": 7', "reads call 7, which is not before it"),
        ('"of": 1', '"of": -1', "reads call -1, which is not before it"),
        ('"of": 1', '"of": "x"', "reads call 'x', which is not before it"),
        ('"parts": [', '"names": [', "call 1 fails with"),
    ):
        assert old in text
        with pytest.raises(PlanFileError, match=message):
            t_env.execute_plan(PlanReference.from_json_string(text.replace(old, new)))


def test_a_long_chain_of_steps_and_a_deep_expression_are_stored(tmp_path):
    t_env = declare(environment(), tmp_path, "out")
    table, sum_of_many = ab(t_env), col("a")
    for _ in range(60):
        table = table.where(col("a") > 0)
    for _ in range(300):
        sum_of_many += 1
    text = table.select(sum_of_many, col("b")).insert_into("snk").compile_plan().as_json_string()
    environment().execute_plan(PlanReference.from_json_string(text)).wait()
    assert '"a":301' in written(tmp_path, "out")[0]


VALUES = (
    None, True, 1, -(2**70), 0.5, float("inf"), -0.0, "x", "", Decimal("1.50"), b"\x00a", date(2026, 5, 17),
    time(8, 30, 0, 5), datetime(2026, 5, 17, 8, 30), (1, ("a", None)), [1, [2.5]], {1: "a", "b": [None]}, Row(1, "a"),
    Row(a=1, b=[date(2026, 1, 1)]),
)  # fmt: skip
TYPES = (
    "INT", "BIGINT NOT NULL", "CHAR(3)", "DECIMAL(5, 2)", "TIMESTAMP_LTZ(9) NOT NULL", "ARRAY<INT NOT NULL>",
    "MAP<STRING, ROW<`a b` DATE>>", "BYTES", "TIME(0)", "NULL", "INTERVAL DAY TO SECOND",
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_read_as_they_were_written(value):
    found = read_value(json.loads(json.dumps(write_value(value))))
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_types_are_read_as_they_were_written():
    literals = (IntervalType(True, False), IntervalType(False), RowsType(False), text_type(""))
    for kind in (*map(data_type_of, TYPES), *literals):
        assert read_type(json.loads(json.dumps(write_type(kind)))) == kind


def test_other_values_and_types_are_refused():
    for value in (object(), Path("x"), {1, 2}):
        with pytest.raises(PlanFileError, match="cannot store the value"):
            write_value(value)
    with pytest.raises(PlanFileError, match="cannot store the type"):
        write_type(DataTypes.RAW() if hasattr(DataTypes, "RAW") else DataTypes.LIST_VIEW(DataTypes.INT()))
    damaged: list[Json] = [{}, {"pickle": "x"}, {"decimal": 3}]
    for found in damaged:
        with pytest.raises(PlanFileError, match="damaged"):
            read_value(found)
