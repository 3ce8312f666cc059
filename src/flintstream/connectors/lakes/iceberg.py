"""Tables of Iceberg."""

from __future__ import annotations

import hashlib
import json
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.connectors.lakes import partitions
from flintstream.connectors.lakes.compaction import compaction_of
from flintstream.connectors.lakes.delta import text_of
from flintstream.connectors.lakes.partitions import part
from flintstream.connectors.lakes.writer import KEPT_RUNS, LakeError, last_numbers
from flintstream.connectors.sink import Committer
from flintstream.errors import optional_module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import BinaryIO

    from pyiceberg.table import Table, Transaction

    from flintstream.connectors.lakes.writer import PartitionOf, Written


def library() -> ModuleType:
    """Return the module ``pyiceberg.catalog``.

    Raises:
        MissingDependencyError: pyiceberg is not installed.
    """
    return optional_module("pyiceberg.catalog", extra="iceberg", purpose="Iceberg tables", package="pyiceberg")


@dataclass(frozen=True)
class IcebergOutput:
    """The settings of the sink. Tasks get a copy."""

    table: str
    """Namespace and name, as ``shop.orders``."""
    schema: object
    """Arrow's."""
    catalog: Mapping[str, str] = field(default_factory=dict, repr=False)  # may contain secrets
    by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    """The columns by which rows replace others; none if rows are only appended."""
    maintenance: Mapping[str, str] = field(default_factory=dict)
    """Properties that say when files are merged, before those of the table."""

    def open(self) -> Table:
        """Return the table; create it, and its namespace, if they are missing.

        Raises:
            LakeError: It has other columns, or cannot be opened.
        """
        errors = part("exceptions")
        given = dict(self.catalog)
        try:
            catalog = library().load_catalog(given.pop("name", "default"), **given)
            catalog.create_namespace_if_not_exists(self.table.rpartition(".")[0])
            if not catalog.table_exists(self.table):
                self._create(catalog)
            table: Table = catalog.load_table(self.table)
        except (errors.RESTError, ValueError, OSError) as error:
            raise LakeError(f"cannot open the Iceberg table {self.table}: {error}") from None
        arrow = part("io.pyarrow").schema_to_pyarrow(table.schema(), include_field_ids=False)
        wanted = self.schema
        names = partitions.columns_of(table)
        if _columns(arrow) != _columns(wanted) or tuple(names) != self.by:
            columns = ", ".join(f"{name} {kind}" for name, kind in _columns(arrow))
            by = ", ".join(names) or "nothing"
            raise LakeError(f"the Iceberg table {self.table} has the columns {columns}, and is partitioned by {by}")
        optional = {item.name for item in self.schema if item.nullable}  # type: ignore[attr-defined]
        required = [item.name for item in table.schema().fields if item.required and item.name in optional]
        if required:
            raise LakeError(
                f"column '{required[0]}' of the Iceberg table {self.table} takes no NULL: declare it NOT NULL"
            )
        if not self.key and table.properties.get("write.upsert.enabled") == "true":
            raise LakeError(
                f"the Iceberg table {self.table} has 'write.upsert.enabled' = 'true': name the columns of its key"
            )
        if self.key and not partitions.are_plain(table):
            partitions.check_rewrites(self.table)
        return table

    def _create(self, catalog: object) -> None:
        already = part("exceptions").TableAlreadyExistsError
        transforms = part("transforms")
        try:
            with (
                catalog.create_table_transaction(  # type: ignore[attr-defined]
                    self.table, self.schema, properties=dict(self.properties)
                ) as changes,
                changes.update_spec() as spec,
            ):
                for name in self.by:
                    spec.add_field(name, transforms.IdentityTransform(), name)
        except already:  # another process was faster
            pass


def _columns(schema: object) -> list[tuple[str, str]]:
    """Return names and types of a schema of Arrow; large types count as the usual ones."""
    names = {"large_": "", "list<element:": "list<item:"}
    found = [(item.name, str(item.type)) for item in schema]  # type: ignore[attr-defined]
    for old, new in names.items():
        found = [(name, kind.replace(old, new)) for name, kind in found]
    return found


