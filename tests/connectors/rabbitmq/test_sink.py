"""An RMQSink writes to a real server."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.jobs import checkpointed
from tests.connectors.rabbitmq.jobs import END, read, sink, source
from tests.datastream.inline import make_env
from tests.engine.conftest import maker

from flintstream.common.serialization import SerializationSchema, SimpleStringSchema
from flintstream.connectors.rabbitmq import sink as writing
from flintstream.connectors.rabbitmq.link import RabbitError
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.rabbitmq import RMQSink

TEXTS = [f"text {number}" for number in range(1000)]


def test_records_are_written_in_their_order(server):
    env = make_env()
    env.from_collection(TEXTS).add_sink(sink(server, "written"))
    env.execute()
    assert server.drain("written") == TEXTS


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_from_queue_to_queue_on_both_engines(server, engine, tmp_path):
    into, out = f"into {engine}", f"out of {engine}"
    server.send(into, [*TEXTS, END])
    settings = {
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = maker(engine)(2, settings)
    env.add_source(source(server, into, ids=True)).map(str.upper).sink_to(sink(server, out))
    env.execute()
    assert sorted(server.drain(out)) == sorted(text.upper() for text in TEXTS)


class WithId(RMQSink):
    def properties(self, value):
        return {"correlation_id": value, "headers": {"length": len(value)}}


def test_messages_have_the_properties_that_the_sink_gives_them_and_are_persistent(server):
    env = make_env()
    env.from_collection(["abc"]).sink_to(WithId(server.config, "properties", SimpleStringSchema()))
    env.execute()
    with server.channel() as channel:
        _, properties, body = channel.basic_get("properties", auto_ack=True)
    found = (body, properties.correlation_id, properties.headers, properties.delivery_mode)
    assert found == (b"abc", "abc", {"length": 3}, 2)


def test_an_epoch_ends_when_the_server_has_all(server, monkeypatch):
    monkeypatch.setattr(writing, "MOST_UNCONFIRMED", 10)
    writer = sink(server, "confirmed").create_writer(WriterContext(0, 1, "a"))
    for start in range(0, 1000, 50):
        writer.write(TEXTS[start : start + 50], None)
    writer.prepare_commit(end_of_input=False)
    with server.channel() as channel:
        assert channel.queue_declare("confirmed", durable=True).method.message_count == 1000
    writer.close()
    assert server.drain("confirmed") == TEXTS


def test_a_queue_that_is_gone_is_an_error(server):
    writer = sink(server, "gone").create_writer(WriterContext(0, 1, "a"))
    with server.channel() as channel:
        channel.queue_delete("gone")
    writer.write(["a"], None)
    with pytest.raises(RabbitError, match="a message was not written to the queue 'gone': NO_ROUTE"):
        writer.prepare_commit(end_of_input=False)
    writer.close()


class Full(RMQSink):
    def setup_queue(self, channel):
        channel.queue_declare("full", durable=True, arguments={"x-max-length": 2, "x-overflow": "reject-publish"})


def test_a_message_that_the_server_refuses_is_an_error(server):
    writer = Full(server.config, "full", SimpleStringSchema()).create_writer(WriterContext(0, 1, "a"))
    writer.write(["a", "b", "c", "d", "e"], None)
    with pytest.raises(RabbitError, match="queue 'full': the server rejected a message"):
        writer.prepare_commit(end_of_input=False)
    writer.close()


def lose(writer):
    link = writer._publisher._link
    link.call(lambda channel: channel.connection.close(320, "lost on purpose"))
    with link.changed:
        assert link.changed.wait_for(lambda: link.failure, 300)


def test_what_was_on_its_way_when_the_connection_was_lost_is_sent_again(server):
    writer = sink(server, "lost").create_writer(WriterContext(0, 1, "a"))
    writer.write(["a"], None)
    writer.prepare_commit(end_of_input=False)
    lose(writer)
    writer.write(["b"], None)
    writer.prepare_commit(end_of_input=False)
    lose(writer)
    writer._publisher._left[99] = (b"c", None)
    writer.write(["d"], None)
    writer.prepare_commit(end_of_input=False)
    writer.close()
    assert server.drain("lost") == ["a", "b", "c", "d"]


def test_without_recovery_or_with_a_queue_that_is_gone_a_lost_connection_fails_the_epoch(server):
    config = server.builder().set_automatic_recovery(False).build()
    writer = RMQSink(config, "failing", SimpleStringSchema()).create_writer(WriterContext(0, 1, "a"))
    lose(writer)
    with pytest.raises(RabbitError, match=r"queue 'failing' .*lost on purpose"):
        writer.write(["a"], None)
    writer.close()

    writer = Passive(server.config, "lost", SimpleStringSchema()).create_writer(WriterContext(0, 1, "a"))
    with server.channel() as channel:
        channel.queue_delete("lost")
    lose(writer)
    with pytest.raises(RabbitError, match=r"queue 'lost' .*NOT_FOUND"):
        writer.write(["a"], None)
    writer.close()


class Passive(RMQSink):
    def setup_queue(self, channel):
        channel.queue_declare("lost", durable=True, passive=True)


class Nothing(SerializationSchema):
    def serialize(self, element):
        return None


def test_a_record_that_is_no_message_is_named(server):
    env = make_env()
    env.from_collection(["a"]).sink_to(RMQSink(server.config, "none", Nothing()))
    with pytest.raises(TypeError, match="the serialization schema returned None for 'a'"):
        env.execute()


def test_what_was_written_with_checkpoints_can_be_read_again(server, tmp_path):
    env = checkpointed(tmp_path, 2)
    env.from_collection([*TEXTS]).add_sink(sink(server, "again"))
    env.execute()
    server.send("again", [END])
    assert sorted(read(make_env(), source(server, "again"))) == sorted(TEXTS)
