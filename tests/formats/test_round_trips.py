"""Values of all types survive writing and reading."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Instant, Row, Types
from flintstream.common.typeinfo import LocalTimeTypeInfo
from flintstream.connectors.formats.csv_splitting import CsvDialect
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

TEXTS = st.text(st.characters(codec="utf-8"))
SECONDS = st.times().map(lambda time: time.replace(microsecond=0))
MILLIS = st.datetimes(dt.datetime(1600, 1, 1)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
INSTANTS = st.builds(Instant, st.integers(-10_000_000_000, 200_000_000_000), st.integers(0, 999_999_999))
LOCAL = LocalTimeTypeInfo.TimeType


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


SIMPLE: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Types.BOOLEAN(), st.booleans()),
    (Types.BYTE(), integers(8)),
    (Types.SHORT(), integers(16)),
    (Types.INT(), integers(32)),
    (Types.LONG(), integers(64)),
    (Types.BIG_INT(), st.integers()),
    (Types.FLOAT(), st.floats(width=32)),
    (Types.DOUBLE(), st.floats()),
    (Types.BIG_DEC(), st.decimals(allow_nan=False, allow_infinity=False)),
    (Types.STRING(), TEXTS),
    (Types.SQL_DATE(), st.dates()),
    (Types.SQL_TIME(), SECONDS),
    (Types.SQL_TIMESTAMP(), MILLIS),
    (Types.INSTANT(), INSTANTS),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary()),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE), st.dates()),
    (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), SECONDS),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE_TIME), st.datetimes()),
]
LISTS = [Types.BASIC_ARRAY, Types.OBJECT_ARRAY]
INNER = Types.ROW_NAMED(["x", 'y "ä%'], [Types.INT(), Types.STRING()])
ROWS = st.builds(Row, st.none() | integers(32), st.none() | TEXTS)
COMPOSED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    *[(make(Types.STRING()), st.lists(st.none() | TEXTS)) for make in LISTS],
    (Types.LIST(Types.LONG()), st.lists(integers(64))),
    (Types.PRIMITIVE_ARRAY(Types.DOUBLE()), st.lists(st.floats())),
    (Types.OBJECT_ARRAY(Types.LIST(Types.INT())), st.lists(st.none() | st.lists(integers(32)))),
    (Types.MAP(Types.STRING(), Types.DOUBLE()), st.dictionaries(TEXTS, st.none() | st.floats())),
    (Types.MAP(Types.INT(), INNER), st.dictionaries(integers(32), st.none() | ROWS)),
    (Types.MAP(Types.BOOLEAN(), Types.SQL_DATE()), st.dictionaries(st.booleans(), st.dates())),
    (Types.TUPLE([Types.INT(), Types.STRING()]), st.tuples(integers(32), st.none() | TEXTS)),
    (INNER, ROWS),
    (Types.LIST(INNER), st.lists(ROWS)),
    (Types.PICKLED_BYTE_ARRAY(), st.recursive(st.none() | st.integers() | TEXTS, st.lists)),
    (Types.CHAR(), st.characters(codec="utf-8")),
]


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, (Row, list, tuple)) and type(left) is type(right):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return same(list(left.items()), list(right.items()))
    return type(left) is type(right) and left == right


def check(reader: Any, writer: Any, type_info: Any, *values: Any) -> None:
    row = Row(*values)
    message = writer.serialize(row)
    assert same(list(reader.deserialize(message)), list(type_info.to_internal_type(row))), message


@pytest.mark.parametrize(("kind", "values"), SIMPLE + COMPOSED, ids=[str(kind) for kind, _ in SIMPLE + COMPOSED])
def test_json(kind, values):
    type_info = Types.ROW_NAMED(["a", "b"], [kind, Types.STRING()])
    reader = JsonRowDeserializationSchema.builder().type_info(type_info).fail_on_missing_field().build()
    writer = JsonRowSerializationSchema.builder().with_type_info(type_info).build()

    @given(st.none() | values)
    def run(value):
        check(reader, writer, type_info, value, "b")

    run()


@pytest.mark.parametrize(("kind", "values"), SIMPLE, ids=[str(kind) for kind, _ in SIMPLE])
@pytest.mark.parametrize("delimiter", [",", "\t", "|"])
def test_csv(kind, values, delimiter):
    type_info = Types.ROW_NAMED(["a", "b"], [kind, Types.STRING()])
    reading = CsvRowDeserializationSchema.Builder(type_info).set_field_delimiter(delimiter).set_null_literal("\0N")
    writing = CsvRowSerializationSchema.Builder(type_info).set_field_delimiter(delimiter).set_null_literal("\0N")
    reader, writer = reading.build(), writing.build()

    @given(st.none() | values, TEXTS)
    def run(value, text):
        check(reader, writer, type_info, value, text)

    run()


@given(
    st.lists(TEXTS, min_size=1), st.sampled_from([None, "\\", "/"]), st.sampled_from(",;|\t"), st.sampled_from("\"'")
)
def test_texts_are_read_from_csv_whatever_they_contain(texts, escape, delimiter, quote):
    type_info = Types.ROW([Types.STRING()] * len(texts))
    dialect = CsvDialect(delimiter=delimiter, quote=quote, escape=escape)
    message = CsvRowSerializationSchema(type_info, dialect).serialize(Row(*texts))
    assert list(CsvRowDeserializationSchema(type_info, dialect).deserialize(message)) == texts


@given(st.text(st.sampled_from("a,\"'\\;#\n\r \t")))
def test_the_ways_to_split_a_text_agree(text):
    from flintstream.connectors.formats.csv_splitting import _Splitter, splitter
    from flintstream.connectors.formats.errors import Misfit

    for dialect in (CsvDialect(), CsvDialect(quote="'"), CsvDialect(quote=None), CsvDialect(delimiter=";")):
        outcomes: list[Any] = []
        for split in (splitter(dialect), _Splitter(dialect).split):
            try:
                outcomes.append(split(text) if text else None)
            except Misfit:
                outcomes.append("fails")
        assert outcomes[0] == outcomes[1]


@given(
    integers(32),
    st.none() | st.decimals(-99999999, 99999999, places=3),
    st.none() | MILLIS,
    st.dates(),
    st.lists(st.none() | TEXTS),
    st.dictionaries(TEXTS, st.floats(width=32)),
    st.none() | st.tuples(st.booleans(), st.binary()),
)
def test_avro(number, decimal, time, day, texts, floats, inner):
    schema = """{"type": "record", "name": "r", "namespace": "n.s", "fields": [
        {"name": "number", "type": "int"},
        {"name": "decimal", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3}]},
        {"name": "time", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "texts", "type": {"type": "array", "items": ["string", "null"]}},
        {"name": "floats", "type": {"type": "map", "values": "float"}},
        {"name": "inner", "type": ["null", {"type": "record", "name": "i", "fields": [
            {"name": "yes", "type": "boolean"}, {"name": "bytes", "type": "bytes"}]}]},
        {"name": "again", "type": ["null", "n.s.i"]},
        {"name": "more", "type": {"type": "array", "items": "i"}}
    ]}"""
    reader = AvroRowDeserializationSchema(avro_schema_string=schema)
    row = None if inner is None else Row(*inner)
    there = [] if row is None else [row]
    check(
        reader,
        AvroRowSerializationSchema(avro_schema_string=schema),
        reader.get_produced_type(),
        *(number, decimal, time, day, texts, floats, row, row, there),
    )


def test_a_number_may_have_any_exponent():
    type_info = Types.ROW_NAMED(["a"], [Types.BIG_DEC()])
    writer = JsonRowSerializationSchema.builder().with_type_info(type_info).build()
    assert writer.serialize(Row(Decimal("1E-400"))) == b'{"a":1E-400}'
