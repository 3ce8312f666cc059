"""Writes rows into Parquet files."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.common.types import Row, RowKind
from flintstream.connectors.arrow_values import arrow, batch_of
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

ROWS_PER_GROUP = 1 << 17


class ParquetRows(BulkWriterFactory):
    """Makes writers for rows or tuples of one type."""

    def __init__(self, schema: Any, row_type: TypeInformation) -> None:
        """Take the schema of the files (of Arrow) and the type that records are brought to first."""
        self._schema = schema
        self._row_type = row_type

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer of a new file."""
        return _Writer(stream, self._schema, self._row_type)


class _Writer(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: Any, row_type: TypeInformation) -> None:
        arrow()  # for its message, if it is not there
        self._parquet = importlib.import_module("pyarrow.parquet").ParquetWriter(stream, schema)
        self._schema = schema
        self._convert = row_type.converter()
        self._rows: list[Any] = []

    def add_element(self, element: Any) -> None:
        self._rows.append(element)
        if len(self._rows) >= ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        rows, self._rows = self._rows, []
        if self._convert is not None:
            rows = list(map(self._convert, rows))
        for row in rows:
            if isinstance(row, Row) and row.get_row_kind() is not RowKind.INSERT:
                raise FlintstreamError(f"a DataFrame has no changes, but the stream has {row.get_row_kind()} {row!r}")
        self._parquet.write_batch(batch_of(rows, self._schema))

    def __del__(self) -> None:
        # Given up before the end: the file is closed, and pyarrow would complain that it cannot end it.
        if hasattr(self, "_parquet"):
            self._parquet.is_open = False

    def finish(self) -> None:
        if self._rows:
            self.flush()
        self._parquet.close()
