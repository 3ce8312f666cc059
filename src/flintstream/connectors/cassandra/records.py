"""From records to statements and their values."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common._types.parts import without_converters
from flintstream.common.time import Instant
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.common.types import Row
from flintstream.connectors.cassandra.client import CassandraError
from flintstream.connectors.jdbc.values import instant_in_utc
from flintstream.errors import shorten

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

TABLE = "__cassandra_table__"
"""The attribute of a data class that names its table."""


@dataclass(frozen=True)
class Mapping:
    """How records of data classes become statements."""

    ttl: int | None = None
    """Seconds after which Cassandra deletes a row."""
    timestamp: int | None = None
    """The time of all rows (microseconds since the epoch)."""
    consistency: int | None = None
    tracing: bool = False
    saves_nulls: bool = True
    if_not_exists: bool = False


def insert_of(kind: type, mapping: Mapping) -> str:
    """Return the statement that inserts a record of a data class.

    >>> @dataclass
    ... class Word:
    ...     __cassandra_table__ = "shop.words"
    ...     word: str
    ...     count: int
    >>> insert_of(Word, Mapping(ttl=60, timestamp=5, if_not_exists=True))
    'INSERT INTO shop.words (word, count) VALUES (?, ?) IF NOT EXISTS USING TTL 60 AND TIMESTAMP 5'

    Raises:
        CassandraError: The class is not a data class, or does not name a table.
    """
    table = getattr(kind, TABLE, None)
    if not dataclasses.is_dataclass(kind) or not isinstance(table, str):
        raise CassandraError(
            f"a record of type {kind.__name__} needs a query: set_query('INSERT INTO ...'), or a dataclass whose "
            f"attribute {TABLE} names the table"
        )
    names = [item.name for item in dataclasses.fields(kind)]
    text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    if mapping.if_not_exists:
        text += " IF NOT EXISTS"
    using = [f"TTL {mapping.ttl}"] if mapping.ttl is not None else []
    if mapping.timestamp is not None:
        using.append(f"TIMESTAMP {mapping.timestamp}")
    return text + (f" USING {' AND '.join(using)}" if using else "")


def names_of(type_info: TypeInformation | None) -> tuple[str, ...] | None:
    """Return the names of the fields of a type of rows; None for any other type."""
    found = None if type_info is None else without_converters(type_info)
    return tuple(found.get_field_names()) if isinstance(found, RowTypeInfo) else None


def values_of(record: object, names: tuple[str, ...] | None) -> list[object]:
    """Return the values of a record: a tuple, a row in the order of the type's fields, or an object of a data class.

    >>> values_of(Row(count=3, word="to"), ("word", "count"))
    ['to', 3]

    Raises:
        CassandraError: The record has no fields.
    """
    values: list[object]
    if isinstance(record, Row):
        own = getattr(record, "_fields", names)
        values = list(record) if names is None or own == names else [record[name] for name in names]
    elif isinstance(record, (tuple, list)):
        values = list(record)
    elif dataclasses.is_dataclass(record):
        values = [getattr(record, item.name) for item in dataclasses.fields(record)]
    else:
        raise CassandraError(
            f"a record must be a tuple, a Row or an instance of a dataclass, got {shorten(record)}, which is a "
            f"{type(record).__name__}"
        )
    return [instant_in_utc(value) if isinstance(value, Instant) else value for value in values]
