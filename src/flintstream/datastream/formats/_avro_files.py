"""Formats for Avro files."""

from __future__ import annotations

from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Any

from flintstream.common.io import InputFormat
from flintstream.connectors.files.avro import AvroReader, AvroRecords
from flintstream.connectors.files.enumerator import list_files, plan_splits
from flintstream.connectors.formats.avro_schema import library
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors._file_formats import StreamFormat
from flintstream.datastream.connectors._file_source import FileSource
from flintstream.datastream.formats._avro_schema import AvroSchema, GenericRecordAvroTypeInfo
from flintstream.datastream.utils import ResultTypeQueryable
from flintstream.storage.reading import reachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader


def check_schema(schema: AvroSchema, purpose: str) -> AvroSchema:
    """Return ``schema`` if it is an ``AvroSchema``.

    Raises:
        TypeError: It is not an ``AvroSchema``.
        MissingDependencyError: fastavro is not installed.
    """
    if not isinstance(schema, AvroSchema):
        raise TypeError(f"{purpose} needs an AvroSchema, such as AvroSchema.parse_string('...'), but got {schema!r}")
    library()
    return schema


class AvroFileFormat(StreamFormat):
    """Reads Avro files as dicts, for ``FileSource.for_record_stream_format``. Several subtasks can share a large file.

    PyFlink only has :class:`AvroInputFormat`, which cannot resume from a checkpoint.

    Args:
        schema: The reader's schema. Files may have other schemas, which Avro's schema resolution adapts to it.

    Raises:
        TypeError: ``schema`` is not an ``AvroSchema``.
        MissingDependencyError: fastavro is not installed.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     with open(f"{directory}/words.avro", "wb") as file:
    ...         writer = AvroBulkWriters.for_generic_record(schema).create(file)
    ...         writer.add_element({"word": "be"})
    ...         writer.finish()
    ...     source = FileSource.for_record_stream_format(AvroFileFormat(schema), directory).build()
    ...     words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(words.execute_and_collect(limit=9))
    [{'word': 'be'}]
    """

    splittable = True

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = check_schema(schema, "AvroFileFormat")

    def create_reader(self) -> SourceReader:
        """Return a reader of blocks."""
        return AvroReader(str(self._schema))

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return GenericRecordAvroTypeInfo(self._schema)


class AvroInputFormat(InputFormat, ResultTypeQueryable):
    """Reads the Avro files at a path, for ``env.create_input``.

    Args:
        path: A file or directory, as for a ``FileSource``.
        schema: As for :class:`AvroFileFormat`.

    Raises:
        TypeError: An argument has the wrong type.
        PlanError: The path names an unknown file system.
        MissingDependencyError: fastavro is not installed.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     with open(f"{directory}/words.avro", "wb") as file:
    ...         writer = AvroBulkWriters.for_generic_record(schema).create(file)
    ...         writer.add_element({"word": "be"})
    ...         writer.finish()
    ...     format = AvroInputFormat(directory, schema)
    ...     list(env.create_input(format).execute_and_collect(limit=9))
    ...     from_source = env.from_source(format.as_source(), WatermarkStrategy.no_watermarks(), "words")
    ...     list(from_source.execute_and_collect(limit=9))
    [{'word': 'be'}]
    [{'word': 'be'}]
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        self._format = AvroFileFormat(schema)
        self._path = reachable(path)
        self._type_info = GenericRecordAvroTypeInfo(schema)

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return self._type_info

    def as_source(self) -> FileSource:
        """Return the source of the records.

        Raises:
            FileNotFoundError: The path does not exist.
        """
        return FileSource.for_record_stream_format(self._format, self._path).build()

    def create_splits(self, min_num_splits: int) -> Sequence[Any]:
        """Return splits of the files."""
        return plan_splits(list(list_files([self._path])), min_num_splits, splittable=True)

    def read(self, split: Any) -> Iterator[Any]:
        """Yield the records of a split."""
        batches: Iterator[Any] = self._format.create_reader().read(copy(split), Fetch())
        return chain.from_iterable(batches)


class AvroBulkWriters:
    """Factory for writers of Avro files, for ``FileSink.for_bulk_format``.

    >>> from io import BytesIO
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> file = BytesIO()
    >>> writer = AvroBulkWriters.for_generic_record(schema).create(file)
    >>> writer.add_element({"word": "be"})
    >>> writer.finish()
    >>> file.getvalue()[:3]
    b'Obj'
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write dicts that fit a schema.

        Raises:
            TypeError: ``schema`` is not an ``AvroSchema``.
            MissingDependencyError: fastavro is not installed.
        """
        return AvroRecords(str(check_schema(schema, "AvroBulkWriters")))
