"""State files: versioned, with checksums, and the same for every backend.

A file consists of a header, chunks, an index of the chunks, and a trailer with the offset of the index. Every chunk
holds one :class:`~flintstream.checkpoint.changes.Change` of an operator, or one value that is not keyed. Each of these
parts has a CRC-32 to detect damage. ``docs/reference/state-format.md`` has the layout byte by byte.
"""

from __future__ import annotations

import hashlib
import io
import struct
from dataclasses import fields
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from zlib import crc32

import flintstream
from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.codec import decode, decode_one, encode_all, encode_one
from flintstream.errors import CorruptCheckpointError, CorruptDataError, PickleRefusedError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typing_extensions import Self

__all__ = ["VERSIONS", "Section", "StateFile", "StateFileWriter", "Summary", "to_bytes"]

VERSIONS = (1, 2)
"""Versions that this release reads. In files of version 2, changes may also append to lists."""
MAGIC = b"FLSTATE\n"
END = b"FLSTEND\n"

# The same in all future versions, so that a reader can tell which release is needed.
_HEADER = struct.Struct(">8sHH16s")  # magic, version, zero, release that wrote it
_CRC = struct.Struct(">I")
_HEADER_SIZE = _HEADER.size + _CRC.size

_CHUNK = struct.Struct(">QI")  # length of the body; checksum of the length and the body
_LENGTH = struct.Struct(">Q")
# By version: the lengths of the blocks of a change, except the last, which takes the rest. The blocks are keys, values,
# deleted keys, and in version 2 appended elements.
_BLOCKS = {1: struct.Struct(">QQ"), 2: struct.Struct(">QQQ")}
_PIECE = 4096
"""The most entries of a chunk: larger buffers do not stay in the processor's caches, and take twice the time."""
_TRAILER = struct.Struct(">QQI")  # offset and length of the index, its checksum
_TABLE = len(fields(TableInfo))
_members = attrgetter(*(field.name for field in fields(TableInfo)))
_TRAILER_SIZE = _TRAILER.size + _CRC.size + len(END)


class Summary(NamedTuple):
    """The identity of a finished file."""

    size: int
    """Size in bytes."""
    checksum: str
    """SHA-256 of the whole file, in hexadecimal."""


class Section(NamedTuple):
    """The part of a file for one state of one operator."""

    operator: str
    table: TableInfo
    entries: int
    """Number of entries that are set."""
    deleted: int
    appended: int = 0
    """Number of lists that are appended to."""


class StateFileWriter:
    """Writes a state file sequentially. It is not readable before :meth:`finish`.

    >>> buffer = io.BytesIO()
    >>> writer = StateFileWriter(buffer)
    >>> writer.write("count", Change(TableInfo("total", "value"), ["a", "b"], [1, 2], []))
    >>> writer.write_value("source", "offset", 17)
    >>> size = writer.finish().size
    >>> file = StateFile(buffer.getvalue())
    >>> [dict(zip(change.keys, change.values)) for change in file.changes("count")], file.value("source", "offset")
    ([{'a': 1, 'b': 2}], 17)
    """

    def __init__(self, file: BinaryIO, *, log: bool = False) -> None:
        """Write to ``file``, and leave it open.

        Args:
            file: the target, which needs only ``write``.
            log: whether changes may append to lists, as in a log and unlike in a snapshot. Without it, older releases
                can read the file.
        """
        self._file = file
        self._version = 2 if log else 1
        self._hash = hashlib.sha256()
        self._size = 0
        self._sections: dict[tuple[str, TableInfo], list[int]] = {}
        self._chunks: list[tuple[int, int]] = []
        self._values: list[tuple[str, str, int]] = []
        header = _HEADER.pack(MAGIC, self._version, 0, flintstream.__version__.encode()[:16])
        self._put(header + _CRC.pack(crc32(header)))

    def write(self, operator: str, change: Change) -> None:
        """Append a change of an operator's keyed state. Empty changes are left out.

        Raises:
            CheckpointError: A key or value can be neither written by content nor pickled.
            ValueError: The change appends to lists, and the file is not a log.
        """
        if not change.keys and not change.deleted and not change.appended:
            return
        if change.appended and self._version < 2:
            raise ValueError(f"state '{change.table.name}' of operator {operator}: only a log can append to lists")
        totals = self._sections.setdefault((operator, change.table), [len(self._sections), 0, 0, 0])
        totals[1] += len(change.keys)
        totals[2] += len(change.deleted)
        totals[3] += len(change.appended)
        parts = [change.keys, change.values, change.deleted, change.appended][: 2 + self._version]
        for at in range(0, max(map(len, parts)), _PIECE):
            try:
                blocks = encode_all(part[at : at + _PIECE] for part in parts)
            except PickleRefusedError as error:
                raise error.within(f"state '{change.table.name}'", operator) from None
            self._chunks.append((totals[0], self._size))
            self._put_chunk(_BLOCKS[self._version].pack(*map(len, blocks[:-1])), *blocks)

    def write_value(self, operator: str, name: str, value: object) -> None:
        """Append state of an operator other than keyed state.

        Raises:
            CheckpointError: The value can be neither written by content nor pickled.
        """
        try:
            data = encode_one(value)
        except PickleRefusedError as error:
            raise error.within(f"'{name}'", operator) from None
        self._values.append((operator, name, self._size))
        self._put_chunk(data)

    def copy(self, file: StateFile) -> None:
        """Append all changes of another file without decoding them.

        Raises:
            CorruptCheckpointError: The file is damaged.
            ValueError: The file has another version than this one.
        """
        if file.version != self._version:
            raise ValueError(f"cannot copy a file of version {file.version} into one of version {self._version}")
        for operator, table, *counts in file.sections:
            totals = self._sections.setdefault((operator, table), [len(self._sections), 0, 0, 0])
            totals[1:] = map(add, totals[1:], counts)
        for operator, table, body in file.chunks():
            self._chunks.append((self._sections[operator, table][0], self._size))
            self._put_chunk(body)

    def finish(self) -> Summary:
        """Write the index, and return the size and checksum of the file."""
        sections = [
            (operator, *_members(table), *(totals[1:] if self._version > 1 else totals[1:3]))
            for (operator, table), totals in self._sections.items()
        ]
        index = encode_one((tuple(sections), tuple(self._chunks), tuple(self._values)))
        trailer = _TRAILER.pack(self._size, len(index), crc32(index))
        self._put(index)
        self._put(trailer + _CRC.pack(crc32(trailer)) + END)
        return Summary(self._size, self._hash.hexdigest())

    def _put_chunk(self, *parts: bytes) -> None:
        length = sum(map(len, parts))
        checksum = crc32(_LENGTH.pack(length))
        for part in parts:
            checksum = crc32(part, checksum)
        for part in (_CHUNK.pack(length, checksum), *parts):
            self._put(part)

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self._size += len(data)


