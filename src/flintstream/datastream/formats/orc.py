"""ORC; mirrors ``pyflink.datastream.formats.orc``. Needs the extra ``orc``."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from flintstream.common._types.data_types import TimeType
from flintstream.connectors.files.arrow_schema import arrow_schema
from flintstream.connectors.files.arrow_values import arrow
from flintstream.datastream.formats._columnar_files import ColumnarFormat, ColumnarRows, Opened
from flintstream.datastream.formats._columns import choice, positive, properties, pyarrow
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from flintstream.common._types.data_types import RowType
    from flintstream.common.configuration import Configuration
    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.connectors.files.columnar import ColumnarFile
    from flintstream.datastream.formats._columnar_files import Columns

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]

_CODECS = {"none": "uncompressed", "zlib": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}


class OrcColumnarRowInputFormat(ColumnarFormat):
    """Reads the requested columns of ORC files as rows, for ``FileSource.for_bulk_file_format``.

    PyFlink can only write ORC files; the arguments here match those of ``ParquetColumnarRowInputFormat``.

    Raises:
        TypeError: ``row_type`` is not a row type.
        PlanError: ORC does not support a type, or the batch size is not positive.
        MissingDependencyError: pyarrow is not installed.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     with open(f"{directory}/words.orc", "wb") as file:
    ...         writer = OrcBulkWriters.for_row_type(words).create(file)
    ...         writer.add_element(("be",))
    ...         writer.finish()
    ...     source = FileSource.for_bulk_file_format(OrcColumnarRowInputFormat(words), directory).build()
    ...     rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(rows.execute_and_collect(limit=9))
    [Row(word='be')]
    """

    def __init__(self, row_type: RowType, batch_size: int = 2048, is_case_sensitive: bool = True) -> None:
        pyarrow("orc", "reading ORC files")
        if batch_size < 1:
            raise PlanError(f"the batch size of OrcColumnarRowInputFormat must be positive, but got {batch_size}")
        schema = arrow_schema(row_type, "OrcColumnarRowInputFormat", without=[TimeType], reading=True)
        super().__init__(row_type, schema, batch_size=batch_size, utc=True, case_sensitive=is_case_sensitive)

    @staticmethod
    def _open(columns: Columns, batch_size: int, path: str) -> ColumnarFile:
        return _OrcInput(path, columns, batch_size)


class _OrcInput(Opened):
    def __init__(self, path: str, columns: Columns, batch_size: int) -> None:
        opener = importlib.import_module("pyarrow.orc").ORCFile
        super().__init__(path, columns, opener, lambda file: file.schema.names)
        self.groups: int = self.file.nstripes
        self._batch_size = batch_size

    def batches(self, group: int) -> Iterator[Any]:
        return self.adapt(self._read(group))

    def _read(self, stripe: int) -> Iterator[Any]:
        # Reading at least one column reveals how many rows the stripe has.
        batch = self.file.read_stripe(stripe, columns=self.wanted or self.file.schema.names[:1])
        for start in range(0, len(batch), self._batch_size):
            yield batch.slice(start, self._batch_size)


class OrcBulkWriters:
    """Factory for writers of ORC files, for ``FileSink.for_bulk_format``.

    >>> from io import BytesIO
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> file = BytesIO()
    >>> writer = OrcBulkWriters.for_row_type(words).create(file)
    >>> writer.add_element(("be",))
    >>> writer.finish()
    >>> file.getvalue()[:3]
    b'ORC'
    """

    @staticmethod
    def for_row_type(
        row_type: RowType,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Write rows (or tuples) of a type.

        Args:
            row_type: The type of the rows, from ``DataTypes.ROW``.
            writer_properties: Supports ``orc.compress`` (zlib by default; snappy, zstd, lz4, none) and
                ``orc.stripe.size`` (bytes, 64 MB by default); other keys have no effect.
            hadoop_config: Same keys as ``writer_properties``, which takes precedence.

        Raises:
            TypeError: ``row_type`` is not a row type.
            PlanError: ORC does not support a type (``TIME``), or a setting has an invalid value.
            MissingDependencyError: pyarrow is not installed.
        """
        pyarrow("orc", "writing ORC files")
        found = properties(hadoop_config, writer_properties)
        writer = functools.partial(
            _orc_writer,
            compression=choice(found, "orc.compress", _CODECS, "zlib"),
            stripe_size=positive(found, "orc.stripe.size", 64 << 20),
        )
        schema = arrow_schema(row_type, "OrcBulkWriters.for_row_type", without=[TimeType])
        return ColumnarRows(row_type, schema, writer)


def _orc_writer(stream: BinaryIO, schema: Any, **options: Any) -> Any:
    writer = importlib.import_module("pyarrow.orc").ORCWriter(stream, **options)
    writer.write(arrow().Table.from_batches([], schema))  # gives a file without rows its columns
    return writer
