"""Tables read and write messages of Protobuf with schemas of the registry of AWS Glue."""

from __future__ import annotations

import datetime as dt
import itertools
import zlib
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

pytest.importorskip("google.protobuf", reason="the extra 'protobuf' is not installed: make setup")

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st
from tests.connectors.aws.test_glue import definitions, options, settings

from flintstream.common import Row
from flintstream.connectors.aws.client import AwsError
from flintstream.connectors.aws.glue import head_of
from flintstream.connectors.formats.protobuf_text import parse_messages
from flintstream.table import DataTypes as T
from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.registries import glue_protobuf
from flintstream.table._connectors.registries.glue_protobuf import ProtobufGlueDecoder, ProtobufGlueEncoder
from flintstream.table._errors import SqlError
from flintstream.table.connectors import FormatDeserializationSchema, FormatSerializationSchema

KIND = "protobuf-glue"
COLUMNS = {"who": T.STRING(), "n": T.INT()}


@pytest.fixture
def registry(moto):
    """A client of the service, with an empty registry."""
    found = moto.session.client("glue", endpoint_url=moto.endpoint)
    found.name = f"shop-{uuid4()}"
    found.create_registry(RegistryName=found.name)
    yield found
    found.delete_registry(RegistryId={"RegistryName": found.name})


def writer(moto, registry, columns=COLUMNS, **more):
    return encoder(KIND, list(columns), list(columns.values()), options(moto, registry, KIND, **more)).encode()


def reader(moto, registry, columns=COLUMNS, **more):
    return decoder(KIND, list(columns), list(columns.values()), options(moto, registry, KIND, **more)).decode()


def register(registry, definition, name="orders"):
    """Register a schema as other programs do, and return the head of its messages."""
    made = registry.create_schema(
        RegistryId={"RegistryName": registry.name}, SchemaName=name, DataFormat="PROTOBUF", Compatibility="NONE",
        SchemaDefinition=definition)  # fmt: skip
    return head_of(UUID(made["SchemaVersionId"]))


def class_of(definition, name):
    """Return the class of a message, made without the parser's pool."""
    file = descriptor_pb2.FileDescriptorProto()
    parse_messages(definition)[0].file.CopyToProto(file)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


# -- messages of this format -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["NONE", "zlib"])
def test_a_message_has_the_head_the_number_of_its_message_and_the_fields(moto, registry, compression):
    message = writer(moto, registry, **{"schema.compression": compression, "message-index": "true"})(("ann", 7))
    (version,) = definitions(registry)
    assert message[:2] == bytes([3, 5 if compression == "zlib" else 0])
    assert UUID(bytes=message[2:18]) == UUID(version["SchemaVersionId"])
    assert version["DataFormat"] == "PROTOBUF"
    content = zlib.decompress(message[18:]) if compression == "zlib" else message[18:]
    assert content == b"\0\x0a\x03ann\x10\x07"
    assert reader(moto, registry)(message) == ("ann", 7)


def test_the_schema_has_the_columns_in_their_order(moto, registry):
    columns = {"who": T.STRING(), "at home": T.BOOLEAN(False), "1st": T.BIGINT()}
    written = writer(moto, registry, columns, **{"schema.compatibility": "full"})
    assert definitions(registry)[0]["SchemaDefinition"] == (
        'syntax = "proto3";\n\nmessage orders {\n  optional string who = 1;\n'
        '  bool at_home = 2 [json_name = "at home"];\n  optional int64 _1st = 3 [json_name = "1st"];\n}\n'
    )
    schema = registry.get_schema(SchemaId={"RegistryName": registry.name, "SchemaName": "orders"})
    assert schema["Compatibility"] == "FULL"
    row = ("ann", True, 5)
    assert reader(moto, registry, columns)(written(row)) == row


def test_a_created_schema_is_backward_compatible_by_default(moto, registry):
    writer(moto, registry)
    schema = registry.get_schema(SchemaId={"RegistryName": registry.name, "SchemaName": "orders"})
    assert schema["Compatibility"] == "BACKWARD"


