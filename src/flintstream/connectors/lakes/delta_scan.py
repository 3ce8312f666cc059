"""Reads tables of Delta Lake: one version of a table, or the rows that versions add."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.connectors.files.arrow_values import arrow, values_of
from flintstream.connectors.lakes.delta_log import columns_of, kept_rows
from flintstream.connectors.lakes.rows import constant, read_rows, rows_of_columns
from flintstream.connectors.lakes.splits import DeltaSplit
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.source import Boundedness, Source, SourceReader, SplitEnumerator
from flintstream.errors import optional_module

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import pyarrow as pa
    from deltalake import DeltaTable
    from pyarrow.fs import FileSystem

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.connectors.lakes.delta_log import AddedFile, DeltaLog
    from flintstream.connectors.source import Fetch

LATEST = -1
"""The newest version, as the first one of a stream."""


@dataclass(frozen=True)
class DeltaExtent:
    """Which rows are read."""

    streaming: bool = False
    interval_ms: int = 5_000
    """How often a stream looks for versions."""
    version: int | None = None
    """The version that is read, or the first one of a stream; None for all rows of the newest one."""
    time_ms: int | None = None
    """The time at which that version was the newest one, or of the first version of a stream."""
    ignores_deletes: bool = False
    """Whether a stream passes over versions that only remove rows."""
    ignores_changes: bool = False
    """Whether a stream also reads the files of versions that replace others, and so emits unchanged rows again."""


class DeltaScan(Source):
    """Reads the rows of a table, in the order of its versions."""

    def __init__(
        self,
        log: DeltaLog,
        schema: pa.Schema,
        extent: DeltaExtent,
        needed: frozenset[str],
        produced_type: TypeInformation | None = None,
    ) -> None:
        """Take the table, Arrow's schema of the records, which rows are read, and the columns that have values."""
        self._log, self._schema, self._extent, self._needed = log, schema, extent, needed
        self.produced_type = produced_type
        self.boundedness = Boundedness.CONTINUOUS_UNBOUNDED if extent.streaming else Boundedness.BOUNDED

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the files."""
        return _Versions(self._log, tuple(self._schema.names), self._extent)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return _Reader(self._log, self._schema, self._needed)

    def with_columns(self, needed: frozenset[str]) -> DeltaScan:
        """Return a scan whose other columns are None."""
        return DeltaScan(self._log, self._schema, self._extent, needed, self.produced_type)


class _Versions(SplitEnumerator):
    def __init__(self, log: DeltaLog, names: Sequence[str], extent: DeltaExtent) -> None:
        self._log, self._names, self._extent = log, names, extent
        self._begun = False
        self._next = 0
        """The first version of which no file has been handed out."""
        self._restored = False
        self._next_look = 0.0
        self._found: FileSystem | None = None

    @property
    def _files(self) -> FileSystem:
        if self._found is None:
            self._found = self._log.files()
        return self._found

    def discover(self) -> Sequence[DeltaSplit]:
        now = time.monotonic()
        if now < self._next_look or (self._begun and not self._extent.streaming):
            return []
        self._next_look = now + self._extent.interval_ms / 1000
        if self._begun:
            if self._restored:
                self._check_next()
            return self._later()
        splits = self._first()
        self._begun = True
        return splits

    def _first(self) -> list[DeltaSplit]:
        extent = self._extent
        table = self._log.open()
        known = columns_of(table).field_names()
        for name in self._names:
            if name not in known:
                raise LakeError(
                    f"the Delta table {self._log.location} has no column '{name}': it has {', '.join(known)}"
                )
        if not extent.streaming:
            version = self._version_at(table, extent.time_ms) if extent.time_ms is not None else extent.version
            table = table if version is None else self._log.open(version)
        elif extent.version is not None or extent.time_ms is not None:
            newest = table.version()
            if extent.time_ms is not None:
                self._next = self._version_from(table, extent.time_ms)
            else:
                self._next = newest if extent.version == LATEST else extent.version or 0
            if self._next > newest + (extent.time_ms is not None):
                raise LakeError(
                    f"the Delta table {self._log.location} has no version {self._next}, only up to {newest}"
                )
            self._check_next()
            return self._later()
        self._next = table.version() + 1
        return [self._split(table.version(), file) for file in self._log.files_of(table)]

    def _version_at(self, table: DeltaTable, time_ms: int) -> int:
        """Return the version that was the newest one at a time."""
        times = [version for version, at in self._log.times(self._files, table) if at <= time_ms]
        if not times:
            raise LakeError(f"the log of the Delta table {self._log.location} has no version as old as {time_ms} ms")
        return times[-1]

    def _version_from(self, table: DeltaTable, time_ms: int) -> int:
        """Return the first version at a time or after it."""
        times = self._log.times(self._files, table)
        return next((version for version, at in times if at >= time_ms), table.version() + 1)

    def _check_next(self) -> None:
        """Fail if the log no longer has the next version, which then never appears."""
        self._restored = False
        if self._next <= self._log.open().version() and self._log.change(self._files, self._next) is None:
            raise LakeError(
                f"the log of the Delta table {self._log.location} has version {self._next} no more: it has expired. "
                "Start the stream again without its state"
            )

    def _later(self) -> list[DeltaSplit]:
        splits: list[DeltaSplit] = []
        while (change := self._log.change(self._files, self._next)) is not None:
            self._check(bool(change.added), change.removes)
            splits += [self._split(self._next, file) for file in change.added]
            self._next += 1
        return splits

    def _check(self, adds: bool, removes: bool) -> None:
        """Refuse a version that removes rows, unless the program allows it."""
        extent = self._extent
        if not removes or extent.ignores_changes or (extent.ignores_deletes and not adds):
            return
        what, option = ("replaces", "ignoreChanges") if adds else ("removes", "ignoreDeletes")
        raise LakeError(
            f"version {self._next} of the Delta table {self._log.location} {what} rows, which a stream cannot undo: "
            f"set '{option}', or start after this version"
        )

    def _split(self, version: int, file: AddedFile) -> DeltaSplit:
        kept = version if file.has_deletions else None
        return DeltaSplit(f"{version}:{file.path}", file.path, dict(file.partition), kept)

    def is_finished(self) -> bool:
        return not self._extent.streaming

    def snapshot(self) -> object:
        return self._begun, self._next

    def restore(self, state: object) -> None:
        self._begun, self._next = state  # type: ignore[misc]
        self._restored = True


@dataclass
class _Reader(SourceReader):
    log: DeltaLog
    schema: pa.Schema = field(repr=False)
    needed: frozenset[str]

    gives_away = True

    def __post_init__(self) -> None:
        self._files: FileSystem | None = None
        self._kept: tuple[str, pa.Array | None] | None = None

    def read(self, split: DeltaSplit, fetch: Fetch) -> Generator[list[Row], None, bool]:
        return (yield from read_rows(split, fetch, self._batches(split), lambda batch: self._rows(batch, split)))

    def _batches(self, split: DeltaSplit) -> Iterator[pa.RecordBatch]:
        parquet = optional_module("pyarrow.parquet", extra="delta", purpose="Delta Lake tables", package="pyarrow")
        if self._files is None:
            self._files = self.log.files()
        kept = None if split.version is None else self._rows_kept(split.version, split)
        passed = 0
        with self._open(split.path) as stream:
            file = parquet.ParquetFile(stream, pre_buffer=True, coerce_int96_timestamp_unit="us")
            there = file.schema_arrow.names
            names = [name for name in self.schema.names if name in self.needed and name in there]
            for batch in file.iter_batches(columns=names or there[:1]):  # some column tells the rows
                passed += len(batch)
                yield batch if kept is None else batch.filter(kept.slice(passed - len(batch), len(batch)))

    def _open(self, path: str) -> pa.NativeFile:
        if "://" not in path and self._files is not None:
            return self._files.open_input_file(path)
        fs = optional_module("pyarrow.fs", extra="delta", purpose="Delta Lake tables", package="pyarrow")
        files, place = fs.FileSystem.from_uri(path)  # of a shallow clone
        return files.open_input_file(place)

    def _rows_kept(self, version: int, split: DeltaSplit) -> pa.Array | None:
        if self._kept is None or self._kept[0] != split.split_id:
            self._kept = (split.split_id, kept_rows(self.log.open(version), split.path))
        return self._kept[1]

    def _rows(self, batch: pa.RecordBatch, split: DeltaSplit) -> list[Row]:
        known, columns = set(batch.schema.names), []
        for column in self.schema:
            name = column.name
            if name in split.partition:
                columns.append(constant(split.partition[name], column.type, len(batch)))
            elif name in known and name in self.needed:
                columns.append(values_of(_cast(batch.column(name), column)))
            else:
                columns.append([None] * len(batch))
        return rows_of_columns(tuple(self.schema.names), columns)


def _cast(array: pa.Array, column: pa.Field) -> pa.Array:
    """Return an array in the type of a column; a time with a zone becomes that of UTC where the column has none."""
    if array.type == column.type:
        return array
    try:
        found: pa.Array = array.cast(column.type, safe=not arrow().types.is_timestamp(array.type))
    except arrow().ArrowException as error:
        raise LakeError(f"column '{column.name}' is {array.type} in a file, not {column.type}: {error}") from None
    return found
