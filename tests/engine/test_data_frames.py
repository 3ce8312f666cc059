"""DataFrames as streams, and streams as DataFrames."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark import SparkContext
from tests.engine.tally import FailOnce
from tests.engine.test_recovery import settings
from tests.waiting import wait_for

from flintstream.common import Row, Types, WatermarkStrategy
from flintstream.common.time import Instant
from flintstream.common.types import RowKind
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream.connectors.data_frame import DataFrameSink
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError

pytestmark = pytest.mark.spark

SCHEMA = (
    "yes boolean, tiny tinyint, small smallint, i int, l bigint, f float, d double, s string, bytes binary, "
    "price decimal(10, 2), day date, at timestamp, local timestamp_ntz, numbers array<int>, "
    "prices map<string, array<decimal(5, 1)>>, inner struct<x: int, y: struct<z: string>>, `a.b` string"
)
VALUES = (
    *(True, -128, -(1 << 15), -(1 << 31), -(1 << 63), 0.5, 0.1, "ä", b"\x00\xff"),
    *(Decimal("-12345678.25"), dt.date(1000, 1, 2), dt.datetime(1969, 12, 31, 23, 59, 59, 1, dt.timezone.utc)),
    *(dt.datetime(1900, 1, 1, 0, 0, 0, 123456), [1, None], {"k": [Decimal("1.5"), None]}, (1, ("q",)), "dotted"),
)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "dataframes.md"
FIXED_DELAY = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 ms"}


@pytest.fixture(scope="module")
def spark():
    from flintstream.engine.frames.sessions import session
    from flintstream.engine.spark.session import spark_context

    if "SPARK_REMOTE" not in os.environ:
        spark_context({"flintstream.master": "local[2]"})
    return session(None)


def collected(stream):
    with stream.execute_and_collect() as results:
        return list(results)


def number(row):
    return row.n


def slow(row):
    time.sleep(0.001)
    return row.n


class ByNumber(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.n * 1000


class Timestamps(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timestamp()


def files_in(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


# -- from batch DataFrames -------------------------------------------------------------------------------------------


@pytest.mark.on_spark
def test_a_row_has_the_columns_with_exact_values(make_env, spark):
    frame = spark.createDataFrame([VALUES, (None,) * len(VALUES)], SCHEMA)
    stream = make_env(2).from_dataframe(frame)
    assert stream.get_type().get_field_names() == frame.columns
    full, empty = sorted(collected(stream), key=lambda row: row.yes is None)
    expected = dict(zip(frame.columns, VALUES, strict=True))
    expected["at"] = Instant(-1, 1000)
    expected["inner"] = Row(x=1, y=Row(z="q"))
    assert full == Row(**expected)
    assert [type(value) for value in full] == [type(value) for value in expected.values()]
    assert empty == Row(**dict.fromkeys(frame.columns))


def test_a_column_of_nothing_but_null_is_none(make_inline_env, spark):
    assert collected(make_inline_env().from_dataframe(spark.sql("SELECT 1 AS n, null AS x"))) == [Row(n=1, x=None)]


def test_a_type_of_the_programs_own_is_what_the_rows_become(make_inline_env, spark):
    env = make_inline_env()
    pairs = env.from_dataframe(spark.sql("SELECT 1 AS n, 'a' AS s"), Types.TUPLE([Types.LONG(), Types.STRING()]))
    assert collected(pairs) == [(1, "a")]
    with pytest.raises(PlanError, match=r"have the fields of the DataFrame, n, .* it has m"):
        env.from_dataframe(spark.range(1).toDF("n"), Types.ROW_NAMED(["m"], [Types.LONG()]))


def test_event_time_comes_from_a_column(make_inline_env, spark):
    frame = spark.range(3).toDF("n")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByNumber())
    assert collected(make_inline_env().from_dataframe(frame, watermark_strategy=strategy).process(Timestamps())) == [
        0,
        1000,
        2000,
    ]


def test_a_frame_without_rows_is_a_stream_without_records(make_inline_env, spark):
    assert collected(make_inline_env().from_dataframe(spark.range(0))) == []


def test_the_rows_of_all_partitions_are_dealt_to_all_subtasks(make_env, spark):
    frame = spark.range(0, 50_000, 1, 3).toDF("n")
    assert sorted(collected(make_env(2).from_dataframe(frame).map(number))) == list(range(50_000))


def test_a_program_that_runs_again_reads_the_frame_again(make_inline_env, spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"n": 1}\n')
    env = make_inline_env()
    stream = env.from_dataframe(spark.read.schema("n int").json(str(tmp_path / "in")), directory=str(tmp_path / "data"))
    assert collected(stream.map(number)) == [1]
    assert files_in(tmp_path / "data") == []
    (tmp_path / "in" / "a.json").write_text('{"n": 2}\n')
    spark.catalog.refreshByPath(str(tmp_path / "in"))
    assert collected(stream.map(number)) == [2]


@pytest.mark.skipif("SPARK_REMOTE" in os.environ, reason="the client of Spark Connect has no SparkContext")
def test_a_job_that_starts_again_does_not_compute_the_frame_again(make_env, spark, tmp_path):
    env = make_env(2, {**settings(tmp_path), **FIXED_DELAY})
    computed = spark.sparkContext.accumulator(0)
    frame = spark.createDataFrame(counted(spark.sparkContext.parallelize(range(1000), 3), computed), "n int")
    sink = DataFrameSink(str(tmp_path / "out"), Types.ROW_NAMED(["n"], [Types.INT()]))
    numbers = env.from_dataframe(frame).map(slow).map(FailOnce(900, tmp_path / "failed"))
    numbers.map(lambda n: (n,)).sink_to(sink)
    result = env.execute()
    assert (tmp_path / "failed").exists()
    assert sorted(row.n for row in sink.read().collect()) == list(range(1000))
    assert computed.value == 1000
    assert result is not None
    assert files_in(tmp_path / "checkpoints") == []


def counted(rdd, computed):
    def count(n):
        computed.add(1)
        return (n,)

    return rdd.map(count)


def test_what_is_no_frame_is_refused(make_inline_env):
    with pytest.raises(TypeError, match=r"needs a DataFrame of Spark, but got list"):
        make_inline_env().from_dataframe([1])


def test_a_frame_of_pandas_is_refused_with_the_ways_that_read_one(make_inline_env):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    with pytest.raises(TypeError, match=r"got pandas.DataFrame: .*createDataFrame.*from_pandas.*flintstream.dataframe"):
        make_inline_env().from_dataframe(pandas.DataFrame({"a": [1]}))


def test_a_column_without_a_counterpart_is_named(make_inline_env, spark):
    with pytest.raises(PlanError, match=r"column 'a' is of type interval .*: cast it"):
        make_inline_env().from_dataframe(spark.sql("SELECT interval 1 day AS a"))
    with pytest.raises(PlanError, match="no columns"):
        make_inline_env().from_dataframe(spark.range(1).select())


# -- from streaming DataFrames ---------------------------------------------------------------------------------------


def written(directory, numbers):
    """Write one file for each number; Spark reads one per micro-batch."""
    directory.mkdir(exist_ok=True)
    for n in numbers:
        (directory / f".{n}").write_text(f'{{"n": {n}}}\n')
        (directory / f".{n}").rename(directory / f"{n}.json")


def running(env, spark, tmp_path, *functions, **options):
    """Start a job from a streaming frame into files; return it and a function that reads the files."""
    frame = spark.readStream.schema("n int").option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    stream = env.from_dataframe(frame, trigger="0 seconds", **options).uid("frame").map(number).uid("number")
    for function in functions:
        stream = stream.map(function).uid(type(function).__name__)
    sink = DataFrameSink(str(tmp_path / "out"), Types.TUPLE([Types.INT()]))
    stream.map(lambda n: (n,)).uid("tuple").sink_to(sink).uid("sink")
    return env.execute_async(), lambda: sorted(row.f0 for row in sink.read().collect())


def cancel(job):
    job.cancel().result()
    with pytest.raises(Exception, match="cancelled"):
        job.get_job_execution_result().result()


def test_a_streaming_frame_is_taken_over_exactly_once_although_the_job_fails(make_env, spark, tmp_path):
    written(tmp_path / "in", range(6))
    env = make_env(2, {**settings(tmp_path), **FIXED_DELAY})
    job, found = running(env, spark, tmp_path, FailOnce(3, tmp_path / "failed"))
    wait_for(lambda: len(found()) >= 6)
    written(tmp_path / "in", range(6, 8))
    wait_for(lambda: len(found()) >= 8)
    cancel(job)
    assert (tmp_path / "failed").exists()
    assert found() == list(range(8))


def test_another_program_goes_on_from_a_savepoint(make_inline_env, spark, tmp_path):
    written(tmp_path / "in", range(3))
    job, found = running(make_inline_env(1, settings(tmp_path)), spark, tmp_path)
    wait_for(lambda: len(found()) >= 3)
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    written(tmp_path / "in", range(3, 5))
    env = make_inline_env(2, {**settings(tmp_path), "execution.state-recovery.path": savepoint})
    job, found = running(env, spark, tmp_path)
    wait_for(lambda: len(found()) >= 5)
    cancel(job)
    assert found() == list(range(5))


def test_micro_batches_are_kept_for_their_time_and_one_that_is_missed_is_an_error(make_inline_env, spark, tmp_path):
    written(tmp_path / "in", range(2))
    data = tmp_path / "data"
    job, found = running(make_inline_env(1, settings(tmp_path)), spark, tmp_path, directory=str(data), retention_ms=1)
    wait_for(lambda: len(found()) >= 1)
    savepoint = job.trigger_savepoint(str(tmp_path / "savepoints")).result()
    wait_for(lambda: len(found()) >= 2)
    written(tmp_path / "in", range(2, 4))
    wait_for(lambda: len(found()) >= 4)
    cancel(job)
    (place,) = data.iterdir()
    kept = sorted(path.name for path in place.glob("*.json"))
    assert "3.json" in kept
    assert "0.json" not in kept
    for path in place.glob("*.json"):
        if path.name != "3.json":
            path.unlink()
    no_restart = {"restart-strategy.type": "none", "execution.state-recovery.path": savepoint}
    env = make_inline_env(1, {**settings(tmp_path), **no_restart})
    job, _ = running(env, spark, tmp_path, directory=str(data))
    with pytest.raises(
        FlintstreamError, match=r"micro-batch \d of a streaming DataFrame is no longer in .*retention_ms"
    ):
        job.get_job_execution_result().result()


def test_a_query_that_fails_fails_the_job(make_inline_env, spark, tmp_path):
    written(tmp_path / "in", [1])
    frame = spark.readStream.schema("n int").json(str(tmp_path / "in")).selectExpr("raise_error('broken') AS n")
    env = make_inline_env()
    env.from_dataframe(frame).print()
    with pytest.raises(FlintstreamError, match=r"the query of a streaming DataFrame has ended: .*"):
        env.execute()


# -- to DataFrames ---------------------------------------------------------------------------------------------------


@pytest.mark.on_spark
def test_a_frame_becomes_a_stream_and_the_same_frame_again(make_env, spark):
    frame = spark.createDataFrame([VALUES, (None,) * len(VALUES)], SCHEMA)
    again = make_env(2).from_dataframe(frame).to_dataframe(frame.schema)
    assert again.schema == frame.schema
    assert sorted(map(repr, again.collect())) == sorted(map(repr, frame.collect()))


def test_declared_types_are_the_columns(make_env, tmp_path):
    declared = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()])
    stream = make_env(2).from_collection([("to", 2), ("be", 2), ("or", None)], declared)
    frame = stream.to_dataframe(directory=str(tmp_path / "out"))
    assert frame.dtypes == [("word", "string"), ("n", "bigint")]
    assert sorted(frame.collect()) == [("be", 2), ("or", None), ("to", 2)]
    with pytest.raises(PlanError, match=r"an empty directory, but there are files in"):
        stream.to_dataframe(directory=str(tmp_path / "out"))


def test_the_name_of_the_directory_may_have_blanks_and_percent_signs(make_inline_env, spark, tmp_path):
    stream = make_inline_env().from_collection([(1,), (2,)], Types.TUPLE([Types.INT()]))
    frame = stream.to_dataframe(directory=f"file://{tmp_path}/a b%20")
    assert sorted(row.f0 for row in frame.collect()) == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["a b%20"]


def test_a_schema_gives_columns_to_records_without_a_type(make_inline_env, spark):
    records = [Row(b="x", a=1), (2, "y"), {"a": 3, "b": "z"}, Row(4, None)]
    frame = make_inline_env().from_collection(records).to_dataframe("a int, b string")
    assert frame.collect() == [(1, "x"), (2, "y"), (3, "z"), (4, None)]


def test_a_stream_without_records_is_a_frame_without_rows(make_inline_env, spark):
    nothing = make_inline_env().from_collection([], Types.TUPLE([Types.INT()]))
    assert nothing.to_dataframe().collect() == []


def test_a_stream_without_a_type_is_refused(make_inline_env, spark):
    stream = make_inline_env().from_collection([Row(1)])
    with pytest.raises(PlanError, match=r"has no type .* output_type=.* or pass a schema"):
        stream.to_dataframe()


def test_a_value_that_does_not_fit_names_its_column(make_inline_env, spark):
    stream = make_inline_env().from_collection([("a", Decimal("1.005"))])
    with pytest.raises(FlintstreamError, match=r"column 'price': Decimal\('1\.005'\) does not fit"):
        stream.to_dataframe("name string, price decimal(5, 2)")


def test_a_change_is_no_row_of_a_frame(make_inline_env, spark):
    stream = make_inline_env().from_collection([Row.of_kind(RowKind.DELETE, 1)])
    with pytest.raises(FlintstreamError, match=r"a DataFrame cannot hold changes, but the stream has -D"):
        stream.to_dataframe("n int")


def test_a_stream_without_an_end_is_refused(make_inline_env, spark, tmp_path):
    frame = spark.readStream.format("rate").load()
    with pytest.raises(PlanError, match=r"the source 'clock' is unbounded: .*DataFrameSink"):
        make_inline_env().from_dataframe(frame, name="clock").map(number).to_dataframe("n int")


@pytest.mark.skipif("SPARK_REMOTE" in os.environ, reason="the client of Spark Connect has no SparkContext")
def test_without_spark_the_inline_engine_makes_no_frame(make_inline_env, monkeypatch):
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    stream = make_inline_env().from_collection([(1,)], Types.TUPLE([Types.INT()]))
    with pytest.raises(PlanError, match=r"needs Spark, but the program runs on the inline engine"):
        stream.to_dataframe()


def test_without_pyarrow_the_message_says_what_to_install(make_inline_env, spark, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"needs the package pyarrow: .*flintstream\[dataframes\]"):
        make_inline_env().from_dataframe(spark.range(1))


def test_the_examples_of_the_documentation_run(spark, tmp_path, capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = "".join(block for block in blocks if "kafka" not in block)
    assert len(blocks) == 4
    names: dict = {}
    exec(compile(code.replace("/shared", str(tmp_path)), "dataframes.md", "exec"), names)  # noqa: S102 - our own page
    printed = capsys.readouterr().out
    assert "+I[ann,8]" in printed
    assert "|     3|    1|" in printed
    wait_for(lambda: names["sink"].read().count() == 4)
    for query in spark.streams.active:
        query.processAllAvailable()  # cleanly, otherwise Spark logs errors
        query.stop()


def test_spark_reads_the_sink_as_a_stream(make_env, spark, tmp_path):
    env = make_env(1, settings(tmp_path))
    sink = DataFrameSink(str(tmp_path / "out"), "n bigint")
    numbers = env.from_source(NumberSequenceSource(1, 100), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(lambda n: Row(n=n)).sink_to(sink)
    env.execute()
    query = sink.read_stream().writeStream.trigger(availableNow=True).format("parquet")
    query = query.option("checkpointLocation", (tmp_path / "query").as_uri()).start(str(tmp_path / "table"))
    query.awaitTermination()
    assert sorted(row.n for row in spark.read.parquet(str(tmp_path / "table")).collect()) == list(range(1, 101))
