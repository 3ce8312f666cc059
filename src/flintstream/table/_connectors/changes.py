"""Messages that are changes of a database's rows: the JSON of Debezium, Canal, Maxwell and Oracle GoldenGate."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from flintstream.common._types.data_types import DataTypes
from flintstream.table._connectors.formats import (
    Decoder,
    Encoder,
    JsonStyle,
    iso_times,
    members,
    object_text,
    reader,
)
from flintstream.table._expressions.json.parsing import parser
from flintstream.table._expressions.times.helpers import from_millis
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, is_insert_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.formats import Reader
    from flintstream.table._connectors.options import Options

    Message = Any
    """What JSON gives; its parts have the types of the tool that wrote it."""
    Row = tuple[object, ...]
    Change = tuple[Row, int]
    Changes = list[Change]
    ReadObject = Callable[[object], Row]

FORMATS = ("canal-json", "debezium-json", "maxwell-json", "ogg-json")
_UNREADABLE = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError)


def _moment(ms: Any) -> object:
    return None if ms is None else from_millis(ms)


def _stamp(text: object) -> object:
    return None if text is None else datetime.fromisoformat(str(text))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _of_source(name: str) -> Callable[[Any], Any]:
    return lambda found: (found.get("source") or {}).get(name)


def _properties(found: Message) -> object:
    given = found.get("source")
    return None if given is None else {key: _text(value) for key, value in given.items()}


def _member(name: str, convert: Callable[[object], object] | None = None) -> Callable[[Any], Any]:
    return (lambda found: found.get(name)) if convert is None else (lambda found: convert(found.get(name)))


_TEXT, _TEXTS, _TIME = DataTypes.STRING(), DataTypes.ARRAY(DataTypes.STRING()), DataTypes.TIMESTAMP_LTZ(3)
METADATA: dict[str, dict[str, tuple[DataType, Callable[[Any], Any]]]] = {
    "debezium-json": {
        "schema": (_TEXT, _member("schema", _text)),
        "ingestion-timestamp": (_TIME, _member("ts_ms", _moment)),
        "source.timestamp": (_TIME, lambda found: _moment(_of_source("ts_ms")(found))),
        "source.database": (_TEXT, _of_source("db")),
        "source.schema": (_TEXT, _of_source("schema")),
        "source.table": (_TEXT, _of_source("table")),
        "source.properties": (DataTypes.MAP(_TEXT, _TEXT), _properties),
    },
    "canal-json": {
        "database": (_TEXT, _member("database")),
        "table": (_TEXT, _member("table")),
        "sql-type": (DataTypes.MAP(_TEXT, DataTypes.INT()), _member("sqlType")),
        "pk-names": (_TEXTS, _member("pkNames")),
        "ingestion-timestamp": (_TIME, _member("ts", _moment)),
        "event-timestamp": (_TIME, _member("es", _moment)),
    },
    "maxwell-json": {
        "database": (_TEXT, _member("database")),
        "table": (_TEXT, _member("table")),
        "primary-key-columns": (_TEXTS, _member("primary_key_columns")),
        "ingestion-timestamp": (_TIME, _member("ts", _moment)),
    },
    "ogg-json": {
        "table": (_TEXT, _member("table")),
        "primary-keys": (_TEXTS, _member("primary_keys")),
        "ingestion-timestamp": (DataTypes.TIMESTAMP_LTZ(6), _member("current_ts", _stamp)),
        "event-timestamp": (DataTypes.TIMESTAMP_LTZ(6), _member("op_ts", _stamp)),
    },
}
"""What each format has beside the rows, by Flink's names: the type, and what reads it from a message.

