"""Write rows to columnar files: Parquet and ORC."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.common.types import Row, RowKind
from flintstream.connectors.files.arrow_values import arrow, batch_of
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyarrow import RecordBatch, Schema
    from pyarrow.parquet import ParquetWriter

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.arrow_values import ArrowBatch

ROWS_PER_GROUP = 1 << 17


class ParquetRows(BulkWriterFactory):
    """Creates writers for rows or tuples of one type."""

    can_be_concatenated = False

    def __init__(self, schema: Any, row_type: TypeInformation) -> None:
        """Take the Arrow schema of the files, and the type to which records are converted first."""
        self._schema = schema
        self._row_type = row_type

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer for a new file."""
        return ColumnarWriter(parquet_writer(stream, self._schema), self._records)

    def _records(self, rows: list[Any]) -> Any:
        convert = self._row_type.converter()
        if convert is not None:
            rows = list(map(convert, rows))
        for row in rows:
            if isinstance(row, Row) and row.get_row_kind() is not RowKind.INSERT:
                raise FlintstreamError(
                    f"a DataFrame cannot hold changes, but the stream has {row.get_row_kind()} {row!r}"
                )
        return batch_of(rows, self._schema)


def parquet_writer(stream: BinaryIO, schema: Any, **options: Any) -> Any:
    """Return pyarrow's writer of a Parquet file."""
    arrow()  # raises a helpful error if pyarrow is missing
    return importlib.import_module("pyarrow.parquet").ParquetWriter(stream, schema, **options)


class ColumnarWriter(BulkWriter):
    """Buffers records and writes them as record batches."""

    def __init__(
        self, writer: Any, batch_of_records: Callable[[list[Any]], Any], rows_per_group: int = ROWS_PER_GROUP
    ) -> None:
        """Take pyarrow's writer, the function that makes a record batch of records, and the batch size."""
        self._writer = writer
        self._batch_of = batch_of_records
        self.rows_per_group = rows_per_group
        self._records: list[Any] = []

    def add_element(self, element: Any) -> None:
        """Write one record."""
        self.add_elements((element,))

    def add_elements(self, elements: Sequence[Any]) -> None:
        """Write records."""
        self._records += elements
        if len(self._records) >= self.rows_per_group:
            self.flush()

    def flush(self) -> None:
        """Write the buffered records as a row group or stripe."""
        records, self._records = self._records, []
        try:
            batch = self._batch_of(records)
            if hasattr(self._writer, "write_batch"):
                self._writer.write_batch(batch)
            else:  # ORC
                self._writer.write(arrow().Table.from_batches([batch]))
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        # The file is closed early, and pyarrow would complain that it cannot write the footer.
        self._writer.is_open = False

    def __del__(self) -> None:
        if hasattr(self, "_writer"):
            self._give_up()

    def finish(self) -> None:
        """Write the footer."""
        if self._records:
            self.flush()
        self._writer.close()


class BatchWriter(BulkWriter["ArrowBatch"]):
    """Gathers record batches, and writes them as row groups or stripes."""

    def __init__(
        self,
        writer: ParquetWriter,
        schema: Schema,
        rows_per_group: int = ROWS_PER_GROUP,
        change: Callable[[RecordBatch], RecordBatch] | None = None,
    ) -> None:
        """Take pyarrow's writer, the file's schema, how many rows a row group has, and what changes each batch."""
        self._rows = ColumnarWriter(writer, self._join, rows_per_group)
        self._schema = schema
        self._change = change
        self._waiting = 0

    def add_element(self, element: ArrowBatch) -> None:
        """Write a batch."""
        self.add_elements((element,))

    def add_elements(self, elements: Sequence[ArrowBatch]) -> None:
        """Write batches."""
        for element in elements:
            if not len(element.batch):
                continue
            self._rows.add_element(element)
            self._waiting += len(element.batch)
            if self._waiting >= self._rows.rows_per_group:
                self.flush()

    def flush(self) -> None:
        """Write the batches that have waited."""
        self._waiting = 0
        self._rows.flush()

    def finish(self) -> None:
        """Write the footer."""
        self._waiting = 0
        self._rows.finish()

    def _join(self, batches: list[ArrowBatch]) -> RecordBatch:
        pa = arrow()
        names = self._schema.names  # columns are known by their positions, as those of INSERT INTO
        named = [pa.RecordBatch.from_arrays(item.batch.columns, names=names) for item in batches]
        cast = [batch.cast(self._schema) for batch in named]
        changed = cast if self._change is None else [*map(self._change, cast)]
        table = pa.Table.from_batches(changed, schema=self._schema)
        joined = table.combine_chunks().to_batches()
        if len(joined) != 1:  # Arrow splits columns of more than 2 GB
            raise FlintstreamError(f"{len(table)} rows have more than 2 GB of text in a column: write shorter texts")
        batch: RecordBatch = joined[0]
        return batch
