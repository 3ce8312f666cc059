"""The part files that a file sink's writer has open, and two ways to write them: record by record, or as a whole."""

from __future__ import annotations

import pickle
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.common._pickling import dumps
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
        """How many bytes were written."""

    def append(self, records: list[Any], now: int) -> None:
        """Write records, as the format has encoded them, at ``now`` (ms since the epoch)."""

    def state(self) -> OpenFile:
        """Flush, and return what the writer of the next epoch needs."""

    def sync(self) -> None:
        """Bring to disk what :meth:`state` counts on."""

    def prepare(self) -> PreparedFile:
        """Complete and close the file, and bring it to disk."""

    def discard(self) -> None:
        """Close the file; what is buffered is lost."""

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files that it is kept in."""


class PartFormat(Protocol):
    """How records are written into part files."""

    goes_on: bool
    """Whether a file can stay open from one epoch to the next."""

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:
        """Return what :meth:`Part.append` takes."""

    def size(self, records: list[Any]) -> int:
        """Return by how many bytes these records make a file longer; 0 if that is not known."""

    can_be_concatenated: bool
    """Whether files one after the other are a file of the format."""

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Open a new file, or go on with one."""

    def over_epochs(self) -> PartFormat:
        """Return how to write the same where files are to stay open from one epoch to the next."""


class RowParts:
    """Writes what is encoded at once."""

    goes_on = True
    can_be_concatenated = True

    def __init__(self, encoder: Encoder) -> None:
        """Take what encodes a record."""
        self._encoder = encoder

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[bytes]:
        """Return the records' bytes, of all of them together."""
        return [self._encoder.encode_all(values, type_info)]

    def size(self, records: list[bytes]) -> int:
        """Return how many bytes these are."""
        return sum(map(len, records))

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Open a file to append to."""
        return _RowPart(known, storage)

    def over_epochs(self) -> PartFormat:
        """Return this: it does already."""
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

    To stay open beyond an epoch the records are spooled first, and written when the file is complete.
    """

    def __init__(self, factory: BulkWriterFactory, *, spool: bool = False) -> None:
        """Take what makes the writers."""
        self._factory = factory
        self.goes_on = spool
        self.can_be_concatenated = factory.can_be_concatenated

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:  # noqa: ARG002
        """Return the values: the writer encodes them."""
        return values

    def size(self, records: list[Any]) -> int:  # noqa: ARG002
        """Return 0: only the writer knows."""
        return 0

    def open(self, known: OpenFile, storage: RecoverableWriter) -> Part:
        """Begin a file, or go on with a spool."""
        if self.goes_on or known.length:
            return _SpooledPart(known, storage, self._factory)
        return _BulkPart(known, storage, self._factory)

    def over_epochs(self) -> PartFormat:
        """Return the same with spools."""
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
        raise RuntimeError(
            f"{self.known.path} cannot be gone on with: a bulk format needs files that end with the epoch"
        )

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
        # Another attempt may go on with the same spool: the whole must not have the same name.
        known = replace(self.known, path=f"{self.known.path}.{uuid.uuid4().hex[:8]}")
        with self._log.read() as spool:
            whole = _BulkPart(known, self._storage, self._factory)
            while spool.tell() < self.length:
                whole.append(pickle.load(spool), self.updated)
        return replace(whole.prepare(), parts=self._log.parts())
