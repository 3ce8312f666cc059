"""Avro; mirrors ``pyflink.datastream.formats.avro``. Needs the extra ``avro``."""

from __future__ import annotations

from flintstream.datastream.formats._avro_files import AvroBulkWriters, AvroFileFormat, AvroInputFormat
from flintstream.datastream.formats._avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats._avro_schema import AvroSchema, GenericRecordAvroTypeInfo

__all__ = [
    "AvroBulkWriters",
    "AvroFileFormat",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]