ALL = {
    "b": T.BOOLEAN(), "i1": T.TINYINT(), "i2": T.SMALLINT(), "i4": T.INT(), "i8": T.BIGINT(), "f": T.FLOAT(),
    "d": T.DOUBLE(), "s": T.STRING(), "x": T.BYTES(), "c": T.DECIMAL(10, 2), "day": T.DATE(), "clock": T.TIME(3),
    "at": T.TIMESTAMP(3), "z": T.TIMESTAMP_LTZ(3),
}  # fmt: skip
MILLIS = st.integers(0, 999).map(lambda found: found * 1000)
MOMENTS = st.builds(
    lambda moment, micros: moment.replace(microsecond=micros),
    st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)), MILLIS)  # fmt: skip
VALUES = {
    "b": st.booleans(), "i1": st.integers(-128, 127), "i2": st.integers(-(1 << 15), (1 << 15) - 1),
    "i4": st.integers(-(1 << 31), (1 << 31) - 1), "i8": st.integers(-(1 << 63), (1 << 63) - 1),
    "f": st.floats(width=32, allow_nan=False), "d": st.floats(allow_nan=False),
    "s": st.text(st.characters(exclude_categories=["Cs"])), "x": st.binary(),
    "c": st.decimals("-99999999.99", "99999999.99", places=2), "day": st.dates(),
    "clock": st.builds(lambda clock, micros: clock.replace(microsecond=micros), st.times(), MILLIS),
    "at": MOMENTS, "z": MOMENTS,
}  # fmt: skip


class Known:
    """A registry that has one schema."""

    def __init__(self):
        self.id, self.text = uuid4(), ""

    def version_of(self, definition):
        self.text = definition
        return self.id

    def definition(self, schema):
        assert schema == self.id
        return self.text


def both(columns, **more):
    """Return what writes and reads, with a registry of their own."""
    given = {"connector": "kinesis", **{f"{KIND}.{key}": value for key, value in more.items()}}
    given |= {f"{KIND}.aws.region": "eu-west-1", f"{KIND}.registry.name": "r", f"{KIND}.schema.name": "all"}
    names, types, known = list(columns), list(columns.values()), Known()
    written = ProtobufGlueEncoder(names, types, Options("t", dict(given)), "")
    read = ProtobufGlueDecoder(names, types, Options("t", dict(given)), "")
    for side in (written, read):
        side.settings.registry = known  # type: ignore[assignment]  # as far as they need one
    return written.encode(), read.decode()


@pytest.fixture(scope="module")
def pairs():
    """Writers and readers of all types: with and without NULL, with and without the number of the message."""
    strict = {name: kind.not_null() for name, kind in ALL.items()}
    return {
        (nullable, index): both(ALL if nullable else strict, **{"message-index": index})
        for nullable in (True, False) for index in ("true", "false")
    }  # fmt: skip


@given(data=st.data(), nullable=st.booleans(), index=st.sampled_from(["true", "false"]))
def test_any_row_is_read_as_it_was_written(pairs, data, nullable, index):
    encode, decode = pairs[nullable, index]
    row = data.draw(st.tuples(*(st.none() | values if nullable else values for values in VALUES.values())))
    assert decode(encode(row)) == row


def test_rows_of_defaults_and_of_null_differ(pairs):
    zeros: tuple[object, ...] = (False, 0, 0, 0, 0, 0.0, 0.0, "", b"", Decimal("0.00"), dt.date(1970, 1, 1), dt.time(0))
    zeros += (dt.datetime(1970, 1, 1),) * 2
    for index in ("true", "false"):
        encode, decode = pairs[True, index]
        assert decode(encode(zeros)) == zeros
        assert decode(encode((None,) * len(ALL))) == (None,) * len(ALL)
        encode, decode = pairs[False, index]
        assert decode(encode(zeros)) == zeros
        with pytest.raises(ValueError, match="the column 'i8' is NOT NULL, and a row has no value"):
            encode((*zeros[:4], None, *zeros[5:]))


def test_without_the_number_of_the_message_the_fields_follow_the_head():
    encode, decode = both(COLUMNS)
    message = encode(("ann", 7))
    assert message[18:] == b"\x0a\x03ann\x10\x07"
    assert decode(message) == ("ann", 7)


