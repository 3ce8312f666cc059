"""Rows of Iceberg tables replace those with their keys, once, whatever fails."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")

from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.lakes.tables import Iceberg
from tests.connectors.lakes.test_sinks import Commits
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Row
from flintstream.common.types import RowKind
from flintstream.connectors.lakes.iceberg import IcebergCommitter
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import IcebergSink
from flintstream.errors import PlanError
from flintstream.table import DataTypes

PAIR = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("n", DataTypes.BIGINT())])


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table").mkdir()
    return Iceberg(tmp_path / "table")


class Change(FaultyMap):
    """Makes a number the newest one of its key; that of key 3 is deleted at the end."""

    def map(self, value):
        super().map(value)
        row = Row(value % 20, value)
        row.set_row_kind(RowKind.DELETE if value == 983 else RowKind.UPDATE_AFTER)
        return row


def slow(number):
    time.sleep(0.0005)
    return number


@pytest.mark.parametrize("parallelism", [1, 2])
def test_the_newest_row_of_each_key_is_there_once_whatever_fails(table, tmp_path, monkeypatch, parallelism):
    commits = Commits(monkeypatch, IcebergCommitter)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 499, 501, 900)])
    env = checkpointed(tmp_path, parallelism)
    numbers = env.from_source(NumberSequenceSource(0, 999), NO_WATERMARKS, "numbers").set_parallelism(1)
    changes = numbers.map(slow).set_parallelism(1).key_by(lambda number: number % 20).map(Change(faults))
    changes.sink_to(IcebergSink(table.name, PAIR, table.catalog, upsert_by=["id"]))
    env.execute()
    assert table.rows("id, n") == [(key, 980 + key) for key in range(20) if key != 3]
    assert faults.happened() == faults.planned()
    assert commits.count > 2


def written(sink, epochs):
    writer, prepared = sink.create_writer(WriterContext(0, 1, "a", identity="job/sink", run="r")), []
    for rows in epochs:
        writer.write(rows, None)
        prepared += writer.prepare_commit(end_of_input=False)
    return prepared


def test_epochs_of_one_commit_replace_each_other_in_order(table):
    sink = IcebergSink(table.name, PAIR, table.catalog, upsert_by="id")
    prepared = written(sink, [[(1, 1), (2, 1), (1, 2)], [(1, 3), (3, 1)], []])
    committer = sink.create_committer()
    assert not committer.commit(prepared)
    assert not committer.commit(prepared)
    assert table.rows("id, n") == [(1, 3), (2, 1), (3, 1)]


def test_insertions_may_be_appended_without_a_look(table):
    sink = IcebergSink(table.name, PAIR, table.catalog, upsert_by="id", upsert_insertions=False)
    for epoch in ([(1, 1)], [(1, 2)]):
        prepared = written(sink, [epoch])
        assert prepared[0].keys == ()
        sink.create_committer().commit([prepared[0]._replace(run=str(epoch))])
    assert table.rows("id, n") == [(1, 1), (1, 2)]


def test_a_key_that_is_not_there_is_refused_and_a_table_of_upserts_needs_one(table):
    with pytest.raises(PlanError, match="the table cannot have the key 'no': its columns are id, n"):
        IcebergSink(table.name, PAIR, table.catalog, upsert_by=["no"])
    properties = {"write.upsert.enabled": "true"}
    with pytest.raises(LakeError, match="name the columns of its key"):
        IcebergSink(table.name, PAIR, table.catalog, properties=properties).create_committer()


@pytest.mark.parametrize("fails_at", [1, 2])
def test_a_failure_between_the_epochs_of_a_commit_loses_none(table, monkeypatch, fails_at):
    sink = IcebergSink(table.name, PAIR, table.catalog, upsert_by="id")
    prepared = written(sink, [[(1, 1), (2, 1)], [(1, 2), (3, 1)], [(3, 2)]])
    real, calls = IcebergCommitter._add, []

    def add(own, left, notes):
        calls.append(left)
        if len(calls) == fails_at + 1:
            raise OSError("away")
        real(own, left, notes)

    monkeypatch.setattr(IcebergCommitter, "_add", add)
    committer = sink.create_committer()
    assert committer.commit(prepared) == prepared
    assert not sink.create_committer().commit(prepared)
    assert table.rows("id, n") == [(1, 2), (2, 1), (3, 2)]


def test_a_row_before_an_update_that_stands_alone_deletes_its_key(table):
    before = Row(1, 1)
    before.set_row_kind(RowKind.UPDATE_BEFORE)
    sink = IcebergSink(table.name, PAIR, table.catalog, upsert_by="id")
    sink.create_committer().commit(written(sink, [[(1, 1), before, (2, 1)]]))
    assert table.rows("id, n") == [(2, 1)]
