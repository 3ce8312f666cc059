"""Messages with a schema of AWS Glue: the formats ``avro-glue`` and ``json-glue``."""

from __future__ import annotations

import io
import json
import zlib
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.connectors.aws.client import AwsAccess, client_properties
from flintstream.connectors.aws.glue import (
    COMPATIBILITIES,
    COMPRESSIONS,
    GlueRegistry,
    GlueSchema,
    Remembered,
    head_of,
    split_message,
)
from flintstream.connectors.formats.avro_schema import (
    contains_itself,
    library,
    parse_schema,
    python_library,
    reader_schema,
    record_writer,
)
from flintstream.errors import PlanError
from flintstream.table._connectors.avro import AvroMessages, dict_of, schema_of, tuple_of
from flintstream.table._connectors.formats import Decoder, Encoder, JsonDecoder, JsonEncoder
from flintstream.table._errors import SqlError
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

    Read = Callable[[io.BytesIO], object]

AVRO_GLUE, JSON_GLUE, PROTOBUF_GLUE = "avro-glue", "json-glue", "protobuf-glue"
_KINDS = {AVRO_GLUE: ("AVRO", "NONE"), JSON_GLUE: ("JSON", "BACKWARD"), PROTOBUF_GLUE: ("PROTOBUF", "BACKWARD")}
"""The name of each format in the service, and the compatibility of schemas that are created."""
_DAY_MILLIS = 86_400_000


class GlueSettings:
    """The options of each format."""

    def __init__(self, kind: str, options: Options, prefix: str) -> None:
        """Read them.

        Raises:
            SqlError: One is missing or has a value that it cannot have.
        """
        self.prefix, self.options = f"{prefix}{kind}.", options
        name, compatibility = _KINDS[kind]
        credentials = {f"credentials.{key}": value for key, value in options.starting_with("aws.credentials.").items()}
        own = options.starting_with(f"{self.prefix}aws.")
        if not own.get("region"):
            options.required(f"{self.prefix}aws.region")
        try:
            access = AwsAccess(client_properties({**credentials, **own})).check()
        except PlanError as error:
            raise SqlError(f"{options.place}: {error}") from None
        registry = options.required(f"{self.prefix}registry.name")
        self.schema = options.required(f"{self.prefix}schema.name")
        schema = GlueSchema(
            registry,
            self.schema,
            name,
            options.flag(f"{self.prefix}schema.autoRegistration"),
            self.one_of("schema.compatibility", COMPATIBILITIES, compatibility),
        )
        self.registry = GlueRegistry(access, schema)
        self.compresses = self.one_of("schema.compression", COMPRESSIONS) == "ZLIB"
        self.cached = options.integer(f"{self.prefix}cache.size", 200) or 200
        self.seconds = (options.integer(f"{self.prefix}cache.ttlMs", _DAY_MILLIS) or 0) / 1000

    def one_of(self, key: str, known: Sequence[str], default: str = "") -> str:
        """Return the value of an option that has only some."""
        found = (self.options.text(f"{self.prefix}{key}") or default or known[0]).upper()
        if found not in known:
            raise SqlError(
                f"{self.options.place}: '{self.prefix}{key}' must be one of {', '.join(known)}, got '{found}'"
            )
        return found


class AvroGlueMessages(Decoder, Encoder):
    """A message is the record of a row, after the id of its schema."""

    def __init__(self, names: Sequence[str], types: Sequence[t.DataType], options: Options, prefix: str) -> None:
        """Take the columns and the options.

        Raises:
            SqlError: Avro has no type for a column, or an option is missing or has a value that it cannot have.
        """
        self.names, self.types = tuple(names), tuple(types)
        AvroMessages(names, types)
        self.settings = settings = GlueSettings(AVRO_GLUE, options, prefix)
        settings.one_of("schema.type", ("GENERIC_RECORD", "SPECIFIC_RECORD"))
        options.known(f"{settings.prefix}schema.type", "rows are neither kind of Java's records")
        self.schema = _rename(
            schema_of(names, types),
            options.text(f"{settings.prefix}avro.namespace"),
            options.text(f"{settings.prefix}avro.record-name"),
        )
        self.fetches = options.flag(f"{settings.prefix}schema.fetchFromRegistry")
        parse_schema(self.schema)

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        registry, row_of = self.settings.registry, tuple_of(self.names, self.types)
        readers: Remembered[Read] = Remembered(self.settings.cached, self.settings.seconds)

        def reader_of(schema: UUID) -> Read:
            written = parse_schema(registry.definition(schema))
            wanted = reader_schema(self.schema, written)
            module = python_library() if contains_itself(written) else library()
            return lambda stream: module.schemaless_reader(stream, written, wanted)

        def decode(message: bytes) -> tuple[object, ...]:
            schema, content = split_message(message)
            row: tuple[object, ...] = row_of(readers.get(schema, reader_of)(io.BytesIO(content)))
            return row

        return decode

    def encode(self) -> Encode:
        """Return the function that writes a row; the schema is looked up or registered first."""
        registry, schema = self.settings.registry, self.schema
        latest = registry.latest() if self.fetches else None
        number, schema = (registry.version_of(schema), schema) if latest is None else latest
        record_of = dict_of(self.names, self.types)
        if self.settings.compresses:
            head, plain = head_of(number, compressed=True), record_writer(schema, b"")
            return lambda row: head + zlib.compress(plain(record_of(row)))
        write = record_writer(schema, head_of(number))
        return lambda row: write(record_of(row))


