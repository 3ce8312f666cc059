"""``'connector' = 'jdbc'``: tables of databases, read by a query and written by inserts, upserts and deletes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import narrow
from flintstream.common._types import data_types as t
from flintstream.common.types import RowKind
from flintstream.connectors.jdbc.lookup import JdbcLookup
from flintstream.connectors.jdbc.scan import JdbcScan
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.urls import database_of
from flintstream.connectors.jdbc.writer import JdbcOutput, JdbcWriter
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.table._connectors.contract import (
    UPSERTS,
    Records,
    SinkConnector,
    SourceConnector,
    TableSink,
    TableSource,
)
from flintstream.table._errors import SqlError, nearest, unsupported
from flintstream.table._expressions import helpers
from flintstream.table._expressions.times import texts as time_texts
from flintstream.table._expressions.times.helpers import to_instant
from flintstream.table._operators.lookups import CachedLookup
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.jdbc.database import Database
    from flintstream.connectors.sink import WriterContext
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Column
    from flintstream.table._operators.lookups import Lookup

_SOURCE_ONLY = (
    "lookup.cache",
    "lookup.cache.max-rows",
    "lookup.cache.ttl",
    "lookup.cache.caching-missing-key",
    "lookup.max-retries",
    "lookup.partial-cache.max-rows",
    "lookup.partial-cache.expire-after-write",
    "lookup.partial-cache.expire-after-access",
    "lookup.partial-cache.cache-missing-key",
    "scan.auto-commit",
    "scan.fetch-size",
    "filter.handling.policy",
)
_WITHOUT_EFFECT = {
    "connection.max-retry-timeout": "an attempt to connect ends after 60 seconds",
    "compatible-mode": "the URL determines the database",
    "scan.auto-commit": "the driver decides",
    "scan.fetch-size": "the driver decides",
    "filter.handling.policy": "only conditions of partitions and lookups are pushed down to the database",
}
_CACHES = ("NONE", "PARTIAL")
_PARTITIONS = ("column", "num", "lower-bound", "upper-bound")
_SINK_ONLY = ("sink.buffer-flush.max-rows", "sink.buffer-flush.interval", "sink.max-retries", "sink.parallelism")


class Jdbc(SourceConnector, SinkConnector):
    """Reads tables by a query or by key, and writes them; with a primary key, the newest row of each key counts."""

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        return TableSource(_scan(table, _database(table.options)), lookup=partial(_lookup, table))

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        made = _output(table, _database(table.options))
        return TableSink(made, Records.ROWS, UPSERTS, table.options.integer("sink.parallelism"))


def _database(options: Options) -> Database:
    for key, because in _WITHOUT_EFFECT.items():
        options.known(key, because)
    url, user = options.required("url"), options.text("username")
    return database_of(url, user, options.text("password"), 60, options.text("driver"))


def quote_name(name: str, grammar: Grammar) -> str:
    """Return a name of a table or column in the quotes of a database; ``schema.table`` are two names."""
    if grammar is Grammar.POSTGRESQL:
        return name  # as Flink: names in small letters are found whatever their case in the declaration is
    quote = "`" if grammar is Grammar.MYSQL else '"'
    return ".".join(part if part[:1] == quote else f"{quote}{part}{quote}" for part in name.split("."))


# -- reading -----------------------------------------------------------------------------------------------------------


def _scan(table: ConnectorTable, database: Database) -> JdbcScan:
    options, physical = table.options, table.columns
    options.of_sources(*_SOURCE_ONLY)
    options.of_sinks(*_SINK_ONLY)
    names = ", ".join(quote_name(item.name, database.grammar) for item in physical)
    target = quote_name(options.required("table-name"), database.grammar).replace("{", "{{").replace("}", "}}")
    query = f"SELECT {names.replace('{', '{{').replace('}', '}}')} FROM {target}"  # noqa: S608 - quoted
    column = options.text("scan.partition.column")
    given = {key: options.integer(f"scan.partition.{key}") for key in ("num", "lower-bound", "upper-bound")}
    if (column is not None) != all(value is not None for value in given.values()) or (
        column is None and any(value is not None for value in given.values())
    ):
        keys = ", ".join(f"'scan.partition.{key}'" for key in ("column", *given))
        raise SqlError(f"table '{options.table}': the options {keys} must be set together")
    ranges: list[tuple[int, int]] = []
    if column is not None:
        ranges = _ranges(given["lower-bound"] or 0, given["upper-bound"] or 0, given["num"] or 1, options)
        query += f" WHERE {quote_name(column, database.grammar)} BETWEEN {{low}} AND {{high}}"
    row_reader(table.types)
    return JdbcScan(database, query, ranges, partial(row_reader, table.types))


def _ranges(low: int, high: int, count: int, options: Options) -> list[tuple[int, int]]:
    if high < low or count < 1:
        raise SqlError(
            f"table '{options.table}': 'scan.partition.lower-bound' must be at most 'scan.partition.upper-bound', and "
            "'scan.partition.num' at least 1"
        )
    size, more = divmod(high - low + 1, min(count, high - low + 1))
    found, start = [], low
    for i in range(min(count, high - low + 1)):
        end = start + size - 1 + (i < more)
        found.append((start, end))
        start = end + 1
    return found


def row_reader(types: Sequence[t.DataType]) -> Callable[[Sequence[object]], tuple[object, ...]]:
    """Return the function that turns a row of a driver into one of a table."""
    readers = [value_reader(kind) for kind in types]

    def read(row: Sequence[object]) -> tuple[object, ...]:
        return tuple([None if v is None else read(v) for read, v in zip(readers, row, strict=True)])

    return read


def value_reader(kind: t.DataType) -> Callable[[Any], Any]:
    """Return the function that turns a driver's value into one of a column.

    Raises:
        SqlError: No database has values of the type.
    """
    if isinstance(kind, TEXTS):
        return str
    if isinstance(kind, t.BooleanType):
        return bool
    if type(kind) in INTEGERS:
        return int
    if isinstance(kind, t.FloatType):
        return lambda value: narrow(float(value))
    if isinstance(kind, t.DoubleType):
        return float
    if isinstance(kind, t.DecimalType):
        precision, scale = kind.precision, kind.scale
        return lambda value: helpers.fit(Decimal(str(value)), precision, scale)
    if isinstance(kind, t.DateType):
        return _date
    if isinstance(kind, t.TimeType):
        return _time
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return _timestamp
    if isinstance(kind, BYTES):
        return bytes
    if isinstance(kind, t.ArrayType):
        element = value_reader(kind.element_type)
        return lambda value: [None if item is None else element(item) for item in value]
    raise SqlError(f"databases do not support values of type {sql_name(kind)}")


def _date(value: object) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    return value if isinstance(value, dt.date) else time_texts.parse_date(str(value).strip())


def _time(value: object) -> dt.time:
    if isinstance(value, dt.timedelta):  # as MySQL's driver gives it
        return (dt.datetime(1970, 1, 1) + value).time()  # noqa: DTZ001 - values of SQL have no zone
    return value if isinstance(value, dt.time) else time_texts.parse_time(str(value).partition(".")[0])


def _timestamp(value: object) -> dt.datetime:
    if not isinstance(value, dt.datetime):
        return time_texts.parse_short_timestamp(str(value).replace("T", " ", 1).removesuffix("Z"), 6)
    return value if value.tzinfo is None else value.astimezone(dt.timezone.utc).replace(tzinfo=None)


# -- lookups -----------------------------------------------------------------------------------------------------------


def _lookup(table: ConnectorTable, keys: Sequence[int]) -> Lookup:
    """Return what finds the rows of a table by the columns at the positions ``keys``."""
    physical, options, database = table.columns, table.options, _database(table.options)
    names = [quote_name(item.name, database.grammar) for item in physical]
    lookup = JdbcLookup(
        database,
        quote_name(options.required("table-name"), database.grammar),
        ", ".join(names),
        [names[i] for i in keys],
        [_adapter(physical[i].type, database) for i in keys],
        partial(row_reader, table.types),
        options.integer("lookup.max-retries", 3) or 0,
    )
    return _cached(lookup, options)


def _adapter(kind: t.DataType, database: Database) -> Callable[[Any], Any] | None:
    adapt = database.adapter(t.to_type_info(kind))
    if adapt is not None and isinstance(kind, t.LocalZonedTimestampType):
        return lambda value: adapt(to_instant(value))
    return adapt


def _cached(lookup: Lookup, options: Options) -> Lookup:
    older = options.integer("lookup.cache.max-rows"), options.millis("lookup.cache.ttl")
    mode = (options.text("lookup.cache") or ("PARTIAL" if None not in older else "NONE")).upper()
    if mode not in _CACHES:
        raise SqlError(f"table '{options.table}': 'lookup.cache' does not accept '{mode}'{nearest(mode, _CACHES)}")
    rows = options.integer("lookup.partial-cache.max-rows", older[0])
    written = options.millis("lookup.partial-cache.expire-after-write")
    accessed = options.millis("lookup.partial-cache.expire-after-access")
    missing = options.flag("lookup.cache.caching-missing-key", default=True)
    missing = options.flag("lookup.partial-cache.cache-missing-key", default=missing)
    if mode == "NONE":
        return lookup
    return CachedLookup(
        lookup,
        max_rows=rows,
        after_write_ms=older[1] if written is None else written,
        after_access_ms=accessed,
        keeps_missing=missing,
    )


# -- writing -----------------------------------------------------------------------------------------------------------


class JdbcRows(Sink):
    """Writes rows; with a key, the newest row of each key replaces the one in the table, and a deletion removes it."""

    def __init__(self, output: JdbcOutput, deletes: JdbcOutput | None, key: Sequence[int]) -> None:
        self.output, self.deletes, self.key = output, deletes, tuple(key)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return JdbcWriter(self.output) if self.deletes is None else _KeyedWriter(self, self.deletes)


class _KeyedWriter(SinkWriter):
    """Keeps the newest change of each key until a batch is full: the order of keys within one does not matter."""

    def __init__(self, sink: JdbcRows, deletes: JdbcOutput) -> None:
        self.key, self.size = sink.key, sink.output.batch_size
        self.upserts, self.deletes = JdbcWriter(sink.output), JdbcWriter(deletes)
        self.newest: dict[tuple[Any, ...], Any] = {}

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Buffer changes, and write the full batches."""
        newest, key = self.newest, self.key
        for row in values:
            newest[tuple([row[i] for i in key])] = row
            if len(newest) >= self.size > 0:
                self._flush(timestamps)

    def _flush(self, timestamps: list[int] | None) -> None:
        rows = list(self.newest.items())
        self.newest.clear()
        self.upserts.write([row for _, row in rows if row.get_row_kind() is not RowKind.DELETE], timestamps)
        self.deletes.write([key for key, row in rows if row.get_row_kind() is RowKind.DELETE], timestamps)
        for writer in (self.upserts, self.deletes):
            writer.prepare_commit(end_of_input=False)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the buffered changes."""
        self._flush(None)
        return ()

    def close(self) -> None:
        """Close the connections."""
        self.upserts.close()
        self.deletes.close()


def _output(table: ConnectorTable, database: Database) -> JdbcRows:
    options, columns, names, keys = table.options, table.columns, table.names, table.primary_key
    options.of_sources(*_SOURCE_ONLY, "scan.parallelism", *(f"scan.partition.{k}" for k in _PARTITIONS))
    size = options.integer("sink.buffer-flush.max-rows", 100) or 0
    settings: dict[str, Any] = {
        "batch_size": size,
        "interval_ms": _interval(options),
        "max_retries": options.integer("sink.max-retries", 3) or 0,
    }
    target = quote_name(options.required("table-name"), database.grammar)
    output = JdbcOutput(_insert(target, names, keys, database, options), _rows(columns), database, **settings)
    if not keys:
        return JdbcRows(output, None, ())
    where = " AND ".join(f"{quote_name(item, database.grammar)} = ?" for item in keys)
    positions = [names.index(item) for item in keys]
    delete = f"DELETE FROM {target} WHERE {where}"  # noqa: S608 - quoted
    return JdbcRows(output, JdbcOutput(delete, _rows([columns[i] for i in positions]), database, **settings), positions)


def _interval(options: Options) -> int:
    found = options.millis("sink.buffer-flush.interval")
    return 1000 if found is None else found


def _rows(columns: Sequence[Column]) -> Any:
    return t.to_type_info(t.RowType([t.RowField(column.name, column.type) for column in columns]))


def _insert(target: str, names: Sequence[str], keys: Sequence[str], database: Database, options: Options) -> str:
    grammar = database.grammar
    columns = [quote_name(item, grammar) for item in names]
    plain = f"INSERT INTO {target} ({', '.join(columns)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    if not keys:
        return plain
    others = [item for item, name in zip(columns, names, strict=True) if name not in keys]
    if grammar is Grammar.MYSQL:
        same = columns[0]
        updates = ", ".join(f"{other} = VALUES({other})" for other in others) or f"{same} = {same}"
        return f"{plain} ON DUPLICATE KEY UPDATE {updates}"
    if grammar in {Grammar.POSTGRESQL, Grammar.SQLITE}:
        conflict = ", ".join(quote_name(key, grammar) for key in keys)
        updates = ", ".join(f"{other} = EXCLUDED.{other}" for other in others)
        return f"{plain} ON CONFLICT ({conflict}) DO {f'UPDATE SET {updates}' if updates else 'NOTHING'}"
    raise unsupported(
        f"the PRIMARY KEY of table '{options.table}'", None, "only SQLite, PostgreSQL and MySQL are written by key"
    )
