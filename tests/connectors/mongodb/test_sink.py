"""The sink of MongoDB writes everything, whatever fails; changes with keys are there once."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("pymongo", reason="the extra 'mongodb' is not installed: make setup")

import pymongo
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.datastream.inline import make_env as inline_env
from tests.datastream.inline import move_every_epoch
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.connectors.mongodb.client import MongoAccess, MongoError
from flintstream.connectors.mongodb.writer import MongoOutput, MongoTarget
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import DeliveryGuarantee, NumberSequenceSource
from flintstream.datastream.connectors.mongodb import MongoSerializationSchema, MongoSink
from flintstream.errors import MissingDependencyError, PlanError, notes

make_env = both_engines


ALL = sorted(f"n{number}" for number in range(600))


class Upserts(MongoSerializationSchema):
    def serialize(self, element, sink_context):
        change = {"$set": {"n": element}, "$inc": {"writes": 1}}  # FerretDB hangs after many that change nothing
        return pymongo.UpdateOne({"_id": f"n{element}"}, change, upsert=True)


def sink(uri, database, schema=None):
    builder = MongoSink.builder().set_uri(uri).set_database(database).set_collection("c")
    return builder.set_serialization_schema(schema or Upserts())


def numbers(env, last=599):
    return env.from_source(NumberSequenceSource(0, last), NO_WATERMARKS, "numbers")


def slowly(number):
    time.sleep(0.001)
    return number


def test_both_engines_write_the_same(server, make_env):
    database = server.database()
    env = make_env(2)
    numbers(env).sink_to(sink(server.uri, database).set_batch_size(300).build()).set_parallelism(2)
    env.execute()
    assert server.documents(database) == sorted(
        ({"_id": f"n{n}", "n": n, "writes": 1} for n in range(600)), key=lambda document: str(document["_id"])
    )


def test_each_kind_of_change_is_made(server):
    database = server.database()
    server.insert(database, [{"_id": n, "n": n} for n in range(4)])
    changes = {
        "insert": {"_id": 9, "n": 9},
        "insert one": pymongo.InsertOne({"_id": 8, "n": 8}),
        "update": pymongo.UpdateOne({"_id": 0}, {"$set": {"m": 1}}),
        "replace": pymongo.ReplaceOne({"_id": 1}, {"other": True}),
        "delete": pymongo.DeleteOne({"_id": 2}),
        "update many": pymongo.UpdateMany({"n": 3}, {"$set": {"n": 4}}),
    }
    env = inline_env()
    env.from_collection(list(changes)).sink_to(sink(server.uri, database, lambda name, context: changes[name]).build())
    env.execute()
    assert server.documents(database) == [
        {"_id": 0, "n": 0, "m": 1}, {"_id": 1, "other": True}, {"_id": 3, "n": 4}, {"_id": 8, "n": 8},
        {"_id": 9, "n": 9},
    ]  # fmt: skip


def test_documents_without_an_id_get_one_and_records_stay_as_they_are(server):
    database = server.database()
    record = {"n": 1}
    env = inline_env()
    env.from_collection([record]).sink_to(sink(server.uri, database, lambda value, context: record).build())
    env.execute()
    (found,) = server.documents(database)
    assert found["n"] == 1
    assert type(found["_id"]).__name__ == "ObjectId"
    assert record == {"n": 1}


def test_a_schema_knows_its_subtask(server):
    database = server.database()
    env = inline_env(parallelism=2)

    def serialize(value, context):
        assert abs(context.process_time() - time.time() * 1000) < 60_000
        return {"_id": value, "place": f"{context.subtask}/{context.parallelism}"}

    numbers(env, 199).sink_to(sink(server.uri, database, serialize).build()).set_parallelism(2)
    env.execute()
    assert {document["place"] for document in server.documents(database)} == {"0/2", "1/2"}


@pytest.mark.filterwarnings("ignore:Unclosed MongoClient:ResourceWarning")  # a worker that is left closes nothing
@pytest.mark.parametrize("moves", [False, True])
def test_nothing_is_lost_whatever_fails(server, tmp_path, monkeypatch, moves):
    if moves:
        move_every_epoch(monkeypatch)
    database = server.database()
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 301, 500)])
    env = checkpointed(tmp_path, 2)
    numbers(env).map(slowly).map(FaultyMap(faults)).sink_to(sink(server.uri, database).set_batch_size(50).build())
    env.execute()
    assert [document["_id"] for document in server.documents(database)] == ALL
    assert faults.happened() == faults.planned()
    gc.collect()


@pytest.mark.kills
@pytest.mark.deep
def test_a_server_that_is_away_for_some_seconds_has_nothing_lost_with_one_warning(tmp_path, caplog):
    from tests.connectors.mongodb.server import NoServerError, Server

    try:
        own = Server(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no FerretDB on this machine: {error}")
    try:
        database = own.database()
        env = checkpointed(tmp_path)
        inserts = sink(own.uri, database, lambda value, context: {"_id": f"n{value}"})
        numbers(env).map(pause_often).sink_to(inserts.set_batch_size(20).build())

        def restart():
            time.sleep(1)
            own.kill()
            time.sleep(3)
            own.start()

        thread = threading.Thread(target=restart)
        thread.start()
        with caplog.at_level(logging.WARNING, logger="flintstream"):
            env.execute()
        thread.join()
        assert [document["_id"] for document in own.documents(database)] == ALL
        assert len([record for record in caplog.records if "could not write" in record.getMessage()]) == 1
    finally:
        own.close()


def pause_often(number):
    time.sleep(0.005 if number % 100 else 0.2)
    return number


def test_a_job_fails_if_the_server_stays_away_and_does_not_show_the_password():
    uri = "mongodb://ann:hunter22@127.0.0.1:1/?serverSelectionTimeoutMS=100"
    env = inline_env()
    numbers(env, 9).sink_to(sink(uri, "shop").set_max_retries(0).build())
    with pytest.raises(MongoError, match=r"10 changes were not written to shop\.c at mongodb://ann:\*\*\*@") as caught:
        env.execute()
    assert "Connection refused" in str(caught.value)
    assert "hunter22" not in str(caught.value)


class Stand:
    """In place of a collection: answers with errors that are given, then takes everything."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def bulk_write(self, requests, *, ordered, bypass_document_validation):
        self.requests.append(list(requests))
        self.settings = (ordered, bypass_document_validation)
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer if isinstance(answer, Exception) else pymongo.errors.BulkWriteError(answer)

    def close(self):
        pass

    def __getitem__(self, name):
        return self if name == "c" else {"c": self}


