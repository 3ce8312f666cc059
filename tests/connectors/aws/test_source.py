"""Streams of Kinesis are read once, in the order of their shards, through resharding and failures."""

from __future__ import annotations

import threading
import time

import pytest
from tests.connectors.aws.conftest import CREDENTIALS
from tests.connectors.kafka.jobs import checkpointed
from tests.datastream.inline import make_env
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import SimpleStringSchema
from flintstream.connectors.aws.properties import limit_of
from flintstream.datastream.connectors.kinesis import FlinkKinesisConsumer, KinesisDeserializationSchema
from flintstream.errors import PlanError
from flintstream.table import DataTypes as T
from flintstream.table.connectors import FormatDeserializationSchema

FAST = {"flink.shard.getrecords.intervalmillis": "1", "flink.shard.discovery.intervalmillis": "50"}


def consumer(server, stream, start="TRIM_HORIZON", schema=None, **more):
    properties = {**server.properties, **FAST, "flink.stream.initpos": start, **more}
    return FlinkKinesisConsumer(stream, schema or SimpleStringSchema(), properties)


def read(env, built, count, *steps):
    stream = env.add_source(built)
    for step in steps:
        stream = stream.map(step)
    with stream.execute_and_collect() as found:
        return [next(found) for _ in range(count)]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_each_record_is_read_once_in_the_order_of_its_shard(server, parallelism):
    stream = f"plain-{parallelism}"
    server.create(stream, 2)
    texts = [f"{n % 7}:{n}" for n in range(1500)]
    server.send(stream, texts, key=lambda text: text.partition(":")[0])
    found = read(make_env(parallelism=parallelism), consumer(server, stream), len(texts))
    assert sorted(found) == sorted(texts)
    for key in range(7):
        assert [t for t in found if t.startswith(f"{key}:")] == [t for t in texts if t.startswith(f"{key}:")]


def test_children_follow_their_parents_after_a_split_and_a_merge(server):
    server.create("reshaped", 1)
    texts = [f"{n % 5}:{n}" for n in range(900)]
    key = lambda text: text.partition(":")[0]  # noqa: E731
    server.send("reshaped", texts[:300], key)
    server.split("reshaped", server.shards("reshaped")[0])
    server.send("reshaped", texts[300:600], key)
    server.merge("reshaped", *server.shards("reshaped")[1:])
    server.send("reshaped", texts[600:], key)
    found = read(make_env(parallelism=2), consumer(server, "reshaped"), len(texts))
    for number in range(5):
        of_key = [text for text in texts if text.startswith(f"{number}:")]
        assert [text for text in found if text.startswith(f"{number}:")] == of_key


@pytest.mark.parametrize("parallelism", [1, 2])
def test_resharding_during_failures_loses_and_repeats_nothing(server, tmp_path, parallelism):
    stream = f"failing-{parallelism}"
    server.create(stream, 2)
    texts = [str(n) for n in range(2000)]
    server.send(stream, texts[:1000])
    server.split(stream, server.shards(stream)[0])
    server.send(stream, texts[1000:])
    faults = Faults(tmp_path / "faults", [("map", text) for text in ("100", "999", "1001", "1700")])
    env = checkpointed(tmp_path, parallelism)
    found = read(env, consumer(server, stream), len(texts), FaultyMap(faults))
    assert sorted(map(int, found)) == list(range(2000))
    assert faults.happened() == faults.planned()


def test_latest_reads_what_comes_after_the_start(moto):  # kinesalite does not answer a read from a time
    moto.create("later", 1)
    moto.send("later", ["old"])
    time.sleep(0.05)
    sender = threading.Timer(2, moto.send, ("later", ["new"]))
    sender.start()
    assert read(make_env(), consumer(moto, "later", "LATEST"), 1) == ["new"]
    sender.join()


def test_a_timestamp_skips_what_came_earlier(moto):
    moto.create("times", 1)
    moto.send("times", ["old"])
    time.sleep(0.05)
    now = time.time()
    moto.send("times", ["new"])
    built = consumer(moto, "times", "AT_TIMESTAMP", **{"flink.stream.initpos.timestamp": str(now)})
    assert read(make_env(), built, 1) == ["new"]


def test_the_names_of_the_newer_source_do_the_same(moto):
    moto.create("newer", 1)
    moto.send("newer", ["a"])
    built = FlinkKinesisConsumer(
        "newer", SimpleStringSchema(), {**moto.properties, "source.init.position": "TRIM_HORIZON"}
    )
    assert read(make_env(), built, 1) == ["a"]


def test_a_schema_of_complete_records_gets_key_shard_and_time(moto):
    class Whole(KinesisDeserializationSchema):
        def deserialize(self, message):
            return (message.data, message.partition_key, message.stream, message.timestamp > 1_600_000_000_000)

    moto.create("whole", 1)
    moto.send("whole", ["a"], key=lambda _: "k")
    assert read(make_env(), consumer(moto, "whole", schema=Whole()), 1) == [(b"a", "k", "whole", True)]


@pytest.mark.parametrize("key", ["flink.shard.getrecords.maxrecordcount", "source.shard.get-records.max-record-count"])
def test_the_number_of_records_in_an_answer_is_limited_by_the_service(key):
    assert limit_of({key: "7"}) == 7
    with pytest.raises(PlanError, match=f"'{key}' must be from 1 to 10000, got '10001'"):
        limit_of({key: "10001"})


def test_secrets_are_not_in_the_text_of_a_source():
    properties = {**CREDENTIALS, "aws.credentials.provider.basic.secretkey": "very-secret"}
    consumer = FlinkKinesisConsumer("orders", SimpleStringSchema(), properties)
    assert "very-secret" not in f"{consumer!r}{consumer._input!r}{consumer._input.access!r}"


def test_a_stream_that_is_missing_is_named(moto):
    with pytest.raises(Exception, match="the stream 'nowhere' does not exist"):
        read(make_env(), consumer(moto, "nowhere"), 1)


def test_a_message_can_be_several_records(server):
    server.create("changes", 1)
    update = '{"op": "u", "before": {"id": 1, "name": "Ada"}, "after": {"id": 1, "name": "Ann"}}'
    server.send("changes", ['{"op": "c", "after": {"id": 1, "name": "Ada"}}', update], lambda _: "one")
    schema = FormatDeserializationSchema("debezium-json", T.ROW([T.FIELD("id", T.INT()), T.FIELD("name", T.STRING())]))
    found = read(make_env(), consumer(server, "changes", schema=schema), 3)
    assert [(str(row.get_row_kind()), row.name) for row in found] == [("+I", "Ada"), ("-U", "Ada"), ("+U", "Ann")]
