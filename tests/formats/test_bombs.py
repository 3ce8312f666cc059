"""Messages that stand for more than they have: deep nesting, long numbers, open quotes, promised sizes."""

from __future__ import annotations

import json

import pytest

from flintstream.common import Row, Types
from flintstream.connectors.formats.errors import FormatError
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema
from flintstream.errors import PlanError


def json_schema(**fields):
    return (
        JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(list(fields), list(fields.values()))).build()
    )


@pytest.mark.promise("S28")
@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("before", ["", '{"a": '])
def test_json_that_is_nested_deeply_is_refused(opening, before):
    with pytest.raises(FormatError, match=r"Json.* cannot read .*RecursionError"):
        json_schema(a=Types.STRING()).deserialize((before + opening * 100_000).encode())


@pytest.mark.parametrize("kind", [Types.INT(), Types.LONG(), Types.BIG_INT(), Types.BIG_DEC(), Types.DOUBLE()])
@pytest.mark.parametrize("text", ["9" * 1_000_000, "-" + "9" * 1_000_000])
def test_json_numbers_with_a_million_digits_are_refused(kind, text):
    with pytest.raises(FormatError, match=r"Json.* cannot read .*4300"):
        json_schema(a=kind).deserialize(f'{{"a": {text}}}'.encode())


@pytest.mark.parametrize("text", ["1E+999999999", "-1E+999999999", '"' + "9" * 100_000 + '"', "1e308", "9" * 4000])
def test_points_in_time_that_java_does_not_have_are_refused(text):
    schema = json_schema(at=Types.INSTANT(), decimal=Types.BIG_DEC())
    with pytest.raises(FormatError, match=r"field 'at': .* is not a point in time"):
        schema.deserialize(f'{{"at": {text}}}'.encode())


@pytest.mark.parametrize(("text", "seconds"), [("1E-999999999", 0), ("-1E-999999999", -1)])
def test_points_in_time_right_beside_the_epoch_are_read(text, seconds):
    schema = json_schema(at=Types.INSTANT(), decimal=Types.BIG_DEC())
    found = schema.deserialize(f'{{"at": {text}}}'.encode())
    assert found[0].seconds == seconds


def test_a_csv_message_with_an_open_quote_is_refused():
    schema = CsvRowDeserializationSchema.Builder(Types.ROW_NAMED(["a", "b"], [Types.STRING()] * 2)).build()
    with pytest.raises(FormatError, match=r'Csv.* cannot read .*its closing quote " is missing'):
        schema.deserialize(b'"' + b'a,""\n' * 1_000_000)


@pytest.mark.promise("S28")
@pytest.mark.parametrize(
    "kind", ["string", "bytes", {"type": "array", "items": "int"}, {"type": "map", "values": "int"}]
)
@pytest.mark.parametrize("size", [b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x80\x80\x80\x80\x20"])
def test_avro_messages_that_promise_gigabytes_are_refused(kind, size):
    fields = [{"name": "a", "type": kind}]
    text = json.dumps({"type": "record", "name": "r", "fields": fields})
    with pytest.raises(FormatError, match=r"Avro.* cannot read"):
        AvroRowDeserializationSchema(avro_schema_string=text).deserialize(size + b"x")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        (
            '{"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "object", '
            '"properties": {"c": {"$ref": "#/properties/b"}}}}}'
        ),
        '{"type": {}}',
        '{"type": "object", "properties": 5}',
        '{"oneOf": 5}',
        '{"type": "string", "format": {}}x',
    ],
)
def test_json_schemas_that_make_no_sense_are_refused(text):
    with pytest.raises(PlanError, match="JSON"):
        JsonRowDeserializationSchema.builder().json_schema(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "record", "name": "s"}}]}',
    ],
)
def test_avro_schemas_that_make_no_sense_are_refused(text):
    with pytest.raises(PlanError, match="Avro schema"):
        AvroRowDeserializationSchema(avro_schema_string=text)


@pytest.mark.promise("S3")
def test_a_pickle_in_a_message_is_read_only_where_the_type_declares_one():
    evil = b"cbuiltins\nprint\n(S'run'\ntR."
    import base64

    text = json.dumps({"a": base64.b64encode(evil).decode(), "b": evil.decode()}).encode()
    schema = json_schema(a=Types.PRIMITIVE_ARRAY(Types.BYTE()), b=Types.STRING())
    assert schema.deserialize(text) == Row(a=evil, b=evil.decode())