def failed(*errors, concerns=()):
    listed = [
        {"index": index, "code": code, "errmsg": f"error {code}", **(more[0] if more else {})}
        for index, code, *more in errors
    ]
    return {"writeErrors": listed, "writeConcernErrors": list(concerns)}


def written(monkeypatch, stand, records, schema=None, **settings):
    """Write records, and return how long the writer waited before each further request."""
    waits: list[float] = []
    monkeypatch.setattr(
        "flintstream.connectors.mongodb.writer.time", SimpleNamespace(sleep=waits.append, monotonic=time.monotonic)
    )
    monkeypatch.setattr(MongoAccess, "connect", lambda self: stand)
    output = MongoOutput(
        MongoAccess("mongodb://h", "d", "c"), schema or (lambda value, context: {"_id": value}), **settings
    )
    writer = MongoTarget(output).create_writer(WriterContext(0, 1, "a"))
    writer.write(list(records), None)
    writer.prepare_commit(end_of_input=True)
    writer.close()
    return waits


def ids(stand):
    return [[request._doc["_id"] for request in requests] for requests in stand.requests]


LOST = pymongo.errors.AutoReconnect("connection closed")


def test_a_request_has_at_most_a_batch_of_changes(monkeypatch):
    stand = Stand()
    assert written(monkeypatch, stand, range(5), batch_size=2, ordered=False, bypasses_validation=True) == []
    assert ids(stand) == [[0, 1], [2, 3], [4]]
    assert stand.settings == (False, True)
    stand = Stand()
    written(monkeypatch, stand, range(5), batch_size=-1)
    assert ids(stand) == [[0, 1, 2, 3, 4]]
    assert stand.settings == (True, None)


def test_a_request_is_sent_when_it_is_old_enough(monkeypatch):
    for interval, sent in ((0, 1), (-1, 0), (60_000, 0)):
        stand = Stand()
        monkeypatch.setattr(MongoAccess, "connect", lambda self, stand=stand: stand)
        output = MongoOutput(MongoAccess("mongodb://h", "d", "c"), lambda value, context: {}, interval_ms=interval)
        writer = MongoTarget(output).create_writer(WriterContext(0, 1, "a"))
        writer.write([1], None)
        assert len(stand.requests) == sent


