"""Avro: the schema of a table's columns, and its records as tuples."""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.connectors.files.avro import AvroRecords
from flintstream.connectors.formats.avro_schema import library, parse_schema, record_writer
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._errors import SqlError
from flintstream.table._expressions.helpers import named_row
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from flintstream.table._connectors.formats import Decode, Encode

    Convert = Callable[[Any], Any]

_NAMESPACE = "org.apache.flink.avro.generated"


def schema_of(names: Sequence[str], types: Sequence[t.DataType], *, local: bool = False) -> str:
    """Return the schema that Flink uses for columns.

    Args:
        names: those of the columns.
        types: those of the columns.
        local: whether a TIMESTAMP is a local timestamp of Avro, rather than one that is in UTC like TIMESTAMP_LTZ.

    Raises:
        SqlError: Avro has no such type.
    """
    return json.dumps(_record(names, types, f"{_NAMESPACE}.record", local=local))


def _record(names: Sequence[str], types: Sequence[t.DataType], name: str, *, local: bool) -> dict[str, object]:
    fields = []
    for field, kind in zip(names, types, strict=True):
        made = _schema(kind, f"{name}_{field}", local=local)
        fields.append({"name": field, "type": made, **({"default": None} if isinstance(made, list) else {})})
    return {"type": "record", "name": name, "fields": fields}


def _schema(kind: t.DataType, name: str, *, local: bool) -> object:
    made = _strict(kind, name, local=local)
    return ["null", made] if is_nullable(kind) else made


def _strict(kind: t.DataType, name: str, *, local: bool) -> object:
    if isinstance(kind, TEXTS):
        return "string"
    if isinstance(kind, t.BooleanType):
        return "boolean"
    if type(kind) in INTEGERS:
        return "int" if INTEGERS[type(kind)] <= 32 else "long"
    if isinstance(kind, t.FloatType):
        return "float"
    if isinstance(kind, t.DoubleType):
        return "double"
    if isinstance(kind, t.DecimalType):
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    if isinstance(kind, BYTES):
        return "bytes"
    if isinstance(kind, t.DateType):
        return {"type": "int", "logicalType": "date"}
    if isinstance(kind, t.TimeType):
        return {"type": "int", "logicalType": "time-millis"}
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        time = "local-timestamp" if local and isinstance(kind, t.TimestampType) else "timestamp"
        return {"type": "long", "logicalType": f"{time}-{'millis' if kind.precision <= 3 else 'micros'}"}
    if isinstance(kind, t.ArrayType):
        return {"type": "array", "items": _schema(kind.element_type, name, local=local)}
    if isinstance(kind, t.MapType) and isinstance(kind.key_type, TEXTS):
        return {"type": "map", "values": _schema(kind.value_type, name, local=local)}
    if isinstance(kind, t.RowType):
        return _record(kind.names, kind.field_types(), name, local=local)
    raise SqlError(f"Avro does not support values of type {sql_name(kind)}")


def _from_utc(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=None)


def _to_utc(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=dt.timezone.utc)


def _converter(kind: t.DataType, *, reads: bool, local: bool = False) -> Convert | None:
    if local and isinstance(kind, t.TimestampType):
        return None
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return _from_utc if reads else _to_utc
    if isinstance(kind, t.ArrayType):
        element = _optional(_converter(kind.element_type, reads=reads, local=local))
        return None if element is None else lambda value: [element(item) for item in value]
    if isinstance(kind, t.MapType):
        content = _optional(_converter(kind.value_type, reads=reads, local=local))
        return None if content is None else lambda value: {k: content(v) for k, v in value.items()}
    if isinstance(kind, t.RowType):
        names = tuple(kind.names)
        if reads:
            read = tuple_of(names, kind.field_types())
            return lambda value: named_row(names, list(read(value)))
        return dict_of(names, kind.field_types(), local=local)
    return None


def _optional(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def tuple_of(names: Sequence[str], types: Sequence[t.DataType]) -> Convert:
    """Return the function that makes a tuple of a record."""
    parts = [(n, _optional(_converter(kind, reads=True))) for n, kind in zip(names, types, strict=True)]
    return lambda record: tuple([record[n] if convert is None else convert(record[n]) for n, convert in parts])


def dict_of(names: Sequence[str], types: Sequence[t.DataType], *, local: bool = False) -> Convert:
    """Return the function that makes a record of a row or tuple; ``local`` as in :func:`schema_of`."""
    parts = [(n, _optional(_converter(kind, reads=False, local=local))) for n, kind in zip(names, types, strict=True)]
    return lambda row: {
        n: value if convert is None else convert(value) for (n, convert), value in zip(parts, row, strict=True)
    }


class AvroMessages(Decoder, Encoder):
    """A message is a record without its schema, in Avro's binary encoding or its JSON."""

    def __init__(
        self, names: Sequence[str], types: Sequence[t.DataType], *, local: bool = False, as_json: bool = False
    ) -> None:
        """Take the columns; ``local`` is as in :func:`schema_of`."""
        self.names, self.types, self.local, self.as_json = tuple(names), tuple(types), local, as_json
        self.schema = schema_of(names, types, local=local)
        library()

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        schema, record = parse_schema(self.schema), tuple_of(self.names, self.types)
        if self.as_json:
            read_json = library().json_reader
            return lambda message: record(next(read_json(io.StringIO(message.decode()), schema)))
        read = library().schemaless_reader
        return lambda message: record(read(io.BytesIO(message), schema, None))

    def encode(self) -> Encode:
        """Return the function that writes a row."""
        record = dict_of(self.names, self.types, local=self.local)
        if self.as_json:
            schema, write_json = parse_schema(self.schema), library().json_writer

            def encode(row: Sequence[object]) -> bytes:
                text = io.StringIO()
                write_json(text, schema, [record(row)])
                return text.getvalue().encode()

            return encode
        write = record_writer(self.schema)
        return lambda row: write(record(row))


class AvroRowFiles(BulkWriterFactory[object]):
    """Writes rows to Avro files."""

    def __init__(
        self, names: Sequence[str], types: Sequence[t.DataType], codec: str = "null", *, local: bool = False
    ) -> None:
        """Take the columns; ``local`` is as in :func:`schema_of`."""
        self.names, self.types, self.local = tuple(names), tuple(types), local
        self.records = AvroRecords(schema_of(names, types, local=local), codec)

    def create(self, stream: BinaryIO) -> BulkWriter[object]:
        """Return a writer for a new file."""
        return _Writer(self.records.create(stream), dict_of(self.names, self.types, local=self.local))


class _Writer(BulkWriter[object]):
    def __init__(self, writer: BulkWriter[Any], record: Convert) -> None:
        self.writer, self.record = writer, record

    def add_element(self, element: object) -> None:
        self.writer.add_element(self.record(element))

    def flush(self) -> None:
        self.writer.flush()

    def finish(self) -> None:
        self.writer.finish()
