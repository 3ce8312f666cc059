"""Messages that are read, and records that are written, many at a time."""

from __future__ import annotations

import pytest
from confluent_kafka import Message

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.reader import by_partition
from flintstream.connectors.kafka.records import ValueDeserializer
from flintstream.connectors.kafka.serializing import RecordSerializer


class Shouting(SimpleStringSchema):
    def serialize(self, element):
        return super().serialize(element.upper())

    def deserialize(self, message):
        return super().deserialize(message).upper()


def message(topic, partition, offset, value=b""):
    return Message(topic=topic, partition=partition, offset=offset, value=value, timestamp=(1, 1_000 + offset))


@pytest.mark.parametrize(
    "places",
    [
        [],
        [("orders", 0)] * 3,
        [("orders", 0), ("orders", 1), ("orders", 0)],
        [("orders", 0), ("returns", 0), ("orders", 0)],
        [("orders", 1), ("orders", 0), ("returns", 2), ("orders", 0)],
    ],
)
def test_messages_are_sorted_by_partition_and_keep_their_order(places):
    messages = [message(topic, partition, offset) for offset, (topic, partition) in enumerate(places)]
    expected: dict[tuple[str, int], list[Message]] = {}
    for place, item in zip(places, messages, strict=True):
        expected.setdefault(place, []).append(item)
    assert by_partition(messages) == expected


@pytest.mark.parametrize(
    ("schema", "texts"), [(SimpleStringSchema(), ["to", "b\ufffd"]), (Shouting(), ["TO", "B\ufffd"])]
)
def test_texts_are_read_without_messages_that_have_no_value(schema, texts):
    values, timestamps = ["before"], [0]
    messages = [message("t", 0, offset, value) for offset, value in enumerate([b"to", None, b"b\xff"])]
    ValueDeserializer(schema).read(messages, values, timestamps)
    assert (values, timestamps) == (["before", *texts], [0, 1_000, 1_002])


@pytest.mark.parametrize(("schema", "values"), [(SimpleStringSchema(), [b"to", b"?"]), (Shouting(), [b"TO", b"?"])])
def test_texts_are_written_with_timestamps_that_kafka_has(schema, values):
    block = RecordSerializer(schema, topic="t").block(["to", "\ud800"], [-5, 7], lambda _: [])
    assert (block.values, block.timestamps) == (values, [0, 7])


@pytest.mark.parametrize(("charset", "record"), [("UTF-8", 17), ("idna", "x" * 100)])
def test_a_record_that_is_no_text_is_named(charset, record):
    serializer = RecordSerializer(SimpleStringSchema(charset), topic="t")
    with pytest.raises((TypeError, UnicodeError)) as caught:
        serializer.block([record, "be"], None, lambda _: [])
    notes = "".join(getattr(caught.value, "__notes__", ()))
    assert "while serializing" in notes
    assert str(record)[:10] in notes
