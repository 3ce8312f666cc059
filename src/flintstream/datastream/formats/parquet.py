"""Parquet; mirrors ``pyflink.datastream.formats.parquet``. Needs the extra ``parquet``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from flintstream.connectors.files.arrow_schema import arrow_schema
from flintstream.connectors.files.parquet import parquet_writer
from flintstream.datastream.formats._avro_parquet import AvroParquetReaders, AvroParquetWriters
from flintstream.datastream.formats._columnar_files import ColumnarFormat, ColumnarRows, ParquetInput
from flintstream.datastream.formats._columns import choice, properties, pyarrow
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from flintstream.common._types.data_types import RowType
    from flintstream.common.configuration import Configuration
    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.connectors.files.columnar import ColumnarFile
    from flintstream.datastream.formats._columnar_files import Columns

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat"]

_CODECS = {
    "snappy": "snappy",
    "gzip": "gzip",
    "zstd": "zstd",
    "lz4_raw": "lz4",
    "lz4": "lz4",
    "brotli": "brotli",
    "uncompressed": "none",
    "none": "none",
}
_TIME_UNITS = {"micros": "us", "millis": "ms", "nanos": "ns"}
_FLAGS = {"true": "true", "false": ""}


class ParquetColumnarRowInputFormat(ColumnarFormat):
    """Reads the requested columns of Parquet files as rows, for ``FileSource.for_bulk_file_format``.

    Columns that a file lacks are None in all rows. Unlike in PyFlink, columns may be arrays, maps and rows.

    Args:
        row_type: The columns, from ``DataTypes.ROW``.
        hadoop_config: Ignored: pyarrow reads the files.
        batch_size: Number of rows to decode at once.
        is_utc_timestamp: Whether to return ``TIMESTAMP`` values in UTC, as stored; otherwise in local time.
        is_case_sensitive: Whether column names must match those in the file by case.

    Raises:
        TypeError: ``row_type`` is not a row type.
        PlanError: Parquet does not support a type, or the batch size is not positive.
        MissingDependencyError: pyarrow is not installed.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     with open(f"{directory}/words.parquet", "wb") as file:
    ...         writer = ParquetBulkWriters.for_row_type(words).create(file)
    ...         writer.add_element(("be",))
    ...         writer.finish()
    ...     source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(words), directory).build()
    ...     rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(rows.execute_and_collect(limit=9))
    [Row(word='be')]
    """

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        pyarrow("parquet", "reading Parquet files")
        if batch_size < 1:
            raise PlanError(f"the batch size of ParquetColumnarRowInputFormat must be positive, but got {batch_size}")
        schema = arrow_schema(row_type, "ParquetColumnarRowInputFormat", reading=True)
        super().__init__(
            row_type, schema, batch_size=batch_size, utc=is_utc_timestamp, case_sensitive=is_case_sensitive
        )

    @staticmethod
    def _open(columns: Columns, batch_size: int, path: str) -> ColumnarFile:
        return ParquetInput(path, columns, batch_size)


class ParquetBulkWriters:
    """Factory for writers of Parquet files, for ``FileSink.for_bulk_format``.

    >>> from io import BytesIO
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> file = BytesIO()
    >>> writer = ParquetBulkWriters.for_row_type(words).create(file)
    >>> writer.add_element(("be",))
    >>> writer.finish()
    >>> file.getvalue()[:4]
    b'PAR1'
    """

    @staticmethod
    def for_row_type(
        row_type: RowType, hadoop_config: Configuration | None = None, utc_timestamp: bool = False
    ) -> BulkWriterFactory:
        """Write rows (or tuples) of a type.

        Args:
            row_type: The type of the rows, from ``DataTypes.ROW``.
            hadoop_config: Supports ``parquet.compression`` (snappy by default; gzip, zstd, lz4, brotli, uncompressed),
                ``parquet.write.int64.timestamp`` (false by default: Flink writes 96-bit timestamps), and, for 64-bit
                timestamps, ``parquet.timestamp.time.unit`` (micros by default; millis, nanos); other keys have no
                effect.
            utc_timestamp: Whether ``TIMESTAMP`` values are UTC, and written unchanged; otherwise they are local time,
                and converted to UTC.

        Raises:
            TypeError: ``row_type`` is not a row type.
            PlanError: Parquet does not support a type, or a setting has an invalid value.
            MissingDependencyError: pyarrow is not installed.
        """
        pyarrow("parquet", "writing Parquet files")
        found = properties(hadoop_config)
        whole = bool(choice(found, "parquet.write.int64.timestamp", _FLAGS, "false"))
        unit = choice(found, "parquet.timestamp.time.unit", _TIME_UNITS, "micros") if whole else "us"
        writer = functools.partial(
            parquet_writer,
            compression=choice(found, "parquet.compression", _CODECS, "snappy"),
            use_deprecated_int96_timestamps=not whole,
            coerce_timestamps="ms" if unit == "ms" else None,  # cuts off what is smaller
            allow_truncated_timestamps=True,
        )
        schema = arrow_schema(row_type, "ParquetBulkWriters.for_row_type", time_unit="ns" if unit == "ns" else "us")
        return ColumnarRows(row_type, schema, writer, utc=utc_timestamp)
