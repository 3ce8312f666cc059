"""The examples of connectors, run against replacements of the clients, and, for Kinesis, against moto."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tests.datastream.inline import make_env

from flintstream.connectors.sink import WriterContext

DIRECTORY = Path(__file__).parents[2] / "examples" / "connectors"


def load(name, directory=DIRECTORY):
    spec = importlib.util.spec_from_file_location(f"example_{name}", directory / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def stand_in(monkeypatch, name, **contents):
    module = ModuleType(name)
    vars(module).update(contents)
    monkeypatch.setitem(sys.modules, name, module)


class Futures:
    """A Cassandra session whose statements succeed when the caller waits for them."""

    def __init__(self):
        self.rows, self.open, self.most = [], 0, 0

    def prepare(self, statement):
        return statement

    def execute_async(self, statement, row):
        self.open += 1
        self.most = max(self.most, self.open)

        def result():
            self.open -= 1
            self.rows.append(row)

        return SimpleNamespace(result=result)


def test_cassandra_has_all_rows_at_the_end_of_an_epoch_and_not_too_many_at_a_time(monkeypatch):
    session = Futures()
    cluster = SimpleNamespace(connect=lambda keyspace: session, shutdown=lambda: None)
    stand_in(monkeypatch, "cassandra")
    stand_in(monkeypatch, "cassandra.cluster", Cluster=lambda hosts: cluster)
    sink = load("cassandra_sink").CassandraSink(["host"], "space", "INSERT", concurrency=10)
    env = make_env()
    env.from_collection([(str(number), number) for number in range(95)]).sink_to(sink)
    env.execute()
    assert session.rows == [(str(number), number) for number in range(95)]
    assert (session.open, session.most) == (0, 10)


class Shards:
    """A Kinesis client that at first rejects every third record."""

    def __init__(self):
        self.taken, self.sizes, self.strict = [], [], True

    def put_records(self, StreamName, Records):  # noqa: N803 - so it is called
        self.sizes.append(len(Records))
        results = [{"ErrorCode": "Throttled"} if self.strict and n % 3 == 2 else {} for n in range(len(Records))]
        self.strict = not self.strict
        self.taken += [r["Data"] for r, result in zip(Records, results, strict=True) if not result]
        return {"Records": results}


def test_kinesis_is_given_again_what_it_did_not_take(monkeypatch):
    client = Shards()
    stand_in(monkeypatch, "boto3", client=lambda service, **_: client)
    sink = load("kinesis_sink").KinesisSink("words", key=str, serialize=str.encode)
    writer = sink.create_writer(WriterContext(0, 1, "a"))
    texts = [str(number) for number in range(1100)]
    writer.write(texts, None)
    writer.prepare_commit(end_of_input=False)
    assert sorted(client.taken) == sorted(text.encode() for text in texts)
    assert max(client.sizes) == 500


def test_kinesis_takes_records_as_moto_has_it(monkeypatch):
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    moto = pytest.importorskip("moto", reason="moto is not installed")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with moto.mock_aws():
        client = boto3.client("kinesis", region_name="us-east-1")
        client.create_stream(StreamName="words", ShardCount=1)
        sink = load("kinesis_sink").KinesisSink("words", str, str.encode, region_name="us-east-1")
        writer = sink.create_writer(WriterContext(0, 1, "a"))
        writer.write(["to", "be"], None)
        writer.prepare_commit(end_of_input=False)
        shard = client.describe_stream(StreamName="words")["StreamDescription"]["Shards"][0]["ShardId"]
        start = client.get_shard_iterator(StreamName="words", ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        found = client.get_records(ShardIterator=start["ShardIterator"])["Records"]
    assert [record["Data"] for record in found] == [b"to", b"be"]


class Message:
    def __init__(self, number, data):
        self.number, self._data = number, data

    def data(self):
        return self._data

    def message_id(self):
        return SimpleNamespace(serialize=lambda: str(self.number).encode())


class Timeout(Exception):  # noqa: N818 - so it is called
    """No message has arrived."""


class Topics:
    """A Pulsar client with partitions of 30 messages."""

    def __init__(self, url):
        self.url = url

    def get_topic_partitions(self, topic):
        return [f"{topic}-0", f"{topic}-1"]

    def create_reader(self, topic, begin):
        left = [Message(number, f"{topic}:{number}".encode()) for number in range(begin + 1, 30)]

        def read_next(timeout_millis):
            if not left:
                raise Timeout
            return left.pop(0)

        return SimpleNamespace(read_next=read_next, close=lambda: None)

    def close(self):
        pass


@pytest.mark.parametrize("moves", [False, True])
def test_pulsar_is_read_once_from_where_the_split_says(monkeypatch, moves):
    ids = SimpleNamespace(earliest=-1, deserialize=int)
    stand_in(monkeypatch, "pulsar", Client=Topics, MessageId=ids, Timeout=Timeout)
    source = load("pulsar_source").PulsarSource("pulsar://host", "orders", bytes.decode)
    if moves:
        from tests.datastream.inline import move_every_epoch

        move_every_epoch(monkeypatch)
    with make_env(parallelism=2).add_source(source).execute_and_collect() as iterator:
        found = [next(iterator) for _ in range(60)]
    assert sorted(found) == sorted(f"orders-{partition}:{number}" for partition in (0, 1) for number in range(30))
