"""Tables of Delta Lake."""

from __future__ import annotations

import functools
import json
import logging
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from flintstream.connectors.lakes.writer import LakeError, last_numbers
from flintstream.connectors.sink import Committer
from flintstream.errors import optional_module
from flintstream.storage.location import Location
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import BinaryIO

    from pyarrow.fs import FileSystem

    from flintstream.connectors.lakes.writer import PartitionOf, Written

_LOG = logging.getLogger(__name__)

COMMITS_BETWEEN_MERGES = 10
"""After how many commits of a sink the small files of its table are merged, if its properties ask for it."""


class Table(Protocol):
    """A table, as far as the sink needs it."""

    def update_incremental(self) -> None:
        """Read newer versions."""

    def transaction_version(self, app_id: str) -> int | None:
        """Return the last version that an application has noted."""

    def create_write_transaction(
        self, actions: list[object], mode: str, schema: object, by: list[str], **more: object
    ) -> None:
        """Commit files."""


def library() -> ModuleType:
    """Return the module ``deltalake``.

    Raises:
        MissingDependencyError: deltalake is not installed.
    """
    return optional_module("deltalake", extra="delta", purpose="the Delta Lake sink")


@dataclass(frozen=True)
class DeltaOutput:
    """The settings of the sink. Tasks get a copy."""

    location: str
    schema: object
    """Arrow's."""
    by: tuple[str, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)  # may contain secrets
    configuration: Mapping[str, str] = field(default_factory=dict)

    def open(self) -> Table:
        """Return the table; create it if it is missing.

        Raises:
            LakeError: It has other columns, or cannot be opened.
        """
        deltalake, errors = library(), optional_module("deltalake.exceptions", extra="delta", purpose="the sink")
        schema = deltalake.Schema.from_arrow(self.schema)
        try:
            table = deltalake.DeltaTable.create(
                self.location,
                schema,
                mode="ignore",
                partition_by=list(self.by) or None,
                configuration=dict(self.configuration) or None,
                storage_options=dict(self.storage) or None,
            )
            table = deltalake.DeltaTable(self.location, storage_options=dict(self.storage) or None)
        except (errors.DeltaError, OSError) as error:
            raise LakeError(f"cannot open the Delta table {self.location}: {error}") from None
        found = _columns(table.schema())
        wanted = _columns(schema)
        if found != wanted or tuple(table.metadata().partition_columns) != self.by:
            by = ", ".join(table.metadata().partition_columns) or "nothing"
            columns = ", ".join(f"{name} {kind}" for name, kind in found)
            raise LakeError(f"the Delta table {self.location} has the columns {columns}, and is partitioned by {by}")
        return cast("Table", table)


@functools.lru_cache(maxsize=8)
def _remote_files(location: str, storage: frozenset[tuple[str, str]]) -> FileSystem:
    fs = optional_module("pyarrow.fs", extra="delta", purpose="Delta Lake tables", package="pyarrow")
    client = optional_module("deltalake.fs", extra="delta", purpose="Delta Lake tables", package="deltalake")
    found: FileSystem = fs.PyFileSystem(client.DeltaStorageHandler(location, dict(storage)))
    return found


def remote_files(location: str, storage: Mapping[str, str]) -> FileSystem:
    """Return the file system of a table that is not local, whose root is the directory of the table."""
    return _remote_files(location, frozenset(storage.items()))


