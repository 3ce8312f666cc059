"""Rows reach the partitions of Iceberg tables whose values transforms make, as another implementation reads them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")

from pyiceberg import transforms as tr
from pyiceberg import types as i
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.lakes.tables import Iceberg
from tests.connectors.lakes.test_sinks import Token
from tests.datastream.inline import make_env
from tests.engine.faults import Faults

from flintstream.common import Instant, Row
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import IcebergSink
from flintstream.table import DataTypes

FIELD = DataTypes.FIELD
PAIR = DataTypes.ROW([FIELD("id", DataTypes.BIGINT()), FIELD("name", DataTypes.STRING())])
COLUMNS = {
    "id": (i.LongType(), DataTypes.BIGINT()),
    "name": (i.StringType(), DataTypes.STRING()),
    "at": (i.TimestampType(), DataTypes.TIMESTAMP(6)),
    "seen": (i.TimestamptzType(), DataTypes.TIMESTAMP_LTZ(6)),
    "date": (i.DateType(), DataTypes.DATE()),
    "price": (i.DecimalType(10, 2), DataTypes.DECIMAL(10, 2)),
    "box": (i.StructType(i.NestedField(20, "w", i.IntegerType())), DataTypes.ROW([FIELD("w", DataTypes.INT())])),
}


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table").mkdir()
    return Iceberg(tmp_path / "table")


def load(table):
    return load_catalog("default", **table.catalog).load_table(table.name)


def create(table, names, *fields):
    """Create a table that is partitioned by transforms of some columns."""
    schema = Schema(*(i.NestedField(n + 1, name, COLUMNS[name][0]) for n, name in enumerate(names)))
    parts = [
        PartitionField(schema.find_field(name).field_id, 1000 + n, transform, f"p{n}")
        for n, (name, transform) in enumerate(fields)
    ]
    catalog = load_catalog("default", **table.catalog)
    catalog.create_namespace("shop")
    catalog.create_table(table.name, schema, partition_spec=PartitionSpec(*parts))
    return DataTypes.ROW([FIELD(name, COLUMNS[name][1]) for name in names])


def partitions(table):
    found = [task.file for task in load(table).scan().plan_files()]
    return {tuple(file.partition): file.record_count for file in found}


def test_each_transform_divides_rows_as_the_library_finds_them(table):
    fields = [
        ("id", tr.BucketTransform(4)), ("name", tr.TruncateTransform(2)), ("at", tr.DayTransform()),
        ("seen", tr.HourTransform()), ("date", tr.YearTransform()), ("date", tr.MonthTransform()),
        ("price", tr.TruncateTransform(100)), ("at", tr.VoidTransform()), ("box.w", tr.IdentityTransform()),
    ]  # fmt: skip
    kinds = create(table, [*COLUMNS], *fields)
    at = dt.datetime(2024, 5, 1, 12, 30, 0, 123456)
    full = (34, "teapot", at, Instant(3600 * 5 + 1, 1000), at.date(), Decimal("2.57"), Row(w=7))
    before = (
        35,
        "té",
        dt.datetime(1969, 12, 31, 23),
        Instant(-1, 0),
        dt.date(1969, 12, 31),
        Decimal("-2.57"),
        Row(w=7),
    )
    env = make_env()
    env.from_collection([full, before, (None,) * 7]).sink_to(IcebergSink(table.name, kinds, table.catalog))
    env.execute()
    bucket = [tr.BucketTransform(4).transform(i.LongType())(n) for n in (34, 35)]
    assert bucket[0] == 3  # as the specification of Iceberg says: 34 has the hash 2017239379
    assert partitions(table) == {
        (bucket[0], "te", 19844, 5, 54, 652, Decimal("2.00"), None, 7): 1,
        (bucket[1], "té", -1, -1, -1, -1, Decimal("-3.00"), None, 7): 1,
        (None,) * 9: 1,
    }
    for filters in ("id = 34", "at > '2024-05-01T00:00:00'", "date = '2024-05-01'", "price = 2.57", "name = 'teapot'"):
        assert load(table).scan(row_filter=filters).to_arrow().column("id").to_pylist() == [34], filters
        assert len([*load(table).scan(row_filter=filters).plan_files()]) == 1, filters
    assert table.rows("coalesce(id, 0)") == [(0,), (34,), (35,)]


def test_columns_and_transforms_together_and_another_writer(table):
    kinds = create(table, ["id", "name"], ("name", tr.IdentityTransform()), ("id", tr.BucketTransform(2)))
    for number in range(2):
        env = make_env()
        env.from_collection([(n, "a") for n in range(number * 10, number * 10 + 10)]).sink_to(
            IcebergSink(table.name, kinds, table.catalog, ["name"])
        )
        env.execute()
    assert [row[0] for row in table.rows("id")] == list(range(20))
    assert {key[0] for key in partitions(table)} == {"a"}
    with load(table).transaction() as changes:
        changes.delete("name = 'a'")
    assert load(table).scan().to_arrow().num_rows == 0


def test_each_record_is_there_once_whatever_fails(table, tmp_path):
    kinds = create(table, ["id", "name"], ("id", tr.BucketTransform(3)))
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 499, 501, 700)])
    env = checkpointed(tmp_path, 2)
    numbers = env.from_source(NumberSequenceSource(0, 999), NO_WATERMARKS, "numbers")
    numbers.map(Token(faults)).sink_to(IcebergSink(table.name, kinds, table.catalog))
    env.execute()
    assert [row[0] for row in table.rows("id")] == list(range(1000))
    assert faults.happened() == faults.planned()


def test_what_does_not_fit_is_refused(table, monkeypatch):
    kinds = create(table, ["id", "name"], ("id", tr.BucketTransform(3)))
    with pytest.raises(LakeError, match="and is partitioned by nothing"):
        IcebergSink(table.name, kinds, table.catalog, ["name"]).create_committer()
    sink = IcebergSink(table.name, kinds, table.catalog)
    committer, writer = sink.create_committer(), sink.create_writer(WriterContext(0, 1, "a", identity="j/s", run="r"))
    writer.write([(1, "a")], None)
    prepared = writer.prepare_commit(end_of_input=False)
    with load(table).update_spec() as update:
        update.add_field("name", tr.TruncateTransform(1))
    with pytest.raises(LakeError, match="is partitioned in another way than when the job wrote"):
        committer.commit(prepared)
    monkeypatch.setattr("flintstream.connectors.lakes.partitions.find_spec", lambda name: None)
    with pytest.raises(LakeError, match=r"pip install 'pyiceberg\[pyiceberg-core\]'"):
        IcebergSink(table.name, kinds, table.catalog, upsert_by="id").create_committer()