Times are ms since the epoch in a message, or texts."""


class ChangeDecoder(Decoder):
    """Reads a message as changes: a list of pairs of a row and its kind. Metadata follows the columns of a row."""

    def __init__(
        self,
        kind: str,
        names: Sequence[str],
        types: Sequence[DataType],
        options: Options,
        prefix: str,
        metadata: Sequence[str] = (),
    ) -> None:
        self.kind, self.names, self.types, self.metadata = kind, tuple(names), tuple(types), tuple(metadata)
        prefix = f"{prefix}{kind}."
        self.lenient = options.flag(f"{prefix}ignore-parse-errors")
        self.iso = iso_times(options, prefix)
        self.enveloped = kind == "debezium-json" and options.flag(f"{prefix}schema-include")
        self.included = {
            name: options.text(f"{prefix}{name}.include") for name in ("database", "table") if kind == "canal-json"
        }
        keys = ("map-null-key.mode", "map-null-key.literal")
        options.of_sinks(*(f"{prefix}{key}" for key in keys))
        options.of_sinks(*(f"{prefix}encode.{key}" for key in ("decimal-as-plain-number", "ignore-null-fields")))
        for item in types:
            reader(item)

    def decode(self) -> Any:
        """Return the function that reads a message; None means to skip it."""
        parts = [(name, reader(kind, iso=self.iso)) for name, kind in zip(self.names, self.types, strict=True)]
        lenient, enveloped = self.lenient, self.enveloped

        def value_of(value: object, read: Reader) -> object:
            try:
                return read(value)
            except _UNREADABLE:
                if lenient:
                    return None
                raise

        def row_of(found: Message) -> Row:
            get = found.get
            return tuple([None if (value := get(name)) is None else value_of(value, read) for name, read in parts])

        changes = {
            "debezium-json": changes_of_images,
            "canal-json": _canal,
            "maxwell-json": _maxwell,
            "ogg-json": _ogg,
        }[self.kind]
        extras = [METADATA[self.kind][name][1] for name in self.metadata]
        included = [(key, re.compile(pattern)) for key, pattern in self.included.items() if pattern is not None]

        parse = parser(self.types)

        def decode(message: bytes | None) -> Changes | None:
            if not message:
                return None  # a tombstone, or what a tool made of one
            made: Changes = []
            try:
                found = parse(message)
                if enveloped:
                    found = {**found["payload"], "schema": found.get("schema")}
                if any(not pattern.fullmatch(found.get(key) or "") for key, pattern in included):
                    return None
                more = tuple([read(found) for read in extras])
                made.extend(((*row, *more), kind) for row, kind in changes(found, row_of))  # up to an error
            except _UNREADABLE as error:
                if not lenient:
                    text = message.decode("utf-8", "replace")
                    raise ValueError(f"Corrupt {self.kind} message '{text}': {error!r}") from error
            return made or None

        return decode


def changes_of_images(found: Message, row_of: ReadObject) -> Iterator[Change]:
    """Yield the changes of a message of Debezium, which has the rows before and after.

    Raises:
        ValueError: It has another form.
    """
    operation = found["op"]
    if operation in {"c", "r"}:
        yield row_of(found["after"]), INSERT
    elif operation in {"u", "d"}:
        instead = "in PostgreSQL, the table needs REPLICA IDENTITY FULL"
        yield from _of_images(found, row_of, instead, update=operation == "u")
    else:
        raise ValueError(f"unknown 'op' '{operation}'")


def _ogg(found: Message, row_of: ReadObject) -> Iterator[Change]:
    operation = found["op_type"]
    if operation == "I":
        yield row_of(found["after"]), INSERT
    elif operation in {"U", "D"}:
        yield from _of_images(found, row_of, "GoldenGate must write before images", update=operation == "U")
    else:
        raise ValueError(f"unknown 'op_type' '{operation}'")


def _of_images(found: Message, row_of: ReadObject, instead: str, *, update: bool) -> Iterator[Change]:
    """Yield an update or deletion of a message that has the whole row before it."""
    before = found.get("before")
    if before is None:
        raise ValueError(f"the 'before' is missing: {instead}")
    if not update:
        yield row_of(before), DELETE
        return
    rows = row_of(before), row_of(found["after"])
    yield rows[0], UPDATE_BEFORE
    yield rows[1], UPDATE_AFTER


def _canal(found: Message, row_of: ReadObject) -> Iterator[Change]:
    kind, rows = found["type"], found.get("data")
    if kind in {"INSERT", "DELETE"}:
        for row in rows:
            yield row_of(row), INSERT if kind == "INSERT" else DELETE
    elif kind == "UPDATE":
        for i, row in enumerate(rows):
            yield from _update(found["old"][i], row, row_of)
    elif kind != "CREATE":
        raise ValueError(f"unknown 'type' '{kind}'")


def _maxwell(found: Message, row_of: ReadObject) -> Iterator[Change]:
    kind, row = found["type"], found.get("data")
    if kind == "insert":
        yield row_of(row), INSERT
    elif kind == "delete":
        yield row_of(row), DELETE
    elif kind == "update":
        yield from _update(found["old"], row, row_of)
    else:
        raise ValueError(f"unknown 'type' '{kind}'")


def _update(old: Message, row: Message, row_of: ReadObject) -> Iterator[Change]:
    """Yield an update of which ``old`` has only the values that are new."""
    rows = row_of({**row, **old}), row_of(row)
    yield rows[0], UPDATE_BEFORE
    yield rows[1], UPDATE_AFTER


class ChangeEncoder(Encoder):
    """Writes a change as a message; the kind of change follows the columns of a row."""

    def __init__(
        self, kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str
    ) -> None:
        self.kind, self.names, self.types = kind, tuple(names), tuple(types)
        prefix = f"{prefix}{kind}."
        self.style = JsonStyle.of(options, prefix)
        options.of_sources(f"{prefix}ignore-parse-errors", f"{prefix}schema-include")
        options.of_sources(*(f"{prefix}{name}.include" for name in ("database", "table")))
        members(names, types, self.style)

    def encode(self) -> Any:
        """Return the function that writes a row with its kind: an update is a deletion and an insertion."""
        parts, nulls = members(self.names, self.types, self.style), self.style.nulls
        insertion, deletion = {
            "debezium-json": ('{"before":null,"after":%s,"op":"c"}', '{"before":%s,"after":null,"op":"d"}'),
            "canal-json": ('{"data":[%s],"type":"INSERT"}', '{"data":[%s],"type":"DELETE"}'),
            "maxwell-json": ('{"data":%s,"type":"insert"}', '{"data":%s,"type":"delete"}'),
            "ogg-json": ('{"before":null,"after":%s,"op_type":"I"}', '{"before":%s,"after":null,"op_type":"D"}'),
        }[self.kind]

        def encode(row: Sequence[Any]) -> bytes:
            text = insertion if is_insert_like(row[-1]) else deletion
            return (text % object_text(parts, row[:-1], nulls=nulls)).encode(errors="replace")

        return encode