@pytest.mark.parametrize(
    ("ordered", "answer", "again"),
    [
        (True, failed((1, 112)), [1, 2, 3]),  # the server has not looked at those behind the one that failed
        (False, failed((1, 112), (3, 16500)), [1, 3]),
        (True, failed(concerns=[{"code": 64, "errmsg": "too few members"}]), [0, 1, 2, 3]),
        (True, LOST, [0, 1, 2, 3]),
        (True, pymongo.errors.OperationFailure("stepped down", 189), [0, 1, 2, 3]),
    ],
)
def test_what_may_succeed_later_is_sent_again(monkeypatch, ordered, answer, again):
    stand = Stand(answer)
    assert len(written(monkeypatch, stand, range(4), ordered=ordered)) == 1
    assert ids(stand) == [[0, 1, 2, 3], again]


def test_an_insertion_whose_answer_was_lost_counts_as_made(monkeypatch):
    stand = Stand(LOST, failed((0, 11000)), failed((0, 11000, {"keyPattern": {"_id": 1}})))
    written(monkeypatch, stand, range(3))
    assert ids(stand) == [[0, 1, 2], [0, 1, 2], [1, 2], [2]] or ids(stand) == [[0, 1, 2], [0, 1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([failed((1, 11000))], r"rejects InsertOne\(\{'_id': 1\}.*error 11000"),
        ([failed((0, 112)), failed((1, 11000))], "error 11000"),  # nothing was lost, so it is somebody else's
        ([LOST, failed((1, 11000, {"keyPattern": {"email": 1}}))], "error 11000"),
        ([failed((2, 121))], "error 121"),
        (
            [pymongo.errors.OperationFailure("not authorized", 13)],
            r"cannot write to d\.c at mongodb://h: not authorized",
        ),
    ],
)
def test_what_the_server_refuses_fails_the_job(monkeypatch, answers, message):
    stand = Stand(*answers)
    with pytest.raises(MongoError, match=message):
        written(monkeypatch, stand, range(3))
    assert len(stand.requests) == len(answers)


def test_an_upsert_that_collides_with_another_is_sent_again(monkeypatch):
    stand = Stand(failed((0, 11000)))
    written(monkeypatch, stand, [5], Upserts().serialize)
    assert len(stand.requests) == 2


def test_a_request_without_progress_is_repeated_so_often(monkeypatch):
    stand = Stand(LOST, LOST, failed((0, 112)), failed((1, 112)), LOST, LOST, LOST)
    assert written(monkeypatch, stand, range(3), max_retries=4, retry_ms=500) == [0.5, 1.0, 1.5, 0.5, 1.0, 1.5, 2.0]
    stand = Stand(LOST, LOST, LOST)
    with pytest.raises(MongoError, match=r"3 changes were not written to d\.c at mongodb://h: connection closed"):
        written(monkeypatch, stand, range(3), max_retries=2)
    assert len(stand.requests) == 3


def test_a_request_without_an_order_has_one_change_of_a_key(monkeypatch):
    stand = Stand()
    keys = lambda value: value % 2  # noqa: E731
    written(monkeypatch, stand, [0, 1, 2, 4, 5], ordered=False, key_of=keys)
    assert ids(stand) == [[0, 1], [2], [4, 5]]
    stand = Stand()
    written(monkeypatch, stand, [0, 1, 2, 4, 5], key_of=keys)
    assert ids(stand) == [[0, 1, 2, 4, 5]]


def test_a_record_that_becomes_no_change_is_named(monkeypatch):
    with pytest.raises(TypeError, match=r"must become a dict, or one of pymongo\.InsertOne") as caught:
        written(monkeypatch, Stand(), ["x"], lambda value, context: value)
    assert "while writing 'x' to d.c at mongodb://h" in notes(caught.value)


def test_mistakes_are_found_before_the_job_starts(monkeypatch):
    with pytest.raises(PlanError, match="the sink needs a schema"):
        MongoSink.builder().set_uri("mongodb://h").set_database("d").set_collection("c").build()
    with pytest.raises(PlanError, match="needs a value for 'database'"):
        sink("mongodb://h", "").build()
    with pytest.raises(PlanError, match=r"'https://h' is not a URI of MongoDB: Invalid URI scheme"):
        sink("https://h", "d").build()
    with pytest.raises(PlanError, match=r"'mongodb://ann:\*\*\*@h' is not a URI of MongoDB$"):
        sink("mongodb://ann:hunter/22@h", "d").build()
    with pytest.raises(PlanError, match="writes at least once"):
        MongoSink.builder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(ValueError, match="the size of a batch must be at least 1, or -1"):
        MongoSink.builder().set_batch_size(0)
    with pytest.raises(TypeError, match="expected a MongoSerializationSchema or a function"):
        MongoSink.builder().set_serialization_schema("x")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "pymongo", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[mongodb\]'"):
        sink("mongodb://h", "d").build()
