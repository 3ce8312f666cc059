"""Rows in Kafka: schemas of formats in sources and sinks, with librdkafka's mock brokers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from confluent_kafka import Producer
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed, read, source
from tests.datastream.inline import make_env

from flintstream.common import ByteArraySchema, Row, Types
from flintstream.datastream import OutputTag, ProcessFunction
from flintstream.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
)
from flintstream.datastream.formats import FormatError
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from flintstream.testing import CollectSink

USER = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
USERS = [Row(id=number, name=f"user {number}, é") for number in range(50)]
AVRO = '{"type": "record", "name": "u", "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]}'
BAD = OutputTag("bad", Types.TUPLE([Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.STRING()]))
MESSAGES = ['{"id": 1, "name": "Ada"}', "no JSON", '{"id": "x", "name": "Bob"}', '{"id": 2}']


@pytest.fixture(scope="module")
def mock():
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in owner.list_topics(timeout=10).brokers.values())
    return SimpleNamespace(servers=servers, owner=owner)


def json_reader():
    return JsonRowDeserializationSchema.builder().type_info(USER)


SCHEMAS = {
    "json": (json_reader().build(), JsonRowSerializationSchema.builder().with_type_info(USER).build()),
    "csv": (CsvRowDeserializationSchema.Builder(USER).build(), CsvRowSerializationSchema.Builder(USER).build()),
    "avro": (AvroRowDeserializationSchema(None, AVRO), AvroRowSerializationSchema(None, AVRO)),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_are_written_with_a_key_and_read(mock, tmp_path, name):
    reader, writer = SCHEMAS[name]
    record = KafkaRecordSerializationSchema.builder().set_topic(f"rows-{name}")
    record.set_key_serialization_schema(writer).set_value_serialization_schema(writer)
    sink = KafkaSink.builder().set_bootstrap_servers(mock.servers).set_record_serializer(record.build()).build()
    env = checkpointed(tmp_path)
    env.from_collection(USERS, USER).sink_to(sink)
    env.execute()
    found = read(make_env(), source(mock, f"rows-{name}", schema=reader).build())
    assert sorted(found, key=lambda row: row.id) == USERS


@pytest.mark.filterwarnings("ignore:FlinkKafka.* still works here:DeprecationWarning")
def test_older_sources_and_sinks_take_them_too(mock, tmp_path):
    properties = {"bootstrap.servers": mock.servers}
    env = checkpointed(tmp_path)
    env.from_collection(USERS, USER).add_sink(FlinkKafkaProducer("older-rows", SCHEMAS["json"][1], properties))
    env.execute()
    consumer = FlinkKafkaConsumer("older-rows", json_reader().build(), properties | {"group.id": "older"})
    stream = make_env().add_source(consumer.set_start_from_earliest())
    assert sorted(stream.execute_and_collect(limit=len(USERS)), key=lambda row: row.id) == USERS


def test_a_bad_message_fails_the_job_with_topic_offset_and_field(mock):
    send(mock, "bad-fails", [MESSAGES[2]])
    with pytest.raises(Exception, match=r"field 'id': 'x' is not a (32|64)-bit integer") as raised:
        read(make_env(), source(mock, "bad-fails", schema=json_reader().build()).build())
    told = [raised.value, raised.value.__cause__]
    notes = [note for error in told if error is not None for note in getattr(error, "__notes__", ())]
    assert any("bad-fails" in note and "offset 0" in note for note in notes)


def test_bad_messages_are_skipped_and_bad_fields_are_none(mock):
    send(mock, "bad-skips", MESSAGES)
    found = read(make_env(), source(mock, "bad-skips", schema=json_reader().ignore_parse_errors().build()).build())
    assert sorted(map(str, found)) == [
        "Row(id=1, name='Ada')",
        "Row(id=2, name=None)",
        "Row(id=None, name='Bob')",
    ]


class Read(ProcessFunction):
    """Read messages; unreadable ones go to a side output, with the reason."""

    def __init__(self, schema):
        self.schema = schema

    def process_element(self, value, ctx):
        try:
            row = self.schema.deserialize(value)
        except FormatError as error:
            yield BAD, (value, str(error))
        else:
            if row is not None:
                yield row


def test_bad_messages_go_to_a_side_output(mock):
    send(mock, "bad-aside", MESSAGES)
    env, rows, bad = make_env(), CollectSink(), CollectSink()
    messages = env.from_source(source(mock, "bad-aside", schema=ByteArraySchema()).build(), NO_WATERMARKS, "messages")
    read_rows = messages.process(Read(json_reader().build()), output_type=USER)
    read_rows.sink_to(rows)
    read_rows.get_side_output(BAD).sink_to(bad)
    env.execute()
    good = rows.get_results(is_python_object=True, stringify=False)
    aside = bad.get_results(is_python_object=True, stringify=False)
    assert sorted(good, key=lambda row: row.id) == [Row(id=1, name="Ada"), Row(id=2, name=None)]
    assert sorted(message for message, _ in aside) == [b"no JSON", b'{"id": "x", "name": "Bob"}']
    assert all("JsonRowDeserializationSchema cannot read b" in reason for _, reason in aside)
