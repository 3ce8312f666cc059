"""The source of MongoDB reads each document once, however the collection is divided and whatever fails."""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the extra 'mongodb' is not installed: make setup")

import bson
import pymongo
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed, read
from tests.datastream.inline import make_env as inline_env
from tests.datastream.inline import move_every_epoch
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Types
from flintstream.connectors.mongodb import splitting
from flintstream.connectors.mongodb.client import MongoAccess, MongoError
from flintstream.connectors.mongodb.ranges import ORDER, after, between
from flintstream.connectors.mongodb.source import MongoScan, MongoSplit
from flintstream.connectors.mongodb.splitting import MongoInput
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.mongodb import MongoDeserializationSchema, MongoSource, PartitionStrategy
from flintstream.datastream.slot_sharing_group import MemorySize
from flintstream.errors import PlanError

make_env = both_engines
MIXED = [
    None, 5, 6.5, bson.Int64(7), "a", "b", {"a": 1}, b"x", bson.ObjectId("63932a00da01604af329e33c"), False, True,
    dt.datetime(2020, 1, 2), bson.Timestamp(1, 1),
]  # fmt: skip
"""Ids of all types, in the order of MongoDB."""


class Numbers(MongoDeserializationSchema):
    def deserialize(self, document):
        return document["n"]

    def get_produced_type(self):
        return Types.LONG()


def source(uri, database, schema=None):
    builder = MongoSource.builder().set_uri(uri).set_database(database).set_collection("c")
    return builder.set_deserialization_schema(schema or Numbers())


def filled(server, count=600):
    database = server.database()
    server.insert(database, [{"_id": f"n{n:04}", "n": n, "text": "x" * 50} for n in range(count)])
    return database


def slowly(number):
    time.sleep(0.001)
    return number


@pytest.mark.parametrize("name", ["SINGLE", "SAMPLE", "DEFAULT", "SHARDED"])
def test_each_document_is_read_once(server, name):
    strategy = PartitionStrategy[name]
    database = filled(server)
    built = source(server.uri, database).set_partition_strategy(strategy).set_partition_size(MemorySize(10_000)).build()
    assert sorted(read(inline_env(parallelism=2), built)) == list(range(600))
    parts = built.create_enumerator(2).discover()
    assert (len(parts) == 1) == (strategy is PartitionStrategy.SINGLE)


def test_both_engines_read_the_same(server, make_env):
    database = filled(server)
    builder = source(server.uri, database).set_partition_strategy(PartitionStrategy.PAGINATION)
    built = builder.set_partition_record_size(100).build()
    assert len(built.create_enumerator(2).discover()) == 6
    assert sorted(read(make_env(2), built)) == list(range(600))


def test_an_empty_collection_has_no_records(server):
    assert read(inline_env(), source(server.uri, server.database()).build()) == []


def test_some_fields_are_read_of_some_documents(server):
    database = filled(server, 50)
    builder = source(server.uri, database, lambda document: document).set_fetch_size(7)
    assert read(inline_env(), builder.set_projected_fields("n").set_limit(3).build()) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert read(inline_env(), builder.set_projected_fields("_id").set_limit(1).build()) == [{"_id": "n0000"}]


@pytest.mark.parametrize("moves", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.filterwarnings("ignore:Unclosed MongoClient:ResourceWarning")  # a worker that is left closes nothing
def test_nothing_is_lost_or_repeated_whatever_fails(server, tmp_path, monkeypatch, moves):
    if moves:
        move_every_epoch(monkeypatch)
    database = filled(server, 200)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (30, 101, 170)])
    env = checkpointed(tmp_path, 2)
    built = source(server.uri, database).set_partition_size(MemorySize(7_000)).build()
    stream = env.from_source(built, NO_WATERMARKS, "numbers").map(slowly).map(FaultyMap(faults))
    with stream.execute_and_collect() as found:
        assert sorted(found) == list(range(200))
    assert faults.happened() == faults.planned()


def positions(server, database, **more):
    """Return what a reader reads one after the other, with the split after each document."""
    scan: MongoScan[object] = MongoScan(
        MongoInput(MongoAccess(server.uri, database, "c"), lambda: lambda d: d["_id"], **more)
    )
    split = MongoSplit("0")
    reader: Any = scan.create_reader()
    for batch in reader.read(split, Fetch(1)):
        yield batch[0], MongoSplit("0", last=split.last, done=split.done)
    reader.close()


def test_reading_continues_behind_ids_of_any_type(server):
    database = server.database()
    server.insert(database, [{"_id": value} for value in MIXED])
    found = list(positions(server, database))
    assert [value for value, _ in found] == MIXED
    for i, (_, split) in enumerate(found):
        reader: Any = MongoScan(
            MongoInput(MongoAccess(server.uri, database, "c"), lambda: lambda d: d["_id"])
        ).create_reader()
        rest = [value for batch in reader.read(split, Fetch(100)) for value in batch]
        reader.close()
        assert rest == MIXED[i + 1 :]


def test_ranges_of_ids_of_any_type_share_them(server):
    database = server.database()
    server.insert(database, [{"_id": value} for value in MIXED])
    with server.client() as client:
        for bound in MIXED[1:]:
            (low,), (high,) = between(bound, None), between(None, bound)
            below = [d["_id"] for d in client[database]["c"].find(high, sort=[("_id", 1)])]
            above = [d["_id"] for d in client[database]["c"].find(low, sort=[("_id", 1)])]
            assert (below + above, above[0]) == (MIXED, bound)
    assert after(MIXED[-1]) == {"_id": {"$gt": MIXED[-1]}}
    assert len(ORDER) == 9


