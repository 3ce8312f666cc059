"""The sink of Cassandra writes everything, whatever fails, and with a write-ahead log once."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import pytest
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.datastream.inline import make_env as inline_env
from tests.datastream.inline import move_every_epoch
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Duration, Row, Types
from flintstream.common.time import Instant
from flintstream.connectors.cassandra import client, log
from flintstream.connectors.cassandra.client import CassandraError
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.cassandra import (
    CassandraCommitter,
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)
from flintstream.errors import PlanError

make_env = both_engines
PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
TABLE = "t (id int PRIMARY KEY, name text)"
ALL_VALUES = "t (id int, value text, PRIMARY KEY (id, value))"


def add_sink(stream, server, keyspace, columns="id, name"):
    marks = ", ".join("?" for _ in columns.split(","))
    builder = CassandraSink.add_sink(stream).set_host("127.0.0.1", server.port)
    return builder.set_query(f"INSERT INTO {keyspace}.t ({columns}) VALUES ({marks})")


def numbers(env):
    return env.from_source(NumberSequenceSource(0, 1999), NO_WATERMARKS, "numbers")


def test_both_engines_write_the_same(server, make_env):
    keyspace = server.keyspace(TABLE)
    env = make_env(2)
    rows = [(number, f"n{number}") for number in range(3000)]
    add_sink(env.from_collection(rows, PAIR), server, keyspace).build().name("rows").set_parallelism(2)
    env.execute()
    assert server.rows(f"SELECT id, name FROM {keyspace}.t") == rows


def test_both_engines_write_the_records_of_a_log(server, make_env, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "INLINE_BYTES", 1000)
    keyspace = server.keyspace(TABLE)
    settings = {
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = make_env(2, settings)
    rows = [(number, f"n{number}") for number in range(3000)]
    add_sink(env.from_collection(rows, PAIR), server, keyspace).enable_write_ahead_log().build()
    env.execute()
    assert server.rows(f"SELECT id, name FROM {keyspace}.t") == rows


def test_the_later_write_to_a_row_remains(server):
    keyspace = server.keyspace(TABLE)
    env = inline_env()
    add_sink(env.from_collection([(n % 7, f"{n}") for n in range(2000)], PAIR), server, keyspace).build()
    env.execute()
    assert server.rows(f"SELECT id, name FROM {keyspace}.t") == sorted((n % 7, f"{n}") for n in range(1993, 2000))


def test_rows_are_written_by_the_order_of_their_type_with_all_kinds_of_values(server):
    keyspace = server.keyspace(
        "t (id int PRIMARY KEY, name text, price decimal, at timestamp, tags list<text>, raw blob, flag boolean)"
    )
    names = ["id", "name", "price", "at", "tags", "raw", "flag"]
    kinds = [Types.INT(), Types.STRING(), Types.BIG_DEC(), Types.INSTANT(), Types.LIST(Types.STRING())]
    kinds += [Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.BOOLEAN()]
    at = Instant.of_epoch_milli(1_700_000_000_123)
    row = Row(name="pear", id=1, price=Decimal("2.50"), at=at, tags=["a", "b"], raw=b"\x00\x01", flag=True)
    env = inline_env()
    stream = env.from_collection([row], Types.ROW_NAMED(names, kinds))
    add_sink(stream, server, keyspace, ", ".join(names)).build()
    env.execute()
    found = server.rows(f"SELECT {', '.join(names)} FROM {keyspace}.t")
    when = datetime(2023, 11, 14, 22, 13, 20, 123000)
    assert found == [(1, "pear", Decimal("2.50"), when, ["a", "b"], b"\x00\x01", True)]


class Token(FaultyMap):
    """Gives a record another value whenever it is repeated."""

    def map(self, value):
        super().map(value)
        return (value, uuid.uuid4().hex)


@pytest.mark.parametrize(("parallelism", "moves", "inline"), [(1, False, 65536), (2, False, 10), (2, True, 10)])
def test_with_a_log_each_record_is_written_once_whatever_fails(
    server, tmp_path, monkeypatch, parallelism, moves, inline
):
    monkeypatch.setattr(log, "INLINE_BYTES", inline)
    if moves:
        move_every_epoch(monkeypatch)
    keyspace = server.keyspace(ALL_VALUES)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 999, 1001, 1700)])
    env = checkpointed(tmp_path, parallelism)
    stream = numbers(env).map(slowly).map(Token(faults), PAIR)
    add_sink(stream, server, keyspace, "id, value").enable_write_ahead_log().build()
    env.execute()
    assert [row[0] for row in server.rows(f"SELECT id, value FROM {keyspace}.t")] == list(range(2000))
    assert faults.happened() == faults.planned()


def slowly(number):
    time.sleep(0.0003)
    return number


def test_without_a_log_nothing_is_lost(server, tmp_path):
    keyspace = server.keyspace(ALL_VALUES)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 1700)])
    env = checkpointed(tmp_path)
    stream = numbers(env).map(slowly).map(Token(faults), PAIR)
    add_sink(stream, server, keyspace, "id, value").build()
    env.execute()
    assert {row[0] for row in server.rows(f"SELECT id, value FROM {keyspace}.t")} == set(range(2000))
    assert faults.happened() == faults.planned()


class Local(ClusterBuilder):
    def __init__(self, port):
        self.port = port

    def build_cluster(self):
        return client.usual_cluster("127.0.0.1", self.port)


def test_a_commit_that_is_repeated_writes_nothing_twice(server):
    """Counters would show it."""
    keyspace = server.keyspace("t (id int PRIMARY KEY, n counter)")
    notes = f"{keyspace}_notes"
    env = inline_env()
    builder = CassandraSink.add_sink(env.from_collection([(1,)], Types.TUPLE([Types.INT()])))
    builder.set_cluster_builder(Local(server.port)).set_query(f"UPDATE {keyspace}.t SET n = n + 1 WHERE id = ?")
    builder.enable_write_ahead_log(CassandraCommitter.default_checkpoint_committer(Local(server.port), notes))
    target = builder.build()._end._transformation.operator.sink  # type: ignore[attr-defined]
    writer = target.create_writer(WriterContext(0, 1, "a", identity="job/sink", run="r"))
    writer.write([(1,)], None)
    prepared = [*writer.prepare_commit(end_of_input=False)]
    for _ in range(2):
        committer = target.create_committer()
        assert not committer.commit(prepared)
        assert not committer.commit(prepared)
        committer.close()
    writer.write([(1,)], None)
    prepared += writer.prepare_commit(end_of_input=False)
    committer = target.create_committer()
    assert not committer.commit(prepared)
    committer.close()
    assert server.rows(f"SELECT id, n FROM {keyspace}.t") == [(1, 2)]
    assert server.rows(f"SELECT sink_id, sub_id, run, checkpoint_id FROM {notes}.checkpoints") == [
        ("job/sink", 0, "r", 1)
    ]


@dataclass
class Word:
    __cassandra_table__ = "set by the test"
    word: str
    count: int | None


def test_objects_of_a_data_class_are_written_as_the_mapper_options_say(server, monkeypatch):
    keyspace = server.keyspace("t (word text PRIMARY KEY, count int)")
    monkeypatch.setattr(Word, "__cassandra_table__", f"{keyspace}.t")
    with server.session() as session:
        session.execute(f"INSERT INTO {keyspace}.t (word, count) VALUES ('old', 5)")

    def write(options, *words):
        env = inline_env()
        CassandraSink.add_sink(env.from_collection(list(words))).set_host("127.0.0.1", server.port).set_mapper_options(
            options
        ).build()
        env.execute()

    write(MapperOptions().ttl(1000).consistency_level(ConsistencyLevel.ONE).tracing(True), Word("new", 1))
    ((_, left),) = server.rows(f"SELECT word, ttl(count) FROM {keyspace}.t WHERE word = 'new'")
    assert 900 < left <= 1000
    write(MapperOptions().if_not_exists(True), Word("old", 6))
    write(MapperOptions().save_null_fields(False), Word("old", None))
    assert ("old", 5) in server.rows(f"SELECT word, count FROM {keyspace}.t")
    write(MapperOptions().timestamp(1), Word("old", 7))  # earlier than what is there
    assert ("old", 5) in server.rows(f"SELECT word, count FROM {keyspace}.t")
    write(MapperOptions(), Word("old", None))
    assert ("old", None) in server.rows(f"SELECT word, count FROM {keyspace}.t")


def test_ignored_nulls_leave_the_old_value(server):
    keyspace = server.keyspace(TABLE)
    for ignores, expected in ((True, "old"), (False, None)):
        env = inline_env()
        records = [(1, "old"), (1, None)]
        builder = add_sink(env.from_collection(records, PAIR), server, keyspace)
        if ignores:
            builder.enable_ignore_null_fields()
        builder.build()
        env.execute()
        assert server.rows(f"SELECT id, name FROM {keyspace}.t") == [(1, expected)]


class Skips(CassandraFailureHandler):
    def on_failure(self, failure):
        assert "Key may not be empty" in str(failure)


def test_a_rejected_record_fails_the_job_or_is_the_handlers(server):
    keyspace = server.keyspace("t (name text PRIMARY KEY, id int)")
    records = [("a", 1), ("", 2), ("c", 3)]
    for handler in (CassandraFailureHandler.no_op(), Skips()):
        env = inline_env()
        stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.INT()]))
        add_sink(stream, server, keyspace, "name, id").set_failure_handler(handler).build()
        if isinstance(handler, Skips):
            env.execute()
        else:
            with pytest.raises(CassandraError, match=r"rejects \('', 2\): .*Key may not be empty"):
                env.execute()
    assert server.rows(f"SELECT name, id FROM {keyspace}.t") == [("a", 1), ("c", 3)]


def test_a_query_that_does_not_match_the_records_fails(server):
    keyspace = server.keyspace(TABLE)
    env = inline_env()
    add_sink(env.from_collection([(1, "a")], PAIR), server, keyspace, "id").build()
    with pytest.raises(CassandraError, match=r"the query has 1 placeholders, but \(1, 'a'\) has 2 values"):
        env.execute()


@pytest.mark.kills
@pytest.mark.parametrize("logs", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.deep
def test_a_server_that_is_away_for_some_seconds_has_nothing_lost_with_one_warning(tmp_path, caplog, logs):
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    from tests.connectors.cassandra.server import NoServerError, Server

    try:
        own = Server(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no Cassandra on this machine: {error}")
    try:
        keyspace = own.keyspace(ALL_VALUES)
        env = checkpointed(tmp_path)
        stream = numbers(env).map(pause_often).map(lambda n: (n, "x"), PAIR)
        builder = add_sink(stream, own, keyspace, "id, value")
        (builder.enable_write_ahead_log() if logs else builder).build()

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
        assert [row[0] for row in own.rows(f"SELECT id FROM {keyspace}.t")] == list(range(2000))
        warned = [record for record in caplog.records if "could not write" in record.getMessage()]
        assert len(warned) == 1
    finally:
        own.close()


def pause_often(number):
    time.sleep(0.001 if number % 100 else 0.2)
    return number


def test_a_job_waits_for_a_server_no_longer_than_it_may(monkeypatch):
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    monkeypatch.setattr(client, "START_SECONDS", 0.5)
    env = inline_env()
    stream = env.from_collection([(1, "a")], PAIR)
    CassandraSink.add_sink(stream).set_host("127.0.0.1", 1).set_query("INSERT INTO k.t (id) VALUES (?)").build()
    with pytest.raises(CassandraError, match=r"cannot connect to Cassandra at 127\.0\.0\.1:1: "):
        env.execute()


def test_mistakes_are_found_before_the_job_starts():
    env = inline_env()
    stream = env.from_collection([(1, "a")], PAIR)
    with pytest.raises(PlanError, match="the sink needs a cluster"):
        CassandraSink.add_sink(stream).set_query("x").build()
    with pytest.raises(PlanError, match="the sink needs a query"):
        CassandraSink.add_sink(stream).set_host("127.0.0.1").build()
    with pytest.raises(PlanError, match="either set_host"):
        CassandraSink.add_sink(stream).set_host("127.0.0.1").set_cluster_builder(ClusterBuilder())
    with pytest.raises(PlanError, match="writes tuples and rows, but the records of the stream are of type String"):
        CassandraSink.add_sink(env.from_collection(["a"], Types.STRING()))
    with pytest.raises(ValueError, match="the longest wait must be a positive Duration"):
        CassandraSink.add_sink(stream).set_max_concurrent_requests(10, Duration.of_millis(0))
    with pytest.warns(UserWarning, match="mapper options have no effect on a query"):
        CassandraSink.add_sink(stream).set_host("h").set_query("q").set_mapper_options(MapperOptions().ttl(1)).build()
    with pytest.raises(PlanError, match="a keyspace has a name of letters"):
        CassandraCommitter.default_checkpoint_committer(ClusterBuilder(), "a; DROP")
