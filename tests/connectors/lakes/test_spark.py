"""Tables that sinks write are read by Spark with its own jars, and what Spark writes is read by sources."""

from __future__ import annotations

import datetime as dt
import re
import subprocess

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")
pytest.importorskip("deltalake", reason="the extra 'delta' is not installed: make setup")

from tests.connectors.kafka.jobs import NO_WATERMARKS
from tests.connectors.lakes.spark import ROOT, NoSparkError, Spark, environment_of, interpreter, jars
from tests.datastream.inline import make_env

from flintstream.common import Row
from flintstream.common.types import RowKind
from flintstream.connectors.lakes.delta import COMMITS_BETWEEN_MERGES
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.lakes import DeltaSink, DeltaSource, IcebergSink
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(1500)]

PAIR = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
POSITIONS = "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'%s)"


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    try:
        found = Spark(tmp_path_factory.mktemp("spark"))
    except NoSparkError as error:
        pytest.skip(str(error))
    yield found
    found.close()


@pytest.fixture
def warehouse(spark, tmp_path):
    spark.iceberg(f"lake_{tmp_path.name}", tmp_path)
    return tmp_path


def in_order(rows):
    """Return rows as Spark's answers are sorted."""
    return sorted(rows, key=repr)


def table(warehouse):
    """Return the name of a table as Spark knows it."""
    return f"lake_{warehouse.name}.shop.t"


def iceberg_sink(warehouse, row_type=PAIR, *given, **more):
    catalog = {"py-catalog-impl": "flintstream.connectors.lakes.hadoop.HadoopCatalog", "warehouse": str(warehouse)}
    return IcebergSink("shop.t", row_type, catalog, *given, **more)


def commit(sink, *epochs, run="r"):
    """Make a commit of each epoch."""
    committer = sink.create_committer()
    writer = sink.create_writer(WriterContext(0, 1, "a", identity="job/sink", run=run))
    for rows in epochs:
        writer.write([*rows], None)
        assert not committer.commit(writer.prepare_commit(end_of_input=False))


def change(kind, *values):
    row = Row(*values)
    row.set_row_kind(kind)
    return row


def statements(*given, mode=EnvironmentSettings.in_batch_mode):
    """Run statements of ours, and return the rows of the last one."""
    t_env = TableEnvironment.create(mode())
    t_env.get_config().set("flintstream.engine", "inline")
    for statement in given[:-1]:
        t_env.execute_sql(statement)
    return t_env.execute_sql(given[-1])


def catalog_of(warehouse):
    return f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{warehouse}')"


def read(warehouse, query="SELECT * FROM lake.shop.t"):
    with statements(catalog_of(warehouse), query).collect() as found:
        return in_order(tuple(row) for row in found)


def stream(warehouse, count):
    """Return the first rows of a stream of the table from its oldest commit on."""
    hints = "'streaming' = 'true', 'monitor-interval' = '1 s', 'starting-strategy'='INCREMENTAL_FROM_EARLIEST_SNAPSHOT'"
    query = f"SELECT * FROM lake.shop.t /*+ OPTIONS({hints}) */"
    with statements(catalog_of(warehouse), query, mode=EnvironmentSettings.in_streaming_mode).collect() as found:
        return sorted(tuple(next(found)) for _ in range(count))


def read_delta(source):
    with make_env().from_source(source, NO_WATERMARKS, "delta").execute_and_collect() as found:
        return in_order(tuple(row) for row in found)


# -- what sinks write, read by Spark --------------------------------------------------------------------------------


def test_spark_reads_an_iceberg_table_with_partitions_that_was_compacted(spark, warehouse):
    maintenance = {
        "flink-maintenance.rewrite.enabled": "true",
        "flink-maintenance.rewrite.schedule.commit-count": "4",
        "flink-maintenance.rewrite.min-input-files": "2",
    }
    sink = iceberg_sink(warehouse, PAIR, ["name"], maintenance=maintenance)
    commit(sink, *([(2 * n, "a"), (2 * n + 1, "b")] for n in range(6)))
    assert spark.sql(f"SELECT * FROM {table(warehouse)}") == in_order([n, "ab"[n % 2]] for n in range(12))
    assert spark.sql(f"SELECT id FROM {table(warehouse)} WHERE name = 'b' AND id > 4") == [[11], [5], [7], [9]]
    assert ["replace"] in spark.sql(f"SELECT operation FROM {table(warehouse)}.snapshots")
    assert spark.sql(f"SELECT count(*) FROM {table(warehouse)}.files") == [[6]]


