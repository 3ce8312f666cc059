"""Reader of Parquet files, by row group."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from flintstream.connectors.files.arrow_values import arrow
from flintstream.datastream.formats._columnar_files import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.datastream.formats._columnar_files import Columns

__all__ = ["ParquetInput"]


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
