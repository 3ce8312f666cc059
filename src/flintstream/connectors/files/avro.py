"""Read Avro files block by block, with the option to continue after any record, and write them."""

from __future__ import annotations

import io
import os
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from msgpack import packb as pack

from flintstream.common._text.leaving import whole
from flintstream.common._text.secrets import shown_path
from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.connectors.files.byte_streams import RAW_DEFLATE, decompressed_size
from flintstream.connectors.files.reader import FileReader
from flintstream.connectors.formats.avro_schema import (
    contains_itself,
    library,
    parse_schema,
    python_library,
    reader_schema,
)
from flintstream.errors import FlintstreamError, shorten
from flintstream.storage.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.connectors.files.reader import FileSplit, OpenFile

SYNC_SIZE = 16
LARGEST_BLOCK = 1 << 28
"""Most bytes of a block after decompression. Writers end a block after some ten thousand bytes."""
_CHUNK = 1 << 16
_LONGEST_NUMBER = 10
_COMPRESSIONS = {"deflate": RAW_DEFLATE, "bzip2": ".bz2", "xz": ".xz", "zstandard": ".zst"}


class AvroReader(FileReader):
    """Reads the records of Avro files, resolved to a reader schema."""

    gives_away = True

    def __init__(self, schema: str) -> None:
        """Take the reader schema as text."""
        super().__init__()
        self._schema = schema

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        stream = open_file(split.path)
        if isinstance(stream, io.RawIOBase):
            stream = io.BufferedReader(stream)
        try:
            return _AvroFile(stream, split, self._schema)
        except BaseException:
            stream.close()
            raise


class _AvroFile:
    """An open split. A block belongs to the split in which it begins; sync markers separate the blocks."""

    def __init__(self, stream: BinaryIO, split: FileSplit, schema: str) -> None:
        self._stream = stream
        self._path = split.path
        self._size = self._end = stream.seek(0, os.SEEK_END)
        if split.end is not None:
            self._end = min(split.end, self._end)
        stream.seek(0)
        try:
            written = library().block_reader(_Bounded(stream, self._size)).writer_schema
            module = python_library() if contains_itself(written) else library()
            stream.seek(0)
            self._blocks = module.block_reader(_Bounded(stream, self._size), reader_schema(schema, written))
        except Exception as error:
            raise FlintstreamError(
                f"cannot read {shown_path(split.path)} as an Avro file: {type(error).__name__}: {error}"
            ) from error
        self._block: Iterator[Any] = iter(())
        self._skip = split.skip
        self.position: int | None = self._first_block(split)
        self.skip = split.skip
        stream.seek(self.position)
        self._next_block = self.position

    def _first_block(self, split: FileSplit) -> int:
        if split.position is not None:
            return split.position
        after_header = self._stream.tell()
        if split.start <= after_header:
            return after_header
        self._stream.seek(after_header - SYNC_SIZE)
        mark = self._stream.read(SYNC_SIZE)
        start = split.start - SYNC_SIZE
        self._stream.seek(start)
        buffer = b""
        while start < self._end:
            data = self._stream.read(_CHUNK)
            buffer += data
            found = buffer.find(mark)
            if found >= 0:
                return start + found + SYNC_SIZE
            if not data:
                break
            start += max(0, len(buffer) - SYNC_SIZE + 1)
            buffer = buffer[-SYNC_SIZE + 1 :]
        return self._end

    def next(self, size: int) -> list[Any] | None:
        while not (records := self._of_block(size)):
            if self._next_block >= self._end:
                return None
            try:
                self._check_size()
                block = next(self._blocks, ())
            except Exception as error:
                raise self._damage(self._next_block, error) from error
            self.position, self._next_block = self._next_block, self._stream.tell()
            self._block, self.skip = iter(block), 0
            while self._skip and (passed := self._of_block(min(self._skip, size))):
                self._skip -= len(passed)
            self._skip = 0
        return records

    def _of_block(self, size: int) -> list[Any]:
        """Return the next records of the current block. A few bytes may stand for very many records without fields."""
        try:
            records = list(islice(self._block, size))
        except Exception as error:
            raise self._damage(self.position, error) from error
        self.skip += len(records)
        return records

    def _check_size(self) -> None:
        """Check the size of the next block, which is read as a whole.

        Raises:
            ValueError: The block does not end within the file, or is very large after decompression.
        """
        start = self._stream.tell()
        head = io.BytesIO(self._stream.read(2 * _LONGEST_NUMBER))
        _read_long(head)
        size = _read_long(head)
        at = start + head.tell()
        if not 0 <= size <= self._size - at - SYNC_SIZE:
            raise ValueError(f"it claims to have {size} bytes, but the file has only {self._size}")
        kind = _COMPRESSIONS.get(self._blocks.codec)
        if kind is not None:
            self._stream.seek(at)
            if decompressed_size(self._stream, size, kind, LARGEST_BLOCK) > LARGEST_BLOCK:
                raise ValueError(f"it has more than {LARGEST_BLOCK >> 20} MB after decompression")
        self._stream.seek(start)

    def _damage(self, position: int | None, error: Exception) -> FlintstreamError:
        return FlintstreamError(
            f"cannot read {shown_path(self._path)}: in the block at byte {position}: {type(error).__name__}: {error}"
        )

    def close(self) -> None:
        self._stream.close()


def _read_long(stream: BinaryIO) -> int:
    """Read a number in Avro's encoding.

    Raises:
        ValueError: There is none.
    """
    number = 0
    for shift in range(0, 7 * _LONGEST_NUMBER, 7):
        byte = stream.read(1)
        number |= (byte[0] & 0x7F) << shift if byte else 0
        if byte and byte[0] < 0x80:
            return number >> 1 ^ -(number & 1)
    raise ValueError("it has no size: the file is incomplete or damaged")


class _Bounded:
    """A stream that does not reserve memory for more bytes than the file has, whatever the file promises."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self.tell = stream.tell
        self.seek = stream.seek

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self._size:
            raise ValueError(f"it claims to have {size} bytes, but the file has only {self._size}")
        return self._stream.read(size)


class AvroRecords(BulkWriterFactory):
    """Creates writers of Avro files for records of one schema."""

    can_be_concatenated = False

    def __init__(self, schema: str, codec: str = "null") -> None:
        """Take the schema as text, and how blocks are compressed."""
        self._schema, self._codec = schema, codec

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer for a new file."""
        return _Writer(stream, parse_schema(self._schema), self._codec)


def _nothing(_: object) -> None:
    """Stand for what msgpack does not know and has no text, such as dates."""


class _Writer(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: Any, codec: str) -> None:
        self._writer = library().write.Writer(stream, schema, codec)

    def add_element(self, element: Any) -> None:
        try:
            try:
                pack(element, default=_nothing)
            except Exception:  # noqa: BLE001 - half of a surrogate pair, which would damage the block; or what msgpack lacks
                element = whole(element)
            self._writer.write(element)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
            raise FlintstreamError(f"the record {shorten(element)} does not fit the Avro schema: {error}") from error

    def flush(self) -> None:
        self._writer.flush()

    def finish(self) -> None:
        self._writer.flush()
