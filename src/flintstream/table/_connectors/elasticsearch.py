"""``'connector' = 'elasticsearch-7'`` and its relatives: rows become documents of an index, by key if there is one."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.connectors.elasticsearch import ElasticsearchOutput, Host, json_line, library
from flintstream.datastream.connectors.elasticsearch import ElasticsearchSink
from flintstream.errors import PlanError
from flintstream.options.types import SIZE
from flintstream.table._connectors.contract import UPSERTS, Records, SinkConnector, TableSink
from flintstream.table._connectors.messages import encoder
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.times.patterns import format_date
from flintstream.table._types.row_kinds import RETRACTIONS
from flintstream.table._types.rules import BYTES, sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.formats import Encode, Encoder
    from flintstream.table._connectors.options import Options

_PART = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")
_NOT_IN_KEYS = (t.ArrayType, t.MapType, t.MultisetType, t.RowType, *BYTES)
_PATTERNS: dict[type[t.DataType], str] = {
    t.DateType: "yyyy_MM_dd",
    t.TimeType: "HH_mm_ss",
    t.TimestampType: "yyyy_MM_dd_HH_mm_ss",
    t.LocalZonedTimestampType: "yyyy_MM_dd_HH_mm_ss",
}
"""How the name of an index shows times, if the option does not say."""
_BACKOFFS = ("DISABLED", "CONSTANT", "EXPONENTIAL")
_HANDLERS = ("fail", "ignore", "retry-rejected")
_WITHOUT_EFFECT = {
    "connection.max-retry-timeout": "the backoff says how often a request is repeated",
    "connection.request-timeout": "there is no pool of connections to wait for",
    "sink.bulk-flush.interval": "documents are written at the end of an epoch, which lasts a second at most",
    "sink.flush-on-checkpoint": "documents are always written before a checkpoint",
    "sink.delivery-guarantee": "documents are always written before a checkpoint",
}


class Elasticsearch(SinkConnector):
    """Writes documents: with a primary key, the newest row of each key; without one, each row as a new document."""

    doc_type: str | None = None
    """The option that names the type of documents, for servers that have types."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        library()
        options = table.options
        for key, because in _WITHOUT_EFFECT.items():
            options.known(key, because)
        kind, (retries, delay, exponential) = options.text("format", "json") or "json", _backoff(options)
        made = ElasticsearchOutput(
            _hosts(options),
            _Documents.of(table, encoder(kind, table.names, table.types, options)),
            default_type=None if self.doc_type is None else options.required(self.doc_type),
            most_actions=options.integer("sink.bulk-flush.max-actions", 1000) or -1,
            most_bytes=SIZE.read(options.text("sink.bulk-flush.max-size", "2mb") or "") or -1,
            user=options.text("username"),
            password=options.text("password"),
            prefix=options.text("connection.path-prefix", "") or "",
            connect_ms=options.millis("connection.timeout"),
            socket_ms=options.millis("socket.timeout"),
            ignores=_choice(options, "failure-handler", _HANDLERS, "fail") == "ignore",
            retries=retries,
            delay_ms=delay,
            exponential=exponential,
        )
        return TableSink(ElasticsearchSink(made), Records.TUPLES, UPSERTS, options.integer("sink.parallelism"))


class Elasticsearch6(Elasticsearch):
    """The same for version 6, whose documents have a type."""

    doc_type = "document-type"


def _hosts(options: Options) -> tuple[Host, ...]:
    texts = [text.strip() for text in options.required("hosts").split(";")]
    try:
        return tuple(Host.parse(text) for text in texts if text)
    except PlanError as error:
        raise SqlError(f"table '{options.table}': {error}") from None


def _choice(options: Options, key: str, known: Sequence[str], default: str) -> str:
    found = options.text(key, default) or default
    if found not in known:
        raise SqlError(f"table '{options.table}': '{key}' does not accept '{found}'{nearest(found, known)}")
    return found


def _backoff(options: Options) -> tuple[int, int, bool]:
    """Return how often a request is repeated, after how many ms, and whether they double."""
    strategy = _choice(options, "sink.bulk-flush.backoff.strategy", _BACKOFFS, "DISABLED")
    retries = options.integer("sink.bulk-flush.backoff.max-retries", 8) or 0
    delay = options.millis("sink.bulk-flush.backoff.delay")
    return retries if strategy != "DISABLED" else 0, 50 if delay is None else delay, strategy == "EXPONENTIAL"


@dataclass
class _Documents:
    """Makes the lines of a bulk request of a row."""

    index: str
    """The name of the index, or its pattern."""
    parts: tuple[tuple[int | None, str | None], ...]
    """The columns in the pattern of the index, None for the clock, and the patterns of their times."""
    key: tuple[int, ...]
    delimiter: str
    width: int
    """The number of columns; a kind of change may follow."""
    encoder: Encoder
    _encode: Encode | None = field(default=None, repr=False)

    @staticmethod
    def of(table: ConnectorTable, made: Encoder) -> _Documents:
        """Return what the options say.

        Raises:
            SqlError: The name of the index has a column that is not there, or the key has a type without a text.
        """
        options, key = table.options, [table.names.index(name) for name in table.primary_key]
        for i in key:
            if isinstance(table.types[i], _NOT_IN_KEYS):
                raise SqlError(
                    f"table '{table.name}': the column '{table.names[i]}' of type {sql_name(table.types[i])} cannot be "
                    "in the primary key, which becomes the id of a document"
                )
        index = options.required("index")
        parts = tuple(_part(table, *found) for found in _PART.findall(index))
        delimiter = options.text("document-id.key-delimiter", "_") or ""
        return _Documents(index, parts, tuple(key), delimiter, len(table.names), made)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_encode": None}

    def action(self, record: Sequence[object], default_type: str | None) -> tuple[bytes, ...]:
        """Return the lines of the bulk request for a row."""
        target = {"_index": self._index_of(record) if self.parts else self.index}
        if default_type is not None:
            target["_type"] = default_type
        if self.key:
            target["_id"] = self.delimiter.join([_text_of(record[i]) for i in self.key])
        if len(record) > self.width and record[-1] in RETRACTIONS:
            return (json_line({"delete": target}),)
        if self._encode is None:
            self._encode = self.encoder.encode()
        document = self._encode(record[: self.width])
        if not self.key:
            return (json_line({"index": target}), document)
        return (json_line({"update": target}), b'{"doc":%b,"doc_as_upsert":true}' % document)

    def _index_of(self, record: Sequence[object]) -> str:
        values = iter([_show(None if i is None else record[i], pattern, clock=i is None) for i, pattern in self.parts])
        return _PART.sub(lambda _: next(values), self.index)


def _part(table: ConnectorTable, name: str, pattern: str) -> tuple[int | None, str | None]:
    if name == "now()":
        if table.primary_key:
            raise SqlError(f"table '{table.name}': an index by the clock needs a table without a primary key")
        return None, pattern or _PATTERNS[t.TimestampType]
    if name not in table.names:
        raise SqlError(
            f"table '{table.name}': unknown column '{name}' in the name of the index{nearest(name, table.names)}"
        )
    i = table.names.index(name)
    default = _PATTERNS.get(type(table.types[i]))
    if pattern and default is None:
        raise SqlError(f"table '{table.name}': the index has a pattern for column '{name}', which is not a time")
    return i, pattern or default


def _show(value: object, pattern: str | None, *, clock: bool) -> str:
    if clock:
        value = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    if value is None:
        return "null"
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1970, 1, 1), value)
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    return _text_of(value) if pattern is None or not isinstance(value, dt.datetime) else format_date(value, pattern)


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)
