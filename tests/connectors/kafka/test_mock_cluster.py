"""Source and sink with librdkafka's mock brokers: no Java, no download."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from confluent_kafka import Producer
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import checkpointed, read, sink, source
from tests.datastream.inline import make_env
from tests.waiting import wait_for

from flintstream.common import WatermarkStrategy
from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.rate_limit import RateLimiterStrategy
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import FlinkKafkaConsumer, KafkaOffsetsInitializer, KafkaTopicPartition
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

TEXTS = [f"text {number}" for number in range(200)]


@pytest.fixture(scope="module")
def mock():
    """The brokers live as long as their client. Topics of four partitions are created on first use."""
    owner = Producer({"test.mock.num.brokers": 2, "log_level": 0})
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in owner.list_topics(timeout=10).brokers.values())
    return SimpleNamespace(servers=servers, owner=owner)


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_what_is_written_is_read(mock, tmp_path, guarantee):
    topic = f"mocked-{guarantee.name}"
    env = checkpointed(tmp_path)
    env.from_collection(TEXTS).sink_to(sink(mock, topic, guarantee).build())
    env.execute()
    assert sorted(read(make_env(parallelism=2), source(mock, topic).build())) == sorted(TEXTS)


def test_offsets_are_given_and_committed(mock, tmp_path):
    send(mock, "given", ["0", "1", "2", "3"])
    only = {KafkaTopicPartition("given", 0)}
    builder = source(mock).set_partitions(only).set_group_id("of-given")
    start = KafkaOffsetsInitializer.offsets({KafkaTopicPartition("given", 0): 1})
    stop = KafkaOffsetsInitializer.offsets({KafkaTopicPartition("given", 0): 3})
    assert read(checkpointed(tmp_path), builder.set_starting_offsets(start).set_bounded(stop).build()) == ["1", "2"]
    again = source(mock).set_partitions(only).set_group_id("of-given")
    again.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets())
    assert read(make_env(), again.build()) == ["3"]


@pytest.mark.filterwarnings("ignore:FlinkKafkaConsumer still works here:DeprecationWarning")
@pytest.mark.parametrize("creates", [True, False])
def test_the_older_consumer_has_brokers_create_its_topics_as_javas_does(mock, creates):
    properties = {"bootstrap.servers": mock.servers, "allow.auto.create.topics": str(creates).lower()}
    consumer = FlinkKafkaConsumer(f"new-{creates}", SimpleStringSchema(), properties)
    enumerator = consumer.create_enumerator(1)
    try:
        if creates:
            assert len(enumerator.discover()) == 4
        else:
            with pytest.raises(KafkaConnectorError, match="topic 'new-False' does not exist"):
                enumerator.discover()
    finally:
        enumerator.close()


def test_pending_records_are_those_that_were_not_read_yet(mock):
    send(mock, "slowly", TEXTS)
    env = make_env()
    slow = RateLimiterStrategy.per_second(50).limit(source(mock, "slowly").build())
    env.from_source(slow, WatermarkStrategy.no_watermarks(), "slow").sink_to(CollectSink())
    client = env.execute_async("slowly")

    def told():
        (values,) = [item.values for item in client.get_metrics().result() if item.operator == "slow"] or [{}]
        return values.get("numRecordsIn", 0), values.get("pendingRecords", -1)

    try:
        wait_for(lambda: sum(told()) == len(TEXTS) and told()[1] > 0)
        wait_for(lambda: told() == (len(TEXTS), 0))
    finally:
        client.cancel().result()
