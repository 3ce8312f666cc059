"""Rows replace the files of a table or of its partitions, and partitions get a mark when they are complete."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table.test_files import rows, table

from flintstream.common import Configuration
from flintstream.common.serialization import Encoder
from flintstream.datastream.connectors.file_system import FileSink
from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.contract import ConnectorTable
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.partitions import commit_partitions
from flintstream.table._errors import SqlError


def env(mode, **options):
    keys = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    configuration = Configuration.from_dict({"flintstream.engine": "inline", "parallelism.default": "2", **keys})
    builder = EnvironmentSettings.new_instance().with_configuration(configuration)
    return TableEnvironment.create(getattr(builder, f"in_{mode}_mode")().build())


@pytest.fixture
def batch():
    return env("batch")


@pytest.fixture
def stream():
    return env("streaming")


def marks(directory, name="_SUCCESS"):
    return sorted(path.parent.relative_to(directory).as_posix() for path in directory.rglob(name))


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_overwriting_replaces_all_files_of_a_table(batch, tmp_path, kind):
    table(batch, "f", "id INT", tmp_path, kind)
    batch.execute_sql("INSERT INTO f VALUES (1), (2), (3)").wait()
    batch.execute_sql("INSERT OVERWRITE f VALUES (4)").wait()
    assert rows(batch, "SELECT * FROM f") == [("4",)]
    batch.execute_sql("INSERT OVERWRITE f SELECT id + 1 FROM f").wait()
    assert rows(batch, "SELECT * FROM f") == [("5",)]
    batch.execute_sql("INSERT OVERWRITE f SELECT id FROM f WHERE id = 0").wait()
    assert rows(batch, "SELECT * FROM f") == []


def test_overwriting_replaces_the_partitions_that_rows_belong_to(batch, tmp_path):
    table(batch, "f", "id INT, day STRING", tmp_path, "csv", "PARTITIONED BY (day)")
    batch.execute_sql("INSERT INTO f VALUES (1, 'a'), (2, 'b'), (3, 'b')").wait()
    batch.execute_sql("INSERT OVERWRITE f VALUES (4, 'b'), (5, 'c')").wait()
    assert rows(batch, "SELECT * FROM f") == [("1", "a"), ("4", "b"), ("5", "c")]
    batch.execute_sql("INSERT OVERWRITE f PARTITION (day = 'a') VALUES (6)").wait()
    assert rows(batch, "SELECT * FROM f") == [("4", "b"), ("5", "c"), ("6", "a")]


@pytest.mark.parametrize("way", ["table", "set"])
def test_the_api_overwrites(batch, tmp_path, way):
    table(batch, "f", "id INT", tmp_path, "csv")
    batch.execute_sql("INSERT INTO f VALUES (1)").wait()
    new = batch.sql_query("SELECT 2 AS id")
    if way == "table":
        new.execute_insert("f", overwrite=True).wait()
    else:
        statements = batch.create_statement_set()
        statements.add_insert("f", new, overwrite=True)
        statements.execute().wait()
    assert rows(batch, "SELECT * FROM f") == [("2",)]


def test_overwriting_is_refused_where_flink_refuses_it(batch, stream, tmp_path):
    table(stream, "f", "id INT", tmp_path, "csv")
    with pytest.raises(SqlError, match="Streaming mode not support overwrite"):
        stream.execute_sql("INSERT OVERWRITE f VALUES (1)")
    batch.execute_sql("CREATE TABLE nowhere (id INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(SqlError, match=r"INSERT OVERWRITE requires .* table 'nowhere'"):
        batch.execute_sql("INSERT OVERWRITE nowhere VALUES (1)")


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("delay", ["0 s", "1 h"])
def test_partitions_get_a_mark_when_the_job_ends(tmp_path, mode, delay):
    t_env = env(mode)
    policy = {"sink.partition-commit.policy.kind": "success-file", "sink.partition-commit.delay": delay}
    table(t_env, "f", "id INT, day STRING", tmp_path, "csv", "PARTITIONED BY (day)", **policy)
    t_env.execute_sql("INSERT INTO f VALUES (1, 'a'), (2, 'b')").wait()
    assert marks(tmp_path) == ["day=a", "day=b"]
    assert rows(t_env, "SELECT * FROM f") == [("1", "a"), ("2", "b")]


def write_days(tmp_path, options):
    """Write rows of three days with a checkpoint at each epoch, stop before the end, and return the marks."""
    t_env = env("streaming", execution__checkpointing__interval="10 ms", parallelism__default="1")
    t_env.execute_sql(
        "CREATE TABLE days (n BIGINT, at_ AS TO_TIMESTAMP_LTZ(n * 10800000, 3), WATERMARK FOR at_ AS at_) WITH ("
        "'connector' = 'datagen', 'rows-per-second' = '40', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', "
        "'fields.n.end' = '1000000')"
    )
    policy = {"sink.partition-commit.policy.kind": "success-file", **options}
    table(t_env, "f", "n BIGINT, dt STRING, hr STRING", tmp_path, "csv", "PARTITIONED BY (dt, hr)", **policy)
    insert = "INSERT INTO f SELECT n, DATE_FORMAT(at_, 'yyyy-MM-dd'), DATE_FORMAT(at_, 'HH') FROM days"
    job = t_env.execute_sql(insert).get_job_client()
    try:
        from tests.waiting import wait_for

        return wait_for(lambda: marks(tmp_path), job, lambda found: len(found) >= 3)
    finally:
        job.cancel().result()


def test_the_watermark_completes_partitions_by_their_time(tmp_path):
    found = write_days(
        tmp_path,
        {
            "sink.partition-commit.trigger": "partition-time",
            "sink.partition-commit.delay": "3 h",
            "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
        },
    )
    assert found[:3] == ["dt=1970-01-01/hr=00", "dt=1970-01-01/hr=03", "dt=1970-01-01/hr=06"]
    written = sorted({path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("part-*")})
    assert len(written) > len(found)  # the last ones are not complete


def test_the_name_of_the_mark_can_be_chosen(batch, tmp_path):
    options = {"policy.kind": "success-file", "success-file.name": "_DONE"}
    own = {f"sink.partition-commit.{key}": value for key, value in options.items()}
    table(batch, "f", "id INT, day STRING", tmp_path, "csv", "PARTITIONED BY (day)", **own)
    batch.execute_sql("INSERT INTO f VALUES (1, 'a')").wait()
    assert marks(tmp_path, "_DONE") == ["day=a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy.kind": "metastore,success-file"}, "Can not configure a 'metastore' partition commit policy"),
        ({"policy.kind": "custom"}, "names a Java class"),
        ({"policy.kind": "mark"}, "unknown partition commit policy 'mark'"),
        ({"policy.kind": "success-file", "trigger": "often"}, "must be process-time or partition-time, not 'often'"),
    ],
)
def test_policies_that_files_cannot_have_are_refused(batch, tmp_path, options, message):
    own = {f"sink.partition-commit.{key}": value for key, value in options.items()}
    table(batch, "f", "id INT, day STRING", tmp_path, "csv", "PARTITIONED BY (day)", **own)
    with pytest.raises(SqlError, match=message):
        batch.execute_sql("INSERT INTO f VALUES (1, 'a')")


def test_a_hint_changes_the_options_of_the_table_that_is_written(batch, tmp_path):
    table(batch, "f", "id INT, name STRING", tmp_path / "f", "csv")
    batch.execute_sql(
        f"INSERT INTO f /*+ OPTIONS('path' = '{tmp_path}/g', 'csv.field-delimiter' = ';') */ VALUES (1, 'a')"
    ).wait()
    assert [path.read_text() for path in (tmp_path / "g").iterdir()] == ["1;a\n"]
    assert not (tmp_path / "f").exists()
    with pytest.raises(SqlError, match="has no option 'colour'"):
        batch.execute_sql("INSERT INTO f /*+ OPTIONS('colour' = 'red') */ VALUES (1, 'a')")


@pytest.mark.parametrize(
    ("clause", "shown"),
    [
        ("DISTRIBUTED BY HASH (id) INTO 4 BUCKETS", "DISTRIBUTED BY HASH(`id`) INTO 4 BUCKETS"),
        ("DISTRIBUTED BY (id)", "DISTRIBUTED BY (`id`)"),
        ("DISTRIBUTED INTO 2 BUCKETS", "DISTRIBUTED INTO 2 BUCKETS"),
    ],
)
def test_a_table_in_buckets_is_declared_and_shown_but_no_connector_writes_it(batch, tmp_path, clause, shown):
    table(batch, "f", "id INT", tmp_path, "csv", clause)
    assert shown in batch.execute_sql("SHOW CREATE TABLE f").collect().next()[0].splitlines()
    with pytest.raises(SqlError, match="'f' is distributed into buckets"):
        batch.execute_sql("INSERT INTO f VALUES (1)")


def test_a_table_needs_a_bucket(batch):
    with pytest.raises(SqlError, match="Bucket count must be a positive integer"):
        batch.execute_sql("CREATE TABLE f (id INT) DISTRIBUTED INTO 0 BUCKETS WITH ('connector' = 'blackhole')")


@pytest.mark.parametrize(
    ("pattern", "form", "zone", "hours"),
    [
        ("$dt $hr:00:00", None, "UTC", 27.0),
        ("$dt|$hr", "yyyy-MM-dd|HH", "Asia/Kolkata", 21.5),
        ("$dt 00:00:00", None, "America/New_York", 29.0),
    ],
)
def test_a_pattern_and_a_zone_tell_the_time_of_a_partition(tmp_path, pattern, form, zone, hours):
    options = {
        "connector": "filesystem",
        "sink.partition-commit.policy.kind": "success-file",
        "sink.partition-commit.trigger": "partition-time",
        "sink.partition-commit.watermark-time-zone": zone,
        "partition.time-extractor.timestamp-pattern": pattern,
        **({"partition.time-extractor.timestamp-formatter": form} if form else {}),
    }
    described = ConnectorTable("f", [], Options("f", options), partitions=["dt", "hr"])
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    committer: Any = commit_partitions(builder.build(), described).create_committer()
    assert committer._partitions.time_of("dt=1970-01-02/hr=03") == hours * 3_600_000


@pytest.mark.parametrize("key", ["partition.time-extractor.kind", "partition.time-extractor.class"])
def test_a_time_extractor_in_java_is_refused(batch, tmp_path, key):
    own = {"partition.time-extractor.kind": "custom", key: "custom"}
    declared = "".join(f", '{name}' = '{value}'" for name, value in own.items())
    batch.execute_sql(
        "CREATE TABLE f (id INT, day STRING) PARTITIONED BY (day) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{tmp_path}'{declared})"
    )
    with pytest.raises(SqlError, match=r"'partition.time-extractor.kind' = 'custom' names a Java class"):
        batch.execute_sql("INSERT INTO f VALUES (1, 'a')")
