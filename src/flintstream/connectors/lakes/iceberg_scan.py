"""Reads tables of Iceberg: one version of a table, or the rows that commits append."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError, RESTError
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import ManifestEntryStatus
from pyiceberg.table import FileScanTask, StaticTable
from pyiceberg.table.snapshots import Operation

from flintstream.connectors.files.arrow_values import values_of
from flintstream.connectors.lakes.deletes import EqualityDeletes, ReadTask, plan
from flintstream.connectors.lakes.rows import read_rows, rows_of_columns
from flintstream.connectors.lakes.splits import IcebergSplit
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.source import Boundedness, Source, SourceReader, SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    import pyarrow as pa
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

    from flintstream.common.types import Row
    from flintstream.connectors.source import Fetch

_LOG = logging.getLogger(__name__)


class Start(Enum):
    """Where a stream of a table begins, by the names of Iceberg's connector for Flink."""

    TABLE_SCAN_THEN_INCREMENTAL = "table"
    """All rows of now, then those of later commits."""
    INCREMENTAL_FROM_LATEST_SNAPSHOT = "latest"
    """The rows that the newest commit has appended, then those of later ones."""
    INCREMENTAL_FROM_EARLIEST_SNAPSHOT = "earliest"
    """The rows of the oldest commit that the table remembers, then those of later ones."""
    INCREMENTAL_FROM_SNAPSHOT_ID = "id"
    """The rows of a commit, then those of later ones."""
    INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP = "time"
    """The rows of the first commit at a time or after it, then those of later ones."""


@dataclass(frozen=True)
class IcebergTable:
    """A table of a catalog."""

    name: str
    """Namespace and name, as ``shop.orders``."""
    catalog: Mapping[str, str] = field(default_factory=dict, repr=False)  # may contain secrets
    """The properties with which pyiceberg loads the catalog; ``name`` is its name."""

    @property
    def properties(self) -> dict[str, str]:
        """The properties without the name."""
        return {key: value for key, value in self.catalog.items() if key != "name"}

    def load(self) -> Table:
        """Return the newest version of the table.

        Raises:
            LakeError: It is not there, or cannot be opened.
        """
        try:
            return load_catalog(self.catalog.get("name", "default"), **self.properties).load_table(self.name)
        except (NoSuchTableError, RESTError, ValueError, OSError) as error:
            raise LakeError(f"cannot open the Iceberg table {self.name}: {error}") from None


@dataclass(frozen=True)
class Extent:
    """Which rows are read."""

    streaming: bool = False
    interval_ms: int = 60_000
    """How often a stream looks for commits."""
    start: Start = Start.INCREMENTAL_FROM_LATEST_SNAPSHOT
    snapshot: int | None = None
    """The version, or the first commit of a stream; None for the newest."""
    time_ms: int | None = None
    """The time at which the version was the newest, or of the first commit of a stream."""
    after: int | None = None
    """Without streaming: only the rows of commits after this one, up to ``snapshot``."""
    ref: str | None = None
    """The branch or tag that is read, instead of ``main``."""


