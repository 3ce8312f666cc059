"""CSV; mirrors ``pyflink.datastream.formats.csv``."""

from __future__ import annotations

from flintstream.datastream.formats._csv_files import CsvBulkWriters, CsvReaderFormat
from flintstream.datastream.formats._csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats._csv_schema import CsvColumn, CsvSchema, CsvSchemaBuilder

__all__ = [
    "CsvBulkWriters",
    "CsvColumn",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]
