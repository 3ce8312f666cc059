"""Tables on an object store have each row once, whatever fails, with the endpoint and the keys that options give."""

from __future__ import annotations

import urllib.parse
import uuid

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")
pytest.importorskip("deltalake", reason="the extra 'delta' is not installed: make setup")
pytest.importorskip("moto.server", reason="moto is not installed: make setup")

import boto3
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.lakes.test_sinks import Token
from tests.datastream.inline import make_env
from tests.engine.faults import Faults
from tests.s3 import S3Server

from flintstream.connectors.lakes.iceberg_scan import IcebergTable
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import DeltaSink, DeltaSource, IcebergSink
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment

PAIR = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
KEY, SECRET = "somebody", "very-secret"


@pytest.fixture(scope="module")
def server():
    found = S3Server()
    yield found
    found.close()


@pytest.fixture
def bucket(server, monkeypatch):
    for name in server.environment:  # only options tell where the tables are
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = f"b{uuid.uuid4().hex[:12]}"
    client(server).create_bucket(Bucket=name)
    return name


def client(server):
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )


def files(server, bucket, ends):
    found = client(server).list_objects_v2(Bucket=bucket).get("Contents", [])
    return [urllib.parse.unquote(item["Key"]) for item in found if item["Key"].endswith(ends)]


def of_delta(server):
    return {
        "AWS_ENDPOINT_URL": server.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }


def of_iceberg(server):
    return {
        "s3.endpoint": server.endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.path-style-access": "true",
        "client.region": "us-east-1",
    }


def catalog(kind, server, bucket, tmp_path):
    """Return the options of a catalog as Flink's programs give them, and its properties for a sink."""
    options = {"warehouse": f"s3://{bucket}/warehouse", **of_iceberg(server)}
    if kind == "hadoop":
        own = {"py-catalog-impl": "flintstream.connectors.lakes.hadoop.HadoopCatalog"}
        return {"catalog-type": "hadoop", **options}, {**own, **options}
    database = tmp_path / "catalog.db"
    given = {"catalog-type": "jdbc", "uri": f"jdbc:sqlite:{database}", **options}
    return given, {"type": "sql", "name": "lake", "uri": f"sqlite:///{database}", **options}


def run(tmp_path, sink):
    """Write numbers with failures between, from which the job restarts."""
    faults = Faults(tmp_path / "faults", [("map", number) for number in (15, 30)])
    env = checkpointed(tmp_path, 2, **{"execution.checkpointing.interval": "2 s"})
    numbers = env.from_source(NumberSequenceSource(0, 39), NO_WATERMARKS, "numbers")
    numbers.map(Token(faults)).sink_to(sink)
    env.execute()
    assert faults.happened() == faults.planned()


def test_a_delta_table_has_each_row_once_and_is_read(server, bucket, tmp_path):
    table, options = f"s3://{bucket}/tables/t", of_delta(server)
    sink = DeltaSink(table, PAIR, storage_options=options)
    run(tmp_path, sink)
    assert SECRET not in repr(sink._output)
    source = DeltaSource.for_bounded_row_data(table, options).column_names(["id"]).build()
    with make_env().from_source(source, NO_WATERMARKS, "delta").execute_and_collect() as found:
        assert sorted(row.id for row in found) == list(range(40))
    assert len(files(server, bucket, ".json")) >= 2  # one that creates it, and those of checkpoints


def test_statements_fill_and_read_a_delta_table(server, bucket):
    storage = ", ".join(f"'storage.{key}' = '{text}'" for key, text in of_delta(server).items())
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    t_env.execute_sql(
        "CREATE TABLE t (id BIGINT, `day` STRING) PARTITIONED BY (`day`) "
        f"WITH ('connector' = 'delta', 'table-path' = 's3://{bucket}/t', {storage})"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a b%/'), (2, 'tue')").wait()
    with t_env.execute_sql("SELECT * FROM t WHERE `day` = 'a b%/'").collect() as found:
        assert [tuple(row) for row in found] == [(1, "a b%/")]
    assert len(files(server, bucket, ".parquet")) == 2
    assert SECRET not in t_env.explain_sql("SELECT * FROM t")


@pytest.mark.parametrize("kind", ["hadoop", "jdbc"])
def test_an_iceberg_table_has_each_row_once_and_is_read(server, bucket, tmp_path, kind):
    options, properties = catalog(kind, server, bucket, tmp_path)
    sink = IcebergSink("shop.t", PAIR, properties)
    run(tmp_path, sink)
    assert SECRET not in repr(sink._output)
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    given = ", ".join(f"'{key}' = '{text}'" for key, text in {"type": "iceberg", **options}.items())
    t_env.execute_sql(f"CREATE CATALOG lake WITH ({given})")
    with t_env.execute_sql("SELECT id FROM lake.shop.t").collect() as found:
        assert sorted(row[0] for row in found) == list(range(40))
    t_env.execute_sql("CREATE DATABASE lake.more")
    t_env.execute_sql("CREATE TABLE lake.more.u (id BIGINT, item STRING) PARTITIONED BY (item)")
    t_env.execute_sql("INSERT INTO lake.more.u VALUES (1, 'a b'), (2, 'c')").wait()
    with t_env.execute_sql("SELECT * FROM lake.more.u").collect() as found:
        assert sorted(tuple(row) for row in found) == [(1, "a b"), (2, "c")]
    t_env.execute_sql("DROP TABLE lake.more.u")
    assert not [key for key in files(server, bucket, ".json") if "/more/" in key]
    assert IcebergTable("shop.t", properties).load().location().startswith(f"s3://{bucket}/")