class IcebergScan(Source):
    """Reads the rows of a table, in the order of its commits."""

    def __init__(self, place: IcebergTable, names: Sequence[str], extent: Extent, needed: frozenset[str]) -> None:
        """Take the table, the columns of its records, which of the rows are read, and the columns that have values."""
        self._place, self._names, self._extent, self._needed = place, tuple(names), extent, needed
        self.boundedness = Boundedness.CONTINUOUS_UNBOUNDED if extent.streaming else Boundedness.BOUNDED

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the files."""
        return _Commits(self._place, self._extent)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return _Reader(self._place.properties, self._names, self._needed)

    def with_columns(self, needed: frozenset[str]) -> IcebergScan:
        """Return a scan whose other columns are None."""
        return IcebergScan(self._place, self._names, self._extent, needed)


class _Commits(SplitEnumerator):
    def __init__(self, place: IcebergTable, extent: Extent) -> None:
        self._place, self._extent = place, extent
        self._begun = False
        self._last: int | None = None
        self._next_look = 0.0

    def discover(self) -> Sequence[IcebergSplit]:
        now = time.monotonic()
        if now < self._next_look or (self._begun and not self._extent.streaming):
            return []
        self._next_look = now + self._extent.interval_ms / 1000
        table = self._place.load()
        current = table.snapshot_by_name(self._extent.ref or "main")
        if self._begun:
            return self._later(table, current)
        self._begun = True
        return self._first(table, current) if self._extent.streaming else self._splits_of_version(table, current)

    def _splits_of_version(self, table: Table, current: Snapshot | None) -> list[IcebergSplit]:
        extent, chosen = self._extent, current
        if extent.snapshot is not None:
            chosen = _snapshot(table, extent.snapshot)
        elif extent.time_ms is not None:
            chosen = table.snapshot_as_of_timestamp(extent.time_ms)
            if chosen is None:
                raise LakeError(f"the Iceberg table {_name(table)} has no snapshot as old as {extent.time_ms} ms")
        if extent.after is not None:
            return self._splits_of(table, _between(table, extent.after, chosen))
        return [] if chosen is None else _version(table, chosen)

    def _first(self, table: Table, current: Snapshot | None) -> list[IcebergSplit]:
        self._last = None if current is None else current.snapshot_id
        extent = self._extent
        if current is None:
            return []
        if extent.start is Start.TABLE_SCAN_THEN_INCREMENTAL:
            return _version(table, current)
        history = _between(table, None, current)
        if extent.start is Start.INCREMENTAL_FROM_LATEST_SNAPSHOT:
            history = history[-1:]
        elif extent.start is Start.INCREMENTAL_FROM_SNAPSHOT_ID:
            first = _snapshot(table, extent.snapshot or 0)
            history = _between(table, first.parent_snapshot_id, current) if first in history else []
            if not history:
                raise LakeError(f"snapshot {extent.snapshot} does not lead to the newest one of {_name(table)}")
        elif extent.start is Start.INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP:
            history = [found for found in history if found.timestamp_ms >= (extent.time_ms or 0)]
        return self._splits_of(table, history)

    def _later(self, table: Table, current: Snapshot | None) -> list[IcebergSplit]:
        if current is None or current.snapshot_id == self._last:
            return []
        history = _between(table, self._last, current)
        self._last = current.snapshot_id
        return self._splits_of(table, history)

    def _splits_of(self, table: Table, history: Sequence[Snapshot]) -> list[IcebergSplit]:
        splits = []
        for found in history:
            operation = None if found.summary is None else found.summary.operation
            if operation is Operation.APPEND:
                splits += [_split(table, found, path, appended=True) for path in _find_added(table, found)]
            elif operation is not Operation.REPLACE:  # a compaction changes no row
                _LOG.warning(
                    "The stream of the Iceberg table %s leaves out snapshot %d, whose operation is not append but: %s",
                    _name(table), found.snapshot_id, None if operation is None else operation.value,
                )  # fmt: skip
        return splits

    def is_finished(self) -> bool:
        return not self._extent.streaming

    def snapshot(self) -> object:
        return self._begun, self._last

    def restore(self, state: object) -> None:
        self._begun, self._last = state  # type: ignore[misc]


def _name(table: Table) -> str:
    return ".".join(table.name())


def _snapshot(table: Table, number: int) -> Snapshot:
    found = table.snapshot_by_id(number)
    if found is None:
        raise LakeError(f"the Iceberg table {_name(table)} has no snapshot {number}: it may have expired")
    return found


def _between(table: Table, after: int | None, last: Snapshot | None) -> list[Snapshot]:
    """Return the snapshots that lead to the last one, in order, without those up to ``after``.

    Raises:
        LakeError: ``after`` does not lead to the last one.
    """
    history: list[Snapshot] = []
    while last is not None and last.snapshot_id != after:
        history.append(last)
        last = None if last.parent_snapshot_id is None else table.snapshot_by_id(last.parent_snapshot_id)
    if after is not None and last is None:
        raise LakeError(
            f"the Iceberg table {_name(table)} does not lead from snapshot {after} to its newest one: it has expired, "
            "or the table was rolled back. Start the stream again without its state"
        )
    return history[::-1]


def _split(table: Table, snapshot: Snapshot, path: str, *, appended: bool) -> IcebergSplit:
    number = snapshot.snapshot_id
    return IcebergSplit(f"{number}:{path}", table.metadata_location, number, path, appended)


def _version(table: Table, snapshot: Snapshot) -> list[IcebergSplit]:
    return [_split(table, snapshot, path, appended=False) for path in sorted(plan(table, snapshot))]


def _find_added(table: Table, snapshot: Snapshot) -> dict[str, ReadTask]:
    """Return the files that a commit has appended."""
    return {
        entry.data_file.file_path: ReadTask(FileScanTask(entry.data_file))
        for manifest in snapshot.manifests(table.io)
        if manifest.added_snapshot_id == snapshot.snapshot_id
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        if entry.status == ManifestEntryStatus.ADDED
    }


@dataclass
class _Reader(SourceReader):
    properties: dict[str, str] = field(repr=False)
    names: tuple[str, ...]
    needed: frozenset[str]

    gives_away = True

    def __post_init__(self) -> None:
        self._place: tuple[str, int, bool] | None = None
        self._tasks: dict[str, ReadTask] = {}
        self._table: Table | None = None
        self._deletes: EqualityDeletes | None = None

    def _prepare(self, split: IcebergSplit) -> tuple[Table, EqualityDeletes]:
        """Read the metadata of a split's version, once for all its files."""
        place = (split.metadata, split.snapshot, split.appended)
        if self._table is None or self._deletes is None or self._place != place:
            table = StaticTable.from_metadata(split.metadata, self.properties)
            snapshot = _snapshot(table, split.snapshot)
            self._tasks = _find_added(table, snapshot) if split.appended else plan(table, snapshot)
            self._place, self._table, self._deletes = place, table, EqualityDeletes(table)
        return self._table, self._deletes

    def read(self, split: IcebergSplit, fetch: Fetch) -> Generator[list[Row], None, bool]:
        table, deletes = self._prepare(split)
        task, deleting = self._tasks[split.path]
        needed = [name for name in self.names if name in self.needed] or [*self.names[:1]]  # some column tells the rows
        schema = table.schema().select(*needed, *deletes.columns(deleting))
        batches = ArrowScan(table.metadata, table.io, schema, AlwaysTrue()).to_record_batches([task])
        return (
            yield from read_rows(split, fetch, deletes.filter(batches, deleting) if deleting else batches, self._rows)
        )

    def _rows(self, batch: pa.RecordBatch) -> list[Row]:
        known = set(batch.schema.names)
        columns = [values_of(batch.column(name)) if name in known else [None] * len(batch) for name in self.names]
        return rows_of_columns(self.names, columns)
