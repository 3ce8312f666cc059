"""Equality deletes of Iceberg, as Flink writes them, remove the rows of older files in their partition."""

from __future__ import annotations

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestWriterV2
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record
from tests.connectors.kafka.jobs import NO_WATERMARKS
from tests.datastream.inline import make_env

from flintstream.connectors.lakes.iceberg_scan import Extent, IcebergScan, IcebergTable


class DeletesWriter(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


class Deleting(_FastAppendFiles):
    """Adds files of deletes."""

    def new_manifest_writer(self, spec):
        return DeletesWriter(spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression)


@pytest.fixture(params=["unpartitioned", "partitioned"])
def table(request, tmp_path):
    catalog = load_catalog("default", **place(tmp_path).properties)
    catalog.create_namespace("shop")
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("day", pa.string())])
    found = catalog.create_table("shop.t", schema, properties={"format-version": "2"})
    if request.param == "partitioned":
        with found.update_spec() as update:
            update.add_identity("day")
    return found


def place(directory):
    properties = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}"}
    return IcebergTable("shop.t", properties)


def append(table, ids, day="mon"):
    names = [None if n == 4 else f"n{n}" for n in ids]
    table.append(
        pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string()), "day": [day] * len(ids)})
    )


def delete(table, directory, day="mon", **keys):
    """Delete the rows with the values of some columns."""
    schema = table.schema()
    fields = [(name, schema.find_field(name)) for name in keys]
    kinds = {"id": pa.int64(), "name": pa.string()}
    file_schema = pa.schema(
        [pa.field(name, kinds[name], metadata={"PARQUET:field_id": str(field.field_id)}) for name, field in fields]
    )
    path = f"{directory}/deletes-{len(table.snapshots())}.parquet"
    pq.write_table(pa.table([pa.array(values, kinds[name]) for name, values in keys.items()], file_schema), path)
    partitioned = bool(table.spec().fields)
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES, file_path=path, file_format=FileFormat.PARQUET,
        partition=Record(day) if partitioned else Record(), record_count=1, file_size_in_bytes=1,
        spec_id=table.spec().spec_id, equality_ids=[field.field_id for _, field in fields],
    )  # fmt: skip
    with (
        table.transaction() as changes,
        Deleting(operation=Operation.DELETE, transaction=changes, io=table.io) as snapshot,
    ):
        snapshot.append_data_file(file)


def read(directory, names=("id",), **extent):
    scan = IcebergScan(place(directory), names, Extent(**extent), frozenset(names))
    with make_env().from_source(scan, NO_WATERMARKS, "t").execute_and_collect() as found:
        return sorted((tuple(row) for row in found), key=str)


def test_rows_of_older_files_are_left_out(table, tmp_path):
    append(table, [1, 2, 3, 4])
    before = table.refresh().current_snapshot().snapshot_id
    delete(table, tmp_path, id=[2, 9])
    append(table, [2, 5])
    assert read(tmp_path) == [(1,), (2,), (3,), (4,), (5,)]
    assert read(tmp_path, snapshot=before) == [(1,), (2,), (3,), (4,)]
    delete(table.refresh(), tmp_path, id=[2, 4], name=["n2", None])
    assert read(tmp_path) == [(1,), (3,), (5,)]
    assert read(tmp_path, ["day", "name"]) == [("mon", "n1"), ("mon", "n3"), ("mon", "n5")]
    assert read(tmp_path, after=before) == [(2,), (5,)]


def test_deletes_of_a_partition_leave_the_others(table, tmp_path):
    append(table, [1, 2])
    append(table, [1, 2], "tue")
    delete(table.refresh(), tmp_path, id=[1])
    expected = [("mon", 2), ("tue", 1), ("tue", 2)] if table.spec().fields else [("mon", 2), ("tue", 2)]
    assert read(tmp_path, ["day", "id"]) == expected