def test_spark_reads_an_iceberg_table_whose_rows_were_replaced(spark, warehouse):
    sink = iceberg_sink(warehouse, upsert_by=["id"])
    gone = change(RowKind.DELETE, 3, "c")
    commit(sink, [(1, "a"), (2, "b"), (3, "c")], [(1, "A"), gone], [(4, "d"), (2, "B")])
    assert spark.sql(f"SELECT * FROM {table(warehouse)}") == [[1, "A"], [2, "B"], [4, "d"]]
    spark.sql(
        f"ALTER TABLE {table(warehouse)} SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read')",
        f"UPDATE {table(warehouse)} SET name = 'dd' WHERE id = 4",  # marks the position of the old row as deleted
    )
    commit(sink, [(2, "BB"), (5, "e")], run="s")
    assert spark.sql(f"SELECT * FROM {table(warehouse)}") == [[1, "A"], [2, "BB"], [4, "dd"], [5, "e"]]


def test_spark_finds_rows_by_the_transforms_by_which_a_sink_divides_them(spark, warehouse):
    spark.sql(
        f"CREATE TABLE {table(warehouse)} (id BIGINT, name STRING, at TIMESTAMP_NTZ) USING iceberg "
        "PARTITIONED BY (bucket(4, id), truncate(2, name), days(at))"
    )
    row_type = DataTypes.ROW([*PAIR.fields, DataTypes.FIELD("at", DataTypes.TIMESTAMP(6))])
    rows = [(n, f"n{n}", dt.datetime(1969, 12, 31, 22) + dt.timedelta(hours=n)) for n in range(12)]
    commit(iceberg_sink(warehouse, row_type), rows)
    assert spark.sql(f"SELECT count(*) FROM {table(warehouse)}") == [[12]]
    for n, name, at in rows:
        for where in (f"id = {n}", f"name = '{name}'", f"at = TIMESTAMP_NTZ '{at}'"):
            assert spark.sql(f"SELECT id FROM {table(warehouse)} WHERE {where}") == [[n]], where


def test_spark_reads_a_delta_table_with_partitions_that_was_compacted(spark, tmp_path):
    properties = {"delta.autoOptimize.autoCompact": "true"}
    sink = DeltaSink(str(tmp_path / "t"), PAIR, ["name"], configuration=properties)
    count = COMMITS_BETWEEN_MERGES + 2
    commit(sink, *([(2 * n, "a/ %"), (2 * n + 1, None)] for n in range(count)))
    name = f"delta.`{tmp_path / 't'}`"
    assert spark.sql(f"SELECT id FROM {name} WHERE name IS NULL") == in_order([2 * n + 1] for n in range(count))
    assert spark.sql(f"SELECT id FROM {name} WHERE name = 'a/ %'") == in_order([2 * n] for n in range(count))
    assert "OPTIMIZE" in {
        word for row in spark.sql(f"DESCRIBE HISTORY {name}") for word in row if isinstance(word, str)
    }
    spark.sql(f"UPDATE {name} SET name = 'b' WHERE id = 1")
    commit(DeltaSink(str(tmp_path / "t"), PAIR, ["name"]), [(100, "c")], run="s")
    assert [100, "c"] in spark.sql(f"SELECT * FROM {name}")


# -- what Spark writes, read by sources -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_rows_that_spark_deletes_and_merges_in_an_iceberg_table_are_read(spark, warehouse, version):
    name = table(warehouse)
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING) USING iceberg "
        + POSITIONS % f", 'format-version' = '{version}', 'write.update.mode' = 'merge-on-read'",
        f"INSERT INTO {name} SELECT id, concat('n', id) FROM range(0, 10, 1, 1)",
        f"DELETE FROM {name} WHERE id IN (3, 4)",
        f"MERGE INTO {name} t USING (SELECT 5L AS id, 'five' AS name UNION ALL SELECT 10L, 'ten') c ON t.id = c.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    )
    found = spark.sql(f"SELECT content FROM {name}.all_delete_files")
    assert [1] in found  # positions
    rows = {n: f"n{n}" for n in range(10) if n not in {3, 4}} | {5: "five", 10: "ten"}
    assert read(warehouse) == in_order(rows.items())
    assert spark.sql(f"SELECT * FROM {name}") == in_order(map(list, rows.items()))


def test_a_stream_has_what_spark_appends_to_an_iceberg_table(spark, warehouse):
    name = table(warehouse)
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING) USING iceberg PARTITIONED BY (bucket(2, id))",
        f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')",
        f"INSERT INTO {name} VALUES (3, 'c')",
    )
    assert stream(warehouse, 3) == [(1, "a"), (2, "b"), (3, "c")]


