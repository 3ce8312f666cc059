"""SQL reads and writes streams of Kinesis, and writes those of Firehose."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from tests.connectors.aws.conftest import Kinesis
from tests.s3 import S3Server

from flintstream.connectors.aws.client import AwsAccess, AwsError
from flintstream.connectors.aws.dynamodb import DynamoDbSink, Items
from flintstream.connectors.sink import WriterContext
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._connectors import registry
from flintstream.table._connectors.aws import access_of
from flintstream.table._connectors.contract import ConnectorTable
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Column

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
    assert access_of(Options("t", {}), "arn:aws:kinesis:eu-west-1:1:stream/a") == {"aws.region": "eu-west-1"}
    assert access_of(Options("t", {"aws.region": "us-east-1"}), "arn:aws:kinesis:eu-west-1:1:stream/a") == {
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


def items(server, table):
    client = server.session.client("dynamodb", endpoint_url=server.endpoint)
    return client.scan(TableName=table)["Items"]


def create_items(server, table, *keys):
    client = server.session.client("dynamodb", endpoint_url=server.endpoint)
    client.create_table(
        TableName=table,
        KeySchema=[
            {"AttributeName": key, "KeyType": kind} for (key, _), kind in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": kind} for key, kind in keys],
        BillingMode="PAY_PER_REQUEST",
    )


def declare_items(t_env, server, name, columns, tail="", **more):
    given = {"connector": "dynamodb", "table-name": name, **server.properties, **more}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) {tail} WITH ({text})")


def test_dynamodb_has_an_item_with_attributes_of_each_type(t_env, server):
    create_items(server, "every", ("k", "S"))
    columns = (
        "k STRING, b BOOLEAN, i INT, d DECIMAL(6, 2), f FLOAT, x BYTES, da DATE, t TIME, ts TIMESTAMP(3), "
        "z TIMESTAMP_LTZ(3), a ARRAY<INT>, m MAP<STRING, INT>, r ROW<p INT, q STRING>, n INT"
    )
    declare_items(t_env, server, "every", columns)
    t_env.execute_sql(
        "INSERT INTO every SELECT 'a', TRUE, -1, CAST(1.5 AS DECIMAL(6, 2)), CAST(0.1 AS FLOAT), X'00ff', "
        "DATE '2020-01-02', TIME '03:04:00', TIMESTAMP '2020-01-02 03:04:05.006', TO_TIMESTAMP_LTZ(0, 3), "
        "ARRAY[1, CAST(NULL AS INT)], MAP['o', 1], CAST(ROW(1, CAST(NULL AS STRING)) AS ROW<p INT, q STRING>), "
        "CAST(NULL AS INT)"
    ).wait()
    assert items(server, "every") == [
        {
            "k": {"S": "a"}, "b": {"BOOL": True}, "i": {"N": "-1"}, "d": {"N": "1.50"}, "f": {"N": "0.1"},
            "x": {"B": b"\0\xff"}, "da": {"S": "2020-01-02"}, "t": {"S": "03:04"},
            "ts": {"S": "2020-01-02T03:04:05.006"}, "z": {"S": "1970-01-01T00:00:00Z"},
            "a": {"L": [{"N": "1"}, {"NULL": True}]}, "m": {"M": {"o": {"N": "1"}}},
            "r": {"M": {"p": {"N": "1"}, "q": {"NULL": True}}}, "n": {"NULL": True},
        }
    ]  # fmt: skip


def test_dynamodb_skips_null_by_option(t_env, server):
    create_items(server, "some", ("k", "S"))
    declare_items(t_env, server, "some", "k STRING, n INT", **{"sink.ignore-nulls": "true"})
    t_env.execute_sql("INSERT INTO some VALUES ('a', CAST(NULL AS INT))").wait()
    assert items(server, "some") == [{"k": {"S": "a"}}]


def test_dynamodb_has_the_last_row_of_each_key_and_none_that_is_deleted(t_env, server):
    create_items(server, "counts", ("city", "S"), ("hour", "N"))
    declare_items(t_env, server, "counts", "city STRING, hour INT, n BIGINT, PRIMARY KEY (city, hour) NOT ENFORCED")
    values = ", ".join(f"('{'ab'[i % 2]}', {i % 3}, {i})" for i in range(200))
    t_env.execute_sql(
        f"INSERT INTO counts SELECT city, hour, COUNT(*) FROM (VALUES {values}) AS v(city, hour, i) "
        "GROUP BY city, hour HAVING COUNT(*) < 34"
    ).wait()
    found = {(item["city"]["S"], item["hour"]["N"]): item["n"]["N"] for item in items(server, "counts")}
    kept = {(city, str(hour)): n for city in "ab" for hour in range(3)
            if (n := sum(i % 2 == "ab".index(city) and i % 3 == hour for i in range(200))) < 34}  # fmt: skip
    assert found == {key: str(n) for key, n in kept.items()}
    assert 0 < len(kept) < 6


def test_dynamodb_gets_the_last_row_of_each_partition_of_a_request(t_env, server):
    create_items(server, "latest", ("who", "S"))
    declare_items(t_env, server, "latest", "who STRING, n INT", "PARTITIONED BY (who)", **{"sink.batch.max-size": 25})
    t_env.get_config().set("parallelism.default", "1")
    t_env.execute_sql("INSERT INTO latest VALUES ('ann', 1), ('bob', 2), ('ann', 3)").wait()
    assert {item["who"]["S"]: item["n"]["N"] for item in items(server, "latest")} == {"ann": "3", "bob": "2"}


def test_items_that_dynamodb_leaves_are_sent_again_or_fail_the_job():
    def request(n):
        return {"PutRequest": {"Item": {"n": {"N": str(n)}}}}

    class Client:
        def __init__(self):
            self.sent = []

        def batch_write_item(self, **arguments):
            self.sent.append(arguments["RequestItems"]["t"])
            return {"UnprocessedItems": {"t": self.sent[0][1:2]}} if len(self.sent) == 1 else {}

    access = AwsAccess({"aws.region": "us-east-1"})
    writers: list[Any] = [
        DynamoDbSink(access, "t", Items(request), fail_on_error=fails).create_writer(WriterContext(0, 1, "a"))
        for fails in (False, True)
    ]
    clients = [Client(), Client()]
    for writer, client in zip(writers, clients, strict=True):
        writer._client = client
        writer.write([1, 2, 3], None)
    writers[0].prepare_commit(end_of_input=False)
    assert clients[0].sent == [[request(1), request(2), request(3)], [request(2)]]
    with pytest.raises(AwsError, match=r"t: 1 of 3 records were rejected, the first one with Unprocessed"):
        writers[1].prepare_commit(end_of_input=False)


@pytest.mark.parametrize(
    ("kind", "more", "error"),
    [
        (DataTypes.MULTISET(DataTypes.STRING()), {}, "DynamoDB has no type for the column 'm'"),
        (
            DataTypes.ARRAY(DataTypes.MAP(DataTypes.INT(), DataTypes.INT())),
            {},
            "DynamoDB has no type for the column 'm'",
        ),
        (DataTypes.INT(), {"sink.batch.max-size": "26"}, "'sink.batch.max-size' must be from 1 to 25, but got 26"),
        (DataTypes.INT(), {"aws.credentials.provider": "MINE"}, "'aws.credentials.provider' must be one of"),
        (DataTypes.INT(), {"tabel-name": "x"}, "has no option 'tabel-name'; did you mean 'table-name'"),
    ],
)
def test_what_dynamodb_does_not_take_is_refused(kind, more, error):
    given = {"connector": "dynamodb", "table-name": "x", "aws.region": "us-east-1", **more}
    with pytest.raises(SqlError, match=re.escape(error)):
        registry.sink_of(ConnectorTable("t", [Column("m", kind)], Options("t", given)))


def test_credentials_have_the_names_of_tables_too():
    given = Options("t", {"aws.credentials.basic.accesskeyid": "a", "aws.credentials.provider": "BASIC"})
    assert access_of(given) == {"aws.credentials.provider.basic.accesskeyid": "a", "aws.credentials.provider": "BASIC"}
