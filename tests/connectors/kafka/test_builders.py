"""The builders' checks, and their treatment of properties; these tests need no broker."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.connectors.kafka.broker import NoBrokerError, jars

from flintstream.common.serialization import ByteArraySchema, SimpleStringSchema
from flintstream.connectors.kafka.client import consumer, producer
from flintstream.connectors.kafka.properties import librdkafka
from flintstream.connectors.source import Boundedness
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    Semantic,
)
from flintstream.errors import MissingDependencyError, PlanError

DISCOVERY = "partition.discovery.interval.ms"
SERVERS = {"bootstrap.servers": "127.0.0.1:1"}


def wrong(value: Any) -> Any:
    """Return a value of a wrong type."""
    return value


def source():
    builder = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:1").set_topics("t")
    return builder.set_value_only_deserializer(SimpleStringSchema())


def sink():
    schema = KafkaRecordSerializationSchema.builder().set_topic("t")
    built = schema.set_value_serialization_schema(SimpleStringSchema()).build()
    return KafkaSink.builder().set_bootstrap_servers("127.0.0.1:1").set_record_serializer(built)


def test_a_source_is_unbounded_until_it_is_told_where_to_end():
    latest = KafkaOffsetsInitializer.latest()
    assert source().build().get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    assert source().set_bounded(latest).build().get_boundedness() is Boundedness.BOUNDED
    assert source().set_unbounded(latest).build().get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED


@pytest.mark.parametrize(("properties", "interval"), [({}, 300_000), ({DISCOVERY: "5"}, 5), ({DISCOVERY: "0"}, -1)])
def test_new_partitions_are_looked_for_as_often_as_the_property_says(properties, interval):
    assert source().set_properties(properties).build()._input.discovery_ms == interval


def test_a_source_has_the_type_of_its_schema():
    assert source().build().produced_type == SimpleStringSchema().get_produced_type()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda: KafkaSource.builder().build(), "needs something to read"),
        (lambda: KafkaSource.builder().set_topics("t").build(), "needs a deserializer"),
        (
            lambda: KafkaSource.builder().set_topics("t").set_value_only_deserializer(ByteArraySchema()).build(),
            "the addresses of the brokers",
        ),
        (lambda: source().set_topics("u"), "set exactly one of them, once"),
        (lambda: KafkaSource.builder().set_topic_pattern("("), "not a regular expression"),
        (lambda: source().set_bounded(KafkaOffsetsInitializer.earliest()), "reads nothing"),
        (lambda: source().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build(), "needs a group"),
        (lambda: source().set_property("commit.offsets.on.checkpoint", "true").build(), "no group to commit to"),
        (
            lambda: source().set_property("commit.offsets.on.checkpoint", "yes").build(),
            "must be true or false, got 'yes'",
        ),
        (lambda: source().set_property("partition.discovery.interval.ms", "soon").build(), "an integer, got 'soon'"),
        (lambda: source().set_property("fetch.min.bytes", "many").build(), "fetch.min.bytes"),
        (lambda: KafkaOffsetsInitializer.offsets({}), "at least one partition"),
        (lambda: KafkaSink.builder().build(), "needs a record serializer"),
        (lambda: sink().set_property("bootstrap.servers", "").build(), "the addresses of the brokers"),
        (
            lambda: sink().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build(),
            r"that no other sink of the Kafka cluster uses: set_transactional_id_prefix\(\)",
        ),
        (lambda: sink().set_property("compression.type", "zip").build(), "zip"),
        (
            lambda: (
                sink()
                .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .set_transactional_id_prefix("p")
                .set_property("acks", "1")
                .build()
            ),
            "acks",
        ),
        (lambda: KafkaRecordSerializationSchema.builder().build(), "need a topic"),
        (lambda: KafkaRecordSerializationSchema.builder().set_topic("t").build(), "need a value"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_built(broken, message):
    with pytest.raises(PlanError, match=message):
        broken()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            lambda: source().set_value_only_deserializer(wrong("schema")),
            "expected a DeserializationSchema, got 'schema'",
        ),
        (lambda: source().set_deserializer(wrong(SimpleStringSchema())), "expected a KafkaRecordDeserializationSchema"),
        (
            lambda: source().set_starting_offsets(wrong("earliest")),
            "starting offsets must be a KafkaOffsetsInitializer",
        ),
        (lambda: KafkaSource.builder().set_topics(), "takes topic names"),
        (lambda: KafkaSource.builder().set_partitions(wrong({("t", 0)})), "takes a set of KafkaTopicPartition"),
        (lambda: KafkaTopicPartition("", 0), "must be a str"),
        (lambda: KafkaOffsetsInitializer(wrong("earliest")), "with one of its static methods"),
        (lambda: KafkaOffsetsInitializer.committed_offsets(wrong("latest")), "must be one of KafkaOffsetResetStrategy"),
        (lambda: KafkaOffsetsInitializer.offsets(wrong({"t": 1})), "keys of offsets must be KafkaTopicPartition"),
        (lambda: source().set_property("a", wrong(None)), "but the value of 'a' is of type NoneType"),
        (lambda: sink().set_delivery_guarantee(wrong("NONE")), "must be one of DeliveryGuarantee"),
        (lambda: sink().set_transactional_id_prefix(""), "prefix must be a str"),
        (lambda: sink().set_record_serializer(wrong(SimpleStringSchema())), "KafkaRecordSerializationSchema, got"),
        (
            lambda: KafkaRecordSerializationSchema.builder().set_topic_selector(wrong(5)),
            "KafkaTopicSelector or a function",
        ),
        (lambda: KafkaRecordSerializationSchema.builder().set_partitioner(wrong(5)), "must be a function"),
        (
            lambda: KafkaRecordSerializationSchema.builder().set_key_serialization_schema(wrong(5)),
            "expected a SerializationSchema",
        ),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(broken, message):
    with pytest.raises(TypeError, match=message):
        broken()


@pytest.mark.parametrize(
    "broken",
    [
        lambda: KafkaTopicPartition("t", -1),
        lambda: KafkaOffsetsInitializer.timestamp(-1),
        lambda: KafkaOffsetsInitializer.offsets({KafkaTopicPartition("t", 0): -1}),
        lambda: sink().set_transactional_id_prefix("x" * 300),
    ],
)
def test_what_is_out_of_bounds_is_refused(broken):
    with pytest.raises(ValueError, match="must"):
        broken()


def test_a_sink_names_its_transactions_itself():
    named = sink().set_property("transactional.id", "mine")
    with pytest.raises(PlanError, match="the sink sets the property"):
        named.build()
    named.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("p")
    assert "transactional.id" not in named.build()._output.properties


def test_a_group_has_to_be_there_to_commit_to():
    with pytest.raises(PlanError, match=r"'enable\.auto\.commit' is true, but there is no group"):
        source().set_property("enable.auto.commit", "true").build()


def test_equal_partitions_are_interchangeable():
    assert {KafkaTopicPartition("t", 1), KafkaTopicPartition("t", 1)} == {KafkaTopicPartition("t", 1)}
    assert KafkaTopicPartition("t", 1) != KafkaTopicPartition("t", 2)


def test_offsets_come_with_their_reset_strategy():
    given = {KafkaTopicPartition("t", 0): 5}
    for strategy in KafkaOffsetResetStrategy:
        assert KafkaOffsetsInitializer.offsets(given, strategy)._offsets.reset == strategy.name.lower()
    assert KafkaOffsetsInitializer.committed_offsets()._offsets.reset == "none"


def test_properties_of_java_are_translated():
    java = {
        "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        "max.poll.records": "5",
        "fetch.max.wait.ms": "7",
        "buffer.memory": "2048",
        "auto.offset.reset": "NONE",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "x.PlainLoginModule required username='u' password=\"p;w\";",
        "ssl.endpoint.identification.algorithm": "",
        "partition.discovery.interval.ms": "9",
        "client.id": "me",
    }
    assert librdkafka(java) == {
        "fetch.wait.max.ms": "7",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "u",
        "sasl.password": "p;w",
        "ssl.endpoint.identification.algorithm": "none",
        "client.id": "me",
    }


def test_what_flink_programs_set_is_taken_by_the_clients():
    consumer({"max.partition.fetch.bytes": "1000", "session.timeout.ms": "6000", "request.timeout.ms": "5"}).close()
    producer({"retries": "3", "batch.size": "100", "transaction.timeout.ms": "60000", "acks": "1"}, print)


def test_a_missing_package_is_named_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    for build in (source().build, sink().build):
        with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[kafka\]'"):
            build()


def test_the_older_classes_refuse_what_cannot_work():
    for reset in ("none", "smallest"):
        with pytest.warns(DeprecationWarning, match="use KafkaSource"), pytest.raises(PlanError, match=reset):
            FlinkKafkaConsumer("t", SimpleStringSchema(), {**SERVERS, "auto.offset.reset": reset})
    with pytest.warns(DeprecationWarning, match="use KafkaSink"), pytest.raises(TypeError, match="Semantic"):
        FlinkKafkaProducer("t", SimpleStringSchema(), SERVERS, semantic=wrong("EXACTLY_ONCE"))


def test_the_older_producer_guarantees_what_its_semantic_says():
    for semantic, committer, flushes in (
        (Semantic.EXACTLY_ONCE, True, True),
        (Semantic.AT_LEAST_ONCE, False, True),
        (Semantic.NONE, False, False),
    ):
        with pytest.warns(DeprecationWarning, match="use KafkaSink"):
            made = FlinkKafkaProducer("t", SimpleStringSchema(), SERVERS, semantic=semantic)
        assert (made.create_committer() is not None) == committer
        assert made._output.flushes == flushes
        assert made.ignore_failures_after_transaction_timeout() is made
        assert made.set_flush_on_checkpoint(False)._output.flushes is False


def test_the_value_of_a_record_can_be_looked_at():
    schema = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
    assert schema.get_produced_type() == SimpleStringSchema().get_produced_type()


def test_programs_find_the_delivery_guarantee_beside_the_sink_too():
    from flintstream.datastream.connectors import kafka

    assert kafka.DeliveryGuarantee is DeliveryGuarantee


def test_a_broker_that_cannot_be_had_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("FLINTSTREAM_KAFKA_JARS", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoBrokerError, match="it needs java"):
        jars()
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho ':: UNRESOLVED DEPENDENCIES ::'\nexit 1\n")
    java.chmod(0o755)
    with pytest.raises(NoBrokerError, match="the jars cannot be downloaded: :: UNRESOLVED DEPENDENCIES"):
        jars()
    assert not (tmp_path / "none").exists()