def test_half_of_a_surrogate_pair_is_written_as_a_question_mark():
    encode, decode = both(COLUMNS)
    assert decode(encode(("a\ud800b", 1))) == ("a?b", 1)


def test_older_and_newer_writers_are_read(moto, registry):
    older = writer(moto, registry)(("ann", 1))
    more = {"price": T.DOUBLE(), **COLUMNS, "n": T.BIGINT()}  # other numbers of fields
    newer = writer(moto, registry, more)((0.5, "bob", 1 << 40))
    assert len(definitions(registry)) == 2
    read = reader(moto, registry, more)
    assert [read(older), read(newer)] == [(None, "ann", 1), (0.5, "bob", 1 << 40)]
    few = reader(moto, registry, {"who": T.STRING()})
    assert [few(older), few(newer)] == [("ann",), ("bob",)]
    strict = reader(moto, registry, {**more, "price": T.DOUBLE(False)})
    assert strict(newer) == (0.5, "bob", 1 << 40)
    with pytest.raises(ValueError, match="the column 'price' is NOT NULL, and orders does not have it"):
        strict(older)


def test_the_schema_is_registered_once_and_found_again_without_the_right_to_register(moto, registry):
    with pytest.raises(AwsError, match=r"has no version with the schema of the table; .*'schema.autoRegistration'"):
        writer(moto, registry, **{"schema.autoRegistration": "false"})
    first = writer(moto, registry)(("ann", 1))
    assert writer(moto, registry, **{"schema.autoRegistration": "false"})(("ann", 1)) == first
    assert len(definitions(registry)) == 1


@pytest.mark.parametrize(("more", "parsed"), [({}, 1), ({"cache.size": "1"}, 1), ({"cache.ttlMs": "0"}, 3)])
def test_readers_parse_each_schema_that_they_remember_once(moto, registry, monkeypatch, more, parsed):
    message = writer(moto, registry)(("ann", 1))
    texts = []

    def parse(text):
        texts.append(text)
        return parse_messages(text)

    monkeypatch.setattr(glue_protobuf, "parse_messages", parse)
    read = reader(moto, registry, **more)
    assert [read(message) for _ in range(3)] == [("ann", 1)] * 3
    assert len(texts) == parsed


# -- messages of other programs ----------------------------------------------------------------------------------------

SHOP = """
syntax = "proto2";
package com.shop;

message Order {
  message Item { required string name = 1; optional double price = 2; }
  enum State { NEW = 0; PAID = 4; }
  required int64 id = 1;
  repeated Item items = 2;
  map<string, int32> counts = 3;
  optional State state = 4;
  optional float share = 5;
  optional string buyer_name = 6;
}
message Buyer { optional string name = 1; }
"""
"""The messages are Buyer, Order, Order.CountsEntry, Order.Item, in the order of their names."""
ORDER = {
    "id": T.BIGINT(False),
    "items": T.ARRAY(T.ROW([T.FIELD("name", T.STRING()), T.FIELD("price", T.DOUBLE())])),
    "counts": T.MAP(T.STRING(), T.INT()), "state": T.STRING(), "share": T.DOUBLE(), "buyerName": T.STRING(),
}  # fmt: skip


def test_messages_of_a_schema_with_several_are_found_by_number(moto, registry):
    head = register(registry, SHOP)
    order = class_of(SHOP, "com.shop.Order")(id=5, counts={"a": 1}, state=4, share=0.5, buyer_name="Ann")
    order.items.add(name="tea", price=2.5)
    read = reader(moto, registry, ORDER)
    assert read(head + b"\1" + order.SerializeToString()) == (
        5, [Row(name="tea", price=2.5)], {"a": 1}, "PAID", 0.5, "Ann",
    )  # fmt: skip
    assert read(head + b"\1\x08\x05") == (5, None, None, None, None, None)
    of_items = reader(moto, registry, {"name": T.STRING(), "price": T.DOUBLE()})
    assert of_items(head + b"\3\x0a\x03tea") == ("tea", None)
    assert of_items(head + b"\0\x0a\x03ann") == ("ann", None)


