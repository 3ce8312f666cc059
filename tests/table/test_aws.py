"""SQL reads and writes streams of Kinesis, and writes those of Firehose."""

from __future__ import annotations

import itertools
import json

import pytest
from tests.connectors.aws.conftest import Kinesis
from tests.s3 import S3Server

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.aws import _access
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError

pytest.importorskip("boto3", reason="boto3 is not installed")
pytest.importorskip("moto.server", reason="moto is not installed")


@pytest.fixture(scope="module")
def server():
    found = S3Server()
    yield Kinesis(found.endpoint)
    found.close()


@pytest.fixture
def t_env():
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set("flintstream.engine", "inline")
    return found


def declare(t_env, server, name, columns, tail="", **more):
    options = {"connector": "kinesis", "format": "json", **server.properties, **more}
    given = ", ".join(f"'{key.replace('__', '.')}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) {tail} WITH ({given})")


def take(t_env, query, count):
    with t_env.execute_sql(query).collect() as found:
        return [tuple(row) for row in itertools.islice(found, count)]


def test_a_stream_is_written_by_key_and_read_with_its_metadata(t_env, server):
    server.create("sql", 2)
    columns = "who STRING, n BIGINT"
    declare(t_env, server, "bills", columns, "PARTITIONED BY (who, n)", stream="sql", **{
        "sink.partitioner-field-delimiter": "/", "sink.batch.max-size": 2, "sink.fail-on-error": "true",
        "sink.flush-buffer.size": 1000, "sink.flush-buffer.timeout": 10, "sink.requests.max-inflight": 1,
        "sink.requests.max-buffered": 100})  # fmt: skip
    t_env.execute_sql("INSERT INTO bills VALUES ('ann', 1), ('bob', 2), ('ann', 3)").wait()
    found = server.records("sql")
    assert sorted((record["PartitionKey"], json.loads(record["Data"])["n"]) for record in found) == [
        ("ann/1", 1), ("ann/3", 3), ("bob/2", 2),
    ]  # fmt: skip
    more = "shard STRING METADATA FROM 'shard-id' VIRTUAL, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL"
    number = "number STRING METADATA FROM 'sequence-number' VIRTUAL"
    declare(t_env, server, "seen", f"{more}, {columns}, {number}", **{
        "connector": "kinesis-legacy", "stream": "sql", "scan.stream.initpos": "TRIM_HORIZON",
        "scan.shard.getrecords.intervalmillis": "1"})  # fmt: skip
    rows = take(t_env, "SELECT who, n, shard LIKE 'shardId-%', number, EXTRACT(YEAR FROM at) FROM seen", 3)
    numbers = {record["SequenceNumber"] for record in found}
    assert sorted((who, n) for who, n, *_ in rows) == [("ann", 1), ("ann", 3), ("bob", 2)]
    assert all(shard and year >= 2024 for _, _, shard, _, year in rows)
    assert {number for _, _, _, number, _ in rows} == numbers


def test_the_names_of_the_newer_source_and_an_arn_work(t_env, server):
    server.create("newer", 1)
    server.send("newer", ['{"n": 1}', '{"n": 2}'])
    arn = server.client.describe_stream_summary(StreamName="newer")["StreamDescriptionSummary"]["StreamARN"]
    declare(t_env, server, "t", "n INT", **{"stream.arn": arn, "source.init.position": "TRIM_HORIZON"})
    assert sorted(take(t_env, "SELECT n FROM t", 2)) == [(1,), (2,)]


def test_the_region_is_that_of_the_arn():
    assert _access(Options("t", {}), "arn:aws:kinesis:eu-west-1:1:stream/a") == {"aws.region": "eu-west-1"}
    assert _access(Options("t", {"aws.region": "us-east-1"}), "arn:aws:kinesis:eu-west-1:1:stream/a") == {
        "aws.region": "us-east-1"
    }


def test_a_stream_is_read_from_a_time(t_env, server):
    server.create("times", 1)
    server.send("times", ['{"n": 1}'])
    more = {
        "stream": "times",
        "scan.stream.initpos": "AT_TIMESTAMP",
        "scan.stream.initpos-timestamp-format": "yyyy-MM-dd HH:mm:ss",
        "scan.shard.discovery.intervalmillis": "100",
        "scan.shard.getrecords.maxrecordcount": "10",
    }
    declare(t_env, server, "early", "n INT", **more, **{"scan.stream.initpos-timestamp": "2024-05-01 12:00:00"})
    assert take(t_env, "SELECT n FROM early", 1) == [(1,)]
    declare(t_env, server, "wrong", "n INT", **more, **{"scan.stream.initpos-timestamp": "2024-05-01"})
    with pytest.raises(SqlError, match="or a time as yyyy-MM-dd HH:mm:ss, got '2024-05-01'"):
        t_env.execute_sql("SELECT n FROM wrong")
    for key, value in {"scan.shard.getrecords.maxrecordcount": "0", "scan.shard.discovery.intervalmillis": "x"}.items():
        declare(t_env, server, f"t{value}", "n INT", stream="times", **{key: value})
        with pytest.raises(SqlError, match=r"must be from 1 to 10000, got '0'|is not a time"):
            t_env.execute_sql(f"SELECT n FROM t{value}")


@pytest.mark.parametrize("partitioner", ["random", "fixed"])
def test_keys_are_random_or_those_of_subtasks(t_env, server, partitioner):
    stream = f"keys-{partitioner}"
    server.create(stream, 1)
    declare(t_env, server, "t", "n INT", stream=stream, **{"sink.partitioner": partitioner})
    t_env.execute_sql("INSERT INTO t VALUES (1), (2), (3)").wait()
    keys = {record["PartitionKey"] for record in server.records(stream)}
    assert len(keys) == 3 if partitioner == "random" else keys <= {"0", "1", "2", "3"}


def test_firehose_has_all_rows(t_env, server):
    s3 = server.session.client("s3", endpoint_url=server.endpoint)
    s3.create_bucket(Bucket="rows")
    firehose = server.session.client("firehose", endpoint_url=server.endpoint)
    target = {"RoleARN": "arn:aws:iam::123456789012:role/any", "BucketARN": "arn:aws:s3:::rows"}
    firehose.create_delivery_stream(DeliveryStreamName="d", ExtendedS3DestinationConfiguration=target)
    declare(t_env, server, "t", "n INT", connector="firehose", **{"delivery-stream": "d"})
    t_env.execute_sql("INSERT INTO t VALUES (1), (2), (3)").wait()
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket="rows")["Contents"]]
    text = b"".join(s3.get_object(Bucket="rows", Key=key)["Body"].read() for key in keys).decode()
    assert sorted(json.loads("[" + text.replace("}{", "},{") + "]"), key=lambda row: row["n"]) == [
        {"n": 1}, {"n": 2}, {"n": 3},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tail", "more", "message"),
    [
        ("", {}, "the option 'stream.arn' is missing"),
        ("PARTITIONED BY (n)", {"stream": "s", "sink.partitioner": "random"}, "leave 'sink.partitioner' out"),
        (
            "",
            {"stream": "s", "sink.partitioner": "com.shop.Own"},
            "'sink.partitioner' = 'com.shop.Own'.*PARTITIONED BY",
        ),
        ("", {"stream": "s", "sink.batch.max-size": "501"}, "the number of records"),
    ],
)
def test_mistakes_are_found_when_a_statement_is_planned(t_env, server, tail, more, message):
    declare(t_env, server, "t", "n INT", tail, **more)
    with pytest.raises((SqlError, ValueError), match=message):
        t_env.execute_sql("INSERT INTO t VALUES (1)")
