"""Conversion of Avro schemas and records to Arrow types and columns."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common.time import Instant
from flintstream.connectors.files.arrow_values import arrow
from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Column(NamedTuple):
    """The Arrow type of an Avro type, and conversion functions; None where values stay the same."""

    type: Any
    to_arrow: Callable[[Any], Any] | None = None
    from_arrow: Callable[[Any], Any] | None = None


_PLAIN = {
    "boolean": "bool_",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
}


def _to_instant(value: datetime) -> Instant:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
    whole = aware.replace(microsecond=0)
    return Instant(round(whole.timestamp()), aware.microsecond * 1000)


def _from_instant(value: Instant) -> datetime:
    return datetime.fromtimestamp(value.seconds, timezone.utc).replace(microsecond=value.nanos // 1000)


def _logical(name: str, schema: dict[str, Any]) -> Column | None:
    pa = arrow()
    if name == "date":
        return Column(pa.date32())
    if name in {"time-millis", "time-micros"}:
        return Column(pa.time32("ms") if name == "time-millis" else pa.time64("us"))
    if name in {"timestamp-millis", "timestamp-micros"}:
        return Column(pa.timestamp("us", tz="UTC"), _to_instant, _from_instant)
    if name in {"local-timestamp-millis", "local-timestamp-micros"}:
        return Column(pa.timestamp("us"))
    if name == "decimal":
        return Column(pa.decimal128(schema["precision"], schema.get("scale", 0)))
    if name == "uuid":
        return Column(pa.string(), str, uuid.UUID)
    return None


class AvroColumns:
    """The columns of an Avro record schema."""

    def __init__(self, schema: str) -> None:
        """Parse the text of a schema.

        Raises:
            PlanError: The schema is not a record, or contains a type that no column supports.
        """
        content = json.loads(schema)
        if not isinstance(content, dict) or content.get("type") != "record":
            raise PlanError(f"the Avro schema of a Parquet file must be a record, but got {shorten(schema)}")
        self._named: dict[str, Any] = {}
        self._open: list[str] = []
        self.names = [field["name"] for field in content["fields"]]
        record = self._record(content, content.get("namespace", ""))
        self._to_rows = record.to_arrow or _same
        self._values = [self._field(field, content.get("namespace", "")).from_arrow for field in content["fields"]]
        self.schema = arrow().schema(list(record.type), metadata={"parquet.avro.schema": schema})

    def rows(self, records: Iterable[Any]) -> list[Any]:
        """Convert records to tuples for Arrow."""
        return list(map(self._to_rows, records))

    def records(self, columns: Iterable[list[Any]]) -> list[dict[str, Any]]:
        """Convert columns to records."""
        values = [
            column if change is None else [None if value is None else change(value) for value in column]
            for column, change in zip(columns, self._values, strict=True)
        ]
        names = self.names
        return [dict(zip(names, parts, strict=True)) for parts in zip(*values, strict=True)]

    def _record(self, schema: dict[str, Any], space: str) -> Column:
        space = schema.get("namespace", space)
        self._name(schema, space)
        if schema["name"] in self._open:
            raise PlanError(f"the Avro record '{schema['name']}' contains itself, which columns do not support")
        self._open.append(schema["name"])
        fields = [(field["name"], self._field(field, space)) for field in schema["fields"]]
        self._open.pop()
        defaults = {field["name"]: field["default"] for field in schema["fields"] if "default" in field}
        writers = [(name, defaults.get(name, ...), column.to_arrow) for name, column in fields]
        readers = [(name, column.from_arrow) for name, column in fields]
        kind = arrow().struct([arrow().field(name, column.type) for name, column in fields])
        return Column(kind, partial(_values_of, writers), partial(_record_of, readers))

    def _name(self, schema: dict[str, Any], space: str) -> None:
        name = schema["name"]
        self._named[name.rpartition(".")[2]] = schema
        self._named[name if "." in name or not space else f"{space}.{name}"] = schema

    def _field(self, field: dict[str, Any], space: str) -> Column:
        return self._column(field["type"], space, f"field '{field['name']}'")

    def _column(self, schema: Any, space: str, owner: str) -> Column:
        pa = arrow()
        if isinstance(schema, list):
            kinds = [kind for kind in schema if kind != "null"]
            if len(kinds) != 1:
                raise PlanError(
                    f"{owner} has the union type {json.dumps(schema)}: a column supports one type, optionally with null"
                )
            return self._column(kinds[0], space, owner)
        kind = schema if isinstance(schema, str) else schema["type"]
        if isinstance(schema, str) and schema in self._named:
            return self._column(self._named[schema], space, owner)
        if isinstance(kind, (dict, list)):
            return self._column(kind, space, owner)
        full = schema if isinstance(schema, dict) else {}
        logical = _logical(full["logicalType"], full) if "logicalType" in full else None
        if kind in {"enum", "fixed"}:
            self._name(full, space)
        if logical is not None:
            return logical
        if kind in _PLAIN:
            return Column(getattr(pa, _PLAIN[kind])())
        if kind == "fixed":
            return Column(pa.binary(full["size"]))
        if kind == "record":
            return self._record(full, space)
        if kind == "array":
            items = self._column(full["items"], space, owner)
            return Column(pa.list_(items.type), _each(items.to_arrow), _each(items.from_arrow))
        if kind == "map":
            values = self._column(full["values"], space, owner)
            return Column(pa.map_(pa.string(), values.type), _items(values.to_arrow), _items(values.from_arrow))
        raise PlanError(f"{owner} has the Avro type {json.dumps(schema)}, which columns do not support")


def _same(value: Any) -> Any:
    return value


def _values_of(fields: list[tuple[str, Any, Any]], record: Any) -> tuple[Any, ...]:
    values = []
    for name, default, change in fields:
        value = record[name] if default is ... else record.get(name, default)
        values.append(value if change is None or value is None else change(value))
    return tuple(values)


def _record_of(fields: list[tuple[str, Any]], row: Any) -> dict[str, Any]:
    return {
        name: value if change is None or value is None else change(value)
        for (name, change), value in zip(fields, row, strict=True)
    }


def _each(change: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if change is None:
        return None
    return lambda values: [None if value is None else change(value) for value in values]


def _items(change: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if change is None:
        return None
    return lambda entries: {key: None if value is None else change(value) for key, value in entries.items()}
