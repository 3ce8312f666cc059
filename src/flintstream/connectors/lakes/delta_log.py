"""The log of a table of Delta Lake: its versions, and the files that they add and remove."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from flintstream.common._types import data_types as t
from flintstream.connectors.files.arrow_values import arrow
from flintstream.connectors.lakes.delta import library, remote_files, text_of
from flintstream.connectors.lakes.writer import LakeError
from flintstream.errors import optional_module
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    import pyarrow as pa
    from deltalake import DeltaTable
    from pyarrow.fs import FileSystem

_LOG = "_delta_log"
_PLAIN = {
    "binary": t.DataTypes.BYTES(),
    "boolean": t.DataTypes.BOOLEAN(),
    "byte": t.DataTypes.TINYINT(),
    "date": t.DataTypes.DATE(),
    "double": t.DataTypes.DOUBLE(),
    "float": t.DataTypes.FLOAT(),
    "integer": t.DataTypes.INT(),
    "long": t.DataTypes.BIGINT(),
    "short": t.DataTypes.SMALLINT(),
    "string": t.DataTypes.STRING(),
    "timestamp": t.DataTypes.TIMESTAMP_LTZ(6),
    "timestamp_ntz": t.DataTypes.TIMESTAMP(6),
}


class AddedFile(NamedTuple):
    """A file of a version."""

    path: str
    """Relative to the table, or a URI."""
    partition: Mapping[str, str | None]
    """The texts of the values of the columns by which the table is partitioned."""
    has_deletions: bool = False
    """Whether the version marks some of its rows as deleted."""


class Change(NamedTuple):
    """What a version changes."""

    added: Sequence[AddedFile]
    removes: bool
    """Whether it also removes rows, or replaces some."""


@dataclass(frozen=True)
class DeltaLog:
    """A table by its directory. Tasks get a copy."""

    location: str
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)  # may contain secrets

    def open(self, version: int | None = None) -> DeltaTable:
        """Return a version of the table; the newest one without a number.

        Raises:
            LakeError: It is not there, or uses a feature that cannot be read.
        """
        errors = _part("exceptions")
        which = "" if version is None else f"version {version} of "
        try:
            table: DeltaTable = library().DeltaTable(
                self.location, version=version, storage_options=dict(self.storage) or None
            )
        except (errors.DeltaError, OSError, ValueError) as error:
            raise LakeError(f"cannot open {which}the Delta table {self.location}: {error}") from None
        if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
            raise LakeError(
                f"the Delta table {self.location} maps its columns to other names (delta.columnMapping.mode), "
                "so only Spark's own connector can read it"
            )
        return table

    def files(self) -> FileSystem:
        """Return the file system of the table, whose root is its directory."""
        fs = optional_module("pyarrow.fs", extra="delta", purpose="Delta Lake tables", package="pyarrow")
        place = Location.parse(self.location)
        if place.is_local:
            found: FileSystem = fs.SubTreeFileSystem(place.path, fs.LocalFileSystem())
        else:
            found = remote_files(self.location, self.storage)
        return found

    def files_of(self, table: DeltaTable) -> list[AddedFile]:
        """Return the files of a version, in order."""
        found = arrow().table(table.get_add_actions())
        partitions = found.column("partition").to_pylist() if "partition" in found.column_names else []
        deleted = {uri.rpartition("/")[2] for uri in _deletions(table)}
        files = []
        for at, path in enumerate(found.column("path").to_pylist()):
            values = (partitions[at] if partitions else None) or {}
            texts = {name: text_of(value) for name, value in values.items()}
            files.append(AddedFile(unquote(path), texts, path.rpartition("/")[2] in deleted))
        return sorted(files, key=lambda file: file.path)

    def change(self, files: FileSystem, version: int) -> Change | None:
        """Return what a version changes; None if it is not there."""
        try:
            with files.open_input_stream(f"{_LOG}/{version:020d}.json") as stream:
                actions = [json.loads(line) for line in stream.read().splitlines() if line.strip()]
        except FileNotFoundError:
            return None
        added = [action["add"] for action in actions if action.get("add", {}).get("dataChange")]
        return Change(
            [
                AddedFile(unquote(add["path"]), add.get("partitionValues") or {}, add.get("deletionVector") is not None)
                for add in added
            ],
            any(action.get("remove", {}).get("dataChange") for action in actions),
        )

    def times(self, files: FileSystem, table: DeltaTable) -> list[tuple[int, int]]:
        """Return the numbers of the versions that the log has, in order, and their times (ms).

        The time of a version is the one that its commit notes, if the table has such times
        (``delta.enableInCommitTimestamps``). Otherwise, it is that of its file, but later than that of the version
        ahead of it.
        """
        fs = optional_module("pyarrow.fs", extra="delta", purpose="Delta Lake tables", package="pyarrow")
        found: list[tuple[int, int]] = []
        configuration = table.metadata().configuration
        notes = configuration.get("delta.enableInCommitTimestamps", "false").lower() == "true"
        since = int(configuration.get("delta.inCommitTimestampEnablementVersion", 0))
        infos = [info for info in files.get_file_info(fs.FileSelector(_LOG)) if info.base_name[:20].isdigit()]
        for info in sorted(infos, key=lambda info: info.base_name):
            if info.base_name == f"{info.base_name[:20]}.json":
                version = int(info.base_name[:20])
                noted = _noted_time(files, version) if notes and version >= since else None
                time = int(info.mtime_ns) // 1_000_000
                later = max(time, found[-1][1] + 1) if found else time
                found.append((version, later if noted is None else noted))
        return found


def _noted_time(files: FileSystem, version: int) -> int | None:
    """Return the time (ms) that a commit notes, with its first action."""
    with files.open_input_stream(f"{_LOG}/{version:020d}.json") as stream:
        first = stream.read().partition(b"\n")[0]
    found = json.loads(first or b"{}").get("commitInfo", {}).get("inCommitTimestamp")
    return None if found is None else int(found)


def kept_rows(table: DeltaTable, path: str) -> pa.Array | None:
    """Return which rows of a file a version has, as an array of Arrow; None for all."""
    for uri, selected in _deletions(table).items():
        if uri.rpartition("/")[2] == path.rpartition("/")[2]:
            return selected
    return None


def _deletions(table: DeltaTable) -> dict[str, pa.Array]:
    """Return which rows of a file are there, by its URI, for the files some of whose rows are marked as deleted."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    found = arrow().table(table.deletion_vectors())
    names = found.column("filepath").to_pylist()
    return {name: found.column("selection_vector")[at].values for at, name in enumerate(names)}


