"""Strategies and methods for merging the small files of a file sink."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common.serialization import BulkWriterFactory
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors._file_formats import StreamFormat
from flintstream.errors import FlintstreamError, PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self


class FileCompactStrategy:
    """When to merge small files into larger ones: by number of checkpoints, by size, or whichever comes first.

    >>> builder = FileCompactStrategy.builder().set_size_threshold(1_048_576)
    >>> strategy = builder.enable_compaction_on_checkpoint(3).build()
    >>> strategy.size_threshold, strategy.checkpoints
    (1048576, 3)
    """

    def __init__(
        self, checkpoints: int = -1, size_threshold: int = -1, threads: int = 1, *, target_size: int = -1
    ) -> None:
        self.checkpoints = checkpoints
        self.size_threshold = size_threshold
        self.threads = threads
        self.target_size = target_size

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Builds a :class:`FileCompactStrategy`."""

        def __init__(self) -> None:
            self._checkpoints = -1
            self._size_threshold = -1
            self._threads = 1

        def enable_compaction_on_checkpoint(self, num_checkpoints_before_compaction: int) -> Self:
            """Merge at this number of checkpoints after the first file, counting the checkpoint that closed it.

            Raises:
                PlanError: The number is not positive.
            """
            self._checkpoints = _positive(num_checkpoints_before_compaction, "the number of checkpoints")
            return self

        def set_size_threshold(self, size_threshold: int) -> Self:
            """Merge when the files of a bucket have more than this many bytes in total.

            Raises:
                PlanError: The number is negative.
            """
            if not isinstance(size_threshold, int) or size_threshold < 0:
                raise PlanError(f"the size threshold of FileCompactStrategy must be at least 0, got {size_threshold!r}")
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> Self:
            """Merge the files of this many buckets in parallel; 1 by default.

            Raises:
                PlanError: The number is not positive.
            """
            self._threads = _positive(num_compact_threads, "the number of threads")
            return self

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                PlanError: Neither a number of checkpoints nor a size was set.
            """
            if self._checkpoints <= 0 and self._size_threshold < 0:
                raise PlanError("a FileCompactStrategy needs a number of checkpoints or a size threshold")
            return FileCompactStrategy(self._checkpoints, self._size_threshold, self._threads)


def _positive(value: Any, what: str) -> int:
    if not isinstance(value, int) or value <= 0:
        raise PlanError(f"{what} of a FileCompactStrategy must be positive, got {value!r}")
    return value


class FileCompactor(ABC):
    """Merges small files. PyFlink's wraps a Java object; here you can write one. It must be picklable.

    >>> from io import BytesIO
    >>> class Joined(FileCompactor):
    ...     def compact(self, inputs, output):
    ...         output.write(b"+".join(part.read() for part in inputs))
    >>> file = BytesIO()
    >>> Joined().compact([BytesIO(b"to"), BytesIO(b"be")], file)
    >>> file.getvalue()
    b'to+be'

    There are three ready ones:

    >>> file = BytesIO()
    >>> FileCompactor.concat_file_compactor(b";").compact([BytesIO(b"to"), BytesIO(b"be")], file)
    >>> file.getvalue()
    b'to;be;'
    >>> file = BytesIO()
    >>> FileCompactor.identical_file_compactor().compact([BytesIO(b"to")], file)
    >>> file.getvalue()
    b'to'
    """

    concatenates: bool = False
    """Whether the output is the concatenation of the inputs."""
    copies: bool = False
    """Whether merging a single file returns that file, so that it need not be rewritten."""

    @abstractmethod
    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        """Write the contents of several files, in order, to one file."""

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Concatenate the files, with ``file_delimiter`` after each."""
        return _Concatenation(file_delimiter or b"")

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Keep a single file as it is; several files are an error."""
        return _Identity()

    @staticmethod
    def record_wise_file_compactor(reader: StreamFormat, writer_factory: BulkWriterFactory) -> FileCompactor:
        """Read the records of all files and write them to one; for Parquet, ORC, Avro and files with headers.

        Flink's Java API has this method; PyFlink does not.

        Args:
            reader: The format that reads the files, such as ``ParquetColumnarRowInputFormat``.
            writer_factory: The factory of the sink.

        >>> from io import BytesIO
        >>> from flintstream.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
        >>> schema = CsvSchema.builder().add_string_column("word").set_use_header().build()
        >>> reader, writers = CsvReaderFormat.for_schema(schema), CsvBulkWriters.for_schema(schema)
        >>> file = BytesIO()
        >>> compactor = FileCompactor.record_wise_file_compactor(reader, writers)
        >>> newline = bytes([10])
        >>> inputs = [BytesIO(newline.join(lines)) for lines in ([b"word", b"to"], [b"word", b"be"])]
        >>> compactor.compact(inputs, file)
        >>> file.getvalue().split()
        [b'word', b'to', b'be']
        """
        return _RecordWise(reader, writer_factory)


class _Concatenation(FileCompactor):
    concatenates = True

    def __init__(self, delimiter: bytes) -> None:
        if not isinstance(delimiter, bytes):
            raise TypeError(f"the file delimiter must be bytes, got {delimiter!r}")
        self._delimiter = delimiter
        self.copies = not delimiter

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        for stream in inputs:
            shutil.copyfileobj(stream, output, 1 << 20)
            output.write(self._delimiter)


class _Identity(FileCompactor):
    copies = True

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        if len(inputs) != 1:
            raise FlintstreamError(
                f"FileCompactor.identical_file_compactor() cannot merge {len(inputs)} files: use "
                "concat_file_compactor()"
            )
        shutil.copyfileobj(inputs[0], output, 1 << 20)


class _RecordWise(FileCompactor):
    def __init__(self, reader: StreamFormat, writer_factory: BulkWriterFactory) -> None:
        if not isinstance(reader, StreamFormat):
            raise TypeError(f"record_wise_file_compactor needs a StreamFormat or BulkFormat, not {reader!r}")
        if not isinstance(writer_factory, BulkWriterFactory):
            raise TypeError(f"record_wise_file_compactor needs a BulkWriterFactory, not {writer_factory!r}")
        self._reader = reader
        self._factory = writer_factory

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        reader = self._reader.create_reader()
        writer = self._factory.create(output)
        for stream in inputs:
            with tempfile.NamedTemporaryFile() as file:  # readers need a path, and the file may be in an object store
                shutil.copyfileobj(stream, file, 1 << 20)
                file.flush()
                for records in reader.read(FileSplit(file.name, file.name), Fetch(4096)):
                    writer.add_elements(list(records))  # type: ignore[arg-type]
        reader.close()
        writer.finish()
