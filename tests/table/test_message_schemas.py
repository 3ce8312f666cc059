"""The formats of tables as schemas of sources and sinks of streams."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("fastavro", reason="the extra 'avro' is not installed: make setup")
pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")
pytest.importorskip("google.protobuf", reason="the extra 'protobuf' is not installed: make setup")

from confluent_kafka import Producer
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed, read, source
from tests.datastream.inline import make_env
from tests.table.test_avro_confluent import running

from flintstream.common import Row, RowKind, Types
from flintstream.common.time import Instant
from flintstream.connectors.several import Several
from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from flintstream.datastream.formats.json import JsonRowDeserializationSchema
from flintstream.table import DataTypes as T
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.connectors import FormatDeserializationSchema, FormatSerializationSchema

USER = T.ROW([T.FIELD("seconds", T.BIGINT()), T.FIELD("nanos", T.INT())])
"""The fields of a message that Protobuf has."""
PLAIN = {
    "avro": {},
    "avro-confluent": {"avro-confluent.subject": "users-value"},
    "csv": {"csv.field-delimiter": ";"},
    "json": {"json.ignore-parse-errors": "true"},
    "protobuf": {"protobuf.message-class-name": "google.protobuf.timestamp_pb2.Timestamp"},
}
OF_CHANGES = {
    "canal-json": {},
    "debezium-avro-confluent": {"topic": "users"},
    "debezium-json": {},
    "maxwell-json": {},
    "ogg-json": {},
}


@pytest.fixture(scope="module")
def registry():
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def mock():
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in owner.list_topics(timeout=10).brokers.values())
    return SimpleNamespace(servers=servers, owner=owner)


def both(kind, registry=None, row_type=USER, **more):
    options = {**PLAIN, **OF_CHANGES}.get(kind, {}) | more
    if registry is not None and kind.endswith("avro-confluent"):
        options[f"{kind}.url"] = registry.url
    return FormatDeserializationSchema(kind, row_type, options), FormatSerializationSchema(kind, row_type, options)


def changed(kind, *values):
    row = Row(seconds=values[0], nanos=values[1])
    row.set_row_kind(kind)
    return row


INSERTED = [changed(RowKind.INSERT, number, number % 3) for number in range(1, 6)]
CHANGED = [
    changed(RowKind.INSERT, 1, 1),
    changed(RowKind.UPDATE_BEFORE, 1, 1),
    changed(RowKind.UPDATE_AFTER, 1, 2),
    changed(RowKind.DELETE, 1, 2),
]
READ_AS = [RowKind.INSERT, RowKind.DELETE, RowKind.INSERT, RowKind.DELETE]
"""The kinds of the messages that a sink writes: an update is a deletion and an insertion."""


@pytest.mark.parametrize("kind", [*PLAIN, *OF_CHANGES])
def test_a_program_writes_rows_and_reads_them_as_they_were(kind, registry, mock, tmp_path):
    reader, writer = both(kind, registry)
    rows = CHANGED if kind in OF_CHANGES else INSERTED
    record = KafkaRecordSerializationSchema.builder().set_topic(f"schemas-{kind}")
    record.set_value_serialization_schema(writer)
    sink = KafkaSink.builder().set_bootstrap_servers(mock.servers).set_record_serializer(record.build()).build()
    env = checkpointed(tmp_path)
    env.from_collection(rows, reader.get_produced_type()).sink_to(sink)
    env.execute()
    found = read(make_env(), source(mock, f"schemas-{kind}", schema=reader).build())
    kinds = READ_AS if kind in OF_CHANGES else [RowKind.INSERT] * len(rows)
    expected = sorted((tuple(row), change.value) for row, change in zip(rows, kinds, strict=True))
    assert sorted((tuple(row), row.get_row_kind().value) for row in found) == expected
    assert all(list(row.as_dict()) == ["seconds", "nanos"] for row in found)


def test_an_update_in_one_message_is_two_records_of_its_time(mock):
    message = '{"op": "u", "before": {"seconds": 1, "nanos": 1}, "after": {"seconds": 1, "nanos": 2}}'
    send(mock, "updates", [message, '{"op": "d", "before": {"seconds": 1, "nanos": 2}, "after": null}'])
    found = read(make_env(), source(mock, "updates", schema=both("debezium-json")[0]).build())
    assert [(row.get_row_kind(), tuple(row)) for row in found] == [
        (RowKind.UPDATE_BEFORE, (1, 1)),
        (RowKind.UPDATE_AFTER, (1, 2)),
        (RowKind.DELETE, (1, 2)),
    ]


def test_an_array_of_json_is_several_records_and_what_cannot_be_read_is_none(mock):
    send(mock, "arrays", ['[{"seconds": 1}, {"seconds": 2, "nanos": 3}]', "no JSON", "[]", '{"seconds": 4}'])
    found = read(make_env(), source(mock, "arrays", schema=both("json")[0]).build())
    assert [tuple(row) for row in found] == [(1, None), (2, 3), (4, None)]


def test_changes_of_a_stream_become_a_table(mock):
    images = [(None, (1, 1)), (None, (2, 5)), ((1, 1), (1, 2)), ((2, 5), None)]
    texts = [
        '{{"op": "{}", "before": {}, "after": {}}}'.format(
            "d" if after is None else "c" if before is None else "u",
            *("null" if row is None else f'{{"seconds": {row[0]}, "nanos": {row[1]}}}' for row in (before, after)),
        )
        for before, after in images
    ]
    send(mock, "to-table", texts)
    env = make_env()
    t_env = StreamTableEnvironment.create(env)
    stream = env.from_source(source(mock, "to-table", schema=both("debezium-json")[0]).build(), NO_WATERMARKS, "kafka")
    t_env.create_temporary_view("users", t_env.from_changelog_stream(stream))
    with t_env.execute_sql("SELECT SUM(nanos), COUNT(*) FROM users").collect() as found:
        assert tuple(list(found)[-1]) == (2, 1)


TYPED = T.ROW(
    [
        T.FIELD("id", T.INT()),
        T.FIELD("price", T.DECIMAL(6, 2)),
        T.FIELD("at", T.TIMESTAMP_LTZ(3)),
        T.FIELD("tags", T.ARRAY(T.STRING())),
        T.FIELD("place", T.ROW([T.FIELD("street", T.STRING()), T.FIELD("number", T.BIGINT())])),
        T.FIELD("counts", T.MAP(T.STRING(), T.INT())),
    ]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def maybe(strategy):
    return st.none() | strategy


@given(
    kind=st.sampled_from(["json", "avro", "debezium-json", "maxwell-json", "canal-json", "ogg-json"]),
    values=st.tuples(
        maybe(st.integers(-(2**31), 2**31 - 1)),
        maybe(st.decimals(-9999, 9999, places=2)),
        maybe(st.integers(0, 2**41)),
        maybe(st.lists(maybe(TEXTS), max_size=3)),
        maybe(st.tuples(maybe(TEXTS), maybe(st.integers(-(2**63), 2**63 - 1)))),
        maybe(st.dictionaries(TEXTS, maybe(st.integers(0, 9)), max_size=3)),
    ),
    change=st.sampled_from(list(RowKind)),
)
def test_rows_come_back_with_their_values_and_kinds(kind, values, change):
    id_, price, ms, tags, place, counts = values
    row = Row(
        id=id_,
        price=price,
        at=None if ms is None else Instant(ms // 1000, ms % 1000 * 1_000_000),
        tags=tags,
        place=None if place is None else Row(street=place[0], number=place[1]),
        counts=counts,
    )
    row.set_row_kind(change)
    reader, writer = both(kind, row_type=TYPED)
    plain, gone = kind in {"json", "avro"}, change in {RowKind.UPDATE_BEFORE, RowKind.DELETE}
    if plain and gone:
        with pytest.raises(ValueError, match=rf"the format '{kind}' has no place for the change {change}.*debezium"):
            writer.serialize(row)
        return
    found = pickle.loads(pickle.dumps(reader)).deserialize(pickle.loads(pickle.dumps(writer)).serialize(row))
    assert found.as_dict(True) == row.as_dict(True)
    assert found.get_row_kind() is (RowKind.DELETE if gone else RowKind.INSERT)


def test_raw_is_the_value_of_the_only_field():
    text = T.ROW([T.FIELD("line", T.STRING())])
    reader, writer = both("raw", row_type=text, **{"raw.charset": "ISO-8859-1"})
    assert reader.deserialize(b"caf\xe9") == Row(line="café")
    assert writer.serialize(Row(line="café")) == b"caf\xe9"


def test_a_type_of_a_stream_will_do_and_fields_are_found_by_their_names():
    info = Types.ROW_NAMED(["id", "at"], [Types.INT(), Types.SQL_TIMESTAMP()])
    reader, writer = both("json", row_type=info)
    assert reader.get_produced_type() == info
    message = writer.serialize(Row(at=dt.datetime(2024, 1, 2, 3, 4, 5, 6000), id=1))
    assert message == b'{"id":1,"at":"2024-01-02 03:04:05.006"}'
    assert writer.serialize((1, None)) == writer.serialize({"id": 1}) == b'{"id":1,"at":null}'
    assert reader.deserialize(message) == Row(id=1, at=dt.datetime(2024, 1, 2, 3, 4, 5, 6000))
    with pytest.raises(TypeError, match=r"field 'id'.*'one'"):
        writer.serialize(("one", None))


def test_a_decimal_gets_the_digits_of_its_type():
    price = T.ROW([T.FIELD("price", T.DECIMAL(6, 2))])
    reader, writer = both("avro", row_type=price)
    assert reader.deserialize(writer.serialize((Decimal("1.239"),))) == Row(price=Decimal("1.24"))


def test_metadata_of_a_change_and_tombstones_are_left_out():
    reader, _ = both("debezium-json")
    assert reader.deserialize(b"") is None
    created = reader.deserialize(b'{"op": "r", "after": {"seconds": 1}, "source": {"db": "shop"}, "ts_ms": 1}')
    assert created.as_dict() == {"seconds": 1, "nanos": None}
    both_images = reader.deserialize(b'{"op": "u", "before": {"seconds": 1}, "after": {"seconds": 2}}')
    assert type(both_images) is Several


@pytest.mark.parametrize("schema", [FormatDeserializationSchema, FormatSerializationSchema])
@pytest.mark.parametrize(
    ("kind", "row_type", "options", "told"),
    [
        ("debezium", USER, {}, r"the format 'debezium' is unknown.*debezium-json"),
        ("avro-confluent", USER, {}, r"the option 'avro-confluent.url' is missing"),
        ("csv", USER, {"csv.field-delimeter": ";"}, r"the format 'csv' has no option.*csv.field-delimiter"),
        ("csv", USER, {"field-delimiter": ";"}, r"the format 'csv' has no option 'field-delimiter'.*csv.field-delim"),
        ("json", USER, {"json.ignore-parse-errors": True}, r"'json.ignore-parse-errors' must be a text.*True"),
        ("json", USER, {"json.timestamp-format.standard": "ISO"}, r"must be SQL or ISO-8601, but got 'ISO'"),
        ("json", T.ROW([T.FIELD("m", T.MULTISET(T.STRING()))]), {}, r"do not support values of type .*Multiset"),
        ("raw", USER, {}, r"takes one column of STRING.*seconds BIGINT, nanos INT"),
        ("avro", T.ROW([T.FIELD("m", T.MAP(T.INT(), T.INT()))]), {}, r"MAP<INT, INT>"),
        ("json", T.INT(), {}, r"takes the type of rows, such as DataTypes.ROW.*IntType"),
        ("protobuf", USER, {}, r"'protobuf.message-class-name' is missing"),
    ],
)
def test_errors_come_before_a_job_and_name_the_schema(schema, kind, row_type, options, told):
    with pytest.raises(SqlError, match=rf"(?s){schema.__name__}\('{kind}'\).*{told}"):
        schema(kind, row_type, options)


@pytest.mark.parametrize("kind", ["avro-confluent", "debezium-avro-confluent"])
def test_a_sink_needs_the_subject_of_its_schema(kind):
    options = {f"{kind}.url": "http://localhost:1"}
    FormatDeserializationSchema(kind, USER, options)
    with pytest.raises(SqlError, match=rf"FormatSerializationSchema.*'{kind}.subject' is missing: .*orders-value"):
        FormatSerializationSchema(kind, USER, options)


def test_the_schemas_of_pyflink_read_several_as_before(mock):
    info = Types.ROW_NAMED(["seconds", "nanos"], [Types.LONG(), Types.INT()])
    own = JsonRowDeserializationSchema.builder().type_info(info).build()
    send(mock, "own", ['{"seconds": 1, "nanos": 2}'])
    assert read(make_env(), source(mock, "own", schema=own).build()) == [Row(seconds=1, nanos=2)]
