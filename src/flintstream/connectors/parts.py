"""The part files that a file sink's writer has open, and two ways to write them: record by record, or as a whole."""

from __future__ import annotations

import os
import pickle
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.common._pickling import dumps

if TYPE_CHECKING:
    from flintstream.common.serialization import BulkWriterFactory, Encoder
    from flintstream.common.typeinfo import TypeInformation

FLUSH_BYTES = 1 << 20


@dataclass(frozen=True)
class PreparedFile:
    """A complete part file that waits for its final name; what lies beyond ``length`` does not count."""

    path: str
    target: str
    length: int
    spool: str = ""
    """A file that is of no use once this one has its name."""


@dataclass(frozen=True)
class OpenFile:
    """A part file that goes on in the next epoch."""

    bucket: str
    path: str
    target: str
    length: int
    created: int
    updated: int


class Part(Protocol):
    """An open part file."""

    known: OpenFile
    length: int
    updated: int

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


class PartFormat(Protocol):
    """How records are written into part files."""

    goes_on: bool
    """Whether a file can stay open from one epoch to the next."""

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:
        """Return what :meth:`Part.append` takes."""

    def size(self, records: list[Any]) -> int:
        """Return by how many bytes these records make a file longer; 0 if that is not known."""

    def open(self, known: OpenFile) -> Part:
        """Open a new file, or go on with one."""

    def over_epochs(self) -> PartFormat:
        """Return how to write the same where files are to stay open from one epoch to the next."""


class RowParts:
    """Encodes record by record."""

    goes_on = True

    def __init__(self, encoder: Encoder) -> None:
        """Take what encodes a record."""
        self._encoder = encoder

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[bytes]:
        """Return the records' bytes."""
        encode = self._encoder.encode
        return [encode(value, type_info) for value in values]

    def size(self, records: list[bytes]) -> int:
        """Return how many bytes these are."""
        return sum(map(len, records))

    def open(self, known: OpenFile) -> Part:
        """Open a file to append to."""
        return _RowPart(known)

    def over_epochs(self) -> PartFormat:
        """Return this: it does already."""
        return self


class _RowPart:
    def __init__(self, known: OpenFile) -> None:
        self.known = known
        self.length = known.length
        self.updated = known.updated
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0
        # Appending, so that what a lost attempt may still write is seen as surplus.
        self._descriptor = os.open(known.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, records: list[bytes], now: int) -> None:
        data = b"".join(records)
        self._buffered.append(data)
        self._buffered_bytes += len(data)
        self.length += len(data)
        self.updated = now
        if self._buffered_bytes >= FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        data = memoryview(b"".join(self._buffered))
        while data:
            data = data[os.write(self._descriptor, data) :]
        self._buffered.clear()
        self._buffered_bytes = 0

    def state(self) -> OpenFile:
        self.flush()
        size = os.fstat(self._descriptor).st_size
        if size != self.length:
            raise OSError(
                f"{self.known.path} has {size} bytes where {self.length} were written: something else writes to it too"
            )
        return replace(self.known, length=self.length, updated=self.updated)

    def sync(self) -> None:
        self.flush()
        os.fsync(self._descriptor)

    def prepare(self) -> PreparedFile:
        self.state()
        self.sync()
        self.discard()
        return PreparedFile(self.known.path, self.known.target, self.length)

    def discard(self) -> None:
        os.close(self._descriptor)


class BulkParts:
    """Writes files that can only be written as a whole, and by one process.

    To stay open beyond an epoch the records are spooled first, and written when the file is complete.
    """

    def __init__(self, factory: BulkWriterFactory, *, spool: bool = False) -> None:
        """Take what makes the writers."""
        self._factory = factory
        self.goes_on = spool

    def encode(self, values: list[Any], type_info: TypeInformation | None) -> list[Any]:  # noqa: ARG002
        """Return the values: the writer encodes them."""
        return values

    def size(self, records: list[Any]) -> int:  # noqa: ARG002
        """Return 0: only the writer knows."""
        return 0

    def open(self, known: OpenFile) -> Part:
        """Begin a file, or go on with a spool."""
        if self.goes_on or known.length:
            return _SpooledPart(known, self._factory)
        return _BulkPart(known, self._factory)

    def over_epochs(self) -> PartFormat:
        """Return the same with spools."""
        return BulkParts(self._factory, spool=True)


class _BulkPart:
    def __init__(self, known: OpenFile, factory: BulkWriterFactory) -> None:
        self.known = known
        self.length = 0
        self.updated = known.updated
        self._file = open(known.path, "wb")  # noqa: SIM115, PTH123 - closed when it is complete
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
        self._file.flush()
        os.fsync(self._file.fileno())
        self.length = self._file.tell()
        self.discard()
        return PreparedFile(self.known.path, self.known.target, self.length)

    def discard(self) -> None:
        self._file.close()


class _SpooledPart(_RowPart):
    def __init__(self, known: OpenFile, factory: BulkWriterFactory) -> None:
        super().__init__(known)
        self._factory = factory

    def append(self, records: list[Any], now: int) -> None:
        super().append([dumps(records)], now)

    def prepare(self) -> PreparedFile:
        self.state()
        self.discard()
        # Another attempt may go on with the same spool: the whole must not have the same name.
        whole = _BulkPart(replace(self.known, path=f"{self.known.path}.{uuid.uuid4().hex[:8]}"), self._factory)
        with open(self.known.path, "rb") as spool:  # noqa: PTH123 - as above
            while spool.tell() < self.length:
                whole.append(pickle.load(spool), self.updated)
        return replace(whole.prepare(), spool=self.known.path)
