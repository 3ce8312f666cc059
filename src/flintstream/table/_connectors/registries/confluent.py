"""Avro with the number of its schema in a registry before each record: the format ``avro-confluent``."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from flintstream.connectors.formats.avro_schema import (
    contains_itself,
    library,
    parse_schema,
    python_library,
    reader_schema,
    record_writer,
)
from flintstream.connectors.formats.schema_registry import SchemaRegistry
from flintstream.table._connectors.avro import AvroMessages, dict_of, schema_of, tuple_of
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types import data_types as t
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

_MAGIC = b"\0"
_HEAD = 5
"""The bytes before a record: a zero, and four of the number of the schema."""
_OF_CLIENT = ("basic.auth.credentials.source", "basic.auth.user.info", "bearer.auth.token")
"""The properties of Confluent's client that have a meaning here, beside those that begin with ``ssl.``."""


class RegistryRecords:
    """Reads and writes messages that are a record after the number of the schema that it was written with."""

    def __init__(self, schema: str, options: Options, kind: str, prefix: str, part: str) -> None:
        """Take the schema of the columns.

        Args:
            schema: the schema that records are read with, and written with unless the options have another.
            options: those of the table.
            kind: the name of the format.
            prefix: what its options begin with before that name.
            part: key or value, which the default subject ends with.

        Raises:
            SqlError: An option is missing or has a value that it cannot have.
        """
        prefix = f"{prefix}{kind}."
        self.registry = _registry(options, prefix)
        self.schema = schema
        self.written = options.text(f"{prefix}schema") or schema
        topic = options.text("topic")
        self.subject = options.text(f"{prefix}subject") or (None if topic is None else f"{topic}-{part}")
        self.place = f"{options.place}: the option '{prefix}subject'"
        parse_schema(self.written)

    def reader(self) -> Callable[[bytes], object]:
        """Return the function that reads the record of a message."""
        registry = self.registry
        readers: dict[bytes, Callable[[io.BytesIO], object]] = {}

        def reader_of(head: bytes) -> Callable[[io.BytesIO], object]:
            if len(head) < _HEAD or head[:1] != _MAGIC:
                raise ValueError(f"not a message of avro-confluent: it begins with {head!r}")
            text = registry.schema(int.from_bytes(head[1:], "big"))
            schema = parse_schema(text)
            wanted = reader_schema(self.schema, schema)
            module = python_library() if contains_itself(schema) else library()
            return lambda stream: module.schemaless_reader(stream, schema, wanted)

        def read_record(message: bytes) -> object:
            head = message[:_HEAD]
            read = readers.get(head)
            if read is None:
                read = readers[head] = reader_of(head)
            return read(io.BytesIO(message[_HEAD:]))

        return read_record

    def writer(self) -> Callable[[object], bytes]:
        """Return the function that writes a record; it registers the schema before the first one.

        Raises:
            SqlError: The subject is missing.
        """
        if self.subject is None:
            raise SqlError(f"{self.place} is missing")
        number = self.registry.register(self.subject, self.written)
        return record_writer(self.written, _MAGIC + number.to_bytes(4, "big"))


class RegistryMessages(Decoder, Encoder):
    """A message is the record of a row."""

    def __init__(
        self, names: Sequence[str], types: Sequence[t.DataType], options: Options, prefix: str, part: str
    ) -> None:
        """Take the columns; ``part`` is key or value."""
        self.names, self.types = tuple(names), tuple(types)
        self.records = RegistryRecords(schema_of(names, types), options, "avro-confluent", prefix, part)
        AvroMessages(names, types)

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        read, row_of = self.records.reader(), tuple_of(self.names, self.types)
        return lambda message: row_of(read(message))

    def encode(self) -> Encode:
        """Return the function that writes a row."""
        write, record_of = self.records.writer(), dict_of(self.names, self.types)
        return lambda row: write(record_of(row))


def _registry(options: Options, prefix: str) -> SchemaRegistry:
    """Return the registry that the options name; ``properties.*`` are those of Confluent's client."""
    urls = [part.strip() for part in options.required(f"{prefix}url").split(",") if part.strip()]
    given = options.starting_with(f"{prefix}properties.")
    client = {key.removeprefix("schema.registry."): value for key, value in given.items()}
    for key in client:
        if key not in _OF_CLIENT and not key.startswith("ssl."):
            text = (
                f"the property '{key}' of the registry's client is unknown and has no effect{nearest(key, _OF_CLIENT)}"
            )
            warnings.warn(f"{options.place}: {text}", stacklevel=2)
    source = _source(options, prefix, "basic", ("USER_INFO", "URL"), client.get("basic.auth.credentials.source"))
    user_info = options.text(f"{prefix}basic-auth.user-info", client.get("basic.auth.user.info"))
    _source(options, prefix, "bearer", ("STATIC_TOKEN",))
    token = options.text(f"{prefix}bearer-auth.token", client.get("bearer.auth.token"))
    tls = {key: value for key, value in client.items() if key.startswith("ssl.")}
    for part in ("keystore.location", "keystore.password", "truststore.location", "truststore.password"):
        value = options.text(f"{prefix}ssl.{part}")
        if value is not None:
            tls[f"ssl.{part}"] = value
    return SchemaRegistry(urls, user_info if source == "USER_INFO" else None, token, tls)


def _source(options: Options, prefix: str, kind: str, known: tuple[str, ...], default: str | None = None) -> str:
    """Return where the credentials of a kind of authentication come from.

    Raises:
        SqlError: The option names another place.
    """
    key = f"{prefix}{kind}-auth.credentials-source"
    found = options.text(key) or default or known[0]
    if found not in known:
        raise SqlError(f"{options.place}: '{key}' must be {' or '.join(known)}, but got '{found}'")
    return found
