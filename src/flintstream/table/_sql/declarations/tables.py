"""Statements that describe a table, or compute its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._catalog.declared import DeclaredTable, View
from flintstream.table._errors import SqlError, at, nearest
from flintstream.table._expressions.expr import Column
from flintstream.table._sql.answers import Answer
from flintstream.table._sql.ddl import expect_end
from flintstream.table._types.rules import is_nullable, sql_name

if TYPE_CHECKING:
    from flintstream.table._session.session import Session
    from flintstream.table._sql.dialect import Tokens


def describe_table(session: Session, tokens: Tokens) -> Answer:
    """Return the columns of a table or view."""
    if tokens.peek(1):
        tokens.take("EXTENDED")  # which adds nothing to what Flink says of a table
    place, name = tokens.place(), tokens.path()
    found = session.catalog.find(name, place)
    columns = session.describe(name, place)
    declared = {item.name: item for item in found.columns} if isinstance(found, DeclaredTable) else {}
    key = found.primary_key if isinstance(found, DeclaredTable) else ()
    rows: list[tuple[Any, ...]] = []
    batch = session.settings.batch
    for column in columns:
        shown = column.time if column.time == "PROCTIME" or not batch else ""  # a batch has no watermarks
        kind = sql_name(column.type.nullable()) + (f" *{shown}*" if shown else "")
        in_key = f"PRI({', '.join(key)})" if column.name in key else None
        extras = declared[column.name].extras if column.name in declared else None
        watermark = found.watermark_text if isinstance(found, DeclaredTable) and column.time == "ROWTIME" else None
        rows.append((column.name, kind, is_nullable(column.type), in_key, extras, watermark))
    text, flag = t.DataTypes.STRING(), t.DataTypes.BOOLEAN()
    heads = [("name", text), ("type", text), ("null", flag), ("key", text), ("extras", text), ("watermark", text)]
    comments = [None if item.name not in declared else declared[item.name].comment for item in columns]
    if any(comments):
        heads.append(("comment", text))
        rows = [(*row, comment) for row, comment in zip(rows, comments, strict=True)]
    return Answer(tuple(Column(*head) for head in heads), tuple(rows))


def analyze_table(session: Session, tokens: Tokens) -> None:
    """Check what follows ``ANALYZE``; nothing is computed, because plans do not depend on statistics.

    Raises:
        SqlError: The mode is STREAMING, or the table, a partition or a column is wrong.
    """
    tokens.expect("TABLE")
    place, name = tokens.place(), tokens.path()
    catalog = session.catalog
    path = catalog.path(name)
    shown = ".".join(f"`{part}`" for part in path)
    found = None if path in catalog.temporary else catalog.get(path)
    if found is None:
        raise SqlError(f"Table {shown} doesn't exist or is a temporary table.{at(place)}")
    if isinstance(found, View):
        raise SqlError(f"ANALYZE TABLE for a view is not allowed{at(place)}")
    given = _partition(tokens)
    if given and not found.partitions:
        raise SqlError(
            f"Invalid ANALYZE TABLE statement. Table: {shown} is not a partition table, while partition values are "
            f"given.{at(place)}"
        )
    if set(given) != set(found.partitions):
        raise SqlError(
            "Invalid ANALYZE TABLE statement. For partition table, all partition keys should be specified explicitly. "
            f"The given partition keys: {given} are not match the target partition keys: {list(found.partitions)}."
            f"{at(place)}"
        )
    tokens.expect("COMPUTE", "STATISTICS")
    if tokens.take("FOR", "COLUMNS"):
        known = [column.name for column in found.columns]
        for column in _names(tokens):
            if column not in known:
                raise SqlError(
                    f"Column: {column} does not exist in the table: {shown}.{at(place)}{nearest(column, known)}"
                )
    else:
        tokens.take("FOR", "ALL", "COLUMNS")
    expect_end(tokens)
    if not session.settings.batch:
        raise SqlError(f"ANALYZE TABLE is not supported for streaming mode now{at(place)}: it needs BATCH mode")


def _partition(tokens: Tokens) -> list[str]:
    """Read ``PARTITION (a, b = 'x')``, and return the names."""
    if not tokens.take("PARTITION"):
        return []
    tokens.expect("(")
    found = [tokens.name()]
    while not tokens.take(")"):
        if tokens.take("="):
            tokens.next()
        elif tokens.take(","):
            found.append(tokens.name())
        else:
            raise SqlError(f"expected ')' but found '{tokens.peek()}' at {tokens.place()}")
    return found


def _names(tokens: Tokens) -> list[str]:
    found = [tokens.name()]
    while tokens.take(","):
        found.append(tokens.name())
    return found
