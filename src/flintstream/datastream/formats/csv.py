"""Separated values; mirrors ``pyflink.datastream.formats.csv``."""

from __future__ import annotations

from flintstream.datastream.formats._csv_schema import CsvColumn, CsvSchema, CsvSchemaBuilder

__all__ = ["CsvColumn", "CsvSchema", "CsvSchemaBuilder"]
