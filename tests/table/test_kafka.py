"""Tables of Kafka's topics: formats, metadata, keys, and newest rows of a key."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")

from tests.connectors.kafka.broker import Broker, NoBrokerError, send

from flintstream.common import RowKind, Types
from flintstream.common.types import Row
from flintstream.table._errors import SqlError


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    try:
        found = Broker(tmp_path_factory.mktemp("kafka"))
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")
    yield found
    found.close()


def declare(t_env, servers, name, columns, topic, **options):
    given = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": servers,
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        "format": "json",
        **{key.replace("_", "."): value for key, value in options.items()},
    }
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value is not None)
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({text})")


def rows(result):
    with result.collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.server
def test_json_messages_are_rows_and_rows_are_json_messages(t_env, broker):
    source, target = broker.topic(), broker.topic()
    messages = [
        {"id": 1, "at": "2020-01-02 03:04:05.678", "price": 1.5, "tags": ["a", None], "who": {"name": "x"}, "more": 1},
        {"id": "2", "who": None},
    ]
    send(broker, source, [json.dumps(message) for message in messages])
    columns = "id BIGINT, `at` TIMESTAMP(3), price DECIMAL(5, 2), tags ARRAY<STRING>, who ROW<name STRING>"
    declare(t_env, broker.servers, "src", columns, source)
    declare(t_env, broker.servers, "dst", columns, target)
    t_env.execute_sql("INSERT INTO dst SELECT id + 1, `at`, price, tags, who FROM src").wait()
    assert [json.loads(value) for _, _, value in broker.records(target)] == [
        {"id": 2, "at": "2020-01-02 03:04:05.678", "price": 1.5, "tags": ["a", None], "who": {"name": "x"}},
        {"id": 3, "at": None, "price": None, "tags": None, "who": None},
    ]


@pytest.mark.server
def test_protobuf_messages_are_read_and_written(t_env, broker):
    pytest.importorskip("google.protobuf", reason="the extra 'protobuf' is not installed: make setup")
    from google.protobuf.timestamp_pb2 import Timestamp

    source, target = broker.topic(), broker.topic()
    send(broker, source, [Timestamp(seconds=7, nanos=5).SerializeToString(), b"\x08"])
    options = {
        "format": "protobuf",
        "protobuf.message-class-name": "com.google.protobuf.Timestamp",
        "protobuf.ignore-parse-errors": "true",
    }
    declare(t_env, broker.servers, "src", "nanos INT, seconds BIGINT", source, **options)
    declare(t_env, broker.servers, "dst", "seconds BIGINT, nanos INT", target, **options)
    assert rows(t_env.execute_sql("SELECT * FROM src")) == [(5, 7)]
    t_env.execute_sql("INSERT INTO dst SELECT seconds + 1, nanos FROM src").wait()
    assert [Timestamp.FromString(value) for _, _, value in broker.records(target)] == [Timestamp(seconds=8, nanos=5)]


@pytest.mark.server
def test_metadata_and_the_key_are_columns(t_env, broker):
    topic = broker.topic()
    send(broker, topic, [(b"k1", b'{"v":1}')], timestamp=1_600_000_000_123)
    declare(
        t_env,
        broker.servers,
        "src",
        "k STRING, v INT, ts TIMESTAMP(3) METADATA FROM 'timestamp', part INT METADATA FROM 'partition' VIRTUAL, "
        "`offset` BIGINT METADATA VIRTUAL",
        topic,
        format=None,
        key_format="raw",
        key_fields="k",
        value_format="json",
        **{"value.fields-include": "EXCEPT_KEY"},
    )
    ((key, value, at, partition, offset),) = rows(t_env.execute_sql("SELECT * FROM src"))
    assert (key, value, partition, offset) == ("k1", 1, 0, 0)
    assert at.isoformat() == "2020-09-13T12:26:40.123000"


@pytest.mark.server
def test_the_newest_row_of_a_key_is_written_and_a_deleted_one_has_no_value(env, t_env, broker):
    topic = broker.topic()
    declare(
        t_env,
        broker.servers,
        "dst",
        "k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED",
        topic,
        connector="upsert-kafka",
        format=None,
        key_format="json",
        value_format="json",
        **{"scan.startup.mode": None, "scan.bounded.mode": None},
    )
    kinds = [
        (RowKind.INSERT, "a", 1),
        (RowKind.UPDATE_BEFORE, "a", 1),
        (RowKind.UPDATE_AFTER, "a", 2),
        (RowKind.INSERT, "b", 1),
        (RowKind.DELETE, "b", 1),
    ]
    changes = []
    for kind, *fields in kinds:
        row = Row(*fields)
        row.set_row_kind(kind)
        changes.append(row)
    stream = env.from_collection(changes, Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()]))
    t_env.get_config().set("table.exec.sink.upsert-materialize", "NONE")  # nothing tells that k is its key
    t_env.from_changelog_stream(stream).execute_insert("dst").wait()
    assert [(key, value) for _, key, value in broker.records(topic)] == [
        (b'{"k":"a"}', b'{"k":"a","n":1}'),
        (b'{"k":"a"}', b'{"k":"a","n":2}'),
        (b'{"k":"b"}', b'{"k":"b","n":1}'),
        (b'{"k":"b"}', None),
    ]


@pytest.mark.server
def test_a_message_that_is_no_json_fails_or_is_skipped(t_env, broker):
    topic = broker.topic()
    send(broker, topic, [b"no json", b'{"v":1}', b'{"v":"x"}'])
    declare(t_env, broker.servers, "strict", "v INT", topic)
    declare(t_env, broker.servers, "lenient", "v INT", topic, **{"json.ignore-parse-errors": "true"})
    with pytest.raises(ValueError, match="Failed to deserialize JSON 'no json'"):
        rows(t_env.execute_sql("SELECT * FROM strict"))
    assert rows(t_env.execute_sql("SELECT * FROM lenient")) == [(1,), (None,)]


@pytest.mark.server
def test_lines_of_csv_are_rows(t_env, broker):
    source, target = broker.topic(), broker.topic()
    send(broker, source, [b'1,"a,b",2020-01-02 03:04:05,x', b"2,,,y"])
    columns = "n INT, s STRING, `at` TIMESTAMP(3), t STRING"
    declare(t_env, broker.servers, "src", columns, source, format="csv", **{"csv.null-literal": ""})
    declare(t_env, broker.servers, "dst", columns, target, format="csv")
    t_env.execute_sql("INSERT INTO dst SELECT * FROM src").wait()
    assert [value for _, _, value in broker.records(target)] == [b'1,"a,b","2020-01-02 03:04:05",x', b"2,,,y"]


@pytest.mark.server
def test_a_partition_that_is_behind_the_others_is_not_late(t_env, broker):
    topic = broker.topic(partitions=2)
    for partition, start in ((0, 100), (1, 0)):
        lines = [f'{{"ms": {(start + i) * 1000}}}' for i in range(30)]
        send(broker, topic, lines, partition)
    columns = "ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts"
    declare(t_env, broker.servers, "src", columns, topic)
    window = "TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    query = f"SELECT COUNT(*) AS c FROM {window} GROUP BY window_start, window_end"
    assert rows(t_env.execute_sql(query)) == [(10,)] * 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": None}, "the option 'format' is missing"),
        ({"format": "jsn"}, "the format 'jsn' is unknown; did you mean 'json'"),
        ({"format": "protobuf"}, "the option 'protobuf.message-class-name' is missing"),
        (
            {"scan.startup.mode": "earliest"},
            "'scan.startup.mode' does not accept 'earliest'; did you mean 'ear",
        ),
        ({"topic": None}, "set either the option 'topic' or 'topic-pattern'"),
        (
            {"json.ignore-parse-error": "true"},
            "has no option 'json.ignore-parse-error'; did you mean 'json.ig",
        ),
        ({"key.format": "json"}, "the options 'key.format' and 'key.fields' must be set together"),
        ({"key.format": "json", "key.fields": "w"}, "'key.fields' names the unknown column 'w'"),
    ],
)
def test_a_wrong_option_is_named_when_the_table_is_read(t_env, options, message):
    declare(t_env, "127.0.0.1:1", "src", "v INT", options.pop("topic", "t"), **options)
    with pytest.raises(SqlError, match=message):
        t_env.sql_query("SELECT * FROM src")


@pytest.mark.server
def test_a_table_without_a_group_has_one_of_its_own(t_env, broker):
    topic = broker.topic()
    send(broker, topic, ['{"v": 1}', '{"v": 2}'])
    options = {"scan.startup.mode": None, "properties.auto.offset.reset": "earliest"}
    declare(t_env, broker.servers, "src", "v INT", topic, **options)
    assert sorted(rows(t_env.execute_sql("SELECT v FROM src"))) == [(1,), (2,)]


def test_an_upsert_table_needs_a_key(t_env):
    declare(t_env, "127.0.0.1:1", "dst", "v INT", "t", connector="upsert-kafka")
    with pytest.raises(SqlError, match="needs a PRIMARY KEY"):
        t_env.execute_sql("INSERT INTO dst SELECT 1")