class IcebergPlace:
    """The directory of the data of a table, by its own file system."""

    def __init__(self, output: IcebergOutput) -> None:
        """Open the table with the first file."""
        self._output = output
        self._table: Table | None = None

    def _open(self) -> Table:
        if self._table is None:
            self._table = self._output.open()
        return self._table

    def create(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new file."""
        stream: object = self._open().io.new_output(path).create()
        return cast("AbstractContextManager[BinaryIO]", stream)

    def path(self, partition: tuple[object, ...], name: str) -> str:
        """Return the complete path of a file."""
        folders = [
            hashlib.sha256(f"{at}={text_of(value)}".encode()).hexdigest()[:8] for at, value in enumerate(partition)
        ]
        return "/".join([self._open().location().rstrip("/"), "data", *folders, name])

    def partition_of(self, names: tuple[str, ...]) -> PartitionOf:
        """Return what returns the partition of a row."""
        return partitions.partition_of(self._open(), names)

    def spec(self) -> int:
        """Return the number of the partitioning that the table had when it was opened."""
        return self._open().spec().spec_id


class IcebergCommitter(Committer):
    """Adds the files of a checkpoint to the table in one snapshot, and notes the numbers of their epochs with it."""

    def __init__(self, output: IcebergOutput) -> None:
        """Open the table, so that a job whose columns differ does not start."""
        self._output = output
        self._table = output.open()
        self._compaction = compaction_of({**self._table.properties, **output.maintenance})
        self._commits = 0

    def commit(self, committables: Sequence[Written]) -> Sequence[Written]:
        """Commit; files whose epochs the table names are not added again."""
        failed = part("exceptions").CommitFailedException
        try:
            self._table = self._table.refresh()
            notes = {sink: self._notes(sink) for sink in {written.sink for written in committables}}
            left = [
                written
                for written in committables
                if notes[written.sink].get(written.run, {}).get(str(written.subtask), -1) < written.number
            ]
            for step in self._steps(left):  # the table names an epoch in the same commit that has its rows, not before
                for (sink, run, subtask), number in last_numbers(step).items():
                    notes[sink].setdefault(run, {})[str(subtask)] = number
                self._add(step, notes)
        except (failed, OSError) as error:  # another writer was faster, or catalog or storage is away
            self.failure = error
            return committables
        if left:
            self._merge()
        return ()

    def _merge(self) -> None:
        """Merge small files, if it is time to."""
        self._commits += 1
        if self._compaction is not None and self._commits >= self._compaction.commits:
            self._commits = 0
            merging = optional_module("flintstream.connectors.lakes.merging", extra="iceberg", purpose="Iceberg tables")
            merging.merge_files(self._table.refresh(), self._compaction)

    def _steps(self, left: Sequence[Written]) -> list[list[Written]]:
        """Return what is committed together: all, or one epoch after the other if rows replace others."""
        if not self._output.key:
            return [[*left]] if left else []
        found: dict[tuple[str, str, int], list[Written]] = {}
        for written in left:
            found.setdefault((written.sink, written.run, written.number), []).append(written)
        runs = [*dict.fromkeys(run for _, run, _ in found)]
        return [found[step] for step in sorted(found, key=lambda step: (runs.index(step[1]), step[2]))]

    def _add(self, left: Sequence[Written], notes: Mapping[str, dict[str, dict[str, int]]]) -> None:
        keys = [path for written in left for path in written.keys]
        files = [file for written in left for file in written.files]
        plain = partitions.are_plain(self._table)
        added = [] if plain else partitions.data_files(self._table, files)
        with self._table.transaction() as changes:
            if keys and self._table.current_snapshot() is not None:
                self._delete(changes, keys)
            changes.set_properties(
                {_key(sink): json.dumps(dict([*runs.items()][-KEPT_RUNS:])) for sink, runs in notes.items()}
            )
            if added:
                partitions.append(self._table, changes, added)
            elif files:
                changes.add_files([file.path for file in files], check_duplicate_files=False)
        if keys:
            self._table = self._table.refresh()
            for path in keys:
                with suppress(OSError):
                    self._table.io.delete(path)

    def _delete(self, changes: Transaction, paths: Sequence[str]) -> None:
        """Delete the rows whose keys are in files."""
        parquet = optional_module("pyarrow.parquet", extra="iceberg", purpose="Iceberg tables", package="pyarrow")
        arrow = optional_module("pyarrow", extra="iceberg", purpose="Iceberg tables")
        keys = []
        for path in paths:
            with self._table.io.new_input(path).open() as file:
                keys.append(parquet.read_table(file))
        matches = part("table.upsert_util").create_match_filter(arrow.concat_tables(keys), [*self._output.key])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that no row has been found
            changes.delete(matches)

    def _notes(self, sink: str) -> dict[str, dict[str, int]]:
        """Return the last number by run and subtask."""
        found: dict[str, dict[str, int]] = json.loads(self._table.properties.get(_key(sink), "{}"))
        return found


def _key(sink: str) -> str:
    """Return the property in which a table notes what a sink has written."""
    return f"flintstream.committed.{hashlib.sha256(sink.encode()).hexdigest()[:16]}"
