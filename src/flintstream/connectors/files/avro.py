"""Read Avro files block by block, with the option to continue after any record, and write them."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.connectors.files.reader import FileReader
from flintstream.connectors.formats.avro_schema import library, parsed
from flintstream.errors import FlintstreamError, shorten
from flintstream.storage.reading import open_file

if TYPE_CHECKING:
    from flintstream.connectors.files.reader import FileSplit, OpenFile

SYNC_SIZE = 16
_CHUNK = 1 << 16


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
            return _AvroFile(stream, split, parsed(self._schema))
        except BaseException:
            stream.close()
            raise


class _AvroFile:
    """An open split. A block belongs to the split in which it begins; sync markers separate the blocks."""

    def __init__(self, stream: BinaryIO, split: FileSplit, schema: Any) -> None:
        self._stream = stream
        self._path = split.path
        self._end = stream.seek(0, os.SEEK_END)
        if split.end is not None:
            self._end = min(split.end, self._end)
        stream.seek(0)
        try:
            self._blocks = library().block_reader(stream, schema)
        except Exception as error:
            raise FlintstreamError(f"cannot read {split.path} as an Avro file: {error}") from error
        self._records: list[Any] = []
        self._at = 0
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
        while self._at >= len(self._records):
            if self._next_block >= self._end:
                return None
            try:
                block = next(self._blocks, None)
                if block is None:
                    return None
                self._records = list(block)
            except Exception as error:
                raise FlintstreamError(
                    f"cannot read {self._path}: in the block at byte {self._next_block}: {error}"
                ) from error
            self.position, self._next_block = self._next_block, self._stream.tell()
            self._at = self.skip = min(self._skip, len(self._records))
            self._skip = 0
        records = self._records[self._at : self._at + size]
        self._at += len(records)
        self.skip = self._at
        return records

    def close(self) -> None:
        self._stream.close()


class AvroRecords(BulkWriterFactory):
    """Creates writers of Avro files for records of one schema."""

    can_be_concatenated = False

    def __init__(self, schema: str) -> None:
        """Take the schema as text."""
        self._schema = schema

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer for a new file."""
        return _Writer(stream, parsed(self._schema))


class _Writer(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: Any) -> None:
        self._writer = library().write.Writer(stream, schema)

    def add_element(self, element: Any) -> None:
        try:
            self._writer.write(element)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
            raise FlintstreamError(f"the record {shorten(element)} does not fit the Avro schema: {error}") from error

    def flush(self) -> None:
        self._writer.flush()

    def finish(self) -> None:
        self._writer.flush()
