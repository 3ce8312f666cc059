"""Sources of changes: the newest rows of keys, and the JSON of Debezium, Canal, Maxwell and GoldenGate."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")

from tests.connectors.kafka.broker import Broker, NoBrokerError, send

from flintstream.common._types.data_types import DataTypes
from flintstream.table._connectors.changes import FORMATS, METADATA, ChangeDecoder, ChangeEncoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._operators.upserts import ChangelogNormalize
from flintstream.testing.harness import KeyedHarness

INSERT, BEFORE, AFTER, DELETE = range(4)
NAMES, TYPES = ["id", "name"], [DataTypes.INT(), DataTypes.STRING()]


def decoded(kind, *messages, **options):
    given_ = {f"{kind}.{key.replace('_', '-')}": value for key, value in options.items()}
    decode = ChangeDecoder(kind, NAMES, TYPES, Options("t", {"connector": "kafka", **given_}), "").decode()
    return [decode(message if isinstance(message, bytes) else json.dumps(message).encode()) for message in messages]


A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
UPDATE = [((1, "a"), BEFORE), ((1, "b"), AFTER)]


def test_messages_of_debezium_are_changes():
    found = decoded(
        "debezium-json",
        {"before": None, "after": A, "op": "c"},
        {"before": None, "after": A, "op": "r", "source": {}},
        {"before": A, "after": B, "op": "u"},
        {"before": B, "after": None, "op": "d"},
    )
    assert found == [[((1, "a"), INSERT)], [((1, "a"), INSERT)], UPDATE, [((1, "b"), DELETE)]]
    with_schema = {"schema": {}, "payload": {"after": A, "op": "c"}}
    assert decoded("debezium-json", with_schema, schema_include="true") == [[((1, "a"), INSERT)]]


def test_metadata_of_messages_follow_the_columns():
    def read(kind, message, **options):
        given = Options("t", {"connector": "kafka", **{f"{kind}.{key}": value for key, value in options.items()}})
        ((row, _),) = ChangeDecoder(kind, NAMES, TYPES, given, "", list(METADATA[kind])).decode()(
            json.dumps(message).encode()
        )
        return dict(zip(METADATA[kind], row[2:], strict=True))

    moment = dt.datetime(2024, 1, 2, 3, 4, 5, 6000)
    ms = 1704164645006
    source = {"db": "shop", "schema": "public", "table": "t", "ts_ms": ms, "lsn": 5, "snapshot": None}
    message = {"after": A, "op": "c", "ts_ms": ms + 1000, "source": source}
    found = read("debezium-json", {"schema": {"x": 1}, "payload": message}, **{"schema-include": "true"})
    assert found == {
        "schema": '{"x":1}',
        "ingestion-timestamp": moment + dt.timedelta(seconds=1),
        "source.timestamp": moment,
        "source.database": "shop",
        "source.schema": "public",
        "source.table": "t",
        "source.properties": {**source, "ts_ms": str(ms), "lsn": "5"},
    }
    assert set(read("debezium-json", {"after": A, "op": "c"}).values()) == {None}
    canal = {"type": "INSERT", "data": [A], "database": "d", "table": "t", "sqlType": {"id": 4}, "pkNames": ["id"]}
    expected = {"database": "d", "table": "t", "sql-type": {"id": 4}, "pk-names": ["id"]}
    assert read("canal-json", {**canal, "es": ms, "ts": ms}) == {
        **expected,
        "ingestion-timestamp": moment,
        "event-timestamp": moment,
    }
    found = read(
        "maxwell-json", {"type": "insert", "data": A, "database": "d", "primary_key_columns": ["id"], "ts": ms}
    )
    assert found == {"database": "d", "table": None, "primary-key-columns": ["id"], "ingestion-timestamp": moment}


def test_messages_of_canal_and_maxwell_are_changes():
    canal = [
        {"type": "INSERT", "data": [{"id": "1", "name": "a"}, {"id": "2", "name": None}], "old": None},
        {"type": "UPDATE", "data": [B], "old": [{"name": "a"}]},
        {"type": "DELETE", "data": [B]},
        {"type": "CREATE", "data": None, "isDdl": True},
    ]
    inserted = [((1, "a"), INSERT), ((2, None), INSERT)]
    assert decoded("canal-json", *canal) == [inserted, UPDATE, [((1, "b"), DELETE)], None]
    other = {"type": "INSERT", "data": [A], "database": "other", "table": "t"}
    assert decoded("canal-json", other, **{"database.include": "shop.*"}) == [None]
    maxwell = [{"type": "insert", "data": A}, {"type": "update", "data": B, "old": {"name": "a"}}]
    assert decoded("maxwell-json", *maxwell, {"type": "delete", "data": B}) == [
        [((1, "a"), INSERT)],
        UPDATE,
        [((1, "b"), DELETE)],
    ]


def test_messages_of_goldengate_are_changes_with_metadata():
    messages = [
        {"after": A, "op_type": "I"},
        {"before": A, "after": B, "op_type": "U"},
        {"before": B, "op_type": "D"},
    ]
    assert decoded("ogg-json", *messages) == [[((1, "a"), INSERT)], UPDATE, [((1, "b"), DELETE)]]
    with pytest.raises(ValueError, match="unknown 'op_type' 'T'"):
        decoded("ogg-json", {"op_type": "T"})
    times = {"op_ts": "2020-05-13 15:40:06.000000", "current_ts": "2020-05-13T15:40:07.250000"}
    message = {"after": A, "op_type": "I", **times, "table": "S.PRODUCTS", "primary_keys": ["id"], "pos": "00000143"}
    decode = ChangeDecoder(
        "ogg-json", NAMES, TYPES, Options("t", {"connector": "kafka"}), "", list(METADATA["ogg-json"])
    )
    (((*_, table, keys, processed, created), _),) = decode.decode()(json.dumps(message).encode())
    assert (table, keys) == ("S.PRODUCTS", ["id"])
    assert processed == dt.datetime(2020, 5, 13, 15, 40, 7, 250000)
    assert created == dt.datetime(2020, 5, 13, 15, 40, 6)
    with pytest.raises(ValueError, match="the 'before' is missing: GoldenGate must write before images"):
        decoded("ogg-json", {"after": B, "op_type": "U"})


def test_a_message_that_is_no_change_fails_or_is_skipped():
    with pytest.raises(ValueError, match="REPLICA IDENTITY FULL"):
        decoded("debezium-json", {"before": None, "after": A, "op": "u"})
    for kind in FORMATS:
        for message in (b"no json", b'{"op": "x", "type": "x"}', b"[]"):
            with pytest.raises(ValueError, match=f"Corrupt {kind} message"):
                decoded(kind, message)
            assert decoded(kind, message, ignore_parse_errors="true") == [None]


ROWS = st.tuples(st.one_of(st.none(), st.integers(-5, 5)), st.one_of(st.none(), st.text(max_size=5)))


@given(st.sampled_from(FORMATS), ROWS, st.integers(0, 3))
def test_what_is_written_is_read_as_an_insertion_or_a_deletion(kind, row, change):
    encode = ChangeEncoder(kind, NAMES, TYPES, Options("t", {"connector": "kafka"}), "").encode()
    assert decoded(kind, encode((*row, change))) == [[(row, DELETE if change in {BEFORE, DELETE} else INSERT)]]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.sampled_from([AFTER, DELETE])), max_size=20))
def test_newest_rows_become_changes_that_leave_them_behind(newest):
    with KeyedHarness(lambda s: s.key_by(lambda r: r[0]).process(ChangelogNormalize())) as tested:
        expected = {}
        for key, value, kind in newest:
            tested.process_element((key, None if kind == DELETE else value, kind))
            expected[key] = value
            if kind == DELETE:
                del expected[key]
        table: dict[str, int] = {}
        for key, value, kind in tested.extract_output_values():
            if kind in {BEFORE, DELETE}:
                assert table.pop(key) == value
            else:
                assert key not in table
                table[key] = value
        assert tested.num_keyed_state_entries() == len(expected)
    assert table == expected


# -- in Kafka --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    try:
        found = Broker(tmp_path_factory.mktemp("kafka"))
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")
    yield found
    found.close()


def declare(t_env, name, columns, **options):
    given_ = {
        "scan.bounded.mode": "latest-offset",
        **{key.replace("__", "-").replace("_", "."): value for key, value in options.items()},
    }
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given_.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({text})")


def left(result):
    rows: list[Any] = []
    with result.collect() as found:
        for row in found:
            if row.get_row_kind().value in {BEFORE, DELETE}:
                rows.remove(tuple(row))
            else:
                rows.append(tuple(row))
    return sorted(rows)


NEWEST = "k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED"


def upserts(t_env, broker, topic):
    declare(
        t_env, "newest", NEWEST, connector="upsert-kafka", topic=topic, properties_bootstrap_servers=broker.servers,
        key_format="raw", value_format="json", value_fields__include="EXCEPT_KEY",
    )  # fmt: skip


@pytest.mark.parametrize("parallelism", [1, 3])
def test_the_newest_rows_of_a_topic_are_a_table(t_env, broker, parallelism):
    topic = broker.topic(partitions=2)
    send(broker, topic, [("a", '{"n":1}'), ("c", '{"n":5}'), ("a", '{"n":2}'), ("c", None), ("x", None)])
    send(broker, topic, [("b", '{"n":3}'), ("b", '{"n":4}')], 1)
    t_env.get_config().set("parallelism.default", str(parallelism))
    upserts(t_env, broker, topic)
    assert left(t_env.execute_sql("SELECT * FROM newest")) == [("a", 2), ("b", 4)]
    assert left(t_env.execute_sql("SELECT COUNT(*), SUM(n) FROM newest")) == [(2, 6)]


def test_changes_are_read_from_a_topic_and_written_to_one(t_env, broker):
    source, target = broker.topic(), broker.topic()
    changes = [
        {"before": None, "after": {"id": 1, "name": "a"}, "op": "c"},
        {"before": None, "after": {"id": 2, "name": "a"}, "op": "c", "source": {"db": "shop"}},
        {"before": {"id": 1, "name": "a"}, "after": {"id": 1, "name": "b"}, "op": "u"},
    ]
    send(broker, source, [*map(json.dumps, changes), (b"k", None)])
    common = {
        "connector": "kafka",
        "properties_bootstrap_servers": broker.servers,
        "scan_startup_mode": "earliest-offset",
    }
    columns = "db STRING METADATA FROM 'value.source.database' VIRTUAL, id INT, topic STRING METADATA VIRTUAL, "
    declare(t_env, "seen", f"{columns} name STRING", topic=source, format="debezium-json", **common)
    assert left(t_env.execute_sql("SELECT id, db, name, topic FROM seen")) == [
        (1, None, "b", source),
        (2, "shop", "a", source),
    ]
    declare(t_env, "other", "x STRING METADATA FROM 'value.nothing'", topic=source, format="debezium-json", **common)
    with pytest.raises(
        SqlError, match=r"Invalid metadata key 'value\.nothing' in column 'x' .* the connector 'kafka' has headers, "
    ):
        t_env.execute_sql("SELECT * FROM other")
    columns = "id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED"
    declare(t_env, "src", columns, topic=source, format="debezium-json", **common)
    declare(t_env, "dst", "name STRING, n BIGINT", topic=target, format="canal-json", **common)
    t_env.execute_sql("INSERT INTO dst SELECT name, COUNT(*) FROM src GROUP BY name").wait()
    assert left(t_env.execute_sql("SELECT * FROM dst")) == [("a", 1), ("b", 1)]
    messages = [json.loads(value) for _, _, value in broker.records(target)]
    assert messages[:3] == [
        {"data": [{"name": "a", "n": 1}], "type": "INSERT"},
        {"data": [{"name": "a", "n": 1}], "type": "DELETE"},
        {"data": [{"name": "a", "n": 2}], "type": "INSERT"},
    ]


def test_changes_are_refused_in_batch_mode_and_without_a_key(t_env):
    t_env.get_config().set("execution.runtime-mode", "BATCH")
    options = {"topic": "t", "properties_bootstrap_servers": "127.0.0.1:1", "value_format": "json", "key_format": "raw"}
    declare(t_env, "newest", NEWEST, connector="upsert-kafka", **options)
    with pytest.raises(UnsupportedClauseError, match="table 'newest' with changes in BATCH mode"):
        t_env.execute_sql("SELECT * FROM newest")
    declare(t_env, "keyless", "k STRING", connector="upsert-kafka", **options)
    with pytest.raises(SqlError, match="needs a PRIMARY KEY"):
        t_env.execute_sql("SELECT * FROM keyless")