class StateFile:
    """Reads a state file. Each chunk is read on demand.

    Everything except :attr:`sections`, :attr:`operators` and :meth:`close` may raise a
    :class:`CorruptCheckpointError`, or an :class:`OSError` of the storage.
    """

    def __init__(self, file: BinaryIO | bytes, path: str = "", *, allow_pickle: bool = True) -> None:
        """Read header and index.

        Args:
            file: the content, or a seekable file.
            path: the name of the file in messages.
            allow_pickle: whether code may run; see :func:`~flintstream.checkpoint.codec.decode`.

        Raises:
            CorruptCheckpointError: It is not a state file, is damaged or incomplete, or was written by a later release.
        """
        self._file: BinaryIO = io.BytesIO(file) if isinstance(file, bytes) else file
        self._path = path or "the state file"
        self._allow_pickle = allow_pickle
        size = self._file.seek(0, io.SEEK_END)
        self._check_header(size)
        self._end, index = self._read_index(size)
        try:
            sections, chunks, values = decode_one(index, allow_pickle=False)
            self.sections = [_section(*section) for section in sections]
            """The sections of keyed state, in the order of first writing."""
            self._chunks: dict[str, list[tuple[TableInfo, int]]] = {}
            for number, offset in chunks:
                section = self.sections[self._check_position(number, len(self.sections))]
                self._check_position(offset, self._end)
                self._chunks.setdefault(section.operator, []).append((section.table, offset))
            self._values: dict[str, dict[str, int]] = {}
            for operator, name, offset in values:
                self._values.setdefault(str.__str__(operator), {})[str.__str__(name)] = self._check_position(
                    offset, self._end
                )
        except (CorruptDataError, ValueError, TypeError, IndexError) as error:
            raise self._corrupt(f"its index is invalid ({error})") from None

    @property
    def operators(self) -> list[str]:
        """The uids of all operators with state in the file."""
        return list(dict.fromkeys([*self._chunks, *self._values]))

    def changes(self, operator: str, chosen: Callable[[TableInfo], bool] | None = None) -> Iterator[Change]:
        """Return the changes of an operator in the order in which they were written.

        Args:
            operator: its uid. An unknown uid has no changes.
            chosen: selects tables; by default all. Chunks of other tables are not read.
        """
        layout = _BLOCKS[self.version]
        for table, offset in self._chunks.get(operator, ()):
            if chosen is not None and not chosen(table):
                continue
            body = self._chunk(offset)
            try:
                blocks, at = [], layout.size
                for length in (*layout.unpack_from(body), len(body)):
                    blocks.append(decode(body[at : at + length], allow_pickle=self._allow_pickle))
                    at += length
                change = Change(table, *blocks)
            except PickleRefusedError as error:
                raise error.within(f"state '{table.name}'", operator) from None
            except (CorruptDataError, struct.error) as error:
                raise self._corrupt(f"state '{table.name}' of operator {operator}: {error}") from error
            yield change

    def chunks(self) -> Iterator[tuple[str, TableInfo, bytes]]:
        """Return the operator, table and encoded form of all changes. Those of an operator are in order."""
        for operator, chunks in self._chunks.items():
            for table, offset in chunks:
                yield operator, table, self._chunk(offset)

    def value(self, operator: str, name: str) -> Any:
        """Return the value ``name`` of an operator, which is not keyed state.

        Raises:
            KeyError: The operator has no value with this name.
        """
        body = self._chunk(self._values[operator][name])
        try:
            return decode_one(body, allow_pickle=self._allow_pickle)
        except PickleRefusedError as error:
            raise error.within(f"'{name}'", operator) from None
        except CorruptDataError as error:
            raise self._corrupt(f"'{name}' of operator {operator}: {error}") from error

    def values(self, operator: str) -> dict[str, Any]:
        """Return all state of an operator other than keyed state, by name."""
        return {name: self.value(operator, name) for name in self._values.get(operator, ())}

    def check(self) -> None:
        """Read every chunk and compare its checksum, without decoding any."""
        for _ in self.chunks():
            pass
        for values in self._values.values():
            for offset in values.values():
                self._chunk(offset)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_header(self, size: int) -> None:
        header = self._read(0, min(size, _HEADER_SIZE))
        if header[: len(MAGIC)] != MAGIC[: len(header)] or not header:
            raise self._corrupt("it is not a state file")
        if len(header) < _HEADER_SIZE:
            raise self._corrupt(f"it ends after {size} bytes")
        _, version, flags, release = _HEADER.unpack_from(header)
        (checksum,) = _CRC.unpack_from(header, _HEADER.size)
        if crc32(header[: _HEADER.size]) != checksum:
            raise self._corrupt("the checksum of its header does not match")
        if version not in VERSIONS or flags:
            name = release.rstrip(b"\0").decode("utf-8", "replace")
            raise self._corrupt(
                f"it has format version {version}, but this release ({flintstream.__version__}) reads "
                f"{' and '.join(map(str, VERSIONS))}: use flintstream {name} or later"
            )
        self.version: int = version
        """The version of the format."""

    def _read_index(self, size: int) -> tuple[int, bytes]:
        trailer_at = size - _TRAILER_SIZE
        if trailer_at < _HEADER_SIZE:
            raise self._corrupt(f"it ends after {size} bytes")
        trailer = self._read(trailer_at, _TRAILER_SIZE)
        if not trailer.endswith(END):
            raise self._corrupt(f"it is incomplete: it ends after {size} bytes, without its trailer")
        offset, length, checksum = _TRAILER.unpack_from(trailer)
        if _CRC.unpack_from(trailer, _TRAILER.size)[0] != crc32(trailer[: _TRAILER.size]):
            raise self._corrupt("the checksum of its trailer does not match")
        if offset < _HEADER_SIZE or offset + length != trailer_at:
            raise self._corrupt(f"it has {size} bytes, but {offset + length + _TRAILER_SIZE} according to its trailer")
        index = self._read(offset, length)
        if crc32(index) != checksum:
            raise self._corrupt("the checksum of its index does not match")
        return offset, index

    def _chunk(self, offset: int) -> bytes:
        length, checksum = _CHUNK.unpack(self._read(offset, _CHUNK.size))
        start = offset + _CHUNK.size
        if start + length <= self._end:  # else the length is damaged, and may be huge
            body = self._read(start, length)
            if crc32(body, crc32(_LENGTH.pack(length))) == checksum:
                return body
        raise self._corrupt(f"the checksum of the chunk at byte {offset} does not match")

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(length)
        if len(data) < length:
            raise self._corrupt(f"it ends at byte {offset + len(data)}, within a part of {length} bytes")
        return data

    @staticmethod
    def _check_position(number: Any, end: int) -> int:
        if type(number) is not int or not 0 <= number < end:
            raise ValueError(f"{shorten(number)} is not a number below {end}")
        return number

    def _corrupt(self, what: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(self._path, what)


def _section(operator: Any, *members: Any) -> Section:
    """Return an entry of the index. A checksum shows damage, but not a forged file."""
    table, counts = TableInfo(*members[:_TABLE]), members[_TABLE:]
    kinds = [type(operator), *map(type, _members(table)), *map(type, counts)]
    if kinds != [str, str, str, str, bool, bool, *[int] * len(counts)]:
        raise TypeError(f"{shorten((operator, *members))} does not describe a state")
    return Section(operator, table, *counts)


def to_bytes(
    changes: Iterable[tuple[str, Change]] = (), values: Iterable[tuple[str, str, object]] = (), *, log: bool = False
) -> bytes:
    """Return a state file with (operator, change) pairs and (operator, name, value) triples. ``log``: see the writer.

    >>> StateFile(to_bytes(values=[("source", "offset", 17)])).values("source")
    {'offset': 17}
    """
    buffer = io.BytesIO()
    writer = StateFileWriter(buffer, log=log)
    for operator, change in changes:
        writer.write(operator, change)
    for operator, name, value in values:
        writer.write_value(operator, name, value)
    writer.finish()
    return buffer.getvalue()
