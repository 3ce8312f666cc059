"""Schemas for messages in Avro's binary encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.connectors.formats.avro_rows import AvroRows
from flintstream.datastream.formats._schemas import RowDeserializationSchema, RowSerializationSchema
from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from collections.abc import Callable


def _schema_text(record_class: str | None, avro_schema_string: str | None, schema: str) -> str:
    if record_class is not None:
        raise UnsupportedByDesignError(
            f"{schema}: record_class names a Java class, which cannot run here: give the schema of its records "
            "as avro_schema_string (in Java: getClassSchema().toString())"
        )
    if avro_schema_string is None:
        raise TypeError(f"{schema} needs the schema of the records: avro_schema_string='...'")
    return str(avro_schema_string)


class AvroRowDeserializationSchema(RowDeserializationSchema):
    r"""Reads a record in Avro's binary encoding, without a header, as a row.

    >>> schema = '{"type": "record", "name": "user", "fields": [{"name": "name", "type": "string"}]}'
    >>> AvroRowDeserializationSchema(avro_schema_string=schema).deserialize(b"\x06Ada")
    Row(name='Ada')

    Raises:
        TypeError: ``avro_schema_string`` is missing.
        PlanError: It does not describe records.
        UnsupportedByDesignError: ``record_class`` is given, which names a Java class.
        MissingDependencyError: fastavro is not installed.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._text = _schema_text(record_class, avro_schema_string, type(self).__name__)
        super().__init__(AvroRows(self._text).type_info)

    def _compile(self) -> Callable[[bytes], Any]:
        return AvroRows(self._text).reader(type(self).__name__)


class AvroRowSerializationSchema(RowSerializationSchema):
    r"""Writes a row as a record in Avro's binary encoding, without a header.

    >>> schema = '{"type": "record", "name": "user", "fields": [{"name": "name", "type": "string"}]}'
    >>> AvroRowSerializationSchema(avro_schema_string=schema).serialize({"name": "Ada"})
    b'\x06Ada'

    Raises:
        TypeError: ``avro_schema_string`` is missing.
        PlanError: It does not describe records.
        UnsupportedByDesignError: ``record_class`` is given, which names a Java class.
        MissingDependencyError: fastavro is not installed.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._text = _schema_text(record_class, avro_schema_string, type(self).__name__)
        AvroRows(self._text)  # rejects an invalid schema early

    def _compile(self) -> Callable[[Any], bytes]:
        return AvroRows(self._text).writer(type(self).__name__)
