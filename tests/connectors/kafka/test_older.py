"""FlinkKafkaConsumer and FlinkKafkaProducer, of releases before 1.16, with a real broker."""

from __future__ import annotations

import logging
import threading

import pytest
from tests.connectors.kafka.broker import committed, send
from tests.connectors.kafka.jobs import checkpointed, read, source
from tests.connectors.kafka.test_sink import First, Stamp, values
from tests.datastream.inline import assign_second_field, make_env

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.datastream.connectors import FlinkKafkaConsumer, FlinkKafkaProducer, Semantic
from flintstream.datastream.connectors.kafka import KafkaTopicPartition

pytestmark = pytest.mark.filterwarnings("ignore:FlinkKafka.* still works here:DeprecationWarning")


class UntilEnd(SimpleStringSchema):
    def is_end_of_stream(self, element):
        return element == "end"


@pytest.fixture
def topic(broker):
    name = broker.topic()
    for number in range(5):
        send(broker, name, [str(number)], timestamp=1000 * (number + 1))
    send(broker, name, ["end", "never read"], timestamp=9000)
    return name


def consumer(broker, topic, **properties):
    own = {"bootstrap.servers": broker.servers, "group.id": f"of-{topic}", "auto.offset.reset": "earliest"}
    return FlinkKafkaConsumer(topic, UntilEnd(), own | properties)


def run(consumer, env=None):
    with (env or make_env()).add_source(consumer).execute_and_collect() as found:
        return list(found)


def test_it_begins_at_the_groups_offsets_and_tells_it_how_far_it_has_come(broker, topic, tmp_path):
    assert run(consumer(broker, topic), checkpointed(tmp_path)) == ["0", "1", "2", "3", "4"]
    assert committed(broker, f"of-{topic}", topic) > 0
    again = consumer(broker, topic).set_start_from_earliest().set_commit_offsets_on_checkpoints(False)
    assert again.get_produced_type() == SimpleStringSchema().get_produced_type()
    assert run(again) == ["0", "1", "2", "3", "4"]


def test_it_begins_where_it_is_told(broker, topic):
    silent = consumer(broker, topic, **{"enable.auto.commit": "false"})
    assert run(silent.set_start_from_timestamp(3000)) == ["2", "3", "4"]
    assert run(consumer(broker, topic).set_start_from_group_offsets()) == ["0", "1", "2", "3", "4"]
    offsets = {KafkaTopicPartition(topic, 0): 4}
    assert run(consumer(broker, topic).set_start_from_specific_offsets(offsets)) == ["4"]


def test_without_checkpoints_the_group_is_told_too_so_that_the_next_job_goes_on_from_there(broker, topic):
    assert run(consumer(broker, topic)) == ["0", "1", "2", "3", "4"]
    assert committed(broker, f"of-{topic}", topic) == 7
    send(broker, topic, ["later", "end"])
    assert run(consumer(broker, topic)) == ["later"]


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_without_a_group_it_begins_where_the_property_says_every_time(broker, topic, reset):
    properties = {"bootstrap.servers": broker.servers, "auto.offset.reset": reset}
    for _ in range(2):
        ended = threading.Event()

        def keep_sending(ended=ended):
            while not ended.wait(0.05):
                send(broker, topic, ["new", "end"])

        sender = threading.Thread(target=keep_sending)
        sender.start()
        try:
            found = run(FlinkKafkaConsumer(topic, UntilEnd(), properties))
        finally:
            ended.set()
            sender.join()
        assert found[0] == ("0" if reset == "earliest" else "new")


def test_it_begins_at_the_end(broker, topic):
    ended = threading.Event()

    def keep_sending():
        while not ended.wait(0.05):
            send(broker, topic, ["new"])

    sender = threading.Thread(target=keep_sending)
    sender.start()
    try:
        stream = make_env().add_source(consumer(broker, topic).set_start_from_latest())
        assert stream.execute_and_collect(limit=3) == ["new"] * 3
    finally:
        ended.set()
        sender.join()


def test_records_are_written_and_read(broker, tmp_path):
    for semantic in Semantic:
        name = broker.topic()
        env = checkpointed(tmp_path / semantic.name)
        made = FlinkKafkaProducer(name, SimpleStringSchema(), {"bootstrap.servers": broker.servers}, semantic=semantic)
        env.from_collection(["a", "b"]).add_sink(made)
        env.execute()
        assert values(broker.records(name)) == ["a", "b"]


@pytest.mark.parametrize("written", [False, True])
def test_timestamps_are_written_if_so_wished(broker, written):
    name = broker.topic()
    env = make_env()
    made = FlinkKafkaProducer(name, First(), {"bootstrap.servers": broker.servers})
    assign_second_field(env.from_collection([("a", 1000)])).add_sink(made.set_write_timestamp_to_kafka(written))
    env.execute()
    ((_, time),) = read(make_env(), source(broker, name).set_deserializer(Stamp()).build())
    assert (time == 1000) == written


@pytest.mark.parametrize("only_logged", [False, True])
def test_failures_are_only_logged_if_so_wished(broker, caplog, only_logged):
    properties = {"bootstrap.servers": broker.servers, "topic.metadata.propagation.max.ms": "300"}
    made = FlinkKafkaProducer("nowhere-else", SimpleStringSchema(), properties).set_log_failures_only(only_logged)
    env = make_env()
    env.from_collection(["a"]).add_sink(made)
    if only_logged:
        with caplog.at_level(logging.ERROR):
            env.execute()
        assert "1 records were not written" in caplog.text
    else:
        with pytest.raises(KafkaConnectorError, match="1 records were not written"):
            env.execute()
