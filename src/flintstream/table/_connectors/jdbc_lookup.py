"""Rows of databases by key, for joins with ``'connector' = 'jdbc'``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.connectors.jdbc.lookup import JdbcLookup
from flintstream.table._connectors.jdbc import database_for, quoted, row_reader
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.time_helpers import to_instant
from flintstream.table._operators.lookups import CachedLookup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.jdbc.database import Database
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Column
    from flintstream.table._operators.lookups import Lookup

_CACHES = ("NONE", "PARTIAL")


def jdbc_lookup(physical: Sequence[Column], options: Options, keys: Sequence[int]) -> Lookup:
    """Return what finds the rows of a table by the columns at the positions ``keys``.

    Raises:
        SqlError: An option is wrong.
    """
    database = database_for(options)
    names = [quoted(each.name, database.grammar) for each in physical]
    lookup = JdbcLookup(
        database,
        quoted(options.required("table-name"), database.grammar),
        ", ".join(names),
        [names[i] for i in keys],
        [_adapter(physical[i].type, database) for i in keys],
        partial(row_reader, [each.type for each in physical]),
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
        raise SqlError(f"table '{options.table}': 'lookup.cache' has no value '{mode}'{nearest(mode, _CACHES)}")
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
