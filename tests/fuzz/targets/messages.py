"""Messages of all formats: JSON, CSV, Avro, text and raw bytes, and those between driver and workers."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutate import mutated, mutated_tree
from tests.fuzz.target import ACCEPTED, EQUAL, Target, Violation, same

from flintstream.common import Instant, Row, Types
from flintstream.common.serialization import ByteArraySchema, SimpleStringSchema
from flintstream.common.typeinfo import LocalTimeTypeInfo
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from flintstream.runtime.exchange.blocks import pack, unpack

if TYPE_CHECKING:
    from random import Random

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
SIMPLE = {
    "text": (Types.STRING(), "é\n\"',;"),
    "flag": (Types.BOOLEAN(), True),
    "byte": (Types.BYTE(), -128),
    "short": (Types.SHORT(), 32767),
    "int": (Types.INT(), -5),
    "long": (Types.LONG(), 2**63 - 1),
    "single": (Types.FLOAT(), 0.5),
    "double": (Types.DOUBLE(), 1e100),
    "big": (Types.BIG_INT(), 2**70),
    "decimal": (Types.BIG_DEC(), Decimal("1.050")),
    "date": (Types.SQL_DATE(), dt.date(2024, 2, 29)),
    "time": (Types.SQL_TIME(), dt.time(1, 2, 3)),
    "timestamp": (Types.SQL_TIMESTAMP(), dt.datetime(2024, 2, 29, 1, 2, 3, 4000)),
    "instant": (Types.INSTANT(), Instant(1_700_000_000, 123_456_000)),
    "local": (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME), dt.datetime(2024, 2, 29, 1, 2, 3)),
    "bytes": (BYTES, b"\x00\xff'"),
    "list": (Types.BASIC_ARRAY(Types.STRING()), ["a", "b"]),
    "numbers": (Types.OBJECT_ARRAY(Types.INT()), [1, 2]),
}
NESTED = {
    "map": (Types.MAP(Types.STRING(), Types.LONG()), {"k": 1, "l": 2}),
    "row": (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(a=1, b="x")),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "x")),
}


def row_type(fields: dict[str, Any]) -> Any:
    """Return the type of rows with these fields."""
    return Types.ROW_NAMED(list(fields), [field[0] for field in fields.values()])


def row(fields: dict[str, Any]) -> Row:
    """Return a row with the values."""
    return Row(**{name: item[1] for name, item in fields.items()})


class _Messages(Target):
    """A message that is read can be written, and that message is read as the same value."""

    share = 6
    reader: Any
    writer: Any

    def __init__(self, directory: Any) -> None:
        super().__init__(directory)
        self.reader, self.writer = self.schemas()

    def schemas(self) -> tuple[Any, Any]:
        raise NotImplementedError

    def values(self) -> list[Any]:
        raise NotImplementedError

    def valid(self) -> list[bytes]:
        return [self.writer.serialize(value) for value in self.values()]

    def check(self, data: bytes) -> str:
        value = self.reader.deserialize(data)
        if value is not None:
            again = self.reader.deserialize(self.writer.serialize(value))
            if not same(again, value):
                raise Violation(f"{value!r:.500} is read as {again!r:.500} when it is written again")
        return EQUAL if data in self.corpus else ACCEPTED


class Json(_Messages):
    """JSON with fields of all types."""

    name = "json"
    share = 14

    def schemas(self) -> tuple[Any, Any]:
        kind = row_type({**SIMPLE, **NESTED})
        return (
            JsonRowDeserializationSchema.builder().type_info(kind).build(),
            JsonRowSerializationSchema.builder().with_type_info(kind).build(),
        )

    def values(self) -> list[Any]:
        fields = {**SIMPLE, **NESTED}
        return [row(fields), Row(**dict.fromkeys(fields))]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        if random.random() < 0.4:
            return mutated(random, data, self.corpus)
        tree = json.loads(data)
        if random.random() < 0.5:
            name = random.choice(list(tree))
            tree[name] = mutated_tree(random, [tree[name]])
            tree[name] = tree[name][0] if isinstance(tree[name], list) and tree[name] else tree[name]
            if random.random() < 0.2:
                marked = json.dumps({**tree, name: "@@"})
                digits = random.choice(
                    ("1e999999999", "-1E-999999999", "9" * 4000, "1." + "3" * 4000, "1E99999999", "01", "-")
                )
                return marked.replace('"@@"', digits).encode()
            return json.dumps(tree).encode()
        return json.dumps(mutated_tree(random, tree)).encode()


class LenientJson(Json):
    """As above, with the errors ignored."""

    name = "json-lenient"
    share = 6
    refusals = ()

    def schemas(self) -> tuple[Any, Any]:
        kind = row_type({**SIMPLE, **NESTED})
        return (
            JsonRowDeserializationSchema.builder().type_info(kind).ignore_parse_errors().build(),
            JsonRowSerializationSchema.builder().with_type_info(kind).build(),
        )


class Csv(_Messages):
    """CSV with columns of all types."""

    name = "csv"
    share = 14

    def schemas(self) -> tuple[Any, Any]:
        kind = row_type(SIMPLE)
        return CsvRowDeserializationSchema.Builder(kind).build(), CsvRowSerializationSchema.Builder(kind).build()

    def values(self) -> list[Any]:
        return [row(SIMPLE), row({**SIMPLE, "list": (None, [])})]


class EscapedCsv(Csv):
    """As above, with an escape character, a text for null, and comments."""

    name = "csv-escaped"
    share = 6

    def schemas(self) -> tuple[Any, Any]:
        kind = row_type(SIMPLE)
        reader = CsvRowDeserializationSchema.Builder(kind).set_escape_character("\\").set_null_literal("null")
        writer = CsvRowSerializationSchema.Builder(kind).set_escape_character("\\").set_null_literal("null")
        return reader.set_allow_comments(True).build(), writer.build()


AVRO = {
    "type": "record",
    "name": "all",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "int", "type": "int"},
        {"name": "long", "type": ["null", "long"]},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "text", "type": "string"},
        {"name": "bytes", "type": "bytes"},
        {"name": "fixed", "type": {"type": "fixed", "name": "f", "size": 3}},
        {"name": "colour", "type": {"type": "enum", "name": "e", "symbols": ["RED", "BLUE"]}},
        {"name": "list", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "map", "type": {"type": "map", "values": "int"}},
        {"name": "date", "type": {"type": "int", "logicalType": "date"}},
        {"name": "time", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "inner", "type": {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}},
    ],
}


def avro_row() -> Row:
    """Return a row for :data:`AVRO`."""
    return Row(
        True, -5, 2**40, 0.5, 1e100, "é", b"\0\xff", b"abc", "BLUE", ["a", None], {"k": 1}, dt.date(2024, 2, 29),
        dt.time(1, 2, 3, 4000), dt.datetime(2024, 2, 29, 1, 2, 3, 4000), Decimal("1.50"), Row(a=1),
    )  # fmt: skip


class Avro(_Messages):
    """Avro's binary encoding."""

    name = "avro"
    share = 14

    def schemas(self) -> tuple[Any, Any]:
        text = json.dumps(AVRO)
        return AvroRowDeserializationSchema(avro_schema_string=text), AvroRowSerializationSchema(
            avro_schema_string=text
        )

    def values(self) -> list[Any]:
        return [avro_row()]


