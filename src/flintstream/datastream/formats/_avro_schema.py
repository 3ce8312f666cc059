"""Avro schemas, and the type of their records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flintstream.common.typeinfo import TypeInformation
from flintstream.connectors.formats.avro_schema import parse_schema


class AvroSchema:
    """An Avro schema.

    >>> schema = AvroSchema.parse_string('{"type": "array", "items": "int"}')
    >>> schema
    {"type":"array","items":"int"}

    Raises:
        PlanError: The text is not an Avro schema.
        MissingDependencyError: fastavro is not installed.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> schema = AvroSchema.parse_string(
    ...     '{"type": "record", "name": "W", "fields": [{"name": "word", "type": "string"}]}'
    ... )
    >>> schema.parsed["name"]
    'W'
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "w.avsc").write_text('["null", "string"]')
    ...     AvroSchema.parse_file(f"{directory}/w.avsc")
    ["null","string"]
    """

    def __init__(self, schema: str | dict[str, Any] | list[Any]) -> None:
        content = json.dumps(schema) if isinstance(schema, (dict, list)) else schema
        if not isinstance(content, str):
            raise TypeError(f"an Avro schema must be JSON text, but got {schema!r}")
        parse_schema(content)
        self._text = json.dumps(json.loads(content), separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Parse a schema from a string."""
        return AvroSchema(json_schema)

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Parse a schema from a file."""
        return AvroSchema(Path(file_path).read_text(encoding="utf-8"))

    @property
    def parsed(self) -> Any:
        """The schema in fastavro's parsed form; parsed once per process."""
        return parse_schema(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvroSchema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class GenericRecordAvroTypeInfo(TypeInformation):
    """The type of the records of an Avro schema: dicts, or the Python equivalents of other Avro types.

    A record is checked against the schema when it is written.

    >>> schema = AvroSchema.parse_string('["null", "string"]')
    >>> GenericRecordAvroTypeInfo(schema).schema is schema
    True
    """

    def __init__(self, schema: AvroSchema) -> None:
        if not isinstance(schema, AvroSchema):
            raise TypeError(f"GenericRecordAvroTypeInfo needs an AvroSchema, but got {schema!r}")
        self._schema = schema

    @property
    def schema(self) -> AvroSchema:
        """The schema of the records."""
        return self._schema

    def _signature(self) -> tuple[object, ...]:
        return (self._schema,)

    def __repr__(self) -> str:
        return f"GenericRecordAvroTypeInfo({self._schema})"

    def _compile(self) -> None:
        return None
