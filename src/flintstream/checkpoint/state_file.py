"""The file that a piece of state is kept in: versioned, checksummed, and the same for every backend.

A file is a header, chunks, an index of them, and a trailer that says where the index is. Every chunk holds one
:class:`~flintstream.checkpoint.changes.Change` of an operator, or one value that is not keyed. Each of these parts
carries a CRC-32, so that no damaged byte is taken for state. ``docs/state-format.md`` has the layout byte by byte.
"""

from __future__ import annotations

import hashlib
import io
import struct
from dataclasses import astuple, fields
from operator import add
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self
from zlib import crc32

import flintstream
from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.codec import decode, decode_one, encode, encode_one
from flintstream.errors import CorruptCheckpointError, CorruptDataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["VERSIONS", "Section", "StateFile", "StateFileWriter", "Summary", "to_bytes"]

VERSIONS = (1, 2)
"""Those that this release reads. In files of version 2, changes may also append to lists."""
MAGIC = b"FLSTATE\n"
END = b"FLSTEND\n"

# Of any version to come: a reader must be able to tell which release it takes.
_HEADER = struct.Struct(">8sHH16s")  # magic, version, zero, release that wrote it
_CRC = struct.Struct(">I")
_HEADER_SIZE = _HEADER.size + _CRC.size

_CHUNK = struct.Struct(">QI")  # length of the body; checksum of the length and the body
_LENGTH = struct.Struct(">Q")
# By version: the lengths of the blocks of a change, but for the last, which takes the rest. There are those of keys, of
# values, of deleted keys, and in version 2 of what is appended.
_BLOCKS = {1: struct.Struct(">QQ"), 2: struct.Struct(">QQQ")}
_TRAILER = struct.Struct(">QQI")  # offset and length of the index, its checksum
_TABLE = len(fields(TableInfo))
_TRAILER_SIZE = _TRAILER.size + _CRC.size + len(END)


class Summary(NamedTuple):
    """What a finished file is known by."""

    size: int
    """Bytes."""
    checksum: str
    """SHA-256 of the whole file, in hexadecimal."""


class Section(NamedTuple):
    """What a file holds of one state of one operator."""

    operator: str
    table: TableInfo
    entries: int
    """Entries that are set."""
    deleted: int
    appended: int = 0
    """Lists that are appended to."""