@dataclass(frozen=True)
class DeltaPlace:
    """The directory of a table."""

    location: str
    by: tuple[str, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)  # may contain secrets

    def create(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new file, through the client that writes the log, if the table is not local."""
        if Location.parse(self.location).is_local:
            return file_store(self.location).create(path)
        return cast(
            "AbstractContextManager[BinaryIO]", remote_files(self.location, self.storage).open_output_stream(path)
        )

    def path(self, partition: tuple[object, ...], name: str) -> str:
        """Return the path of a file below that of the table, as Hive names the folders of partitions."""
        parts = [
            f"{column}={urllib.parse.quote(text_of(value) or '__HIVE_DEFAULT_PARTITION__', safe='')}"
            for column, value in zip(self.by, partition, strict=True)
        ]
        return "/".join([*parts, name])

    def partition_of(self, names: tuple[str, ...]) -> PartitionOf:
        """Return what returns the values of the columns by which the table is partitioned."""
        indexes = [names.index(name) for name in self.by]
        return lambda row: tuple(row[index] for index in indexes)

    def spec(self) -> int:
        """Return 0: the partitioning never changes."""
        return 0


def text_of(value: object) -> str | None:
    """Return the text of a value of a partition; None for a null.

    >>> text_of(True), text_of(3), text_of(None)
    ('true', '3', None)
    """
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _columns(schema: object) -> list[tuple[str, str]]:
    """Return names and types of a schema."""
    fields = schema.fields  # type: ignore[attr-defined]  # one of deltalake
    return [(item.name, str(getattr(item.type, "type", item.type))) for item in fields]


class DeltaCommitter(Committer):
    """Adds the files of a checkpoint to the table in one version, with the numbers of their epochs."""

    def __init__(self, output: DeltaOutput) -> None:
        """Open the table, so that a job whose columns differ does not start."""
        self._output = output
        self._table = output.open()
        self._commits = 0

    def commit(self, committables: Sequence[Written]) -> Sequence[Written]:
        """Commit; a version that names the same epochs is not written again."""
        deltalake, transaction = library(), optional_module("deltalake.transaction", extra="delta", purpose="the sink")
        errors = optional_module("deltalake.exceptions", extra="delta", purpose="the sink")
        try:
            self._table.update_incremental()
            left = [written for written in committables if not self._is_done(written)]
            if not left:
                return ()
            now = int(time.time() * 1000)
            actions = [
                transaction.AddAction(
                    file.path,
                    file.size,
                    {name: text_of(value) for name, value in zip(self._output.by, file.partition, strict=True)},
                    now,
                    True,
                    json.dumps({"numRecords": file.rows}),
                )
                for written in left
                for file in written.files
            ]
            notes = [
                deltalake.Transaction(_app(*key), number, now) for key, number in sorted(last_numbers(left).items())
            ]
            self._table.create_write_transaction(
                actions,
                "append",
                deltalake.Schema.from_arrow(self._output.schema),
                list(self._output.by),
                commit_properties=deltalake.CommitProperties(app_transactions=notes),
            )
        except (errors.CommitFailedError, OSError) as error:  # another writer was faster, or the storage is away
            self.failure = error
            return committables
        except errors.DeltaError as error:
            raise LakeError(f"cannot write to the Delta table {self._output.location}: {error}") from None
        self._merge()
        return ()

    def _merge(self) -> None:
        """Merge small files, if the properties of the table ask for it; another writer's commit goes first."""
        self._commits += 1
        output, errors = self._output, optional_module("deltalake.exceptions", extra="delta", purpose="the sink")
        if self._commits < COMMITS_BETWEEN_MERGES:
            return
        self._commits = 0
        table = library().DeltaTable(output.location, storage_options=dict(output.storage) or None)
        if table.metadata().configuration.get("delta.autoOptimize.autoCompact", "false").lower() in {"true", "auto"}:
            try:
                table.optimize.compact()
            except (errors.DeltaError, OSError) as error:
                _LOG.info("The small files of the Delta table %s were not merged: %s", output.location, error)

    def _is_done(self, written: Written) -> bool:
        last = self._table.transaction_version(_app(written.sink, written.run, written.subtask))
        return last is not None and last >= written.number


def _app(sink: str, run: str, subtask: int) -> str:
    """Return the name under which a table notes what a subtask has written."""
    return f"flintstream/{sink}/{run}/{subtask}"
