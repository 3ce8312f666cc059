"""Endless Kafka streams: new partitions, checkpoints, event time, a broker that is down for a while."""

from __future__ import annotations

import threading
import time

import pytest
from tests.connectors.kafka.broker import Broker, send
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed, sink, source
from tests.datastream.inline import make_env, move_every_epoch
from tests.engine.faults import Faults, FaultyMap
from tests.waiting import SECONDS, wait_for, wait_for_numbers

from flintstream.common import Duration, Time, Types
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from flintstream.connectors.kafka import reader
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource, KafkaTopicPartition
from flintstream.datastream.window import TumblingEventTimeWindows


def unbounded(broker, topic, stop=None, **properties):
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_properties(properties)
    builder.set_value_only_deserializer(source(broker)._deserializer.schema)
    if stop is not None:
        offsets = {KafkaTopicPartition(topic, number): offset for number, offset in enumerate(stop)}
        builder.set_unbounded(KafkaOffsetsInitializer.offsets(offsets))
        builder.set_property("partition.discovery.interval.ms", "-1")
    return builder


def take(stream, count, seconds=SECONDS):
    """Return the first records of an endless stream."""
    found, until = [], time.monotonic() + seconds
    with stream.execute_and_collect() as records:
        for record in records:
            found.append(record)
            if len(found) == count or time.monotonic() > until:
                return found
    return found


def test_partitions_and_topics_that_come_later_are_read_from_their_beginning(broker):
    first = broker.topic("later-1")
    send(broker, first, ["old"])
    built = unbounded(broker, "", **{"partition.discovery.interval.ms": "100"}).set_topic_pattern("later-.*")
    built.set_starting_offsets(KafkaOffsetsInitializer.latest())
    found = []
    with make_env(parallelism=2).from_source(built.build(), NO_WATERMARKS, "kafka").execute_and_collect() as records:
        wait_for_numbers(records._client, numEpochs=1)  # the first topic has been found
        send(broker, first, ["new"])
        found.append(next(iter(records)))
        second = broker.topic("later-2", partitions=2)
        send(broker, second, ["first of a topic"], 1)
        found.append(next(iter(records)))
    assert found == ["new", "first of a topic"]


def test_a_stream_with_stopping_offsets_ends(broker):
    topic = broker.topic(partitions=2)
    send(broker, topic, ["a", "b", "c"])
    send(broker, topic, ["d"], 1)
    stream = make_env().from_source(unbounded(broker, topic, (2, 1)).set_topics(topic).build(), NO_WATERMARKS, "kafka")
    assert sorted(take(stream, 100)) == ["a", "b", "d"]


@pytest.mark.parametrize("moving", [False, True], ids=["one process", "another process for each epoch"])
def test_every_record_counts_once_after_failures(broker, tmp_path, monkeypatch, moving):
    if moving:
        move_every_epoch(monkeypatch)
    topic = broker.topic(partitions=3)
    for partition in range(3):
        send(broker, topic, [str(number) for number in range(partition, 900, 3)], partition)
    faults = Faults(tmp_path / "faults", [("map", str(number)) for number in (5, 400, 899)])
    env = checkpointed(tmp_path, 2)
    stream = env.from_source(unbounded(broker, topic, (300,) * 3).set_topics(topic).build(), NO_WATERMARKS, "kafka")
    out = broker.topic()
    stream.map(FaultyMap(faults)).sink_to(sink(broker, out, DeliveryGuarantee.EXACTLY_ONCE).build())
    env.execute()
    assert faults.happened() == faults.planned()
    assert sorted(int(value) for _, _, value in broker.records(out)) == list(range(900))


def test_a_savepoint_keeps_positions_and_partitions(broker, tmp_path):
    topic = broker.topic(partitions=2)
    send(broker, topic, ["1", "2"])
    out = broker.topic()

    def env_from(path):
        settings = {"execution.state-recovery.path": path} if path else {}
        env = checkpointed(tmp_path, **settings)
        built = unbounded(broker, topic).set_topics(topic).build()
        stream = env.from_source(built, NO_WATERMARKS, "kafka").uid("kafka")
        stream.sink_to(sink(broker, out, DeliveryGuarantee.EXACTLY_ONCE).build()).uid("out")
        return env

    for path, sent in ((None, 2), (str(tmp_path / "0"), 4)):
        client = env_from(path).execute_async()
        wait_for(lambda sent=sent: len(broker.records(out)) >= sent, client)
        client.stop_with_savepoint(False, str(tmp_path / "made")).result()
        if path is None:
            next((tmp_path / "made").iterdir()).rename(tmp_path / "0")
            send(broker, topic, ["3"], 0)
            send(broker, topic, ["4"], 1)
    assert sorted(value for _, _, value in broker.records(out)) == [b"1", b"2", b"3", b"4"]


def test_no_record_is_late_because_another_partition_was_read_before(broker):
    topic = broker.topic(partitions=3)
    for partition in range(3):
        for second in range(20):
            send(broker, topic, [f"{partition}"], partition, timestamp=1000 * second + 1)
    built = source(broker, topic).build()
    stream = make_env().from_source(built, WatermarkStrategy.for_monotonous_timestamps(), "kafka")
    counted = stream.map(lambda text: (text, 1), Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda pair: pair[0]
    )
    windows = counted.window(TumblingEventTimeWindows.of(Time.seconds(5))).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert sorted(take(windows, 12)) == sorted([(f"{n}", 5) for n in range(3)] * 4)


@pytest.mark.deep
@pytest.mark.slow
def test_a_broker_that_is_away_for_a_while_holds_a_job_up_and_no_more(tmp_path, broker):
    own = Broker(tmp_path / "broker")
    try:
        topic, out = own.topic(), own.topic()
        env = checkpointed(tmp_path)
        stream = env.from_source(unbounded(own, topic, (300,)).set_topics(topic).build(), NO_WATERMARKS, "kafka")
        stream.sink_to(sink(own, out, DeliveryGuarantee.EXACTLY_ONCE).build())
        client = env.execute_async()
        send(own, topic, map(str, range(100)))

        def away():
            own.kill()
            time.sleep(2)
            own.start()
            send(own, topic, map(str, range(100, 300)))

        absence = threading.Thread(target=away)
        absence.start()
        absence.join()
        client.get_job_execution_result().result()
        assert [int(value) for _, _, value in own.records(out)] == list(range(300))
    finally:
        own.close()


class AsNumber(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value)


def test_a_partition_that_waits_for_another_does_not_keep_it_from_being_read(broker, monkeypatch):
    monkeypatch.setattr(reader, "MOST_WAITING", 500)
    topic = broker.topic(partitions=2)
    send(broker, topic, [str(number * 1000) for number in range(3000)], 0)
    send(broker, topic, [str(number) for number in range(3000)], 1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(AsNumber())
    strategy = strategy.with_watermark_alignment("group", Duration.of_seconds(1), Duration.of_millis(20))
    built = unbounded(broker, topic, [3000, 3000]).set_topics(topic)
    built.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    env = make_env(settings={"flintstream.epoch.idle-duration": "10"})
    with env.from_source(built.build(), strategy, "kafka").execute_and_collect() as records:
        found = list(map(int, records))
    assert sorted(found) == sorted([*range(3000), *range(0, 3_000_000, 1000)])
