"""With enhanced fan-out, records are pushed. Each is read once, whatever ends subscriptions, splits shards or fails."""

from __future__ import annotations

import logging

import pytest
from tests.connectors.aws.conftest import CREDENTIALS, Kinesis
from tests.connectors.aws.pushing import Pushing
from tests.connectors.aws.test_aggregated import send as send_aggregated
from tests.connectors.aws.test_source import consumer, read
from tests.connectors.kafka.jobs import checkpointed
from tests.datastream.inline import make_env
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import SimpleStringSchema
from flintstream.connectors.aws import fan_out
from flintstream.connectors.aws.client import AwsError
from flintstream.connectors.aws.fan_out import FanOut, find_consumer
from flintstream.connectors.aws.properties import fan_out_of
from flintstream.datastream.connectors.kinesis import FlinkKinesisConsumer
from flintstream.errors import PlanError

EFO = {"source.reader.type": "EFO", "source.efo.consumer.name": "reader"}
OLDER = {"flink.stream.recordpublisher": "EFO", "flink.stream.efo.consumername": "reader"}


class Served(Kinesis):
    """A client of the server."""

    def __init__(self, pushing):
        super().__init__(pushing.endpoint)
        self.pushing = pushing


@pytest.fixture(scope="module")
def pushing(moto):
    """Moto with SubscribeToShard, and the server in front of it."""
    server = Pushing(moto.endpoint, moto.client)
    yield Served(server)
    server.close()


def consumers(server, stream):
    arn = server.client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamARN"]
    return server.client.list_stream_consumers(StreamARN=arn)["Consumers"]


@pytest.mark.parametrize(("parallelism", "names"), [(1, EFO), (3, OLDER)])
def test_each_record_is_read_once_in_the_order_of_its_shard(pushing, parallelism, names):
    stream = f"pushed-{parallelism}"
    pushing.create(stream, 2)
    texts = [f"{n % 7}:{n}" for n in range(900)]
    pushing.send(stream, texts, key=lambda text: text.partition(":")[0])
    found = read(make_env(parallelism=parallelism), consumer(pushing, stream, **names), len(texts))
    assert sorted(found) == sorted(texts)
    for key in range(7):
        assert [t for t in found if t.startswith(f"{key}:")] == [t for t in texts if t.startswith(f"{key}:")]
    assert consumers(pushing, stream) == []


def test_a_subscription_that_has_ended_continues_behind_the_last_event(pushing, caplog):
    pushing.create("continued", 1)
    pushing.send("continued", map(str, range(100)))
    pushing.pushing.positions.clear()
    env = make_env()
    with env.add_source(consumer(pushing, "continued", **EFO)).execute_and_collect() as found:
        first = [next(found) for _ in range(100)]
        while len(pushing.pushing.positions) < 3:
            pass
        pushing.send("continued", ["later"])
        assert [*first, next(found)] == [*map(str, range(100)), "later"]
    begin, *rest = pushing.pushing.positions
    assert begin == {"Type": "TRIM_HORIZON"}
    assert {position["Type"] for position in rest} == {"AFTER_SEQUENCE_NUMBER"}
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_subscriptions_that_break_within_an_event_lose_and_repeat_nothing(pushing, monkeypatch):
    pushing.create("broken", 1)
    pushing.send("broken", map(str, range(500)))
    monkeypatch.setattr(pushing.pushing, "cut", 3)
    found = read(make_env(), consumer(pushing, "broken", **EFO), 500)
    assert list(map(int, found)) == list(range(500))


def test_resharding_during_failures_loses_and_repeats_nothing(pushing, tmp_path):
    pushing.create("pushed-failing", 2)
    texts = [str(n) for n in range(1200)]
    pushing.send("pushed-failing", texts[:600])
    pushing.split("pushed-failing", pushing.shards("pushed-failing")[0])
    pushing.send("pushed-failing", texts[600:])
    faults = Faults(tmp_path / "faults", [("map", text) for text in ("100", "599", "601", "900")])
    env = checkpointed(tmp_path, 2)
    found = read(env, consumer(pushing, "pushed-failing", **EFO), len(texts), FaultyMap(faults))
    assert sorted(map(int, found)) == list(range(1200))
    assert faults.happened() == faults.planned()


def test_failures_within_aggregated_records_lose_and_repeat_nothing(pushing, tmp_path):
    pushing.create("pushed-aggregated", 1)
    send_aggregated(pushing, "pushed-aggregated", [("k", str(n)) for n in range(600)])
    faults = Faults(tmp_path / "faults", [("map", text) for text in ("50", "333")])
    env = checkpointed(tmp_path)
    found = read(env, consumer(pushing, "pushed-aggregated", **EFO), 600, FaultyMap(faults))
    assert list(map(int, found)) == list(range(600))
    assert faults.happened() == faults.planned()


def test_a_consumer_of_the_user_remains_and_must_be_there(pushing, monkeypatch):
    pushing.create("own", 1)
    pushing.send("own", ["a", "b"])
    own = {**EFO, "source.efo.lifecycle": "SELF_MANAGED"}
    with pytest.raises(Exception, match="the stream 'own' has no consumer 'reader' for enhanced fan-out"):
        read(make_env(), consumer(pushing, "own", **own), 1)
    arn = pushing.client.describe_stream_summary(StreamName="own")["StreamDescriptionSummary"]["StreamARN"]
    made = pushing.client.register_stream_consumer(StreamARN=arn, ConsumerName="reader")["Consumer"]["ConsumerARN"]
    assert read(make_env(), consumer(pushing, "own", **own), 2) == ["a", "b"]
    by_arn = {**OLDER, "flink.stream.efo.registration": "NONE", "flink.stream.efo.consumerarn.own": made}
    assert read(make_env(), consumer(pushing, "own", **by_arn), 2) == ["a", "b"]
    assert [found["ConsumerARN"] for found in consumers(pushing, "own")] == [made]

    monkeypatch.setattr(fan_out, "REGISTER_SECONDS", 0.3)
    busy = {"ConsumerDescription": {"ConsumerARN": made, "ConsumerStatus": "CREATING"}}
    monkeypatch.setattr(pushing.client, "describe_stream_consumer", lambda **_: busy)
    with pytest.raises(AwsError, match="the consumer 'reader' of 'own' is not active after"):
        find_consumer(pushing.client, "own", FanOut("reader"), registers=True)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"source.reader.type": "EFO"}, "needs the name of a consumer in 'source.efo.consumer.name'"),
        ({"flink.stream.recordpublisher": "efo"}, "needs the name of a consumer in 'flink.stream.efo.consumername'"),
        ({"source.reader.type": "PUSHING"}, "'source.reader.type' must be one of POLLING, EFO, got 'PUSHING'"),
        ({**EFO, "source.efo.lifecycle": "NONE"}, "'source.efo.lifecycle' must be one of JOB_MANAGED, SELF_MANAGED"),
        (
            {**OLDER, "flink.stream.efo.registration": "NONE"},
            "'flink.stream.efo.consumerarn.orders' must be the ARN of the consumer",
        ),
    ],
)
def test_mistakes_in_properties_are_found_when_the_source_is_built(properties, message):
    with pytest.raises(PlanError, match=message):
        FlinkKinesisConsumer("orders", SimpleStringSchema(), {**CREDENTIALS, **properties})


def test_without_the_property_records_are_asked_for():
    assert fan_out_of({"source.reader.type": "POLLING"}, ["orders"]) is None
