"""How a table of MongoDB is read, and how its rows are found by key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from flintstream.connectors.mongodb.client import part
from flintstream.connectors.mongodb.lookup import Converters, MongoLookup
from flintstream.connectors.mongodb.source import MongoScan
from flintstream.connectors.mongodb.splitting import STRATEGIES, MongoInput
from flintstream.options.types import SIZE
from flintstream.table._connectors.contract import TableSource
from flintstream.table._connectors.mongodb.conditions import Conditions
from flintstream.table._connectors.mongodb.settings import SINK_ONLY, SOURCE_ONLY, access_of, at_least, choice, millis
from flintstream.table._connectors.mongodb.values import check_types, reader, row_reader, writer
from flintstream.table._errors import SqlError
from flintstream.table._operators.lookups import CachedLookup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.mongodb.client import Document
    from flintstream.connectors.source import Source
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._operators.lookups import Lookup

    Row = tuple[object, ...]

_CACHES = ("NONE", "PARTIAL")
_POLICIES = ("always", "never")
_MOST_BYTES = 1 << 20
"""The size of the largest condition that is sent: servers limit that of a request."""


@dataclass(frozen=True)
class Rows:
    """Returns, in a task, what makes a row of a document."""

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    wanted: frozenset[str] | None = None
    """The columns that are read; the others are None. None for all."""

    def __call__(self) -> Callable[[Document], object]:
        return row_reader(self.names, self.types, self.wanted)


def source_of(table: ConnectorTable) -> TableSource:
    """Return how a table is read.

    Raises:
        SqlError: An option is missing or wrong, or documents have no values for a column.
    """
    options = table.options
    options.of_sinks(*SINK_ONLY)
    options.of_sources(*SOURCE_ONLY)  # lookups read some of them
    check_types(table.name, table.names, table.types)
    options.known("scan.cursor.no-timeout", "a query that the server has ended is asked again behind the last document")
    policy = choice(options, "filter.handling.policy", _POLICIES, "always")
    size = SIZE.read(options.text("scan.partition.size", "64mb") or "")
    if not size or size < 1:
        raise SqlError(f"table '{table.name}': 'scan.partition.size' must be at least 1 byte")
    records = options.integer("scan.partition.record-size")
    if records is not None:
        at_least(options, "scan.partition.record-size", 1, 1)
    rows = Rows(tuple(table.names), tuple(table.types))
    made = MongoInput(
        access_of(options),
        rows,
        fields=rows.names,
        fetch_size=at_least(options, "scan.fetch-size", 2048, 1),
        strategy=choice(options, "scan.partition.strategy", STRATEGIES, "default"),
        partition_bytes=size,
        samples=at_least(options, "scan.partition.samples", 10, 1),
        partition_records=records,
    )

    found = _table_source(made, rows, table)
    return found if policy == "never" else replace(found, with_condition=partial(_filter, made, rows, table))


def _table_source(made: MongoInput, rows: Rows, table: ConnectorTable) -> TableSource:
    return TableSource(MongoScan(made), with_columns=partial(_narrow, made, rows), lookup=partial(_lookup, table))


def _narrow(made: MongoInput, rows: Rows, wanted: frozenset[str]) -> Source:
    fields = tuple(name for name in rows.names if name in wanted)
    return MongoScan(replace(made, make_read=replace(rows, wanted=wanted), fields=fields))


def _filter(made: MongoInput, rows: Rows, table: ConnectorTable, condition: Expr) -> TableSource | None:
    """Return how to read only documents that may meet a condition; None if the server cannot tell."""
    whole, collated = [
        Conditions(rows.names, rows.types, orders_texts=orders).of(condition) for orders in (True, False)
    ]
    if whole is None:
        return None
    encode = part("bson").encode
    sent = encode(whole)
    if len(sent) > _MOST_BYTES:
        return None
    own = None if whole == collated else encode(collated) if collated else b""
    return _table_source(replace(made, condition=sent, collated=own), rows, table)


@dataclass(frozen=True)
class _MakeConverters:
    rows: Rows
    keys: tuple[int, ...]

    def __call__(self) -> Converters:
        kinds = [self.rows.types[i] for i in self.keys]
        row = cast("Callable[[Document], Row]", self.rows())
        return Converters([writer(kind) for kind in kinds], [reader(kind.nullable()) for kind in kinds], row)


def _lookup(table: ConnectorTable, keys: Sequence[int]) -> Lookup:
    """Return what finds the rows of a table by the columns at the positions ``keys``."""
    options = table.options
    rows = Rows(tuple(table.names), tuple(table.types))
    lookup = MongoLookup(
        access_of(options),
        rows.names,
        [rows.names[i] for i in keys],
        _MakeConverters(rows, tuple(keys)),
        at_least(options, "lookup.max-retries", 3, 0),
        millis(options, "lookup.retry.interval"),
    )
    return _with_cache(lookup, options)


def _with_cache(lookup: Lookup, options: Options) -> Lookup:
    mode = choice(options, "lookup.cache", _CACHES, "NONE", upper=True)
    rows = options.integer("lookup.partial-cache.max-rows")
    written = options.millis("lookup.partial-cache.expire-after-write")
    accessed = options.millis("lookup.partial-cache.expire-after-access")
    missing = options.flag("lookup.partial-cache.cache-missing-key", default=True)
    if mode == "NONE":
        return lookup
    return CachedLookup(lookup, max_rows=rows, after_write_ms=written, after_access_ms=accessed, keeps_missing=missing)
