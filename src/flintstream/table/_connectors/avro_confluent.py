"""Avro with the number of its schema in a registry before each record: the format ``avro-confluent``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

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
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types import data_types as t
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

_MAGIC = b"\0"
_HEAD = 5
"""The bytes before a record: a zero, and four of the number of the schema."""


class RegistryMessages(Decoder, Encoder):
    """A message is a record after the number of the schema that it was written with."""

    def __init__(
        self, names: Sequence[str], types: Sequence[t.DataType], options: Options, prefix: str, part: str
    ) -> None:
        """Take the columns; ``part`` is key or value, which the default subject ends with."""
        self.names, self.types = tuple(names), tuple(types)
        prefix = f"{prefix}avro-confluent."
        self.registry = _registry(options, prefix)
        self.schema = schema_of(names, types)
        self.written = options.text(f"{prefix}schema") or self.schema
        topic = options.text("topic")
        self.subject = options.text(f"{prefix}subject") or (None if topic is None else f"{topic}-{part}")
        self.table = options.table
        parse_schema(self.written)
        AvroMessages(names, types)

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        registry, record = self.registry, tuple_of(self.names, self.types)
        readers: dict[bytes, Callable[[io.BytesIO], Any]] = {}

        def reader_of(head: bytes) -> Callable[[io.BytesIO], object]:
            if len(head) < _HEAD or head[:1] != _MAGIC:
                raise ValueError(f"not a message of avro-confluent: it begins with {head!r}")
            text = registry.schema(int.from_bytes(head[1:], "big"))
            schema = parse_schema(text)
            wanted = reader_schema(self.schema, schema)
            module = python_library() if contains_itself(schema) else library()
            return lambda stream: module.schemaless_reader(stream, schema, wanted)

        def decode(message: bytes) -> tuple[Any, ...]:
            head = message[:_HEAD]
            read = readers.get(head)
            if read is None:
                read = readers[head] = reader_of(head)
            found: tuple[Any, ...] = record(read(io.BytesIO(message[_HEAD:])))
            return found

        return decode

    def encode(self) -> Encode:
        """Return the function that writes a row; it registers the schema before the first one."""
        if self.subject is None:
            raise SqlError(f"table '{self.table}': the option 'avro-confluent.subject' is missing")
        number = self.registry.register(self.subject, self.written)
        write = record_writer(self.written, _MAGIC + number.to_bytes(4, "big"))
        record = dict_of(self.names, self.types)
        return lambda row: write(record(row))


def _registry(options: Options, prefix: str) -> SchemaRegistry:
    urls = [part.strip() for part in options.required(f"{prefix}url").split(",") if part.strip()]
    source = options.text(f"{prefix}basic-auth.credentials-source", "USER_INFO")
    user_info = options.text(f"{prefix}basic-auth.user-info")
    if source not in {"USER_INFO", "URL"}:
        raise SqlError(
            f"table '{options.table}': '{prefix}basic-auth.credentials-source' must be USER_INFO or URL, but got "
            f"'{source}'"
        )
    return SchemaRegistry(urls, user_info if source == "USER_INFO" else None)
