"""``python -m benchmarks.files``: records per second that one process writes to files and reads, by format."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common import Row
from flintstream.connectors.files.enumerator import plan_splits
from flintstream.connectors.source import Fetch
from flintstream.datastream.formats.avro import AvroBulkWriters, AvroFileFormat, AvroSchema
from flintstream.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from flintstream.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from flintstream.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from flintstream.table.types import DataTypes

if TYPE_CHECKING:
    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.datastream.connectors.file_system import StreamFormat

ROWS = DataTypes.ROW(
    [
        DataTypes.FIELD("n", DataTypes.INT()),
        DataTypes.FIELD("d", DataTypes.DOUBLE()),
        DataTypes.FIELD("s", DataTypes.STRING()),
    ]
)
CSV = (
    CsvSchema.builder()
    .add_number_column("n", DataTypes.INT())
    .add_number_column("d", DataTypes.DOUBLE())
    .add_string_column("s")
    .build()
)
AVRO = AvroSchema(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "n", "type": "int"},
            {"name": "d", "type": "double"},
            {"name": "s", "type": "string"},
        ],
    }
)

FORMATS: dict[str, tuple[BulkWriterFactory, StreamFormat]] = {
    "csv": (CsvBulkWriters.for_schema(CSV), CsvReaderFormat.for_schema(CSV)),
    "parquet": (ParquetBulkWriters.for_row_type(ROWS), ParquetColumnarRowInputFormat(ROWS)),
    "orc": (OrcBulkWriters.for_row_type(ROWS), OrcColumnarRowInputFormat(ROWS)),
    "avro": (AvroBulkWriters.for_generic_record(AVRO), AvroFileFormat(AVRO)),
    "avro-parquet": (AvroParquetWriters.for_generic_record(AVRO), AvroParquetReaders.for_generic_record(AVRO)),
}
BLOCK = 4096


def write(factory: BulkWriterFactory, path: Path, records: list[Any]) -> None:
    """Write one file, a block at a time as a sink does."""
    with path.open("wb") as stream:
        writer = factory.create(stream)
        for start in range(0, len(records), BLOCK):
            writer.add_elements(records[start : start + BLOCK])
        writer.finish()


def read(file_format: StreamFormat, path: Path) -> int:
    """Read one file and return the number of its records."""
    (split,) = plan_splits([(str(path), 0)], 1, splittable=False)
    count = 0
    for batch in file_format.create_reader().read(split, Fetch(BLOCK)):
        assert isinstance(batch, list)
        count += len(batch)
    return count


def main() -> None:
    """Write and read files of each format, and print the rates."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files")
    parser.add_argument("--records", type=int, default=1_000_000)
    count = parser.parse_args().records
    rows = [Row(n=n, d=n / 7, s=f"text {n % 100}") for n in range(count)]
    dicts = [row.as_dict() for row in rows]
    with tempfile.TemporaryDirectory() as directory:
        for name, (factory, file_format) in FORMATS.items():
            path = Path(directory, name)
            started = time.perf_counter()
            write(factory, path, dicts if name.startswith("avro") else rows)
            written = time.perf_counter()
            assert read(file_format, path) == count
            ended = time.perf_counter()
            rates = f"{count / (written - started):12,.0f} {count / (ended - written):12,.0f}"
            print(
                f"{name:14} {rates} records/s written, read; {path.stat().st_size / count:.1f} bytes/record", flush=True
            )


if __name__ == "__main__":
    main()
