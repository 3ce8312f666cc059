"""The open part files of a file sink's writer, and two ways to write them: record by record, or as a whole."""

from __future__ import annotations

import pickle
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.common._user_code.pickling import dumps
from flintstream.connectors.files.recoverable import OpenFile, PreparedFile

if TYPE_CHECKING:
    from flintstream.common.serialization import BulkWriterFactory, Encoder
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.recoverable import RecoverableWriter

__all__ = ["BulkParts", "OpenFile", "Part", "PartFormat", "PreparedFile", "RowParts"]


class Part(Protocol):
    """An open part file."""

    known: OpenFile
    updated: int

    @property
    def length(self) -> int:
        """Return the number of bytes written."""

    def append(self, records: list[Any], now: int) -> None:
        """Write encoded records at ``now`` (ms since the epoch)."""

    def state(self) -> OpenFile:
        """Flush, and return the state for the writer of the next epoch."""

    def sync(self) -> None:
        """Sync to disk all data that :meth:`state` refers to."""

    def prepare(self) -> PreparedFile:
        """Complete the file, close it, and sync it to disk."""

    def discard(self) -> None:
        """Close the file; buffered data is lost."""

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files that hold the data."""


class PartFormat(Protocol):
    """A way to write records to part files."""

    goes_on: bool
    """Whether a file can stay open from one epoch to the next."""

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:
        """Return the records in the form that :meth:`Part.append` expects."""

    def size(self, records: list[Any]) -> int:
        """Return by how many bytes these records extend a file; 0 if unknown."""

    can_be_concatenated: bool
    """Whether concatenated files are a valid file of the format."""

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Open a new file, or continue an existing one."""

    def over_epochs(self) -> PartFormat:
        """Return a variant whose files can stay open from one epoch to the next."""


class RowParts:
    """Encodes and writes records immediately."""

    goes_on = True
    can_be_concatenated = True

    def __init__(self, encoder: Encoder) -> None:
        """Take the encoder."""
        self._encoder = encoder

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[bytes]:
        """Return the bytes of all records together."""
        return [self._encoder.encode_all(values, type_info)]

    def size(self, records: list[bytes]) -> int:
        """Return the number of bytes."""
        return sum(map(len, records))

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Open a file to append to."""
        return _RowPart(known, storage)

    def over_epochs(self) -> PartFormat:
        """Return self: its files can stay open."""
        return self


class _RowPart:
    def __init__(self, known: OpenFile, storage: RecoverableWriter) -> None:
        self.known = known
        self.updated = known.updated
        self._log = storage.recover(known)

    @property
    def length(self) -> int:
        return self._log.length

    def append(self, records: list[bytes], now: int) -> None:
        self._log.write(b"".join(records))
        self.updated = now

    def state(self) -> OpenFile:
        log = self._log.save()
        return replace(self.known, length=self._log.length, updated=self.updated, log=log)

    def sync(self) -> None:
        self._log.sync()

    def prepare(self) -> PreparedFile:
        return self._log.seal()

    def discard(self) -> None:
        self._log.close()

    def paths(self) -> tuple[str, ...]:
        return self._log.parts()


class BulkParts:
    """Writes files that can only be written as a whole, and by one process.

    If files stay open beyond an epoch, records are spooled first and written when the file is complete.
    """

    def __init__(self, factory: BulkWriterFactory, *, spool: bool = False) -> None:
        """Take the factory of the writers."""
        self._factory = factory
        self.goes_on = spool
        self.can_be_concatenated = factory.can_be_concatenated

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:
        """Return the values: the writer encodes them."""
        return values

    def size(self, records: list[Any]) -> int:
        """Return 0: only the writer knows."""
        return 0

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Start a file, or continue a spool."""
        if self.goes_on or known.length:
            return _SpooledPart(known, storage, self._factory)
        return _BulkPart(known, storage, self._factory)

    def over_epochs(self) -> PartFormat:
        """Return a variant with spools."""
        return BulkParts(self._factory, spool=True)


class _BulkPart:
    def __init__(self, known: OpenFile, storage: RecoverableWriter, factory: BulkWriterFactory) -> None:
        self.known = known
        self.length = 0
        self.updated = known.updated
        self._storage = storage
        self._file = storage.create(known.path)
        self._writer = factory.create(self._file)

    def append(self, records: list[Any], now: int) -> None:
        self._writer.add_elements(records)
        self.updated = now

    def state(self) -> OpenFile:
        raise RuntimeError(f"{self.known.path} cannot be continued: files of a bulk format must end with the epoch")

    def sync(self) -> None:
        raise RuntimeError(f"{self.known.path} is not complete")

    def prepare(self) -> PreparedFile:
        self._writer.finish()
        self.length = self._storage.complete(self._file)
        return PreparedFile(self.known.path, self.known.target, self.length)

    def discard(self) -> None:
        self._storage.abandon(self._file)

    def paths(self) -> tuple[str, ...]:
        return (self.known.path,)


class _SpooledPart(_RowPart):
    def __init__(self, known: OpenFile, storage: RecoverableWriter, factory: BulkWriterFactory) -> None:
        super().__init__(known, storage)
        self._storage = storage
        self._factory = factory

    def append(self, records: list[Any], now: int) -> None:
        super().append([dumps(records)], now)

    def prepare(self) -> PreparedFile:
        # Another attempt may continue the same spool, so the complete file needs a different name.
        known = replace(self.known, path=f"{self.known.path}.{uuid.uuid4().hex[:8]}")
        with self._log.read() as spool:
            whole = _BulkPart(known, self._storage, self._factory)
            while spool.tell() < self.length:
                whole.append(pickle.load(spool), self.updated)
        return replace(whole.prepare(), parts=self._log.parts())
