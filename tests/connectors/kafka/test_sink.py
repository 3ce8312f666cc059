"""A KafkaSink writes to a real broker."""

from __future__ import annotations

import zlib

import pytest
from confluent_kafka import Producer
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import checkpointed, read, schema, sink, source
from tests.datastream.inline import MODES, assign_second_field, make_env
from tests.engine.sources import PacedSource

from flintstream.common.serialization import RowFieldExtractorSchema, SerializationSchema, SimpleStringSchema
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import (
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaTopicSelector,
)
from flintstream.errors import CommitError, notes

ALL = list(DeliveryGuarantee)
TEXTS = [f"text {number}" for number in range(500)]


def values(records):
    return sorted(value.decode() for _, _, value in records)


@pytest.mark.parametrize("guarantee", ALL)
@pytest.mark.parametrize("mode", MODES)
def test_all_records_are_written(broker, tmp_path, guarantee, mode):
    topic = broker.topic(partitions=2)
    env = checkpointed(tmp_path, 2) if mode == "STREAMING" else make_env(mode, 2)
    env.from_collection(TEXTS).sink_to(sink(broker, topic, guarantee).build())
    env.execute()
    assert values(broker.records(topic)) == sorted(TEXTS)


@pytest.mark.parametrize("guarantee", ALL)
def test_records_keep_their_order(broker, guarantee):
    topic = broker.topic()
    env = make_env()
    env.from_collection(TEXTS).sink_to(sink(broker, topic, guarantee).build())
    env.execute()
    assert [value.decode() for _, _, value in broker.records(topic)] == TEXTS


def test_records_are_seen_with_the_checkpoint_that_contains_them(broker, tmp_path):
    topic = broker.topic()
    env = checkpointed(tmp_path, **{"execution.checkpointing.interval": "1 h"})
    stream = env.from_source(PacedSource(None, 0.01), WatermarkStrategy.no_watermarks(), "paced").map(str)
    stream.sink_to(sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE).build())
    client = env.execute_async()
    client.trigger_savepoint(str(tmp_path / "first")).result()
    assert broker.records(topic, committed=False) == []
    client.stop_with_savepoint(False, str(tmp_path / "last")).result()
    found = [int(value) for _, _, value in broker.records(topic)]
    assert found == list(range(len(found)))
    assert len(found) > 10


def test_without_checkpoints_records_are_seen_when_their_epoch_ends(broker):
    topic = broker.topic()
    env = make_env()
    env.from_collection(TEXTS).sink_to(sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE).build())
    env.execute()
    assert len(broker.records(topic)) == len(TEXTS)


@pytest.mark.parametrize("size", [10, 3000])
def test_nothing_stays_behind_of_what_was_prepared(broker, tmp_path, size):
    topic = broker.topic()
    env = checkpointed(tmp_path)
    texts = [text * size for text in TEXTS[:100]]
    env.from_collection(texts).sink_to(sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE).build())
    env.execute()
    assert values(broker.records(topic)) == sorted(texts)
    assert list((tmp_path / "checkpoints" / "staged").glob("*")) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class FirstLetter(KafkaTopicSelector):
    def __init__(self, prefix):
        self.prefix = prefix

    def apply(self, data):
        return self.prefix + data[0]


@pytest.mark.parametrize("guarantee", ALL)
@pytest.mark.parametrize("kind", ["function", "object"])
def test_a_selector_finds_the_topic_of_each_record(broker, guarantee, kind):
    prefix = f"selected-{guarantee.name}-{kind}-"
    for letter in "ab":
        broker.topic(prefix + letter)
    selector = FirstLetter(prefix) if kind == "object" else lambda text: prefix + text[0]
    builder = KafkaRecordSerializationSchema.builder().set_topic_selector(selector)
    built = builder.set_value_serialization_schema(SimpleStringSchema()).build()
    env = make_env()
    env.from_collection(["a1", "b1", "a2", "b2"]).sink_to(
        sink(broker, "replaced", guarantee).set_record_serializer(built).build()
    )
    env.execute()
    assert values(broker.records(f"{prefix}a")) == ["a1", "a2"]
    assert values(broker.records(f"{prefix}b")) == ["b1", "b2"]


@pytest.mark.parametrize("guarantee", ALL)
def test_keys_go_to_the_partitions_of_kafkas_java_client(broker, guarantee):
    topic = broker.topic(partitions=5)
    builder = KafkaRecordSerializationSchema.builder().set_topic(topic)
    builder.set_key_serialization_schema(RowFieldExtractorSchema(0))
    builder.set_value_serialization_schema(RowFieldExtractorSchema(1))
    rows = [(f"key {n % 20}".encode(), f"value {n}".encode()) for n in range(100)]
    env = make_env()
    env.from_collection(rows).sink_to(sink(broker, topic, guarantee).set_record_serializer(builder.build()).build())
    env.execute()
    found = broker.records(topic)
    assert sorted((key, value) for _, key, value in found) == sorted(rows)
    assert {(partition, key) for partition, key, _ in found} == {(_murmur2(key) % 5, key) for key, _ in rows}


