"""A KafkaSource reads from a real broker."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer
from tests.connectors.kafka.broker import committed, send
from tests.connectors.kafka.jobs import LATEST, NO_WATERMARKS, checkpointed, read, source
from tests.datastream.inline import MODES, make_env

from flintstream.common.serialization import DeserializationSchema, SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    KafkaTopicPartition,
)
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import notes


def numbers(*bounds):
    return [str(number) for number in range(*bounds)]


@pytest.fixture
def topic(broker):
    """A topic of two partitions: 0 to 9 in the first, 10 to 19 in the other."""
    name = broker.topic(partitions=2)
    send(broker, name, numbers(10))
    send(broker, name, numbers(10, 20), 1)
    return name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_all_partitions_are_read_to_their_end(broker, topic, mode, parallelism):
    found = read(make_env(mode, parallelism), source(broker, topic).build())
    assert sorted(found, key=int) == numbers(20)


def test_a_partition_is_read_in_its_order(broker, topic):
    found = read(make_env(), source(broker, topic).build())
    assert [text for text in found if int(text) < 10] == numbers(10)


def test_several_topics_are_read(broker, topic):
    other = broker.topic()
    send(broker, other, ["other"])
    assert sorted(read(make_env(), source(broker, topic, other).build())) == sorted([*numbers(20), "other"])


def test_topics_whose_whole_name_matches_are_read(broker):
    for name in ("match-1", "match-2", "no-match-1", "match-1-more"):
        broker.topic(name)
        send(broker, name, [name])
    assert sorted(read(make_env(), source(broker).set_topic_pattern("match-[0-9]").build())) == ["match-1", "match-2"]


def test_partitions_alone_are_read(broker, topic):
    partitions = {KafkaTopicPartition(topic, 1)}
    assert read(make_env(), source(broker).set_partitions(partitions).build()) == numbers(10, 20)


def test_a_source_starts_at_the_latest_offsets(broker, topic):
    assert read(make_env(), source(broker, topic).set_starting_offsets(LATEST).build()) == []


def test_a_source_starts_and_ends_at_given_offsets(broker, topic):
    start = {KafkaTopicPartition(topic, 0): 7, KafkaTopicPartition(topic, 1): 2}
    stop = {KafkaTopicPartition(topic, 0): 9, KafkaTopicPartition(topic, 1): 2}
    builder = source(broker, topic).set_starting_offsets(KafkaOffsetsInitializer.offsets(start)).set_group_id("given")
    assert read(make_env(), builder.set_bounded(KafkaOffsetsInitializer.offsets(stop)).build()) == ["7", "8"]


def test_partitions_without_a_given_offset_begin_as_the_strategy_says(broker, topic):
    given = {KafkaTopicPartition(topic, 0): 9}
    first = KafkaOffsetsInitializer.offsets(given, KafkaOffsetResetStrategy.EARLIEST)
    assert sorted(read(make_env(), source(broker, topic).set_starting_offsets(first).build())) == sorted(numbers(9, 20))
    last = KafkaOffsetsInitializer.offsets(given, KafkaOffsetResetStrategy.LATEST)
    assert read(make_env(), source(broker, topic).set_starting_offsets(last).build()) == ["9"]
    none = KafkaOffsetsInitializer.offsets(given, KafkaOffsetResetStrategy.NONE)
    with pytest.raises(KafkaConnectorError, match=f"no given or committed offset for partition 1 of topic '{topic}'"):
        read(make_env(), source(broker, topic).set_starting_offsets(none).build())


def test_a_source_starts_at_a_timestamp(broker):
    name = broker.topic()
    for number in range(5):
        send(broker, name, [str(number)], timestamp=1000 * (number + 1))
    start = KafkaOffsetsInitializer.timestamp(2500)
    assert read(make_env(), source(broker, name).set_starting_offsets(start).build()) == ["2", "3", "4"]
    after = KafkaOffsetsInitializer.timestamp(9000)
    assert read(make_env(), source(broker, name).set_starting_offsets(after).build()) == []


def test_without_committed_offsets_the_strategy_says_where_to_begin(broker, topic):
    def builder(strategy):
        start = KafkaOffsetsInitializer.committed_offsets(strategy)
        return source(broker, topic).set_group_id("nobody").set_starting_offsets(start)

    assert len(read(make_env(), builder(KafkaOffsetResetStrategy.EARLIEST).build())) == 20
    assert read(make_env(), builder(KafkaOffsetResetStrategy.LATEST).build()) == []
    with pytest.raises(KafkaConnectorError, match=r"no committed offset of the group for partition 0 of topic"):
        read(make_env(), builder(KafkaOffsetResetStrategy.NONE).build())


def test_offsets_are_committed_with_checkpoints_and_gone_on_from(broker, topic, tmp_path):
    stop = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): 4, KafkaTopicPartition(topic, 1): 10})
    builder = source(broker, topic).set_group_id(f"of-{topic}").set_bounded(stop)
    assert len(read(checkpointed(tmp_path, 2), builder.build())) == 14
    assert [committed(broker, f"of-{topic}", topic, number) for number in (0, 1)] == [4, 10]
    rest = source(broker, topic).set_group_id(f"of-{topic}")
    rest.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets())
    assert read(make_env(), rest.build()) == numbers(4, 10)


@pytest.mark.parametrize("how", ["no checkpoints", "not wanted"])
def test_offsets_are_not_committed_otherwise(broker, topic, tmp_path, how):
    builder = source(broker, topic).set_group_id(f"not-{topic}")
    if how == "not wanted":
        builder.set_property("commit.offsets.on.checkpoint", "false")
    env = checkpointed(tmp_path) if how == "not wanted" else make_env()
    assert len(read(env, builder.build())) == 20
    assert committed(broker, f"not-{topic}", topic) < 0


def test_an_offset_that_is_not_there_is_replaced_or_named(broker, topic):
    def builder(strategy):
        start = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): 99}, strategy)
        stop = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): 100})
        only = source(broker).set_partitions({KafkaTopicPartition(topic, 0)}).set_starting_offsets(start)
        return only.set_unbounded(stop).set_property("partition.discovery.interval.ms", "-1").build()

    with pytest.raises(KafkaConnectorError, match=f"partition 0 of topic '{topic}' has no offset 99"):
        read(make_env(), builder(KafkaOffsetResetStrategy.NONE))
    stream = make_env().from_source(builder(KafkaOffsetResetStrategy.EARLIEST), NO_WATERMARKS, "kafka")
    assert stream.execute_and_collect(limit=10) == numbers(10)


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timestamp()


def test_records_have_the_timestamps_of_kafka(broker):
    name = broker.topic()
    send(broker, name, ["a"], timestamp=1234)
    stream = make_env().from_source(source(broker, name).build(), NO_WATERMARKS, "kafka").process(Stamped())
    assert stream.execute_and_collect(limit=5) == [1234]


class Everything(KafkaRecordDeserializationSchema):
    def deserialize(self, record):
        return record if record.offset else None


def test_a_schema_may_read_whole_records(broker):
    name = broker.topic()
    send(broker, name, ["skipped"])
    send(broker, name, [("key", "value")], timestamp=5, headers=[("h", b"1")])
    (found,) = read(make_env(), source(broker, name).set_deserializer(Everything()).build())
    assert found == (name, 0, 1, 5, b"key", b"value", (("h", b"1"),))


def test_messages_without_a_value_are_skipped(broker):
    name = broker.topic()
    send(broker, name, [("a", "1"), ("a", None), ("b", "2")])
    assert read(make_env(), source(broker, name).build()) == ["1", "2"]
    values = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
    assert read(make_env(), source(broker, name).set_deserializer(values).build()) == ["1", "2"]


class Integers(DeserializationSchema):
    def deserialize(self, message):
        return int(message) or None


def test_what_a_schema_reads_as_none_is_skipped(broker):
    name = broker.topic()
    send(broker, name, ["0", "1", "0", "2"])
    assert read(make_env(), source(broker, name, schema=Integers()).build()) == [1, 2]


def test_a_record_that_cannot_be_read_is_named_by_topic_partition_and_offset(broker, topic):
    send(broker, topic, ["no number"], 1)
    with pytest.raises(ValueError, match="no number") as caught:
        read(make_env(), source(broker, topic, schema=Integers()).build())
    assert any(f"partition 1 of topic '{topic}' at offset 10" in note for note in notes(caught.value))


def test_what_does_not_exist_is_named(broker, topic):
    with pytest.raises(KafkaConnectorError, match="topic 'nothing' does not exist; existing topics: "):
        read(make_env(), source(broker, "nothing").build())
    with pytest.raises(
        KafkaConnectorError, match=f"partition 7 of topic '{topic}' does not exist: .* has 2 partitions"
    ):
        read(make_env(), source(broker).set_partitions({KafkaTopicPartition(topic, 7)}).build())


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_job_that_runs_until_it_has_caught_up_continues_behind_transactions(broker, tmp_path, capsys, parallelism):
    name = broker.topic(partitions=2)
    writes = Producer({"bootstrap.servers": broker.servers, "transactional.id": name, "log_level": 0})
    writes.init_transactions(10)
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(name)
    builder.set_property("isolation.level", "read_committed").set_value_only_deserializer(SimpleStringSchema())
    for first in (0, 10, 20):
        writes.begin_transaction()
        for number in range(first, first + 10):
            writes.produce(name, str(number), partition=number % 2)
        writes.commit_transaction(10)
        settings = {"flintstream.until-caught-up": "true", "flintstream.resume": "true"}
        env = checkpointed(tmp_path, parallelism, **settings)
        env.from_source(builder.build(), NO_WATERMARKS, "kafka").print()
        env.execute("caught up")
        printed = [line.rpartition("> ")[2] for line in capsys.readouterr().out.splitlines()]
        assert sorted(printed, key=int) == numbers(first, first + 10)
