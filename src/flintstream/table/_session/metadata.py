"""Metadata columns: the connector reads and writes them in its own types, and the table declares others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.table._connectors.registry import written_metadata
from flintstream.table._errors import SqlError
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import Item
from flintstream.table._plan.build import calc
from flintstream.table._session.sources import connector_table
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._catalog.declared import Declared, DeclaredTable
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._logical.nodes import Node


def of_metadata(declared: Declared, column: Ref, zone: str) -> Expr:
    """Return a column in its declared type, if it has metadata of another one.

    Raises:
        SqlError: The metadata cannot be cast to it.
    """
    if declared.metadata is None or declared.type is None or _is_same(column.type, declared.type):
        return column
    return _cast(declared.name, column, declared.type, zone)


def to_metadata(
    node: Node, name: str, table: DeclaredTable, columns: Sequence[Column], zone: str
) -> tuple[Node, list[Column]]:
    """Return rows whose metadata have the types that a connector takes, and the columns of those types.

    Raises:
        SqlError: The connector does not write them, or a column cannot be cast.
    """
    types = written_metadata(connector_table(name, table, columns))
    taken = [replace(c, type=types[c.name].nullable()) if c.name in types else c for c in columns]
    refs = [Ref(own.type, i) for i, own in enumerate(node.columns)]
    items = [
        Item(c.name, _cast(c.name, ref, c.type, zone) if c.name in types and not _is_same(ref.type, c.type) else ref)
        for c, ref in zip(taken, refs, strict=True)
    ]
    if all(type(item.expression) is Ref for item in items):
        return node, taken
    return calc(node, items), taken


def _is_same(a: DataType, b: DataType) -> bool:
    return a.nullable() == b.nullable()


def _cast(name: str, column: Ref, target: DataType, zone: str) -> Expr:
    made = cast(column, target, zone)
    if made is None:
        raise SqlError(
            f"Invalid data type for metadata column '{name}': {sql_name(column.type)} cannot be cast to "
            f"{sql_name(target)}"
        )
    return made
