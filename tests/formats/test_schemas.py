"""Schemas as programs use them: building, errors, pickling, records of other shapes."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import pytest

from flintstream.common import Row, Types
from flintstream.connectors.formats.errors import FormatError
from flintstream.datastream.formats.avro import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from flintstream.errors import PlanError, UnsupportedByDesignError
from flintstream.table import DataTypes

USER = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
AVRO = '{"type": "record", "name": "u", "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]}'
ADA = Row(id=1, name="Ada")


def json_reader(type_info=USER):
    return JsonRowDeserializationSchema.builder().type_info(type_info)


PAIRS = {
    "json": (json_reader().build(), JsonRowSerializationSchema.builder().with_type_info(USER).build()),
    "csv": (CsvRowDeserializationSchema.Builder(USER).build(), CsvRowSerializationSchema.Builder(USER).build()),
    "avro": (AvroRowDeserializationSchema(None, AVRO), AvroRowSerializationSchema(avro_schema_string=AVRO)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_schema_that_was_used_can_be_pickled_and_used_again(name):
    reader, writer = PAIRS[name]
    message = writer.serialize(ADA)
    assert reader.deserialize(message) == ADA
    assert pickle.loads(pickle.dumps(writer)).serialize(ADA) == message
    assert pickle.loads(pickle.dumps(reader)).deserialize(message) == ADA
    assert reader.get_produced_type() == USER


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "value", [(1, "Ada"), [1, "Ada"], {"name": "Ada", "id": 1}, Row(1, "Ada"), Row(name="Ada", id=1)]
)
def test_a_row_may_be_given_as_whatever_a_type_of_rows_takes(name, value):
    reader, writer = PAIRS[name]
    assert reader.deserialize(writer.serialize(value)) == ADA


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("value", [("one", "Ada"), (1,), (2**31, "Ada"), "Ada", Row(id=1), Row(other="Ada", id=1)])
def test_a_value_that_does_not_fit_is_an_error_that_names_schema_and_value(name, value):
    with pytest.raises(FormatError) as raised:
        PAIRS[name][1].serialize(value)
    assert re.match(rf"\w+RowSerializationSchema cannot write {re.escape(repr(value))}: .+", str(raised.value))
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("name", PAIRS)
def test_a_message_that_cannot_be_read_is_an_error_that_shows_its_beginning(name):
    with pytest.raises(FormatError, match=r"^\w+RowDes\w+ cannot read b'\\xff.*\.\.\.: .+") as raised:
        PAIRS[name][0].deserialize(b"\xff" * 1_000_000)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("name", ["json", "avro"])
def test_a_row_of_other_fields_is_written_by_position_with_a_warning_where_names_say_otherwise(name, caplog):
    writer = pickle.loads(pickle.dumps(PAIRS[name][1]))
    expected = writer.serialize(ADA)
    for row in (Row(key=1, text="Ada", more=2.5), Row(1, "Ada", 2.5), Row(key=1, text="Ada", more=2.5)):
        assert writer.serialize(row) == expected
    assert caplog.text == ""
    swapped = Row(number=1, id="Ada", name="Eve")
    assert [writer.serialize(swapped) for _ in range(2)] == [expected] * 2
    assert caplog.text.count("its field 'id' is the row's field 'number', not the row's 'id'") == 1
    assert writer.serialize(Row(name="Ada", id=1)) == expected


def test_the_error_names_the_field_within_rows_and_arrays():
    orders = Types.ROW_NAMED(["lines"], [Types.OBJECT_ARRAY(USER)])
    with pytest.raises(FormatError, match=r"field 'lines\[element\].id': 'x' is not a 32-bit integer"):
        json_reader(orders).build().deserialize(b'{"lines": [{"id": 1}, {"id": "x"}]}')
    csv = CsvRowDeserializationSchema.Builder(Types.ROW_NAMED(["n"], [Types.BASIC_ARRAY(Types.INT())])).build()
    with pytest.raises(FormatError, match=r"field 'n\[\]': 'x' is not a 32-bit integer"):
        csv.deserialize(b"1;x")


def test_errors_are_ignored_field_by_field_and_what_is_no_object_is_skipped():
    schema = json_reader().ignore_parse_errors().build()
    assert schema.deserialize(b'{"id": "x", "name": "Ada"}') == Row(id=None, name="Ada")
    assert [schema.deserialize(bad) for bad in (b"", b"[]", b"{", b"\xff", b"[" * 100_000)] == [None] * 5


def test_settings_that_contradict_one_another_are_refused():
    with pytest.raises(PlanError, match="cannot be combined"):
        json_reader().fail_on_missing_field().ignore_parse_errors().build()


@pytest.mark.parametrize(
    "build",
    [
        lambda kind: json_reader(kind).build(),
        lambda kind: JsonRowSerializationSchema.builder().with_type_info(kind).build(),
        CsvRowDeserializationSchema.Builder,
        CsvRowSerializationSchema.Builder,
    ],
)
def test_only_types_of_rows_have_a_schema(build):
    with pytest.raises(TypeError, match="needs a row type"):
        build(None)
    with pytest.raises(PlanError, match="needs a row type"):
        build(Types.INT())
    generic = GenericRecordAvroTypeInfo(AvroSchema.parse_string('"int"'))
    with pytest.raises(PlanError, match="cannot read or write values of type GenericRecord"):
        build(Types.ROW([Types.OBJECT_ARRAY(generic)]))


def test_a_column_of_separated_values_has_no_deeper_parts():
    for kind in (Types.MAP(Types.STRING(), Types.INT()), Types.OBJECT_ARRAY(USER), Types.ROW([USER])):
        with pytest.raises(PlanError, match="column 'c' cannot be of type"):
            CsvRowSerializationSchema.Builder(Types.ROW_NAMED(["c"], [kind]))


def test_avro_needs_a_schema_of_records():
    with pytest.raises(TypeError, match="needs the schema"):
        AvroRowDeserializationSchema()
    with pytest.raises(UnsupportedByDesignError, match="names a Java class"):
        AvroRowSerializationSchema(record_class="org.example.User")
    for bad in ("{", '"int"', '{"type": "record"}', '{"type": "nonsense"}', "[]"):
        with pytest.raises(PlanError, match="Avro schema"):
            AvroRowSerializationSchema(avro_schema_string=bad)
    loop = '{"type":"record","name":"l","fields":[{"name":"next","type":["null","l"]}]}'
    with pytest.raises(PlanError, match="contains itself"):
        AvroRowDeserializationSchema(avro_schema_string=loop)


def test_avro_without_fastavro_says_what_to_install():
    program = (
        "import sys; sys.modules['fastavro'] = None\n"
        "from flintstream.errors import MissingDependencyError\n"
        "from flintstream.connectors.formats.avro_schema import parse_schema\n"
        "try: parse_schema('\"int\"')\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    assert done.stdout == "Avro needs the package fastavro: pip install 'flintstream[avro]'\n"


def test_schemas_of_avro_are_equal_by_content_and_can_be_read_from_files(tmp_path):
    (tmp_path / "user.avsc").write_text(AVRO)
    schema = AvroSchema.parse_file(str(tmp_path / "user.avsc"))
    assert schema == AvroSchema.parse_string(AVRO) == pickle.loads(pickle.dumps(schema))
    assert GenericRecordAvroTypeInfo(schema) == GenericRecordAvroTypeInfo(AvroSchema(AVRO))
    assert str(schema) == AVRO.replace(": ", ":").replace(", ", ",")


def test_a_schema_of_separated_values_says_what_it_is():
    from flintstream.datastream.formats.csv import CsvSchema

    builder = CsvSchema.builder().add_number_column("id", number_type=DataTypes.INT()).add_string_column("name")
    builder.add_array_column("tags", "#", element_type=DataTypes.INT()).add_boolean_column("ok").set_use_header()
    schema = builder.set_column_separator("|").set_escape_char("\\").set_strict_headers().set_null_value("N").build()
    # the text is Jackson's
    assert str(schema) == (
        '[CsvSchema: columns=["id"/NUMBER,"name"/STRING,"tags"/ARRAY,"ok"/BOOLEAN], header? true, skipFirst? false, '
        "comments? false, any-properties? N/A]"
    )
    assert len(schema) == len(builder) == 4
    assert schema.separators() == [";", ";", "#", ";"]
    assert (
        str(schema.type_info)
        == "RowTypeInfo(id: Integer, name: String, tags: ObjectArrayTypeInfo<Integer>, ok: Boolean)"
    )
    assert CsvSchema.builder().add_columns_from(schema).build().columns == schema.columns
    with pytest.warns(UserWarning, match="only the first one of '!!' counts"):
        CsvSchema.builder().set_quote_char("!!")
    with pytest.raises(PlanError, match="single character"):
        builder.set_quote_char("")
    with pytest.raises(PlanError, match="must be unique"):
        builder.add_string_column("id").build()


def test_pyflink_offers_the_schemas_in_its_common_package_too():
    import flintstream.common

    assert flintstream.common.JsonRowDeserializationSchema is JsonRowDeserializationSchema
    assert flintstream.common.CsvRowSerializationSchema is CsvRowSerializationSchema
    assert flintstream.common.AvroRowSerializationSchema is AvroRowSerializationSchema


def test_the_modules_are_those_of_pyflink(monkeypatch):
    import importlib

    from flintstream.compat import pyflink

    pyflink.install()
    try:
        module = importlib.import_module("pyflink.datastream.formats.json")
        assert module.JsonRowDeserializationSchema is JsonRowDeserializationSchema
    finally:
        pyflink.uninstall()


def test_what_python_does_not_call_a_number_is_none():
    schema = json_reader(Types.ROW_NAMED(["n"], [Types.DOUBLE()])).build()
    for text in ('"1_0"', '"inf"', '"\u0661"'):
        with pytest.raises(FormatError, match="is not a number"):
            schema.deserialize(f'{{"n": {text}}}'.encode())
