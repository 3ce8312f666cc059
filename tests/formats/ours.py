"""Results of our schemas for the cases."""

from __future__ import annotations

from typing import Any

from tests.formats.cases import Case
from tests.formats.notation import value_of

from flintstream.common import Instant, Row, Types
from flintstream.common.typeinfo import LocalTimeTypeInfo
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

NAMES = {"Types": Types, "Row": Row, "Instant": Instant, "LocalTimeTypeInfo": LocalTimeTypeInfo}


def value(text: str) -> Any:
    return value_of(text, NAMES)


def run(case: Case) -> Any:
    """Return the value, the message in latin-1, or the text of the type."""
    if case.does == "type":
        return str(JsonRowDeserializationSchema.builder().json_schema(case.settings[0][1])._type_info)
    if case.does == "read":
        return reader(case).deserialize(case.given.encode("latin-1"))
    given = value(case.given)
    if not case.written_as:
        return writer(case).serialize(given).decode("latin-1")
    converted = value(case.type).to_internal_type(given)  # as the stream has it
    return writer(case._replace(type=case.written_as)).serialize(converted).decode("latin-1")


def reader(case: Case) -> Any:
    if case.schema == "avro":
        return AvroRowDeserializationSchema(avro_schema_string=case.settings[0][1])
    if case.schema == "json":
        return _built(JsonRowDeserializationSchema.builder().type_info(value(case.type)), case)
    return _built(CsvRowDeserializationSchema.Builder(value(case.type)), case)


def writer(case: Case) -> Any:
    if case.schema == "avro":
        return AvroRowSerializationSchema(avro_schema_string=case.settings[0][1])
    if case.schema == "json":
        return _built(JsonRowSerializationSchema.builder().with_type_info(value(case.type)), case)
    return _built(CsvRowSerializationSchema.Builder(value(case.type)), case)


def _built(builder: Any, case: Case) -> Any:
    for method, *arguments in case.settings:
        builder = getattr(builder, method)(*arguments)
    return builder.build()
