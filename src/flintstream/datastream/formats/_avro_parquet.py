"""Formats for Parquet files of Avro records."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from flintstream.common.serialization import BulkWriterFactory
from flintstream.connectors.files.arrow_values import batch_of, values_of
from flintstream.connectors.files.columnar import RowGroupReader
from flintstream.connectors.files.parquet import ColumnarWriter, parquet_writer
from flintstream.datastream.connectors._file_formats import StreamFormat
from flintstream.datastream.formats._avro_arrow import AvroColumns
from flintstream.datastream.formats._avro_files import check_schema
from flintstream.datastream.formats._avro_schema import GenericRecordAvroTypeInfo
from flintstream.datastream.formats._columnar_files import Columns, ParquetInput
from flintstream.datastream.formats._columns import pyarrow
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from typing import BinaryIO

    from flintstream.common.serialization import BulkWriter
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.columnar import ColumnarFile
    from flintstream.connectors.source import SourceReader
    from flintstream.datastream.formats._avro_schema import AvroSchema

_BATCH_SIZE = 2048


class AvroParquetReaders:
    """Factory for readers of Avro records in Parquet files, for ``FileSource.for_record_stream_format``.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> from flintstream.datastream.formats.avro import AvroSchema
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     with open(f"{directory}/words.parquet", "wb") as file:
    ...         writer = AvroParquetWriters.for_generic_record(schema).create(file)
    ...         writer.add_element({"word": "be"})
    ...         writer.finish()
    ...     reader = AvroParquetReaders.for_generic_record(schema)
    ...     source = FileSource.for_record_stream_format(reader, directory).build()
    ...     words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(words.execute_and_collect(limit=9))
    [{'word': 'be'}]
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Read dicts. Columns that a file lacks are None. One subtask reads each file.

        Raises:
            TypeError: ``schema`` is not an ``AvroSchema``.
            PlanError: The schema is not a record, or contains a type that no column supports.
            MissingDependencyError: pyarrow or fastavro is not installed.
        """
        return _AvroParquet(schema)


class AvroParquetWriters:
    """Factory for writers of Avro records in Parquet files, for ``FileSink.for_bulk_format``.

    >>> from io import BytesIO
    >>> from flintstream.datastream.formats.avro import AvroSchema
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> file = BytesIO()
    >>> writer = AvroParquetWriters.for_generic_record(schema).create(file)
    >>> writer.add_element({"word": "be"})
    >>> writer.finish()
    >>> file.getvalue()[:4]
    b'PAR1'
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write dicts that fit a schema.

        Raises:
            TypeError: ``schema`` is not an ``AvroSchema``.
            PlanError: The schema is not a record, or contains a type that no column supports.
            MissingDependencyError: pyarrow or fastavro is not installed.
        """
        return _AvroParquetRows(schema)


class _AvroParquet(StreamFormat):
    def __init__(self, schema: AvroSchema) -> None:
        pyarrow("parquet", "reading Parquet files")
        self._schema = check_schema(schema, "AvroParquetReaders")
        AvroColumns(str(schema))  # fail early for unsupported schemas

    def create_reader(self) -> SourceReader:
        avro = AvroColumns(str(self._schema))

        def records_of(batch: Any) -> list[Any]:
            return avro.records(map(values_of, batch.columns))

        columns = Columns(avro.schema.remove_metadata(), case_sensitive=True)
        return RowGroupReader(functools.partial(_open, columns), records_of)

    @property
    def produced_type(self) -> TypeInformation:
        return GenericRecordAvroTypeInfo(self._schema)


def _open(columns: Columns, path: str) -> ColumnarFile:
    return ParquetInput(path, columns, _BATCH_SIZE)


class _AvroParquetRows(BulkWriterFactory):
    can_be_concatenated = False

    def __init__(self, schema: AvroSchema) -> None:
        pyarrow("parquet", "writing Parquet files")
        self._schema = str(check_schema(schema, "AvroParquetWriters"))
        AvroColumns(self._schema)  # fail early for unsupported schemas

    def create(self, stream: BinaryIO) -> BulkWriter:
        avro = AvroColumns(self._schema)

        def batch(records: list[Any]) -> Any:
            try:
                rows = avro.rows(records)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise FlintstreamError(
                    f"a record does not fit the Avro schema: {type(error).__name__}: {error}"
                ) from error
            return batch_of(rows, avro.schema)

        return ColumnarWriter(parquet_writer(stream, avro.schema), batch)