class Strings(_Messages):
    """Text in a charset, and raw bytes."""

    name = "text-and-raw"
    share = 6

    def schemas(self) -> tuple[Any, Any]:
        return SimpleStringSchema(), SimpleStringSchema()

    def values(self) -> list[Any]:
        return ["", "é\0\n", "x" * 1000]

    def check(self, data: bytes) -> str:
        if ByteArraySchema().deserialize(data) != data:
            raise Violation("raw bytes are changed")
        return super().check(data)


class Schemas(Target):
    """Schemas as text: JSON's and Avro's. They are in the program, but often come from a registry or a file."""

    name = "schemas"
    share = 5

    def valid(self) -> list[bytes]:
        address = {"type": "object", "properties": {"street": {"type": ["string", "null"]}}}
        schema = {
            "type": "object",
            "definitions": {"a": address},
            "properties": {"x": {"$ref": "#/definitions/a"}, "y": {"type": "array", "items": {"type": "number"}}},
        }
        schema["properties"]["z"] = {"oneOf": [{"type": "null"}, {"type": "string", "format": "date"}]}  # type: ignore[index]
        return [b"J" + json.dumps(schema).encode(), b"A" + json.dumps(AVRO).encode()]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        if random.random() < 0.3:
            return data[:1] + mutated(random, data[1:], [item[1:] for item in self.corpus])
        return data[:1] + json.dumps(mutated_tree(random, json.loads(data[1:]))).encode()

    def check(self, data: bytes) -> str:
        text = data[1:].decode("latin-1")
        if data[:1] == b"J":
            JsonRowDeserializationSchema.builder().json_schema(text).build()
        else:
            AvroRowDeserializationSchema(avro_schema_string=text)
        return EQUAL if data in self.corpus else ACCEPTED


class Wire(Target):
    """Blocks, instructions and reports between driver and workers.

    They are pickled and travel through Spark, which authenticates and checks them. So any exception is a refusal here;
    but damage must not end the process, stop it, or take its memory.
    """

    name = "driver-worker"
    share = 8
    refusals = (Exception,)
    may_unpickle = True
    explains = False

    def valid(self) -> list[bytes]:
        from flintstream.runtime.protocol import Instruction, NodeReport, Report, StateHandle

        handles = (StateHandle("a", "v1", True, 9, inline=b"x" * 9), StateHandle("b", "v2", False, 100))
        instruction = Instruction(3, 0, 1, 0, "v2", "run", b"memo", handles, new_splits={1: [("split", 0)]})
        report = Report(0, 1, "v3", (NodeReport(1, {}, 5, committables=("part-0",)),), b"memo", handles)
        blocks: list[list[Any]] = [[Row(a=1, b="x")] * 5, [("k", 1), ("l", 2)], [{"a": [1]}, None]]
        packed = [pack(values, [1] * len(values), [(1, 17)], plain_keys=True) for values in blocks]
        return [*(b"B" + item for item in packed), b"P" + pickle.dumps(instruction), b"P" + pickle.dumps(report)]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        return data[:1] + mutated(random, data[1:], [item[1:] for item in self.corpus])

    def check(self, data: bytes) -> str:
        if data[:1] == b"B":
            unpack(data[1:])
        else:
            pickle.loads(data[1:])
        return EQUAL if data in self.corpus else ACCEPTED

    def is_refusal(self, error: BaseException) -> bool:
        return isinstance(error, Exception) and not isinstance(error, Violation)


TARGETS: tuple[type[Target], ...] = (Json, LenientJson, Csv, EscapedCsv, Avro, Strings, Schemas, Wire)