def _murmur2(data: bytes) -> int:
    """The hash of Kafka's Java client with its sign bit cleared, written from its definition."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


@pytest.mark.parametrize("guarantee", ALL)
def test_a_partitioner_chooses_partitions(broker, guarantee):
    topic = broker.topic(partitions=3)

    def by_length(record, key, value, name, partitions):
        assert (key, value, name, partitions) == (None, record.encode(), topic, [0, 1, 2])
        return len(record) % len(partitions)

    env = make_env()
    built = schema(topic).set_partitioner(by_length).build()
    env.from_collection(["a", "bb", "ccc"]).sink_to(sink(broker, topic, guarantee).set_record_serializer(built).build())
    env.execute()
    assert sorted(broker.records(topic)) == [(0, None, b"ccc"), (1, None, b"a"), (2, None, b"bb")]


class First(SerializationSchema):
    def serialize(self, element):
        return element[0].encode() if element[0] else None


class Stamp(KafkaRecordDeserializationSchema):
    def deserialize(self, record):
        return (record.value, record.timestamp)


@pytest.mark.parametrize("guarantee", ALL)
def test_records_keep_their_timestamps_in_kafka(broker, guarantee):
    topic = broker.topic()
    built = KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema(First()).build()
    env = make_env()
    stream = assign_second_field(env.from_collection([("a", 1000), ("b", 2000)]))
    stream.sink_to(sink(broker, topic, guarantee).set_record_serializer(built).build())
    env.execute()
    assert read(make_env(), source(broker, topic).set_deserializer(Stamp()).build()) == [(b"a", 1000), (b"b", 2000)]


@pytest.mark.parametrize("guarantee", ALL)
def test_a_schema_may_make_messages_without_a_value(broker, guarantee):
    topic = broker.topic()
    built = KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema(First()).build()
    env = make_env()
    env.from_collection([("a", 0), ("", 0)]).sink_to(
        sink(broker, topic, guarantee).set_record_serializer(built).build()
    )
    env.execute()
    assert broker.records(topic) == [(0, None, b"a"), (0, None, None)]


@pytest.mark.parametrize("guarantee", ALL)
def test_a_record_that_cannot_be_serialized_is_named(broker, guarantee):
    env = make_env()
    env.from_collection(["a", 5]).sink_to(sink(broker, broker.topic(), guarantee).build())
    with pytest.raises(TypeError, match="SimpleStringSchema needs str, but got 5") as caught:
        env.execute()
    assert any("while serializing 5 for Kafka" in note for note in notes(caught.value))


@pytest.mark.parametrize("guarantee", ALL)
def test_a_record_that_is_too_large_is_an_error(broker, guarantee):
    env = make_env()
    env.from_collection(["x" * 2_000_000]).sink_to(sink(broker, broker.topic(), guarantee).build())
    with pytest.raises(KafkaConnectorError, match=r"too large|has 2000000 bytes"):
        env.execute()


@pytest.mark.parametrize("guarantee", ALL)
def test_a_topic_that_does_not_exist_is_an_error(broker, guarantee):
    env = make_env()
    built = sink(broker, "nowhere", guarantee).set_property("topic.metadata.propagation.max.ms", "500").build()
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE:
        built.create_committer = lambda create=built.create_committer: _impatient(create())
    env.from_collection(["a"]).sink_to(built)
    with pytest.raises(
        (KafkaConnectorError, CommitError), match=r"[Uu]nknown topic.*'nowhere'|'nowhere'.*[Uu]nknown topic"
    ):
        env.execute()


def _impatient(committer):
    from flintstream.connectors.sink import CommitRetry

    committer.retry = CommitRetry(attempts=1)
    return committer


def test_what_another_producer_has_left_open_does_not_hinder(broker):
    topic = broker.topic()
    stranger = Producer({"bootstrap.servers": broker.servers, "transactional.id": f"to-{topic}", "log_level": 0})
    stranger.init_transactions(10)
    stranger.begin_transaction()
    stranger.produce(topic, "open")
    stranger.flush()
    env = make_env()
    env.from_collection(["a"]).sink_to(sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE).build())
    env.execute()
    assert values(broker.records(topic)) == ["a"]
    assert len(broker.records(topic, committed=False)) == 2


def test_open_and_aborted_transactions_are_not_read_by_who_reads_committed_records(broker):
    topic = broker.topic()
    send(broker, topic, ["before"])
    stranger = Producer({"bootstrap.servers": broker.servers, "transactional.id": "stranger", "log_level": 0})
    stranger.init_transactions(10)
    for text, end in (("aborted", stranger.abort_transaction), ("committed", stranger.commit_transaction)):
        stranger.begin_transaction()
        stranger.produce(topic, text)
        stranger.flush()
        end(10)
    stranger.begin_transaction()
    stranger.produce(topic, "open")
    stranger.flush()
    builder = source(broker, topic).set_property("isolation.level", "read_committed")
    assert read(make_env(), builder.build()) == ["before", "committed"]
    assert read(make_env(), source(broker, topic).build()) == ["before", "aborted", "committed", "open"]
    stranger.abort_transaction(10)


def test_records_can_be_compressed(broker):
    topic = broker.topic()
    env = make_env()
    env.from_collection(TEXTS).sink_to(sink(broker, topic).set_property("compression.type", "zstd").build())
    env.execute()
    assert zlib.crc32("".join(values(broker.records(topic))).encode()) == zlib.crc32("".join(sorted(TEXTS)).encode())


def test_a_sink_is_made_by_its_builder():
    with pytest.raises(TypeError, match=r"create a KafkaSink with KafkaSink.builder"):
        KafkaSink("something")  # type: ignore[arg-type]