class Stand:
    """In place of a client: the answers to commands and samples that FerretDB does not have."""

    def __init__(self, *, sample=None, vector=None, count=100, size=10):
        self.sample, self.vector, self.count, self.size = sample, vector, count, size
        self.asked = []

    def __getitem__(self, name):
        return self

    def command(self, name, value, **more):
        self.asked.append((name, value, more))
        if name == "collStats":
            return {"count": self.count, "avgObjSize": self.size}
        if self.vector is None:
            raise pymongo.errors.OperationFailure("no such command", 59)
        return {"splitKeys": [{"_id": key} for key in self.vector]}

    def aggregate(self, pipeline, **more):
        self.asked.append(pipeline[0])
        if self.sample is None:
            raise pymongo.errors.OperationFailure("not implemented", 238)
        return [{"_id": key} for key in self.sample]

    def find(self, condition, projection, *, sort, skip, limit):
        self.asked.append(skip)
        return [{"_id": skip * len([item for item in self.asked if item == skip])}]

    def close(self):
        self.asked.append("closed")


def bounds(monkeypatch, stand, strategy, **more):
    monkeypatch.setattr(MongoAccess, "connect", lambda self: stand)
    access = MongoAccess("mongodb://h", "d", "c")
    return splitting.bounds(MongoInput(access, lambda: lambda d: d, strategy=strategy, **more))


def test_a_collection_is_divided_as_the_server_can(monkeypatch):
    stand = Stand(vector=["k", "t"])
    assert bounds(monkeypatch, stand, "split-vector", partition_bytes=500) == ["k", "t"]
    vector = ("splitVector", "d.c", {"keyPattern": {"_id": 1}, "maxChunkSizeBytes": 500})
    assert stand.asked == [vector, "closed"]
    stand = Stand(sample=[1, 2, 3, 4, 4, 4, 5, 6, 7])
    assert bounds(monkeypatch, stand, "default", partition_bytes=200, samples=2) == [2, 4, 6]
    assert [item for item in stand.asked if "$sample" in item] == [{"$sample": {"size": 9}}]
    stand = Stand()
    assert bounds(monkeypatch, stand, "sample", partition_bytes=400) == [40, 80]
    assert [item[0] for item in stand.asked if isinstance(item, tuple)] == ["collStats", "collStats"]
    assert bounds(monkeypatch, Stand(sample=[5]), "sample") == []
    assert bounds(monkeypatch, Stand(count=0, size=0), "pagination") == []
    assert bounds(monkeypatch, Stand(), "pagination", partition_records=50) == [50]


def test_a_server_that_goes_away_while_the_collection_is_divided_is_asked_again(monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr("flintstream.connectors.mongodb.source.time", SimpleNamespace(sleep=waits.append))
    answers = [pymongo.errors.AutoReconnect("away"), None]

    def connect(self):
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        return Stand(vector=["k"])

    monkeypatch.setattr(MongoAccess, "connect", connect)
    enumerator = MongoScan(MongoInput(MongoAccess("mongodb://h", "d", "c"), lambda: lambda d: d)).create_enumerator(1)
    parts: Any = enumerator.discover()
    assert [(bool(part.low), bool(part.high)) for part in parts] == [(False, True), (True, False)]
    assert len(waits) == 1
    assert not enumerator.discover()
    assert enumerator.is_finished()


def test_a_job_fails_if_the_server_stays_away_and_does_not_show_the_password():
    uri = "mongodb://ann:hunter22@127.0.0.1:1/?serverSelectionTimeoutMS=50"
    for strategy in (PartitionStrategy.SINGLE, PartitionStrategy.DEFAULT):
        with pytest.raises(MongoError, match=r"cannot read shop\.c at mongodb://ann:\*\*\*@.*refused") as caught:
            read(inline_env(), source(uri, "shop").set_partition_strategy(strategy).build())
        assert "hunter22" not in str(caught.value)


@pytest.mark.kills
@pytest.mark.deep
def test_a_server_that_is_away_for_some_seconds_loses_and_repeats_nothing(tmp_path, caplog):
    from tests.connectors.mongodb.server import NoServerError, Server

    try:
        own = Server(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no FerretDB on this machine: {error}")
    try:
        database = filled(own, 1000)
        env = checkpointed(tmp_path)
        stream = env.from_source(source(own.uri, database).set_fetch_size(50).build(), NO_WATERMARKS, "numbers")

        def restart():
            time.sleep(1)
            own.kill()
            time.sleep(3)
            own.start()

        thread = threading.Thread(target=restart)
        thread.start()
        with (
            caplog.at_level(logging.WARNING, logger="flintstream"),
            stream.map(pause_often).execute_and_collect() as found,
        ):
            assert sorted(found) == list(range(1000))
        thread.join()
    finally:
        own.close()


def pause_often(number):
    time.sleep(0.005 if number % 100 else 0.2)
    return number


def test_mistakes_are_found_before_the_job_starts():
    with pytest.raises(PlanError, match="the source needs a schema"):
        MongoSource.builder().set_uri("mongodb://h").set_database("d").set_collection("c").build()
    with pytest.raises(PlanError, match="needs a value for 'collection'"):
        source("mongodb://h", "d").set_collection("").build()
    with pytest.raises(TypeError, match="the size of a part must be a MemorySize"):
        MongoSource.builder().set_partition_size(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"the strategy must be one of PartitionStrategy\.SINGLE"):
        MongoSource.builder().set_partition_strategy("single")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a MongoDeserializationSchema or a function"):
        MongoSource.builder().set_deserialization_schema(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the fields must be one or more names"):
        MongoSource.builder().set_projected_fields()
    assert source("mongodb://h", "d").build().get_produced_type() == Types.LONG()