class JsonGlueMessages(Decoder, Encoder):
    """A message is the object of a row, after the id of its JSON schema."""

    def __init__(self, names: Sequence[str], types: Sequence[t.DataType], options: Options, prefix: str) -> None:
        """Take the columns and the options.

        Raises:
            SqlError: JSON Schema has no type for a column, or an option is missing or has a value that it cannot have.
        """
        self.settings = GlueSettings(JSON_GLUE, options, prefix)
        self.schema = json_schema(names, types)
        self._decoder = JsonDecoder(names, types, options, self.settings.prefix)
        self._encoder = JsonEncoder(names, types, options, self.settings.prefix)

    def decode(self) -> Decode:
        """Return the function that reads a message; the columns decide, so the registry is not asked."""
        decode = self._decoder.decode()
        return lambda message: decode(split_message(message)[1])

    def encode(self) -> Encode:
        """Return the function that writes a row; the schema is looked up or registered first."""
        encode, compresses = self._encoder.encode(), self.settings.compresses
        head = head_of(self.settings.registry.version_of(self.schema), compressed=compresses)
        if compresses:
            return lambda row: head + zlib.compress(encode(row))
        return lambda row: head + encode(row)


def _rename(schema: str, namespace: str | None, name: str | None) -> str:
    """Return a record's schema with another namespace or name."""
    if namespace is None and name is None:
        return schema
    found = json.loads(schema)
    own, _, last = str(found["name"]).rpartition(".")
    return json.dumps({**found, "name": f"{namespace or own}.{name or last}"})


_FORMATS: tuple[tuple[type[t.DataType], dict[str, str]], ...] = (
    (t.BooleanType, {"type": "boolean"}),
    (t.FloatType, {"type": "number"}),
    (t.DoubleType, {"type": "number"}),
    (t.DecimalType, {"type": "number"}),
    (t.DateType, {"type": "string", "format": "date"}),
    (t.TimeType, {"type": "string", "format": "time"}),
    (t.TimestampType, {"type": "string", "format": "date-time"}),
    (t.LocalZonedTimestampType, {"type": "string", "format": "date-time"}),
)


def json_schema(names: Sequence[str], types: Sequence[t.DataType]) -> str:
    """Return the JSON schema of columns: draft 7, in which columns that are NOT NULL are required.

    Raises:
        SqlError: It has no type for a column.

    >>> json_schema(["n"], [t.IntType(False)])[55:]
    '"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    """
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **_object(names, types)})


def _object(names: Sequence[str], types: Sequence[t.DataType]) -> dict[str, object]:
    required = [name for name, kind in zip(names, types, strict=True) if not is_nullable(kind)]
    properties = {name: _member(name, kind) for name, kind in zip(names, types, strict=True)}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _member(name: str, kind: t.DataType) -> dict[str, object]:
    made = _strict(name, kind)
    return {**made, "type": [made["type"], "null"]} if is_nullable(kind) else made


def _strict(name: str, kind: t.DataType) -> dict[str, object]:
    if isinstance(kind, TEXTS):
        return {"type": "string"}
    if isinstance(kind, BYTES):
        return {"type": "string", "contentEncoding": "base64"}
    if type(kind) in INTEGERS:
        return {"type": "integer"}
    if isinstance(kind, t.ArrayType):
        return {"type": "array", "items": _member(name, kind.element_type)}
    if isinstance(kind, t.MapType) and isinstance(kind.key_type, TEXTS):
        return {"type": "object", "additionalProperties": _member(name, kind.value_type)}
    if isinstance(kind, t.RowType):
        return _object(kind.names, kind.field_types())
    for known, made in _FORMATS:
        if isinstance(kind, known):
            return dict(made)
    raise SqlError(f"JSON Schema has no type for {sql_name(kind)} of the column '{name}'")