def columns_of(table: DeltaTable) -> t.RowType:
    """Return the columns of a table.

    Raises:
        LakeError: There is no type for one.
    """
    fields = json.loads(table.schema().to_json())["fields"]
    return t.RowType([_field(column, column["name"]) for column in fields])


def _field(column: Mapping[str, object], owner: str) -> t.RowField:
    kind = _type(column["type"], owner)
    return t.RowField(str(column["name"]), kind if column["nullable"] else kind.not_null())


def _type(kind: object, owner: str) -> t.DataType:
    if isinstance(kind, str):
        if kind.startswith("decimal("):
            precision, scale = kind[8:-1].split(",")
            return t.DataTypes.DECIMAL(int(precision), int(scale))
        if kind in _PLAIN:
            return _PLAIN[kind]
    elif isinstance(kind, dict):
        if kind["type"] == "array":
            return t.DataTypes.ARRAY(_type(kind["elementType"], owner))
        if kind["type"] == "map":
            return t.DataTypes.MAP(_type(kind["keyType"], owner), _type(kind["valueType"], owner))
        if kind["type"] == "struct":
            return t.RowType([_field(column, f"{owner}.{column['name']}") for column in kind["fields"]])
    raise LakeError(f"column '{owner}' has Delta's type {kind}, for which there is none here")


def _part(name: str) -> ModuleType:
    return optional_module(f"deltalake.{name}", extra="delta", purpose="Delta Lake tables", package="deltalake")
