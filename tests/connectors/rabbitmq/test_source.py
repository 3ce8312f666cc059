"""An RMQSource reads from a real server."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.jobs import checkpointed
from tests.connectors.rabbitmq.jobs import END, UntilEnd, read, source
from tests.datastream.inline import make_env

from flintstream.connectors.rabbitmq import receiver
from flintstream.connectors.rabbitmq.link import RabbitError
from flintstream.connectors.rabbitmq.source import RabbitReader, RabbitSplit
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.rabbitmq import RMQSource
from flintstream.datastream.functions import MapFunction
from flintstream.errors import notes
from flintstream.table import DataTypes as T
from flintstream.table.connectors import FormatDeserializationSchema

TEXTS = [str(number) for number in range(1000)]


def test_a_queue_is_read_in_its_order(server):
    server.send("order", [*TEXTS, END])
    assert read(make_env(), source(server, "order")) == TEXTS


def test_a_queue_that_is_not_there_is_declared_and_messages_that_come_later_are_read(server):
    with make_env().add_source(source(server, "later")).execute_and_collect() as found:
        for _ in range(200):
            try:
                server.send("later", ["first"])
                break
            except OSError:
                continue
        assert next(found) == "first"
        server.send("later", ["second", END])
        assert list(found) == ["second"]


def test_several_subtasks_share_a_queue(server):
    server.send("shared", [*TEXTS, END])
    assert sorted(read(make_env(parallelism=3), source(server, "shared"))) == sorted(TEXTS)


def test_without_checkpoints_what_was_read_is_acknowledged(server):
    server.send("without", [*TEXTS, END, "not read"])
    read(make_env(), source(server, "without"))
    assert server.drain("without") == [END, "not read"]


def test_with_checkpoints_what_was_read_is_acknowledged_at_last(server, tmp_path):
    server.send("with", [*TEXTS, END, "not read"])
    assert read(checkpointed(tmp_path), source(server, "with")) == TEXTS
    assert server.drain("with") == [END, "not read"]


class Fail(MapFunction):
    def __init__(self, at):
        self.at = at

    def map(self, value):
        if value == self.at:
            raise ValueError("on purpose")
        return value


@pytest.mark.parametrize("ids", [True, False])
def test_what_no_checkpoint_contains_goes_back_to_the_queue(server, tmp_path, ids):
    server.send("back", TEXTS)
    settings = {"execution.checkpointing.interval": "1 h", "restart-strategy.type": "none"}
    env = checkpointed(tmp_path, **settings)
    env.add_source(source(server, "back", ids=ids)).map(Fail("999")).print()
    with pytest.raises(ValueError, match="on purpose"):
        env.execute()
    assert server.drain("back") == TEXTS


def test_more_is_read_between_two_checkpoints_than_is_sent_ahead(server, tmp_path, monkeypatch):
    monkeypatch.setattr(receiver, "WINDOW", 10)
    server.send("windows", [*TEXTS, END])
    env = checkpointed(tmp_path, **{"execution.checkpointing.interval": "1 h"})
    assert read(env, source(server, "windows")) == TEXTS


def test_a_prefetch_count_makes_the_job_wait_for_its_checkpoints(server, tmp_path):
    server.send("prefetched", [*TEXTS[:50], END])
    config = server.builder().set_prefetch_count(10).build()
    assert read(checkpointed(tmp_path), source(server, "prefetched", config=config)) == TEXTS[:50]


def test_a_message_without_a_correlation_id_is_an_error_if_there_should_be_one(server, tmp_path):
    server.send("no ids", ["a"], ids=False)
    with pytest.raises(RabbitError, match="a message of the queue 'no ids' has no correlation id"):
        read(checkpointed(tmp_path, **{"restart-strategy.type": "none"}), source(server, "no ids", ids=True))


def test_without_checkpoints_nobody_asks_for_correlation_ids(server):
    server.send("unasked", ["a", END], ids=False)
    assert read(make_env(), source(server, "unasked", ids=True)) == ["a"]


class Numbers(UntilEnd):
    def deserialize(self, message):
        text = super().deserialize(message)
        if text == END:
            return text
        return int(text) or None

    def get_produced_type(self):
        return None


def test_what_a_schema_reads_as_none_is_skipped_and_what_it_cannot_read_named_by_its_queue(server):
    server.send("numbers", ["0", "1", "2", END, "x"])
    numbers = RMQSource(server.config, "numbers", False, Numbers())
    assert read(make_env(), numbers) == [1, 2]
    server.drain("numbers")
    server.send("numbers", ["x", END])
    with pytest.raises(ValueError, match="invalid literal") as caught:
        read(make_env(), numbers)
    assert "while reading a message of the queue 'numbers' of RabbitMQ" in notes(caught.value)


def test_a_queue_of_another_kind_is_read_if_the_source_declares_it_so(server):
    with server.channel() as channel:
        channel.queue_declare("transient", durable=False)
        for text in ("a", END):
            channel.basic_publish("", "transient", text.encode())
        with pytest.raises(RabbitError, match=r"cannot read from the queue 'transient' .*PRECONDITION_FAILED"):
            read(make_env(), source(server, "transient"))

        class Transient(RMQSource):
            def setup_queue(self, channel):
                channel.queue_declare("transient", durable=False)

        assert read(make_env(), Transient(server.config, "transient", False, UntilEnd())) == ["a"]


def test_a_queue_that_is_deleted_fails_the_job(server):
    config = server.builder().set_automatic_recovery(False).build()
    server.send("deleted", ["a"])
    with make_env().add_source(source(server, "deleted", config=config)).execute_and_collect() as found:
        assert next(found) == "a"
        with server.channel() as channel:
            channel.queue_delete("deleted")
        with pytest.raises(RabbitError, match=r"queue 'deleted' .*the queue was deleted"):
            next(found)


def test_a_server_that_cannot_be_reached_is_named(server):
    config = server.builder().set_port(1).build()
    with pytest.raises(RabbitError, match=r"cannot read from the queue 'q' of RabbitMQ at 127.0.0.1:1: "):
        read(make_env(), source(server, "q", config=config))
    config = server.builder().set_password("wrong").build()
    with pytest.raises(RabbitError, match="ACCESS_REFUSED"):
        read(make_env(), source(server, "q", config=config))


def test_a_uri_says_the_same_as_host_port_and_password(server):
    config = server.builder().set_uri(f"amqp://guest:guest@127.0.0.1:{server.port}/%2F").build()
    server.send("by uri", ["a", END])
    assert read(make_env(), source(server, "by uri", config=config)) == ["a"]


def test_a_reader_reads_one_split_after_the_other(server):
    reader = RabbitReader(source(server, "q")._input())
    first, second = RabbitSplit("1", [b"a", b"b", b"c"]), RabbitSplit("2", [b"d"])
    reading = reader.read(first, Fetch(2))
    assert next(reading) == ["a", "b"]
    with pytest.raises(StopIteration) as waits:
        next(reader.read(second, Fetch(2)))
    assert waits.value.value is False
    assert first.messages == [b"c"]
    reading.close()  # the epoch ends, and another process continues both
    assert list(reader.read(first, Fetch(2))) == [["c"]]
    assert list(reader.read(second, Fetch(2))) == [["d"]]


class UntilGone(FormatDeserializationSchema):
    """Read changes of users until one of them has no name."""

    def is_end_of_stream(self, element):
        return element.name is None


def test_a_message_can_be_several_records_and_one_of_them_can_end_the_stream(server):
    changes = [
        '{"op": "c", "after": {"id": 1, "name": "Ada"}}',
        '{"op": "u", "before": {"id": 1, "name": "Ada"}, "after": {"id": 1, "name": "Ann"}}',
        '{"op": "u", "before": {"id": 1, "name": "Ann"}, "after": {"id": 1, "name": null}}',
    ]
    server.send("several", changes)
    schema = UntilGone("debezium-json", T.ROW([T.FIELD("id", T.INT()), T.FIELD("name", T.STRING())]))
    found = read(make_env(), RMQSource(server.config, "several", False, schema))
    assert [(str(row.get_row_kind()), row.name) for row in found] == [("+I", "Ada"), ("-U", "Ada"), ("+U", "Ann")]
