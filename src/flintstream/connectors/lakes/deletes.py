"""Rows of tables of Iceberg that equality deletes remove, which pyiceberg does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import DataFileContent, ManifestContent
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask

from flintstream.connectors.files.arrow_values import arrow, values_of
from flintstream.connectors.lakes.partitions import part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyiceberg.manifest import DataFile, ManifestEntry
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot


class ReadTask(NamedTuple):
    """A file of a version."""

    task: FileScanTask
    """With the files of position deletes."""
    deletes: Sequence[DataFile] = ()
    """The files of equality deletes."""


def plan(table: Table, snapshot: Snapshot) -> dict[str, ReadTask]:
    """Return the files of a version by their paths."""
    entries = [
        entry
        for manifest in snapshot.manifests(table.io)
        if manifest.content == ManifestContent.DELETES
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
    ]
    deletes = [entry for entry in entries if entry.data_file.content == DataFileContent.EQUALITY_DELETES]
    if not deletes:
        tasks = table.scan(snapshot_id=snapshot.snapshot_id).plan_files()
        return {task.file.file_path: ReadTask(task) for task in tasks}
    positions = part("table.delete_file_index").DeleteFileIndex()
    for entry in entries:
        if entry.data_file.content == DataFileContent.POSITION_DELETES:
            positions.add_delete_file(entry, partition_key=entry.data_file.partition)
    found = {}
    for manifest in snapshot.manifests(table.io):
        if manifest.content == ManifestContent.DATA:
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
                file, number = entry.data_file, entry.sequence_number or 0
                task = FileScanTask(file, positions.for_data_file(number, file, partition_key=file.partition))
                found[file.file_path] = ReadTask(
                    task, [delete.data_file for delete in deletes if _applies(table, delete, entry)]
                )
    return found


def _applies(table: Table, delete: ManifestEntry, entry: ManifestEntry) -> bool:
    """Return whether a file of deletes is newer than a file of rows, and in its partition or in all."""
    if (delete.sequence_number or 0) <= (entry.sequence_number or 0):
        return False
    spec = delete.data_file.spec_id or 0
    if table.specs()[spec].is_unpartitioned():
        return True
    return spec == (entry.data_file.spec_id or 0) and delete.data_file.partition == entry.data_file.partition


class EqualityDeletes:
    """What removes rows from batches of Arrow. Keys are read once for each file that has some."""

    def __init__(self, table: Table) -> None:
        """Read keys of a table."""
        self._table = table
        self._keys: dict[str, set[tuple[object, ...]]] = {}

    def columns(self, files: Sequence[DataFile]) -> list[str]:
        """Return the columns that have the keys of files."""
        schema = self._table.schema()
        return [*dict.fromkeys(schema.find_field(number).name for file in files for number in file.equality_ids or ())]

    def filter(self, batches: Iterator[pa.RecordBatch], files: Sequence[DataFile]) -> Iterator[pa.RecordBatch]:
        """Yield batches without the rows whose keys files have."""
        deletes = [(self._names(file), self._read(file)) for file in files]
        for batch in batches:
            keep = [True] * len(batch)
            for names, keys in deletes:
                rows = zip(*(values_of(batch.column(name)) for name in names), strict=True)
                keep = [kept and row not in keys for kept, row in zip(keep, rows, strict=True)]
            yield batch.filter(arrow().array(keep, arrow().bool_()))

    def _names(self, file: DataFile) -> list[str]:
        return self.columns([file])

    def _read(self, file: DataFile) -> set[tuple[object, ...]]:
        found = self._keys.get(file.file_path)
        if found is None:
            table, names = self._table, self._names(file)
            schema = Schema(*(table.schema().find_field(name) for name in names))
            scan = ArrowScan(table.metadata, table.io, schema, AlwaysTrue())
            batches = scan.to_record_batches([FileScanTask(file)])
            found = {row for batch in batches for row in zip(*map(values_of, batch.columns), strict=True)}
            self._keys[file.file_path] = found
        return found