def test_a_number_may_have_several_bytes(moto, registry):
    names = [f"M{number:03}" for number in range(200)]
    head = register(registry, "".join(f"message {name} {{ optional string {name} = 1; }}" for name in names))
    read = reader(moto, registry, {"M199": T.STRING(), "M008": T.STRING()})
    assert read(head + b"\xc7\1\x0a\1a") == ("a", None)
    assert read(head + b"\x08\x0a\1a") == (None, "a")


@pytest.mark.parametrize("content", [b"", b"\4", b"\x0a\3tea", b"\xff\xff\xff\xff\xff\xff", b"\x80"])
def test_a_message_without_a_number_is_refused_if_the_schema_has_several(moto, registry, content):
    head = register(registry, SHOP)
    with pytest.raises(
        ValueError, match=r"does not begin with the number of a message in its schema: com\.shop\.Buyer"
    ):
        reader(moto, registry)(head + content)


def test_of_a_schema_with_one_message_only_its_own_number_is_known(moto, registry):
    head = register(registry, "message A { optional string who = 1; optional int32 n = 2; }")
    read = reader(moto, registry)
    assert [read(head + content) for content in (b"", b"\0", b"\0\x10\5", b"\x10\5")] == [
        (None, None), (None, None), (None, 5), (None, 5),
    ]  # fmt: skip
    for content in (b"\1", b"\7\x10\5"):
        with pytest.raises(ValueError, match="does not begin with the number"):
            read(head + content)


def test_damaged_messages_and_unknown_schemas_are_refused(moto, registry):
    read, good = reader(moto, registry), writer(moto, registry)(("ann", 1))
    for wrong in (b"", good[:17], b"\0" + good[1:], good[:1] + b"\1" + good[2:]):
        with pytest.raises(ValueError, match="not a message with a schema of AWS Glue: it begins with"):
            read(wrong)
    with pytest.raises(ValueError, match="is not compressed"):
        read(good[:1] + b"\5" + good[2:])
    with pytest.raises(ValueError, match="not a message of the type orders"):
        read(good[:-1])
    unknown = uuid4()
    with pytest.raises(AwsError, match=f"AWS Glue has no schema version {unknown}"):
        read(head_of(unknown) + good[18:])
    avro = {"connector": "kinesis", **settings(moto, registry, "avro-glue", **{"schema.name": "avro"})}
    message = encoder("avro-glue", list(COLUMNS), list(COLUMNS.values()), Options("t", avro)).encode()(("ann", 1))
    with pytest.raises(AwsError, match="has the format AVRO, not PROTOBUF"):
        read(message)


@pytest.mark.parametrize(
    ("field", "content", "kind", "shown"),
    [
        ("string", "x: 'a'", T.DECIMAL(4, 2), "'a' where the table has DECIMAL"),
        ("string", "x: '123.4'", T.DECIMAL(4, 2), "'123.4' where the table has DECIMAL"),
        ("int32", "x: 128", T.TINYINT(), "128 where the table has TINYINT"),
        ("int32", "x: -32769", T.SMALLINT(), "-32769 where the table has SMALLINT"),
        ("int32", "x: 86400000", T.TIME(3), "86400000 where the table has TIME"),
        ("int32", "x: 2147483647", T.DATE(), "2147483647 where the table has DATE"),
        ("int64", "x: 9223372036854775807", T.TIMESTAMP(3), "9223372036854775807 where the table has TIMESTAMP"),
    ],
)
def test_values_that_a_column_does_not_have_are_refused(moto, registry, field, content, kind, shown):
    text_format = pytest.importorskip("google.protobuf.text_format")
    definition = f'syntax = "proto3"; message A {{ {field} x = 1; }}'
    message = text_format.Parse(content, class_of(definition, "A")())
    with pytest.raises(ValueError, match=shown):
        reader(moto, registry, {"x": kind})(register(registry, definition) + b"\0" + message.SerializeToString())


