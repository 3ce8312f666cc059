"""Common parts of the formats for columnar files."""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Any

from flintstream.common._text.secrets import shown_path
from flintstream.common._types.data_types import to_type_info
from flintstream.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from flintstream.connectors.files.arrow_values import arrow, batch_of, cast_times, rows_of
from flintstream.connectors.files.columnar import BatchReader, RowGroupReader
from flintstream.connectors.files.parquet import ROWS_PER_GROUP, BatchWriter, ColumnarWriter
from flintstream.datastream.connectors._file_formats import BulkFormat
from flintstream.datastream.formats._columns import (
    is_local_time_utc,
    local_to_utc,
    shift_batch,
    time_shift,
    utc_to_local,
)
from flintstream.errors import FlintstreamError
from flintstream.storage.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from pyarrow import Schema
    from pyarrow.parquet import ParquetWriter

    from flintstream.common._types.data_types import RowType
    from flintstream.common.serialization import BulkWriter
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.arrow_values import ArrowBatch
    from flintstream.connectors.files.columnar import ColumnarFile
    from flintstream.connectors.source import SourceReader


class Columns:
    """Finds the columns of a schema in files, and converts them to its types."""

    def __init__(self, schema: Any, *, case_sensitive: bool) -> None:
        self.schema = schema
        self._case_sensitive = case_sensitive

    def find(self, names: list[str], path: str) -> list[str | None]:
        """Return the file's name of each column; None for a missing column, which is all None.

        Raises:
            FlintstreamError: Several columns have the same name, ignoring case.
        """
        if self._case_sensitive:
            return [name if name in names else None for name in self.schema.names]
        by_name: dict[str, list[str]] = {}
        for name in names:
            by_name.setdefault(name.lower(), []).append(name)
        for wanted in self.schema.names:
            if len(by_name.get(wanted.lower(), ())) > 1:
                raise FlintstreamError(
                    f"{path}: column '{wanted}' is ambiguous among {by_name[wanted.lower()]}: match names "
                    "case-sensitively, or rename the columns"
                )
        return [next(iter(by_name.get(name.lower(), ())), None) for name in self.schema.names]

    def batch(self, batch: Any, found: list[str | None], path: str) -> Any:
        """Convert a record batch to the schema.

        Raises:
            FlintstreamError: A column cannot be converted to the type in the schema.
        """
        pa = arrow()
        columns = []
        for name, field in zip(found, self.schema, strict=True):
            if name is None:
                columns.append(pa.nulls(len(batch), field.type))
                continue
            column = batch.column(name)
            try:
                columns.append(cast_times(column, field.type))
            except pa.ArrowException as error:
                raise FlintstreamError(f"{path}: column '{name}' is not {field.type}: {error}") from error
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class ColumnarFormat(BulkFormat):
    """Reads rows from columnar files. Several subtasks can share a large file."""

    splittable = True

    def __init__(self, row_type: RowType, schema: Any, *, batch_size: int, utc: bool, case_sensitive: bool) -> None:
        self._row_type = row_type
        self._columns = Columns(schema, case_sensitive=case_sensitive)
        self._batch_size = batch_size
        self._utc = utc

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the rows."""
        return to_type_info(self._row_type)

    def create_reader(self) -> SourceReader:
        """Return a reader of row groups."""
        names = tuple(self._columns.schema.names)
        shift = None if self._utc or is_local_time_utc() else time_shift(self._row_type, utc_to_local)

        def records_of(batch: Any) -> list[Any]:
            rows = rows_of(batch, names)
            return rows if shift is None else list(map(shift, rows))

        return RowGroupReader(functools.partial(self._open, self._columns, self._batch_size), records_of)

    @staticmethod
    def _open(columns: Columns, batch_size: int, path: str) -> ColumnarFile:
        raise NotImplementedError


class BatchFormat(BulkFormat):
    """Reads batches of Arrow from columnar files."""

    splittable = True

    def __init__(self, open_columnar: Callable[[str], ColumnarFile], *, utc: bool) -> None:
        self._open_columnar = open_columnar
        self._utc = utc

    @property
    def produced_type(self) -> None:
        """None: records are batches."""
        return

    def create_reader(self) -> SourceReader:
        """Return a reader of batches."""
        unchanged = self._utc or is_local_time_utc()
        return BatchReader(self._open_columnar, None if unchanged else functools.partial(shift_batch, utc_to_local))


def in_batches(made: ColumnarFormat, names: Sequence[str], size: int) -> BatchFormat:
    """Return a format whose records are batches of some columns, of up to ``size`` rows."""
    chosen = arrow().schema([made._columns.schema.field(name) for name in names])
    columns = Columns(chosen, case_sensitive=made._columns._case_sensitive)
    return BatchFormat(functools.partial(made._open, columns, size), utc=made._utc)


class Opened:
    """An open columnar file."""

    def __init__(
        self, path: str, columns: Columns, opener: Callable[[Any], Any], names_of: Callable[[Any], list[str]]
    ) -> None:
        self.path = path
        self._columns = columns
        self._stream: BinaryIO = open_file(path)
        try:
            self.size = self._stream.seek(0, os.SEEK_END)
            self._stream.seek(0)
            self.file = opener(arrow().PythonFile(self._stream, mode="r"))
            self.found = columns.find(names_of(self.file), path)
        except (arrow().ArrowException, OSError) as error:
            self._stream.close()
            raise FlintstreamError(f"cannot read {shown_path(path)}: {error}") from error
        except BaseException:
            self._stream.close()
            raise

    @property
    def wanted(self) -> list[str]:
        """The file's names of the columns that it has."""
        return [name for name in self.found if name is not None]

    def adapt(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Convert the batches of a row group to the types of the schema.

        Raises:
            FlintstreamError: A batch cannot be read or converted.
        """
        try:
            for batch in batches:
                yield self._columns.batch(batch, self.found, self.path)
        except (arrow().ArrowException, OSError) as error:
            raise FlintstreamError(f"cannot read {shown_path(self.path)}: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ColumnarRows(RowDataBulkWriterFactory):
    """Factory for writers of columnar files with rows of a type."""

    can_be_concatenated = False

    def __init__(
        self,
        row_type: RowType,
        schema: Any,
        open_writer: Callable[[BinaryIO, Any], Any],
        *,
        utc: bool = True,
        rows_per_group: int = ROWS_PER_GROUP,
    ) -> None:
        super().__init__(row_type)
        self._type_info = to_type_info(row_type)
        self._schema = schema
        self._open_writer = open_writer
        self._utc = utc
        self._rows_per_group = rows_per_group

    def in_batches(self) -> BulkWriterFactory[ArrowBatch]:
        """Return the factory for writers that take batches instead of rows."""
        return ColumnarBatches(self._schema, self._open_writer, self._rows_per_group, utc=self._utc)

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer of a new file."""
        convert = self._type_info.converter() or (lambda row: row)
        shift = None if self._utc or is_local_time_utc() else time_shift(self._row_type, local_to_utc)

        def batch(rows: list[Any]) -> Any:
            rows = list(map(convert, rows))
            if shift is not None:
                rows = list(map(shift, rows))
            return batch_of(rows, self._schema)

        return ColumnarWriter(self._open_writer(stream, self._schema), batch, self._rows_per_group)


class ColumnarBatches(BulkWriterFactory["ArrowBatch"]):
    """Factory for writers of columnar files that take batches of Arrow."""

    can_be_concatenated = False

    def __init__(
        self,
        schema: Schema,
        open_writer: Callable[[BinaryIO, Schema], ParquetWriter],
        rows_per_group: int,
        *,
        utc: bool,
    ) -> None:
        self._schema = schema
        self._open_writer = open_writer
        self._rows_per_group = rows_per_group
        self._utc = utc

    def create(self, stream: BinaryIO) -> BulkWriter[ArrowBatch]:
        """Return a writer of a new file."""
        unchanged = self._utc or is_local_time_utc()
        shift = None if unchanged else functools.partial(shift_batch, local_to_utc)
        return BatchWriter(self._open_writer(stream, self._schema), self._schema, self._rows_per_group, shift)


class ParquetInput(Opened):
    """An open Parquet file."""

    def __init__(self, path: str, columns: Columns, batch_size: int) -> None:
        parquet = importlib.import_module("pyarrow.parquet")
        opener = functools.partial(parquet.ParquetFile, coerce_int96_timestamp_unit="us")
        super().__init__(path, columns, opener, lambda file: file.schema_arrow.names)
        self.groups: int = self.file.num_row_groups
        self._batch_size = batch_size

    def batches(self, group: int) -> Iterator[Any]:
        """Yield the record batches of a row group."""
        if self.wanted:
            batches = self.file.iter_batches(self._batch_size, row_groups=[group], columns=self.wanted)
        else:
            batches = _without_columns(self.file.metadata.row_group(group).num_rows, self._batch_size)
        return self.adapt(batches)


def _without_columns(rows: int, batch_size: int) -> Iterator[Any]:
    """Yield batches without columns, with the right number of rows."""
    for start in range(0, rows, batch_size):
        yield arrow().RecordBatch.from_arrays([arrow().nulls(min(batch_size, rows - start))], names=[""])
