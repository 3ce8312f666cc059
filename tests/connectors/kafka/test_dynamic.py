"""A DynamicKafkaSource reads from a real broker, which serves as several clusters."""

from __future__ import annotations

import json

import pytest
from tests.connectors.kafka.broker import committed, send
from tests.connectors.kafka.jobs import LATEST, NO_WATERMARKS, checkpointed, read
from tests.datastream.inline import MODES, make_env

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.datastream.connectors.dynamic_kafka import (
    ClusterMetadata,
    DynamicKafkaSource,
    KafkaMetadataService,
    KafkaStream,
    KafkaStreamSetSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
from flintstream.errors import PlanError


class FromFile(KafkaMetadataService):
    """Metadata service that reads the topics and clusters of the streams from a file."""

    def __init__(self, path, servers):
        self.path = path
        self.servers = servers

    def write(self, streams):
        self.path.with_suffix(".new").write_text(json.dumps(streams))
        self.path.with_suffix(".new").rename(self.path)

    def get_all_streams(self):
        properties = {"bootstrap.servers": self.servers}
        return [
            KafkaStream(name, {c: ClusterMetadata(frozenset(topics), properties) for c, topics in clusters.items()})
            for name, clusters in json.loads(self.path.read_text()).items()
        ]

    def describe_streams(self, stream_ids):
        return {stream.stream_id: stream for stream in self.get_all_streams() if stream.stream_id in stream_ids}


def builder(service):
    found = DynamicKafkaSource.builder().set_kafka_metadata_service(service)
    return found.set_value_only_deserializer(SimpleStringSchema())


def single(broker):
    return SingleClusterTopicMetadataService("one", {"bootstrap.servers": broker.servers})


@pytest.fixture
def topics(broker):
    """Three topics, each with texts that start with its number."""
    names = [broker.topic(partitions=2) for _ in range(3)]
    for number, name in enumerate(names):
        for partition in (0, 1):
            send(broker, name, [f"{number}-{partition}-{n}" for n in range(5)], partition)
    return names


def texts(*numbers):
    return sorted(f"{number}-{partition}-{n}" for number in numbers for partition in (0, 1) for n in range(5))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_streams_that_are_topics_of_one_cluster_are_read(broker, topics, mode, parallelism):
    source = builder(single(broker)).set_stream_ids({topics[0], topics[2]}).set_bounded(LATEST).build()
    assert sorted(read(make_env(mode, parallelism), source)) == texts(0, 2)


def test_streams_whose_id_matches_are_read(broker, topics):
    source = builder(single(broker)).set_stream_pattern(f"{topics[0][-8:]}|^{topics[1]}$").set_bounded(LATEST).build()
    assert sorted(read(make_env(), source)) == texts(0, 1)


def test_a_stream_of_several_clusters_is_read_and_each_group_told(broker, topics, tmp_path):
    service = FromFile(tmp_path / "streams", broker.servers)
    service.write({"orders": {"east": [topics[0]], "west": [topics[0], topics[1]]}, "other": {"east": [topics[2]]}})
    source = builder(service).set_stream_ids({"orders"}).set_bounded(LATEST).set_group_id(topics[0]).build()
    assert sorted(read(checkpointed(tmp_path, 2), source)) == sorted([*texts(0), *texts(0), *texts(1)])
    assert [committed(broker, topics[0], topic) for topic in topics] == [5, 5, -1001]


def test_streams_come_and_go_while_the_job_runs(broker, topics, tmp_path):
    service = FromFile(tmp_path / "streams", broker.servers)
    service.write({"a": {"east": [topics[0]]}})
    source = builder(service).set_stream_pattern(".*").set_property("stream-metadata-discovery-interval-ms", "50")
    stream = make_env(parallelism=2).from_source(source.build(), NO_WATERMARKS, "dynamic")
    with stream.execute_and_collect() as found:
        assert sorted(next(found) for _ in range(10)) == texts(0)
        service.write({"a": {"east": [topics[0]]}, "b": {"east": [topics[1]], "west": [topics[2]]}})
        assert sorted(next(found) for _ in range(20)) == texts(1, 2)
        service.write({"b": {"west": [topics[2]]}})
        send(broker, topics[2], ["still there"])
        assert next(found) == "still there"
        service.write({"b": {"west": [topics[2]]}, "c": {"south": [topics[1]]}})
        assert sorted(next(found) for _ in range(10)) == texts(1)  # all subtasks know the removed topics by now
        send(broker, topics[0], ["not read any more"])
        send(broker, topics[2], ["the last"])
        assert next(found) == "the last"


def test_a_checkpoint_knows_the_positions_in_all_clusters(broker, topics, tmp_path):
    service = FromFile(tmp_path / "streams", broker.servers)
    service.write({"a": {"east": [topics[0]], "west": [topics[1]]}})

    def start(savepoint=None):
        settings = {"execution.state-recovery.path": savepoint} if savepoint else {}
        source = builder(service).set_stream_ids({"a"}).build()
        env = checkpointed(tmp_path, 2, **settings)
        return env.from_source(source, NO_WATERMARKS, "dynamic").uid("dynamic").execute_and_collect()

    with start() as first:
        assert sorted(next(first) for _ in range(20)) == texts(0, 1)
        savepoint = first._client.stop_with_savepoint(False, str(tmp_path / "savepoint")).result()
    for topic, text in zip(topics, "ab", strict=False):
        send(broker, topic, [text])
    with start(savepoint) as second:
        found = [next(second) for _ in range(2)]
    assert sorted(found) == ["a", "b"]


def test_a_service_that_fails_is_asked_again_as_often_as_allowed(broker, topics, tmp_path):
    service = FromFile(tmp_path / "streams", broker.servers)
    service.write({"a": {"east": [topics[0]]}})
    source = builder(service).set_stream_ids({"a"}).set_property("stream-metadata-discovery-interval-ms", "20")
    source.set_property("stream-metadata-discovery-failure-threshold", "3")
    with make_env().from_source(source.build(), NO_WATERMARKS, "dynamic").execute_and_collect() as found:
        for _ in range(10):
            next(found)
        service.path.unlink()
        with pytest.raises(FileNotFoundError):
            next(found)


def test_a_stream_that_is_no_topic_is_named(broker):
    source = builder(single(broker)).set_stream_ids({"nothing"}).set_bounded(LATEST).build()
    with pytest.raises(KafkaConnectorError, match="topic 'nothing' does not exist"):
        read(make_env(), source)


def test_what_is_missing_or_wrong_is_named():
    service = SingleClusterTopicMetadataService("one", {"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(PlanError, match="needs streams"):
        builder(service).build()
    with pytest.raises(PlanError, match="needs a metadata service"):
        DynamicKafkaSource.builder().set_stream_ids({"a"}).build()
    with pytest.raises(PlanError, match="needs a deserializer"):
        DynamicKafkaSource.builder().set_kafka_metadata_service(service).set_stream_ids({"a"}).build()
    with pytest.raises(PlanError, match="needs the addresses of the brokers"):
        SingleClusterTopicMetadataService("one", {})
    with pytest.raises(PlanError, match="is not a regular expression"):
        StreamPatternSubscriber("(")
    with pytest.raises(TypeError, match="a set of str"):
        KafkaStreamSetSubscriber("orders")  # type: ignore[arg-type]
