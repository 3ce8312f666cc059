"""Tables of Delta Lake and Iceberg have each record once, whatever fails, as a second implementation reads them."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from decimal import Decimal

import pytest
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.datastream.inline import make_env as inline_env
from tests.datastream.inline import move_every_epoch
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Row, Types
from flintstream.connectors.lakes import delta, iceberg
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import DeltaSink, IcebergSink
from flintstream.errors import PlanError
from flintstream.table import DataTypes

make_env = both_engines
KINDS = ("delta", "iceberg")
PAIR = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])


@pytest.fixture(params=KINDS)
def table(request, tmp_path):
    pytest.importorskip({"delta": "deltalake", "iceberg": "pyiceberg"}[request.param])
    from tests.connectors.lakes.tables import Delta, Iceberg

    (tmp_path / "table").mkdir()
    return (Delta if request.param == "delta" else Iceberg)(tmp_path / "table")


def sink(table, row_type=PAIR, by=()):
    if hasattr(table, "catalog"):
        return IcebergSink(table.name, row_type, table.catalog, by)
    return DeltaSink(table.location, row_type, by)


def test_both_engines_write_the_same(table, make_env, tmp_path):
    settings = {
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = make_env(2, settings)
    rows = [(number, f"n{number}") for number in range(3000)]
    env.from_collection(rows, Types.TUPLE([Types.LONG(), Types.STRING()])).sink_to(sink(table))
    env.execute()
    assert table.rows("id, name") == rows


class Token(FaultyMap):
    """Gives a record another value whenever it is repeated."""

    def map(self, value):
        time.sleep(0.0003)
        super().map(value)
        return (value, uuid.uuid4().hex)


class Commits:
    """Lets the driver fail before and after some commits."""

    def __init__(self, monkeypatch, committer):
        real, self.count = committer.commit, 0

        def commit(own, committables):
            self.count += 1
            if self.count == 3:
                raise ValueError("before the commit, this time")
            result = real(own, committables)
            if self.count in {6, 9, 10}:
                raise ValueError("after the commit, this time")
            return result

        monkeypatch.setattr(committer, "commit", commit)


@pytest.mark.parametrize(("parallelism", "moves"), [(1, False), (2, False), (2, True)])
def test_each_record_is_there_once_whatever_fails(table, tmp_path, monkeypatch, parallelism, moves):
    if moves:
        move_every_epoch(monkeypatch)
    commits = Commits(monkeypatch, iceberg.IcebergCommitter if hasattr(table, "catalog") else delta.DeltaCommitter)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 999, 1001, 1700)])
    env = checkpointed(tmp_path, parallelism)
    numbers = env.from_source(NumberSequenceSource(0, 1999), NO_WATERMARKS, "numbers")
    numbers.map(Token(faults)).sink_to(sink(table))
    env.execute()
    assert [row[0] for row in table.rows("id")] == list(range(2000))
    assert faults.happened() == faults.planned()
    assert commits.count > 10
    assert table.commits() <= commits.count


def test_a_checkpoint_is_one_version(table):
    built = sink(table)
    committer = built.create_committer()
    prepared = []
    for subtask in range(3):
        writer = built.create_writer(WriterContext(subtask, 3, "a", identity="job/sink", run="r"))
        for epoch in range(2):
            writer.write([(10 * subtask + epoch, "x")], None)
            prepared += writer.prepare_commit(end_of_input=False)
        writer.write([(-1, "not prepared")], None)
        writer.close()
    assert not committer.commit(prepared[:3])
    assert not committer.commit(prepared)  # as after a failure: a part has been committed
    again = built.create_committer()
    assert not again.commit(prepared)
    assert table.rows("id") == [(0,), (1,), (10,), (11,), (20,), (21,)]
    assert table.commits() == 2


def test_partitions_and_all_kinds_of_values(table):
    kinds = {
        "day": DataTypes.STRING(),
        "n": DataTypes.INT(),
        "price": DataTypes.DECIMAL(10, 2),
        "at": DataTypes.TIMESTAMP(6),
        "date": DataTypes.DATE(),
        "ratio": DataTypes.DOUBLE(),
        "tags": DataTypes.ARRAY(DataTypes.STRING()),
        "flag": DataTypes.BOOLEAN(),
    }
    row_type = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in kinds.items()])
    at = dt.datetime(2024, 5, 1, 12, 30, 0, 123456)
    values = ("mon/day 1", 1, Decimal("2.50"), at, dt.date(2024, 5, 1), 0.5, ["a", None], True)
    env = inline_env()
    rows = [
        Row(**dict(reversed(list(zip(kinds, values, strict=True))))),
        ("tue", None, None, None, None, None, None, None),
    ]
    env.from_collection(rows).sink_to(sink(table, row_type, ["day"]))
    env.execute()
    assert len(table.files()) == 2
    assert table.rows(", ".join(f'"{name}"' for name in kinds)) == [values, ("tue", *[None] * 7)]
    if hasattr(table, "catalog"):
        from pyiceberg.catalog import load_catalog

        own = load_catalog("default", **table.catalog).load_table(table.name)
        assert own.scan(row_filter="day = 'tue'").to_arrow().num_rows == 1
    else:
        from deltalake import DeltaTable

        own = DeltaTable(table.location).to_pyarrow_table(filters=[("day", "=", "mon/day 1")])
        assert own.num_rows == 1


def test_a_table_with_other_columns_is_refused_before_the_job_starts(table):
    env = inline_env()
    env.from_collection([(1, "a")]).sink_to(sink(table))
    env.execute()
    other = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.STRING())])
    for built in (sink(table, other), sink(table, by=["id"])):
        env = inline_env()
        env.from_collection([("a",)]).sink_to(built)
        with pytest.raises(LakeError, match=r"has the columns id .*, name string, and is partitioned by nothing"):
            env.execute()
    assert table.rows("id, name") == [(1, "a")]


def test_another_writer_does_not_disturb(table):
    import pyarrow as pa

    built = sink(table)
    committer = built.create_committer()
    writer = built.create_writer(WriterContext(0, 1, "a", identity="job/sink", run="r"))
    for number in range(3):
        more = pa.table({"id": pa.array([100 + number]), "name": ["other"]})
        if hasattr(table, "catalog"):
            from pyiceberg.catalog import load_catalog

            load_catalog("default", **table.catalog).load_table(table.name).append(more)
        else:
            from deltalake import write_deltalake

            write_deltalake(table.location, more, mode="append")
        writer.write([(number, "own")], None)
        assert not committer.commit(writer.prepare_commit(end_of_input=False))
    assert table.rows("id") == [(0,), (1,), (2,), (100,), (101,), (102,)]


def test_records_that_are_no_insertions_or_have_other_columns_are_refused(table):
    from flintstream.common.types import RowKind

    built = sink(table)
    built.create_committer()
    writer = built.create_writer(WriterContext(0, 1, "a", identity="job/sink", run="r"))
    changed = Row(1, "a")
    changed.set_row_kind(RowKind.DELETE)
    for record, message in [
        (changed, "takes insertions only"),
        ((1,), "has 2 columns, but .* has 1 values"),
        (5, "must be a tuple"),
    ]:
        with pytest.raises(LakeError, match=message):
            writer.write([record], None)


def test_mistakes_are_found_when_the_program_is_built(table):
    with pytest.raises(PlanError, match="cannot be partitioned by 'day': its columns are id, name"):
        sink(table, by="day")
    with pytest.raises(TypeError, match="needs a row type"):
        sink(table, DataTypes.INT())
    if hasattr(table, "catalog"):
        with pytest.raises(PlanError, match=r"as 'shop.orders', got 'orders'"):
            IcebergSink("orders", PAIR, table.catalog)
