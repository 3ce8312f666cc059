"""Half of a surrogate pair leaves as a question mark through every sink, as Java writes it."""

import io
import json
import sqlite3

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Encoder, Row, SimpleStringSchema, Types
from flintstream.connectors.elasticsearch import json_line
from flintstream.connectors.files.arrow_values import batch_of
from flintstream.connectors.files.avro import AvroRecords
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from flintstream.datastream.formats.avro import AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowSerializationSchema

TYPE = Types.ROW_NAMED(["id", "s"], [Types.INT(), Types.STRING()])
SCHEMA = json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}, {"name": "s", "type": "string"}]})  # fmt: skip  # noqa: E501
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cc"]), max_size=6), min_size=1, max_size=4)


def by_text(texts):
    encoder = Encoder.simple_string_encoder()
    return b"".join(encoder.encode(text, Types.STRING()) for text in texts).decode().split("\n")[:-1]


def by_texts(texts):
    return Encoder.simple_string_encoder().encode_all(texts, Types.STRING()).decode().split("\n")[:-1]


def by_schema(texts):
    return [SimpleStringSchema().serialize(text).decode() for text in texts]


def by_json(texts):
    schema = JsonRowSerializationSchema.builder().with_type_info(TYPE).build()
    return [json.loads(schema.serialize(Row(1, text)))["s"] for text in texts]


def by_csv(texts):
    schema = CsvRowSerializationSchema.Builder(TYPE).set_quote_character("'").build()
    return [schema.serialize(Row(1, text.replace("'", ""))).decode()[2:-1].strip("'") for text in texts]


def field_s(record):
    assert isinstance(record, dict)
    return record["s"]


def by_avro(texts):
    schema, known = AvroRowSerializationSchema(avro_schema_string=SCHEMA), fastavro.parse_schema(json.loads(SCHEMA))
    return [field_s(fastavro.schemaless_reader(io.BytesIO(schema.serialize(Row(1, text))), known)) for text in texts]


def by_avro_file(texts):
    file = io.BytesIO()
    writer = AvroRecords(SCHEMA).create(file)
    for text in texts:
        writer.add_element({"id": 1, "s": text})
    writer.finish()
    return [field_s(record) for record in fastavro.reader(io.BytesIO(file.getvalue()))]


def by_arrow(texts):
    schema = pa.schema({"id": pa.int32(), "s": pa.list_(pa.string())})
    return [row["s"][0] for row in batch_of([Row(1, [text]) for text in texts], schema).to_pylist()]


def by_elasticsearch(texts):
    return [json.loads(json_line({"s": [text]}))["s"][0] for text in texts]


@pytest.mark.parametrize(
    "sink", [by_text, by_texts, by_schema, by_json, by_csv, by_avro, by_avro_file, by_arrow, by_elasticsearch]
)
@given(texts=TEXTS)
def test_a_sink_writes_a_question_mark_and_all_other_characters(sink, texts):
    texts = [text.replace("\r", "").replace("'", "") for text in texts]
    if sink is by_csv:
        texts = [text for text in texts if not set(text) & set(',"\\ ')]
    assert sink(texts) == [text.encode(errors="replace").decode() for text in texts]


def test_a_database_gets_a_question_mark(tmp_path):
    file = tmp_path / "words.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE words (id INT, s TEXT)")
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    rows = env.from_collection([Row(1, "a\ud800"), Row(2, "\U0001f600")], TYPE)
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{file}")
    at_once = JdbcExecutionOptions.builder().with_batch_size(2).build()
    rows.add_sink(JdbcSink.sink("INSERT INTO words VALUES (?, ?)", TYPE, options.build(), at_once))
    env.execute()
    with sqlite3.connect(file) as connection:
        assert sorted(connection.execute("SELECT * FROM words")) == [(1, "a?"), (2, "\U0001f600")]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
def test_a_terminal_gets_what_its_encoding_has(encoding, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding, newline=""))
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(1)
    env.from_collection(["a", "\u00e9\u4e2d\ud800"], Types.STRING()).print()
    env.execute()
    assert written.getvalue() == "a\n\u00e9\u4e2d\ud800\n".encode(encoding, "replace")