def test_an_iceberg_table_whose_columns_and_partitions_spark_changes_is_read(spark, warehouse):
    name = table(warehouse)
    spark.sql(
        f"CREATE TABLE {name} (id INT, name STRING, old STRING) USING iceberg PARTITIONED BY (name)",
        f"INSERT INTO {name} VALUES (1, 'a', 'x')",
        f"ALTER TABLE {name} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {name} RENAME COLUMN name TO word",
        f"ALTER TABLE {name} DROP COLUMN old",
        f"ALTER TABLE {name} ADD COLUMN old BIGINT",
        f"ALTER TABLE {name} DROP PARTITION FIELD name",
        f"ALTER TABLE {name} ADD PARTITION FIELD bucket(2, id)",
        f"INSERT INTO {name} VALUES (4000000000, 'b', 7)",
    )
    assert read(warehouse) == [(1, "a", None), (4000000000, "b", 7)]
    assert spark.sql(f"SELECT * FROM {name}") == [[1, "a", None], [4000000000, "b", 7]]


def test_rows_that_spark_deletes_and_merges_in_a_delta_table_are_read(spark, tmp_path):
    name, location = f"delta.`{tmp_path / 't'}`", str(tmp_path / "t")
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING) USING delta "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        f"INSERT INTO {name} SELECT id, concat('n', id) FROM range(0, 10, 1, 1)",
        f"DELETE FROM {name} WHERE id IN (3, 4)",
        f"MERGE INTO {name} t USING (SELECT 5L AS id, 'five' AS name UNION ALL SELECT 10L, 'ten') c ON t.id = c.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        f"ALTER TABLE {name} ADD COLUMN more INT",
        f"INSERT INTO {name} VALUES (11, 'eleven', 1)",
    )
    rows = {n: f"n{n}" for n in range(10) if n not in {3, 4}} | {5: "five", 10: "ten"}
    wanted = in_order([*((n, text, None) for n, text in rows.items()), (11, "eleven", 1)])
    assert read_delta(DeltaSource.for_bounded_row_data(location).build()) == wanted
    before = [(n, f"n{n}", None) for n in range(10)]
    assert read_delta(DeltaSource.for_bounded_row_data(location).version_as_of(1).build()) == before
    source = DeltaSource.for_continuous_row_data(location).starting_version(5).build()
    with make_env().from_source(source, NO_WATERMARKS, "delta").execute_and_collect() as found:
        assert tuple(next(found)) == (11, "eleven", 1)


# -- the page -------------------------------------------------------------------------------------------------------

BEFORE = """
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
builder = builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
first = builder.getOrCreate()
def save(name, *rows):
    frame = first.createDataFrame(rows, "who STRING, total BIGINT")
    frame.write.format("delta").mode("append").save(f"/shared/{name}")
save("orders", ("ann", 3), ("bob", 5))
save("merged", ("ann", 0))
"""
AFTER = """
import time
def wait(name, wanted):
    until = time.monotonic() + 400
    while True:
        try:
            found = sorted(map(tuple, spark.read.format("delta").load(f"/shared/{name}").collect()))
        except Exception as error:  # the table is not there yet
            found = error
        if found == wanted:
            return
        assert time.monotonic() < until, f"{name}: {found}"
        time.sleep(0.5)
wait("totals", [("ann", 3), ("bob", 5)])
wait("merged", [("ann", 3), ("bob", 5)])
save("orders", ("cid", 7))
wait("totals", [("ann", 3), ("bob", 5), ("cid", 7)])
wait("merged", [("ann", 3), ("bob", 5), ("cid", 7)])
for query in spark.streams.active:
    query.stop()
job.cancel().result()
print("all rows are there")
"""


def test_the_programs_of_the_page_run(spark, tmp_path):
    text = (ROOT / "docs/how-to/delta-and-iceberg.md").read_text("utf-8")
    blocks = re.findall(r"<!-- not run: .*?jars.*? -->\n\n```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
    reading, writing, merging = blocks
    writing, waiting = writing.rsplit("job.get_job_execution_result()", 1)
    assert waiting.strip() == ".result()"  # the job has no end, and is canceled
    merging = merging.replace("delta.`/shared/totals`", "delta.`/shared/merged`")
    program = f"{BEFORE}\n{reading}\n{writing}\n{merging}\n{AFTER}"
    program = program.replace("/shared/", f"{tmp_path}/").replace("10_000", "1_000").replace("10 seconds", "1 second")
    (tmp_path / "program.py").write_text(program, "utf-8")
    python = interpreter()
    done = subprocess.run(  # noqa: S603 - written above
        [python, "program.py"],
        cwd=tmp_path,
        env=environment_of(python, "--jars", ",".join(map(str, jars()))),
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.stdout.endswith("all rows are there\n"), done.stdout[-2000:] + done.stderr[-4000:]
