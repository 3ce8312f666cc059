"""Topics of Pulsar are read once, in the order of their partitions, whatever fails."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.pulsar.jobs import read, source, take
from tests.datastream.inline import make_env as inline_env
from tests.datastream.inline import move_every_epoch
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.connectors.pulsar.client import PulsarError
from flintstream.datastream.connectors.pulsar import PulsarSource, RangeGenerator, StartCursor, StopCursor
from flintstream.errors import PlanError
from flintstream.table import DataTypes as T
from flintstream.table.connectors import FormatDeserializationSchema

make_env = both_engines


def test_both_engines_read_all_partitions(server, make_env):
    topic = server.topic(3)
    texts = [str(number) for number in range(3000)]
    server.send(topic, texts)
    found = read(make_env(2), source(server, topic).build())
    assert sorted(map(int, found)) == list(range(3000))


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("moves", [False, True])
def test_nothing_is_lost_or_read_twice_and_partitions_stay_in_order(server, tmp_path, monkeypatch, parallelism, moves):
    if moves:
        move_every_epoch(monkeypatch)
    topic = server.topic(2)
    for partition in range(2):
        server.send(f"{topic}-partition-{partition}", [f"{partition}:{n}" for n in range(1000)])
    faults = Faults(tmp_path / "faults", [("map", text) for text in ("0:100", "1:999", "0:500", "1:501")])
    found = read(checkpointed(tmp_path, parallelism), source(server, topic).build(), FaultyMap(faults))
    for partition in range(2):
        assert [t for t in found if t.startswith(f"{partition}:")] == [f"{partition}:{n}" for n in range(1000)]
    assert len(found) == 2000
    assert faults.happened() == faults.planned()


def test_a_bounded_source_stops_at_an_empty_topic(server):
    assert read(inline_env(), source(server, server.topic(2)).build()) == []


def test_latest_reads_what_comes_after_the_start(server):
    topic = server.topic()
    server.send(topic, ["old"])
    built = source(server, topic, StopCursor.never()).set_start_cursor(StartCursor.latest()).build()
    sender = threading.Timer(2, server.send, (topic, ["new"]))
    sender.start()
    assert take(inline_env(), built, 1) == ["new"]
    sender.join()


def test_a_topic_can_be_read_from_a_message_or_from_a_time(server):
    topic = server.topic()
    ids = server.send_singly(topic, [(str(n), {}) for n in range(5)])
    third = ids[2].serialize()

    def from_cursor(cursor):
        return read(inline_env(), source(server, topic).set_start_cursor(cursor).build())

    assert from_cursor(StartCursor.from_message_id(third)) == ["2", "3", "4"]
    assert from_cursor(StartCursor.from_message_id(third, inclusive=False)) == ["3", "4"]
    assert from_cursor(StartCursor.from_message_id(ids[4].serialize(), inclusive=False)) == []
    time.sleep(0.05)
    now = int(time.time() * 1000)
    server.send(topic, ["5"])
    assert from_cursor(StartCursor.from_publish_time(now)) == ["5"]


def test_a_topic_can_be_read_up_to_a_message_or_a_time(server):
    topic = server.topic()
    ids = server.send_singly(topic, [(str(n), {"event_timestamp": 1000 + n}) for n in range(5)])
    third = ids[2].serialize()
    times = [message.publish_timestamp() for message in server.messages(topic)]

    def up_to(cursor):
        return read(inline_env(), source(server, topic, cursor).build())

    assert up_to(StopCursor.at_message_id(third)) == ["0", "1"]
    assert up_to(StopCursor.after_message_id(third)) == ["0", "1", "2"]
    assert up_to(StopCursor.at_event_time(1003)) == ["0", "1", "2"]
    assert up_to(StopCursor.after_event_time(1003)) == ["0", "1", "2", "3"]
    assert up_to(StopCursor.at_publish_time(times[3])) == [str(n) for n in range(5) if times[n] < times[3]]
    server.send(topic, ["5"])
    assert up_to(StopCursor.after_publish_time(times[4])) == ["0", "1", "2", "3", "4"]


def test_event_times_are_those_of_producers(server):
    topic = server.topic()
    server.send_singly(topic, [("a", {"event_timestamp": 1000}), ("b", {}), ("c", {"event_timestamp": 3000})])

    from flintstream.datastream.functions import ProcessFunction

    class Times(ProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    env = inline_env()
    stream = env.from_source(source(server, topic).build(), NO_WATERMARKS, "pulsar").process(Times())
    with stream.execute_and_collect() as found:
        times = dict(found)
    assert (times["a"], times["c"]) == (1000, 3000)
    assert times["b"] is None or times["b"] < 0


def test_a_pattern_finds_topics_and_later_new_ones_and_new_partitions(server):
    first, second = server.topic(1, "shop-"), server.topic(0, "shop-")
    server.topic(0, "other-")
    server.send(first, ["a"])
    server.send(second, ["b"])
    builder = source(server, None, StopCursor.never()).set_topic_pattern("shop-.*")
    built = builder.set_config("pulsar.source.partitionDiscoveryIntervalMs", 200).build()

    def later():
        time.sleep(2)
        server.send(server.topic(0, "shop-"), ["c"])
        server.rest("POST", f"persistent/public/default/{first}/partitions", 2)
        server.send(f"{first}-partition-1", ["d"])

    thread = threading.Thread(target=later)
    thread.start()
    assert sorted(take(inline_env(parallelism=2), built, 4)) == ["a", "b", "c", "d"]
    thread.join()


def test_a_subscription_notes_what_checkpoints_contain_and_continues_there(server, tmp_path):
    topic = server.topic()
    ids = server.send_singly(topic, [(str(n), {}) for n in range(10)])
    name = f"sub-{topic}"
    builder = source(server, topic, StopCursor.after_message_id(ids[4].serialize())).set_subscription_name(name)
    assert read(checkpointed(tmp_path), builder.build()) == ["0", "1", "2", "3", "4"]
    deadline = time.monotonic() + 20
    while server.noted(topic, name) != (ids[4].ledger_id(), ids[4].entry_id()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert read(inline_env(), source(server, topic).set_subscription_name(name).build()) == ["5", "6", "7", "8", "9"]
    again = source(server, topic).set_subscription_name(name).set_config("pulsar.source.resetSubscriptionCursor", True)
    assert len(read(inline_env(), again.build())) == 10


def test_only_messages_with_the_keys_are_read(server):
    topic = server.topic()
    keys = ["pear", "plum", None, "pear"]
    server.send_singly(topic, [(str(n), {"partition_key": key} if key else {}) for n, key in enumerate(keys)])
    pears = source(server, topic).set_range_generator(RangeGenerator.fixed_key(keys="pear"))
    assert read(inline_env(), pears.build()) == ["0", "3"]
    more = RangeGenerator.fixed_key(support_null_key=True, keys=["plum"])
    assert read(inline_env(), source(server, topic).set_range_generator(more).build()) == ["1", "2"]


def test_a_subscription_that_another_job_uses_is_refused(server, monkeypatch):
    from flintstream.connectors.pulsar import source as reading

    monkeypatch.setattr(reading, "START_SECONDS", 1.0)
    topic = server.topic()
    with server.client() as client:
        client.subscribe(topic, "taken")
        with pytest.raises(PulsarError, match=f"the subscription 'taken' of .*{topic} is used by another consumer"):
            read(inline_env(), source(server, topic).set_subscription_name("taken").build())


@pytest.mark.kills
@pytest.mark.deep
def test_a_broker_that_is_away_for_some_seconds_has_nothing_lost_or_read_twice(tmp_path, caplog):
    pytest.importorskip("pulsar", reason="pulsar-client is not installed")
    from tests.connectors.pulsar.server import NoServerError, Server

    try:
        own = Server(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no Pulsar on this machine: {error}")
    try:
        topic = own.topic(2)
        own.send(topic, [str(n) for n in range(2000)])
        built = source(own, topic, StopCursor.never()).set_config("pulsar.consumer.receiverQueueSize", 50).build()

        def restart():
            time.sleep(1.5)
            own.kill()
            time.sleep(3)
            own.start()
            own.send(topic, [str(n) for n in range(2000, 3000)])

        thread = threading.Thread(target=restart)
        thread.start()
        with caplog.at_level(logging.WARNING, logger="flintstream"):
            found = take(checkpointed(tmp_path), built, 3000)
        thread.join()
        assert sorted(map(int, found)) == list(range(3000))
        assert 1 <= len([r for r in caplog.records if "could not read" in r.getMessage()]) <= 2  # one for a partition
    finally:
        own.close()


def test_a_broker_that_is_missing_fails_the_job(monkeypatch):
    from flintstream.connectors.pulsar import source as reading

    monkeypatch.setattr(reading, "START_SECONDS", 0.5)

    class Nowhere:
        url, admin = "pulsar://127.0.0.1:1", ""

    built = source(Nowhere, "t").set_config("pulsar.client.operationTimeoutMs", 1000).build()
    with pytest.raises(PulsarError, match="cannot read persistent://public/default/t: "):
        read(inline_env(), built)


def test_mistakes_are_found_before_the_job_starts():
    from flintstream.common import SimpleStringSchema

    builder = PulsarSource.builder()
    with pytest.raises(PlanError, match="the source needs topics"):
        builder.build()
    builder.set_topic_pattern("a.*")
    with pytest.raises(PlanError, match="either topics or a pattern"):
        builder.set_topics("b")
    with pytest.raises(PlanError, match="the source needs a schema"):
        builder.build()
    builder.set_deserialization_schema(SimpleStringSchema())
    with pytest.raises(PlanError, match="the source needs a subscription"):
        builder.build()
    builder.set_subscription_name("s")
    with pytest.raises(PlanError, match="set the address of Pulsar"):
        builder.build()
    builder.set_service_url("pulsar://127.0.0.1:6650")
    with pytest.raises(PlanError, match="a pattern needs the admin URL"):
        builder.build()
    builder.set_admin_url("http://127.0.0.1:8080").set_config("pulsar.consumer.deadLetterPolicy", "x")
    with pytest.warns(UserWarning, match="'pulsar.consumer.deadLetterPolicy' has no effect"):
        builder.build()
    with pytest.raises(PlanError, match=r"the authentication '.*Kerberos' is unknown"):
        builder.set_authentication("Kerberos", "").build()
    with pytest.raises(PlanError, match="needs the parameter 'tlsCertFile'"):
        builder.set_authentication("AuthenticationTls", {"tlsKeyFile": "x"}).build()


def test_a_message_can_be_several_records_of_one_time(server):
    topic = server.topic()
    update = '{"op": "u", "before": {"id": 1, "name": "Ada"}, "after": {"id": 1, "name": "Ann"}}'
    server.send(topic, ['{"op": "c", "after": {"id": 1, "name": "Ada"}}', update])
    schema = FormatDeserializationSchema("debezium-json", T.ROW([T.FIELD("id", T.INT()), T.FIELD("name", T.STRING())]))
    found = read(inline_env(), source(server, topic).set_deserialization_schema(schema).build())
    assert [(str(row.get_row_kind()), row.name) for row in found] == [("+I", "Ada"), ("-U", "Ada"), ("+U", "Ann")]