class StateFileWriter:
    """Writes a state file from front to end; nothing is readable before :meth:`finish`.

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
        """Write to ``file``, which only has to know ``write`` and stays open.

        Args:
            file: where to.
            log: Whether changes may append to lists, as those of a log do and those of a snapshot do not. What does not
                need it is written for older releases, too.
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
        """Append a change of an operator's keyed state; one that changes nothing is left out.

        Raises:
            CheckpointError: A key or value can be neither written by content nor pickled.
            ValueError: It appends, and this is no log.
        """
        if not change.keys and not change.deleted and not change.appended:
            return
        if change.appended and self._version < 2:
            raise ValueError(f"state '{change.table.name}' of operator {operator}: only a log can append to lists")
        key = (operator, change.table)
        totals = self._sections.setdefault(key, [len(self._sections), 0, 0, 0])
        totals[1] += len(change.keys)
        totals[2] += len(change.deleted)
        totals[3] += len(change.appended)
        blocks = [encode(change.keys), encode(change.values), encode(change.deleted)]
        if self._version > 1:
            blocks.append(encode(change.appended))
        self._chunks.append((totals[0], self._size))
        self._put_chunk(_BLOCKS[self._version].pack(*map(len, blocks[:-1])), *blocks)

    def write_value(self, operator: str, name: str, value: object) -> None:
        """Append what an operator holds beside its keyed state.

        Raises:
            CheckpointError: The value can be neither written by content nor pickled.
        """
        data = encode_one(value)
        self._values.append((operator, name, self._size))
        self._put_chunk(data)

    def copy(self, file: StateFile) -> None:
        """Append all changes of another file as they are, without decoding them.

        Raises:
            CorruptCheckpointError: The file is damaged.
            ValueError: It is of another version than this one.
        """
        if file.version != self._version:
            raise ValueError(f"a file of version {file.version} does not fit into one of version {self._version}")
        for operator, table, *counts in file.sections:
            totals = self._sections.setdefault((operator, table), [len(self._sections), 0, 0, 0])
            totals[1:] = map(add, totals[1:], counts)
        for operator, table, body in file.chunks():
            self._chunks.append((self._sections[operator, table][0], self._size))
            self._put_chunk(body)

    def finish(self) -> Summary:
        """Write the index, and return what the file is known by."""
        sections = [
            (operator, *astuple(table), *(totals[1:] if self._version > 1 else totals[1:3]))
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
    """Reads a state file; chunks are read one by one when they are asked for.

    Everything but :attr:`sections`, :attr:`operators` and :meth:`close` may raise a :class:`CorruptCheckpointError`,
    or an :class:`OSError` of the storage.
    """

    def __init__(self, file: BinaryIO | bytes, path: str = "", *, allow_pickle: bool = True) -> None:
        """Read header and index.

        Args:
            file: The content, or a file that can seek.
            path: What messages call the file.
            allow_pickle: Whether values of classes may be read; see :func:`~flintstream.checkpoint.codec.decode`.

        Raises:
            CorruptCheckpointError: It is something else, damaged, incomplete, or of a later release.
        """
        self._file: BinaryIO = io.BytesIO(file) if isinstance(file, bytes) else file
        self._path = path or "the state file"
        self._allow_pickle = allow_pickle
        size = self._file.seek(0, io.SEEK_END)
        self._check_header(size)
        self._end, index = self._read_index(size)
        try:
            sections, chunks, values = decode_one(index, allow_pickle=False)
            self.sections = [
                Section(operator, TableInfo(*section[:_TABLE]), *section[_TABLE:]) for operator, *section in sections
            ]
            """What there is of keyed state, in the order of first writing."""
            self._chunks: dict[str, list[tuple[TableInfo, int]]] = {}
            for number, offset in chunks:
                section = self.sections[number]
                self._chunks.setdefault(section.operator, []).append((section.table, offset))
            self._values: dict[str, dict[str, int]] = {}
            for operator, name, offset in values:
                self._values.setdefault(operator, {})[name] = offset
        except (CorruptDataError, ValueError, TypeError, IndexError) as error:
            raise self._corrupt(f"its index makes no sense ({error})") from None

    @property
    def operators(self) -> list[str]:
        """The uids of all operators that something is held of."""
        return list(dict.fromkeys([*self._chunks, *self._values]))

    def changes(self, operator: str, chosen: Callable[[TableInfo], bool] | None = None) -> Iterator[Change]:
        """Return the changes of an operator in the order in which they were written; none if it is not there.

        Args:
            operator: its uid.
            chosen: Which of its tables; chunks of others are not read. By default all.
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
                yield Change(table, *blocks)
            except (CorruptDataError, struct.error) as error:
                raise self._corrupt(f"state '{table.name}' of operator {operator}: {error}") from error

    def chunks(self) -> Iterator[tuple[str, TableInfo, bytes]]:
        """Return operator, table and encoded form of all changes, those of an operator in order."""
        for operator, chunks in self._chunks.items():
            for table, offset in chunks:
                yield operator, table, self._chunk(offset)

    def value(self, operator: str, name: str) -> Any:
        """Return what an operator holds under ``name`` beside its keyed state.

        Raises:
            KeyError: There is no such value.
        """
        body = self._chunk(self._values[operator][name])
        try:
            return decode_one(body, allow_pickle=self._allow_pickle)
        except CorruptDataError as error:
            raise self._corrupt(f"'{name}' of operator {operator}: {error}") from error

    def values(self, operator: str) -> dict[str, Any]:
        """Return all that an operator holds beside its keyed state, by name."""
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
            raise self._corrupt("it is no state file")
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
                f"{' and '.join(map(str, VERSIONS))}; use flintstream {name} or later"
            )
        self.version: int = version
        """Of the format."""

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
            raise self._corrupt(f"it has {size} bytes, but its trailer speaks of {offset + length + _TRAILER_SIZE}")
        index = self._read(offset, length)
        if crc32(index) != checksum:
            raise self._corrupt("the checksum of its index does not match")
        return offset, index

    def _chunk(self, offset: int) -> bytes:
        length, checksum = _CHUNK.unpack(self._read(offset, _CHUNK.size))
        start = offset + _CHUNK.size
        if start + length <= self._end:  # else the length is damaged, and nobody should read that much
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

    def _corrupt(self, what: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(self._path, what)


def to_bytes(
    changes: Iterable[tuple[str, Change]] = (), values: Iterable[tuple[str, str, object]] = (), *, log: bool = False
) -> bytes:
    """Return a state file of (operator, change) pairs and (operator, name, value) triples; ``log`` as for the writer.

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
