"""The sink of Pulsar writes everything, in the order of its partitions, whatever fails."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.pulsar.jobs import sink
from tests.datastream.inline import assign_second_field
from tests.datastream.inline import make_env as inline_env
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Duration, SimpleStringSchema, Types
from flintstream.connectors.patience import AGAIN_SECONDS
from flintstream.connectors.pulsar.client import PulsarError
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.pulsar import MessageDelayer, PulsarSink, TopicRoutingMode
from flintstream.errors import PlanError, UnsupportedByDesignError

make_env = both_engines


def numbers(env, count):
    return env.from_source(NumberSequenceSource(0, count - 1), NO_WATERMARKS, "numbers")


def test_both_engines_write_all_messages(server, make_env):
    topic = server.topic(3)
    env = make_env(2)
    built = sink(server, topic).set_config("pulsar.producer.batchingMaxMessages", 100).build()
    env.from_collection([str(n) for n in range(3000)], Types.STRING()).sink_to(built)
    env.execute()
    messages = server.messages(topic)
    assert sorted(int(message.data()) for message in messages) == list(range(3000))
    assert len({message.topic_name() for message in messages}) == 3


def test_messages_stay_in_order(server):
    topic = server.topic()
    env = inline_env()
    env.from_collection([str(n) for n in range(2500)]).sink_to(sink(server, topic).build())
    env.execute()
    assert server.texts(topic) == [str(n) for n in range(2500)]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_failures_lose_nothing(server, tmp_path, parallelism):
    topic = server.topic(2)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 999, 1001)])
    env = checkpointed(tmp_path, parallelism)
    numbers(env, 2000).map(FaultyMap(faults)).map(str, Types.STRING()).sink_to(sink(server, topic).build())
    env.execute()
    assert set(map(int, server.texts(topic))) == set(range(2000))
    assert faults.happened() == faults.planned()


def test_event_times_are_those_of_records(server):
    topic = server.topic()
    env = inline_env()
    stream = assign_second_field(env.from_collection([("a", 1000), ("b", 2000)]))
    stream.map(lambda pair: pair[0]).sink_to(sink(server, topic).build())
    env.execute()
    assert [(m.data(), m.event_timestamp()) for m in server.messages(topic)] == [(b"a", 1000), (b"b", 2000)]


class ByLength:
    """Sends short texts to the first partition."""

    def route(self, record, partitions):
        return partitions[0] if len(record) < 3 else partitions[1]


class Nowhere:
    def route(self, record, partitions):
        return "elsewhere"


def test_a_router_chooses_the_partition(server):
    topic = server.topic(2)
    env = inline_env()
    built = sink(server, topic).set_topic_router(f"{__name__}:ByLength").build()
    env.from_collection(["to", "be", "question"]).sink_to(built)
    env.execute()
    assert server.texts(f"{topic}-partition-0") == ["to", "be"]
    assert server.texts(f"{topic}-partition-1") == ["question"]
    env = inline_env()
    env.from_collection(["to"]).sink_to(sink(server, topic).set_topic_router(f"{__name__}:Nowhere").build())
    with pytest.raises(PulsarError, match="the router returned 'elsewhere', which is not one of persistent://"):
        env.execute()


def test_messages_are_delayed_for_shared_subscriptions(server):
    import pulsar

    topic = server.topic()
    with server.client() as client:
        consumer = client.subscribe(topic, "s", pulsar.ConsumerType.Shared)
        env = inline_env()
        built = sink(server, topic).delay_sending_message(MessageDelayer.fixed(Duration.of_seconds(3))).build()
        env.from_collection(["later"]).sink_to(built)
        env.execute()
        with pytest.raises(pulsar.Timeout):
            consumer.receive(timeout_millis=300)
        assert consumer.receive(timeout_millis=20_000).data() == b"later"


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE])
def test_topics_are_written_in_turn_and_compressed(server, guarantee):
    topics = [server.topic(), server.topic()]
    env = inline_env()
    built = sink(server, *topics).set_delivery_guarantee(guarantee).set_producer_name(topics[0])
    built.set_topic_routing_mode(TopicRoutingMode.ROUND_ROBIN).set_properties(
        {"pulsar.producer.batchingMaxMessages": 10, "pulsar.producer.compressionType": "LZ4"}
    )
    env.from_collection([str(n) for n in range(100)]).sink_to(built.build())
    env.execute()
    assert [len(server.texts(topic)) for topic in topics] == [50, 50]
    assert server.messages(topics[0])[0].producer_name() == f"{topics[0]}-0"


def test_by_the_hash_of_missing_keys_any_partition_takes_a_message(server):
    topic = server.topic(2)
    env = inline_env()
    built = sink(server, topic).set_topic_routing_mode(TopicRoutingMode.MESSAGE_KEY_HASH).build()
    env.from_collection([str(n) for n in range(100)]).sink_to(built)
    env.execute()
    assert sorted(map(int, server.texts(topic))) == list(range(100))


@pytest.mark.kills
@pytest.mark.deep
def test_a_broker_that_is_away_for_some_seconds_has_nothing_lost_with_one_warning(tmp_path, caplog):
    pytest.importorskip("pulsar", reason="pulsar-client is not installed")
    from tests.connectors.pulsar.server import NoServerError, Server

    try:
        own = Server(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no Pulsar on this machine: {error}")
    try:
        topic = own.topic(2)
        env = checkpointed(tmp_path)
        numbers(env, 3000).map(slowly).map(str, Types.STRING()).sink_to(sink(own, topic).build())

        began = time.monotonic()

        def restart():
            time.sleep(1.5)
            own.kill()
            time.sleep(3)
            own.start()

        thread = threading.Thread(target=restart)
        thread.start()
        with caplog.at_level(logging.WARNING, logger="flintstream"):
            env.execute()
        thread.join()
        assert set(map(int, own.texts(topic))) == set(range(3000))
        warned = len([r for r in caplog.records if "could not write" in r.getMessage()])
        assert 1 <= warned <= 1 + (time.monotonic() - began) // AGAIN_SECONDS  # a busy machine starts it in minutes
    finally:
        own.close()


def slowly(number):
    time.sleep(0.002)
    return number


def test_mistakes_are_found_before_the_job_starts():
    builder = PulsarSink.builder()
    with pytest.raises(PlanError, match="the sink needs topics"):
        builder.build()
    builder.set_topics("t")
    with pytest.raises(PlanError, match="the sink needs a schema"):
        builder.build()
    builder.set_serialization_schema(SimpleStringSchema())
    with pytest.raises(PlanError, match="set the address of Pulsar"):
        builder.build()
    builder.set_service_url("pulsar://127.0.0.1:6650")
    with pytest.raises(UnsupportedByDesignError, match="does not have transactions"):
        builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(PlanError, match="needs a router"):
        builder.set_topic_routing_mode(TopicRoutingMode.CUSTOM).build()
    with pytest.raises(UnsupportedByDesignError, match=r"the topic router is 'com.shop.Router', which is not the name"):
        builder.set_topic_router("com.shop.Router")
    builder.set_topic_routing_mode(TopicRoutingMode.ROUND_ROBIN)
    with pytest.raises(PlanError, match=r"'pulsar.producer.compressionType' must be one of NONE"):
        builder.set_config("pulsar.producer.compressionType", "best").build()
