"""Write the records of an epoch to files of a table, in a task."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from flintstream.checkpoint.registry import record
from flintstream.common.types import Row, RowKind
from flintstream.connectors.files.arrow_values import arrow, batch_of
from flintstream.connectors.files.parquet import ColumnarWriter, parquet_writer
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import FlintstreamError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from flintstream.connectors.sink import WriterContext

    PartitionOf = Callable[[tuple[object, ...]], tuple[object, ...]]

KEPT_RUNS = 20
"""How many runs of a job a table remembers, from one start or restart to the next."""


class LakeError(FlintstreamError):
    """A table cannot be opened or written. The message names the table and the reason."""


@record
class DataFile(NamedTuple):
    """A file that no table refers to yet."""

    path: str
    size: int
    """In bytes."""
    rows: int
    partition: tuple[object, ...]
    """The values by which the table is partitioned."""
    spec: int = 0
    """The number of the table's partitioning, if it may change."""


@record
class Written(NamedTuple):
    """A committable: the files of one subtask in one epoch."""

    sink: str
    """Identifies job and sink."""
    subtask: int
    run: str
    number: int
    """Number of the epoch within the run, ascending."""
    files: list[DataFile]
    keys: Sequence[str] = ()
    """The paths of files with the keys of rows that the files replace or delete."""


class Place(Protocol):
    """Where the files of a table are."""

    def create(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new file."""

    def path(self, partition: tuple[object, ...], name: str) -> str:
        """Return the path of a file in a partition."""

    def partition_of(self, names: tuple[str, ...]) -> PartitionOf:
        """Return what returns the partition of a row with columns of these names."""

    def spec(self) -> int:
        """Return the number of the partitioning."""


class _Open:
    """A file that is being written."""

    def __init__(self, place: Place, path: str, schema: object) -> None:
        self.path = path
        self._closing = ExitStack()
        self._stream = self._closing.enter_context(place.create(path))
        self._writer = ColumnarWriter(parquet_writer(self._stream, schema), partial(batch_of, schema=schema))
        self.rows = 0

    def add(self, values: Sequence[object]) -> None:
        """Write rows."""
        self._writer.add_elements([*values])
        self.rows += len(values)

    def finish(self) -> int:
        """Close the file, and return its size (bytes)."""
        self._writer.finish()
        size = self._stream.tell()
        self._closing.close()
        return size

    def discard(self) -> None:
        """Leave the file incomplete."""
        self._closing.pop_all()


class LakeWriter(SinkWriter):
    """Writes a file for each partition of the table in each epoch. They are invisible until they are committed."""

    _takes_changes = False

    def __init__(self, place: Place, schema: object, names: tuple[str, ...], context: WriterContext) -> None:
        """Take the place of files, Arrow's schema of rows, and the names of all columns."""
        self._place, self._schema, self._context, self._names = place, schema, context, names
        self._partition_of: PartitionOf | None = None
        self._files: dict[tuple[object, ...], _Open] = {}
        self._number = 0

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Write records to the files of their partitions.

        Raises:
            LakeError: A record is a change, or not a row of the table.
        """
        self._add(map(self._values, values))

    def _add(self, rows: Iterable[tuple[object, ...]]) -> None:
        if self._partition_of is None:
            self._partition_of = self._place.partition_of(self._names)
        groups: dict[tuple[object, ...], list[object]] = {}
        for row in rows:
            groups.setdefault(self._partition_of(row), []).append(row)
        for partition, members in groups.items():
            self._file(partition).add(members)

    def _values(self, value: object) -> tuple[object, ...]:
        """Return the values of a record in the order of the columns."""
        if isinstance(value, Row):
            if not self._takes_changes and value.get_row_kind() is not RowKind.INSERT:
                raise LakeError(f"the table takes insertions only, but the stream has {value.get_row_kind()} {value!r}")
            own = getattr(value, "_fields", self._names)
            row = tuple(value) if own == self._names else tuple(value[name] for name in self._names)
        elif isinstance(value, (tuple, list)):
            row = tuple(value)
        else:
            raise LakeError(f"a record must be a tuple or a Row, got {shorten(value)}, a {type(value).__name__}")
        if len(row) != len(self._names):
            raise LakeError(f"the table has {len(self._names)} columns, but {shorten(value)} has {len(row)} values")
        return row

    def _file(self, partition: tuple[object, ...]) -> _Open:
        found = self._files.get(partition)
        if found is None:
            name = f"part-{self._context.subtask:05d}-{uuid.uuid4()}.parquet"
            path = self._place.path(partition, name)
            found = self._files[partition] = _Open(self._place, path, self._schema)
        return found

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close the files, and return them."""
        own, number = self._context, self._number
        self._number += 1
        spec = self._place.spec() if self._files else 0
        found = [DataFile(file.path, file.finish(), file.rows, key, spec) for key, file in self._files.items()]
        self._files.clear()
        return (Written(own.identity, own.subtask, own.run, number, found),) if found else ()

    def snapshot(self) -> object | None:
        """Return the number of epochs in this run."""
        return self._number

    def restore(self, state: object) -> None:
        """Continue counting epochs."""
        self._number = int(str(state))

    def recover(self, states: Sequence[object]) -> None:
        """Start counting again: a new run has begun."""

    def close(self) -> None:
        """Leave files that were not prepared."""
        for file in self._files.values():
            file.discard()


class UpsertWriter(LakeWriter):
    """Keeps the newest row of each key in an epoch, and writes which keys of the table they replace or delete."""

    _takes_changes = True

    def __init__(
        self,
        place: Place,
        schema: object,
        names: tuple[str, ...],
        context: WriterContext,
        key: Sequence[str],
        *,
        replaces: bool,
    ) -> None:
        """Take the columns of the key as well, and whether insertions replace rows, too."""
        super().__init__(place, schema, names, context)
        self._key, self._replaces = [names.index(name) for name in key], replaces
        self._key_schema = arrow().schema([schema.field(name) for name in key])  # type: ignore[attr-defined]
        self._newest: dict[tuple[object, ...], tuple[object, ...] | None] = {}
        self._changed: dict[tuple[object, ...], None] = {}

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Keep the newest row of each key; None for a deleted one.

        Raises:
            LakeError: A record is not a row of the table.
        """
        for value in values:
            kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
            row = self._values(value)
            key = tuple([row[index] for index in self._key])
            if self._replaces or kind is not RowKind.INSERT:
                self._changed[key] = None
            self._newest[key] = None if kind in {RowKind.UPDATE_BEFORE, RowKind.DELETE} else row

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the rows and the keys, and return their files."""
        self._add(row for row in self._newest.values() if row is not None)
        changed = [*self._changed]
        self._newest.clear()
        self._changed.clear()
        number = self._number
        found = super().prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)
        if not changed:
            return found
        path = self._place.path((), f"keys-{self._context.subtask:05d}-{uuid.uuid4()}.parquet")
        file = _Open(self._place, path, self._key_schema)
        file.add(changed)
        file.finish()
        own = self._context
        files = [file for written in found if isinstance(written, Written) for file in written.files]
        return (Written(own.identity, own.subtask, own.run, number, files, [path]),)


def last_numbers(committables: Sequence[Written]) -> dict[tuple[str, str, int], int]:
    """Return the number of the last epoch by sink, run and subtask."""
    found: dict[tuple[str, str, int], int] = {}
    for written in committables:
        key = (written.sink, written.run, written.subtask)
        found[key] = max(found.get(key, -1), written.number)
    return found
