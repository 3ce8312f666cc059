"""What Flink's pages on the tables `kafka` and `upsert-kafka` declare, against a broker."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")

from tests.connectors.kafka.broker import Broker, NoBrokerError, send

from flintstream.table._errors import SqlError

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    try:
        found = Broker(tmp_path_factory.mktemp("kafka"))
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")
    yield found
    found.close()


@pytest.fixture
def declare(t_env, broker):
    """Return a function that declares a table of a topic, which it reads from its begin to its end of now."""

    def declare(name, columns, topic, options, *, connector="kafka"):
        given = {"connector": connector, "topic": topic, "properties.bootstrap.servers": broker.servers}
        if connector == "kafka":
            given |= {"scan.startup.mode": "earliest-offset", "scan.bounded.mode": "latest-offset"}
        given = {key: value for key, value in {**given, **options}.items() if value is not None}
        text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({text})")

    return declare


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


def messages(broker, topic):
    return [tuple(part and json.loads(part) for part in record[1:]) for record in broker.records(topic)]


BEHAVIOR = "user_id BIGINT, item_id BIGINT, behavior STRING"
VALUES = "(1, 10, 'buy'), (2, 20, 'pv')"


@pytest.mark.parametrize(("zone", "utc"), [("UTC", "2 03"), ("Asia/Tokyo", "1 18")])
def test_the_time_of_a_message_is_a_column_that_is_written_and_read(t_env, broker, declare, zone, utc):
    topic = broker.topic()
    declare("t", f"{BEHAVIOR}, ts TIMESTAMP(3) METADATA FROM 'timestamp'", topic, {"format": "csv"})
    declare("absolute", f"{BEHAVIOR}, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'", topic, {"format": "csv"})
    t_env.get_config().set("table.local-time-zone", zone)
    t_env.execute_sql("INSERT INTO t VALUES (1, 10, 'buy', TIMESTAMP '2024-01-02 03:04:05.678')").wait()
    assert [value for *_, value in broker.records(topic)] == [b"1,10,buy"]
    assert rows(t_env, "SELECT behavior, CAST(ts AS STRING) FROM t") == [("buy", "2024-01-02 03:04:05.678")]
    assert rows(t_env, "SELECT DATE_FORMAT(ts, 'HH:mm') FROM absolute") == [("03:04",)]
    t_env.get_config().set("table.local-time-zone", "UTC")
    assert rows(t_env, "SELECT CAST(ts AS STRING) FROM absolute") == [(f"2024-01-0{utc}:04:05.678",)]


def test_all_metadata_are_columns(t_env, broker, declare):
    topic = broker.topic()
    metadata = (
        "topic STRING NOT NULL METADATA VIRTUAL, `partition` BIGINT METADATA VIRTUAL, headers MAP<STRING, BYTES> "
        "METADATA, epoch INT METADATA FROM 'leader-epoch' VIRTUAL, `offset` BIGINT METADATA VIRTUAL, "
        "at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', kind STRING METADATA FROM 'timestamp-type' VIRTUAL"
    )
    declare("t", f"v INT, {metadata}", topic, {"format": "json"})
    t_env.execute_sql("INSERT INTO t VALUES (7, MAP['h', X'6869'], TO_TIMESTAMP_LTZ(1700000000123, 3))").wait()
    query = "SELECT v, topic, `partition`, headers['h'], `offset`, CAST(at AS STRING), kind FROM t"
    assert rows(t_env, query) == [(7, topic, 0, b"hi", 0, "2023-11-14 22:13:20.123", "CreateTime")]


def test_columns_of_the_key_are_in_the_value_as_well(t_env, broker, declare):
    topic = broker.topic()
    options = {
        "key.format": "json",
        "key.json.ignore-parse-errors": "true",
        "key.fields": "user_id;item_id",
        "value.format": "json",
        "value.json.fail-on-missing-field": "false",
        "value.fields-include": "ALL",
    }
    declare("t", BEHAVIOR, topic, options)
    t_env.execute_sql(f"INSERT INTO t VALUES {VALUES}").wait()
    assert messages(broker, topic)[0] == (
        {"user_id": 1, "item_id": 10},
        {"user_id": 1, "item_id": 10, "behavior": "buy"},
    )
    assert rows(t_env, "SELECT * FROM t") == [(1, 10, "buy"), (2, 20, "pv")]


def test_a_prefix_keeps_columns_of_key_and_value_apart(t_env, broker, declare):
    topic = broker.topic()
    columns = "k_version INT, k_user_id BIGINT, k_item_id BIGINT, version INT, behavior STRING"
    options = {
        "key.format": "json",
        "key.fields-prefix": "k_",
        "key.fields": "k_version;k_user_id;k_item_id",
        "value.format": "json",
        "value.fields-include": "EXCEPT_KEY",
    }
    declare("t", columns, topic, options)
    t_env.execute_sql("INSERT INTO t VALUES (1, 2, 3, 4, 'buy')").wait()
    assert messages(broker, topic) == [
        ({"version": 1, "user_id": 2, "item_id": 3}, {"version": 4, "behavior": "buy"}),
    ]
    assert rows(t_env, "SELECT * FROM t") == [(1, 2, 3, 4, "buy")]


def test_metadata_of_debezium_stand_beside_those_of_kafka(t_env, broker, declare):
    topic = broker.topic()
    source = {"ts_ms": 1_700_000_000_123, "table": "acts", "db": "shop"}
    change = {"before": None, "after": {"user_id": 1, "item_id": 2, "behavior": "buy"}, "source": source, "op": "c"}
    send(broker, topic, [json.dumps(change)])
    columns = (
        "event_time TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL, origin_table STRING METADATA FROM "
        "'value.source.table' VIRTUAL, partition_id BIGINT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA "
        f"VIRTUAL, {BEHAVIOR}"
    )
    declare("t", columns, topic, {"value.format": "debezium-json"})
    query = "SELECT CAST(event_time AS STRING), origin_table, partition_id, `offset`, user_id, behavior FROM t"
    assert rows(t_env, query) == [("2023-11-14 22:13:20.123", "acts", 0, 0, 1, "buy")]


def test_topics_come_as_a_list_or_by_a_pattern(t_env, broker, declare):
    names = [broker.topic() for _ in range(2)]
    for number, name in enumerate(names):
        send(broker, name, [json.dumps({"v": number})])
    declare("listed", "v INT", ";".join(names), {"format": "json"})
    pattern = "|".join(names)
    declare("matched", "v INT", None, {"format": "json", "topic-pattern": pattern})
    assert sorted(rows(t_env, "SELECT v FROM listed")) == sorted(rows(t_env, "SELECT v FROM matched")) == [(0,), (1,)]


def test_reading_starts_at_offsets_or_at_a_time(t_env, broker, declare):
    topic = broker.topic()
    for number in range(3):
        send(broker, topic, [json.dumps({"v": number})], timestamp=1_700_000_000_000 + number)
    start = {"format": "json", "scan.startup.mode": "specific-offsets"}
    declare("t1", "v INT", topic, {**start, "scan.startup.specific-offsets": "partition:0,offset:1"})
    start = {"format": "json", "scan.startup.mode": "timestamp"}
    declare("t2", "v INT", topic, {**start, "scan.startup.timestamp-millis": "1700000000002"})
    assert rows(t_env, "SELECT v FROM t1") == [(1,), (2,)]
    assert rows(t_env, "SELECT v FROM t2") == [(2,)]


PAGES = "user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED"


def test_views_by_region_are_counted_into_an_upsert_table(t_env, broker, declare):
    views, regions = broker.topic(), broker.topic()
    send(
        broker,
        views,
        [
            json.dumps({"user_id": user, "page_id": 1, "viewtime": "2024-01-01 00:00:00", "user_region": region})
            for user, region in [(1, "eu"), (1, "eu"), (2, "eu"), (3, "us")]
        ],
    )
    columns = "user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(3), user_region STRING"
    mark = "WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND"
    declare("pageviews", f"{columns}, {mark}", views, {"format": "json"})
    formats = {"key.format": "avro", "value.format": "avro"}
    declare("pageviews_per_region", PAGES, regions, formats, connector="upsert-kafka")
    t_env.execute_sql(
        "INSERT INTO pageviews_per_region SELECT user_region, COUNT(*), COUNT(DISTINCT user_id) FROM pageviews "
        "GROUP BY user_region"
    ).wait()
    declare("read", PAGES, regions, {**formats, "scan.bounded.mode": "latest-offset"}, connector="upsert-kafka")
    newest = {}
    for region, pv, uv in rows(t_env, "SELECT * FROM `read`"):
        newest[region] = (pv, uv)
    assert newest == {"eu": (3, 2), "us": (1, 1)}


def test_the_value_of_an_upsert_table_may_leave_out_the_key(t_env, broker, declare):
    topic = broker.topic()
    options = {
        "key.format": "json",
        "key.json.ignore-parse-errors": "true",
        "value.format": "json",
        "value.json.fail-on-missing-field": "false",
        "value.fields-include": "EXCEPT_KEY",
    }
    columns = f"ts TIMESTAMP(3) METADATA FROM 'timestamp', {BEHAVIOR}, PRIMARY KEY (user_id) NOT ENFORCED"
    declare("t", columns, topic, options, connector="upsert-kafka")
    t_env.execute_sql("INSERT INTO t VALUES (TIMESTAMP '2024-01-01 00:00:00', 1, 10, 'buy')").wait()
    assert messages(broker, topic) == [({"user_id": 1}, {"item_id": 10, "behavior": "buy"})]


@pytest.mark.parametrize("partitioner", ["default", "fixed", "round-robin"])
def test_a_partitioner_chooses_among_the_partitions(t_env, broker, declare, partitioner):
    topic = broker.topic(partitions=2)
    declare(
        "t",
        "v INT, p INT METADATA FROM 'partition' VIRTUAL",
        topic,
        {"format": "json", "sink.partitioner": partitioner},
    )
    t_env.execute_sql("INSERT INTO t VALUES (1), (2), (3), (4)").wait()
    found = rows(t_env, "SELECT v, p FROM t")
    assert sorted(v for v, _ in found) == [1, 2, 3, 4]
    if partitioner == "fixed":
        assert len({p for _, p in found}) == 1


def test_metadata_are_cast_to_the_types_that_a_table_declares(t_env, broker, declare):
    topic = broker.topic()
    send(broker, topic, [b'{"v":1}'], timestamp=1_700_000_000_123)
    columns = (
        "v INT, `partition` STRING METADATA VIRTUAL, `offset` DECIMAL(5, 1) METADATA VIRTUAL, at DATE METADATA FROM"
    )
    declare("t", f"{columns} 'timestamp' VIRTUAL", topic, {"format": "json"})
    query = "SELECT `partition` || '!', CAST(`offset` AS STRING), CAST(at AS STRING) FROM t"
    assert rows(t_env, query) == [("0!", "0.0", "2023-11-14")]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            "x INT METADATA FROM 'offset'",
            "Invalid metadata key 'offset' in column 'x' .*'kafka' writes headers, time",
        ),
        ("x STRING METADATA FROM 'value.source.table'", "Invalid metadata key 'value.source.table'"),
    ],
)
def test_metadata_that_cannot_be_written_must_be_virtual(t_env, declare, column, message):
    declare("t", f"v INT, {column}", "topic", {"format": "json"})
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql("INSERT INTO t (v) VALUES (1)")


def test_unknown_metadata_are_refused_when_the_table_is_read(t_env, declare):
    declare("t", "v INT, x INT METADATA FROM 'ofset' VIRTUAL", "topic", {"format": "json"})
    with pytest.raises(
        SqlError, match=r"Invalid metadata key 'ofset' in column 'x' of table 't': .*; did you mean 'offset'"
    ):
        t_env.execute_sql("SELECT * FROM t")


def test_metadata_without_a_cast_to_the_declared_type_are_refused(t_env, declare):
    declare("t", "v INT, x INT METADATA FROM 'headers' VIRTUAL", "topic", {"format": "json"})
    with pytest.raises(SqlError, match="Invalid data type for metadata column 'x'"):
        t_env.execute_sql("SELECT * FROM t")


def test_messages_without_a_time_have_that_of_their_writing(t_env, broker, declare):
    topic = broker.topic()
    columns = "v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', headers MAP<STRING, BYTES> METADATA"
    declare("t", columns, topic, {"format": "json"})
    t_env.execute_sql("INSERT INTO t (v) VALUES (1)").wait()
    query = "SELECT ts > CURRENT_TIMESTAMP - INTERVAL '5' MINUTE, CARDINALITY(headers) FROM t"
    assert rows(t_env, query) == [(True, 0)]


def test_the_event_time_of_rows_is_not_that_of_their_messages(t_env, broker, declare):
    source, target = broker.topic(), broker.topic()
    send(broker, source, [json.dumps({"at": "2001-01-01 00:00:00"})])
    declare("src", "at TIMESTAMP(3), WATERMARK FOR at AS at", source, {"format": "json"})
    declare("dst", "at TIMESTAMP(3), ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL", target, {"format": "json"})
    t_env.execute_sql("INSERT INTO dst SELECT at FROM src").wait()
    assert rows(t_env, "SELECT ts > TIMESTAMP '2020-01-01 00:00:00' FROM dst") == [(True,)]


def test_exactly_once_writes_times_and_headers_as_well(t_env, broker, declare, tmp_path):
    topic = broker.topic()
    t_env.get_config().set("execution.checkpointing.interval", "1 s")
    t_env.get_config().set("execution.checkpointing.dir", tmp_path.as_uri())
    options = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "t"}
    columns = "v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', headers MAP<STRING, BYTES> METADATA"
    declare("t", columns, topic, {"format": "json", **options})
    t_env.execute_sql("INSERT INTO t VALUES (1, TO_TIMESTAMP_LTZ(5000, 3), MAP['a', X'62'])").wait()
    assert rows(t_env, "SELECT v, CAST(ts AS STRING), headers['a'] FROM t") == [(1, "1970-01-01 00:00:05.000", b"b")]