def test_fields_of_other_types_are_refused(moto, registry):
    head = register(registry, SHOP)
    for column, kind in (("id", T.INT()), ("items", T.STRING()), ("share", T.FLOAT()), ("counts", T.INT())):
        read = reader(moto, registry, {column: kind})
        if column == "share":
            assert read(head + b"\1\x2d\0\0\0\x3f") == (0.5,)
        else:
            with pytest.raises(SqlError, match=rf"the column '{column}' .* does not fit the field com.shop.Order"):
                read(head + b"\1\x08\x05")


# -- tables and streams ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (T.ARRAY(T.INT()), "'protobuf-glue' writes no ARRAY<INT>, which the column 'x' has"),
        (T.TIMESTAMP(6), r"writes milliseconds, and the column 'x' has TIMESTAMP\(6\): declare a precision of 3"),
    ],
)
def test_types_that_cannot_be_written_can_be_read_and_are_found_when_a_statement_is_planned(kind, message):
    given = {f"{KIND}.{key}": "r" for key in ("aws.region", "registry.name", "schema.name")}
    decoder(KIND, ["x"], [kind], Options("t", {"connector": "kinesis", **given}))
    with pytest.raises(SqlError, match=message):
        encoder(KIND, ["x"], [kind], Options("t", {"connector": "kinesis", **given}))


@pytest.mark.parametrize(
    ("columns", "changed", "message"),
    [
        ({"x": T.MULTISET(T.INT())}, {}, "Protobuf has no type for MULTISET<INT> of the column 'x'"),
        ({"a b": T.INT(), "a-b": T.INT()}, {}, "the columns 'a b' and 'a-b' would be the same field 'a_b' of Protobuf"),
        (COLUMNS, {"schema.name": None}, "the option 'protobuf-glue.schema.name' is missing"),
        (COLUMNS, {"schema.compression": "GZIP"}, "must be one of NONE, ZLIB, got 'GZIP'"),
        (COLUMNS, {"message-index": "some"}, "message-index"),
    ],
)
def test_mistakes_are_found_when_a_statement_is_planned(columns, changed, message):
    given = {"aws.region": "eu-west-1", "registry.name": "r", "schema.name": "s", **changed}
    chosen = {f"{KIND}.{key}": value for key, value in given.items() if value is not None}
    make = decoder if "MULTISET" in message else encoder
    with pytest.raises(SqlError, match=message):
        make(KIND, list(columns), list(columns.values()), Options("t", {"connector": "kinesis", **chosen}))


def test_a_stream_of_kinesis_is_written_and_read_with_schemas(moto, registry):
    moto.create(stream := "glue-protobuf", 2)
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    given = {"connector": "kinesis", "stream": stream, "format": KIND, "source.init.position": "TRIM_HORIZON"}
    given |= {**moto.properties, **settings(moto, registry, KIND), f"{KIND}.message-index": "true"}
    given = {key: value for key, value in given.items() if not key.startswith(f"{KIND}.aws.credentials")}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE orders (who STRING, n INT, at TIMESTAMP(3)) WITH ({text})")
    t_env.execute_sql(
        "INSERT INTO orders VALUES ('ann', 1, TIMESTAMP '2020-01-02 03:04:05.006'), ('bob', CAST(NULL AS INT), NULL)"
    ).wait()
    assert all(record["Data"][0] == 3 for record in moto.records(stream))
    with t_env.execute_sql("SELECT who, n, CAST(at AS STRING) FROM orders").collect() as rows:
        found = sorted(tuple(row) for row in itertools.islice(rows, 2))
    assert found == [("ann", 1, "2020-01-02 03:04:05.006"), ("bob", None, None)]


def test_streams_have_schemas_with_the_format(moto, registry):
    row_type = T.ROW([T.FIELD(name, of) for name, of in COLUMNS.items()])
    given = settings(moto, registry, KIND)
    message = FormatSerializationSchema(KIND, row_type, given).serialize(Row(who="ann", n=7))
    assert UUID(bytes=message[2:18]) == UUID(definitions(registry)[0]["SchemaVersionId"])
    assert FormatDeserializationSchema(KIND, row_type, given).deserialize(message) == Row(who="ann", n=7)
