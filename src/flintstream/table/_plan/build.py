"""Builds plans from resolved parts, for SQL and the Table API alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Column, Ref
from flintstream.table._expressions.invocations import arguments_of
from flintstream.table._logical.nodes import Calc, Correlate, Union, Values
from flintstream.table._types.rules import common_type, implicit, sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.resolver import Item
    from flintstream.table._logical.nodes import Node
    from flintstream.table._syntax.queries import SetOperator


def calc(node: Node, items: Sequence[Item], condition: Expr | None = None) -> Node:
    """Return a projection, with a filter before it."""
    columns = tuple(Column(item.name, item.expression.type, item.time) for item in items)
    return Calc(columns, node, tuple(item.expression for item in items), condition)


def add_filter(node: Node, condition: Expr) -> Node:
    """Return the rows for which a condition holds."""
    return Calc(node.columns, node, None, condition)


def widen(node: Node, more: Sequence[Expr], prefix: str) -> Node:
    """Return a table with further columns, which have a prefix and a number each as names."""
    own = tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
    columns = tuple(Column(f"{prefix}{i}", item.type, _time_of(item)) for i, item in enumerate(more))
    return Calc((*node.columns, *columns), node, (*own, *more))


def _time_of(expression: Expr) -> str:
    """Return the attribute that an expression is: rows in the order of ``PROCTIME()`` are in that of their arrival."""
    return "PROCTIME" if isinstance(expression, Call) and expression.name == "PROCTIME" else ""


def rename(node: Node, names: Sequence[str], place: Place | None = None) -> Node:
    """Return a table with other names for its columns.

    Raises:
        SqlError: There are more or fewer names than columns.
    """
    if len(names) != len(node.columns):
        raise SqlError(f"{len(names)} names{at(place)} for {len(node.columns)} columns: {', '.join(names)}")
    return Calc(tuple(replace(c, name=name) for name, c in zip(names, node.columns, strict=True)), node, None)


def distinct_names(items: Sequence[Item]) -> list[Item]:
    """Return the columns with a number after names that come again: id, id0, id1."""
    taken = {element.name for element in items}
    seen: set[str] = set()
    found = []
    for item in items:
        name = item.name
        if name in seen:
            name = next(f"{item.name}{i}" for i in count() if f"{item.name}{i}" not in taken)
            taken.add(name)
        seen.add(name)
        found.append(replace(item, name=name))
    return found


def values(rows: Sequence[tuple[Expr, ...]], names: Sequence[str], zone: str, place: Place | None = None) -> Node:
    """Return a table of rows, each column in the type that all its values have in common.

    Raises:
        SqlError: Rows differ in length, or values of a column in type.
    """
    if any(len(row) != len(names) for row in rows):
        raise SqlError(f"the rows of VALUES{at(place)} have different numbers of columns")
    types = []
    for i, name in enumerate(names):
        common = common_type([row[i].type for row in rows])
        if common is None:
            given = ", ".join(sql_name(row[i].type) for row in rows)
            raise SqlError(f"column {name} of VALUES{at(place)} has values of different types: {given}")
        types.append(common)
    cells = [tuple(cast(cell, kind, zone) or cell for cell, kind in zip(row, types, strict=True)) for row in rows]
    return Values(tuple(Column(name, kind) for name, kind in zip(names, types, strict=True)), tuple(cells))


def union_all(
    parts: Sequence[Node], zone: str, place: Place | None = None, operation: SetOperator = "UNION ALL"
) -> Node:
    """Return all rows of several tables, whose columns get common types; errors name the operation that needs them.

    Raises:
        SqlError: They have different numbers or types of columns.
    """
    widths = {len(part.columns) for part in parts}
    if len(widths) > 1:
        raise SqlError(f"the tables of {operation}{at(place)} have different numbers of columns: {sorted(widths)}")
    columns = []
    for i, column in enumerate(parts[0].columns):
        common = common_type([part.columns[i].type for part in parts])
        if common is None:
            given = " and ".join(sql_name(part.columns[i].type) for part in parts)
            raise SqlError(f"column '{column.name}' of {operation}{at(place)} has different types: {given}")
        same_time = all(part.columns[i].time == column.time for part in parts)
        columns.append(Column(column.name, common, column.time if same_time else ""))
    return Union(tuple(columns), tuple(convert(part, columns, zone) for part in parts))


def convert(node: Node, columns: Sequence[Column], zone: str) -> Node:
    """Return a table with its columns in other types."""
    if all(a.type.nullable() == b.type.nullable() for a, b in zip(node.columns, columns, strict=True)):
        return node
    parts = [cast(Ref(a.type, i), b.type, zone) for i, (a, b) in enumerate(zip(node.columns, columns, strict=True))]
    return Calc(tuple(columns), node, tuple(part for part in parts if part is not None))


def for_sink(node: Node, name: str, columns: Sequence[Column], zone: str) -> Node:
    """Return a query's result in the types of a sink.

    Raises:
        SqlError: The columns do not fit.
    """
    fits = len(node.columns) == len(columns) and all(
        implicit(a.type, b.type) for a, b in zip(node.columns, columns, strict=True)
    )
    if not fits:
        query = ", ".join(f"{column.name}: {sql_name(column.type)}" for column in node.columns)
        sink = ", ".join(f"{column.name}: {sql_name(column.type)}" for column in columns)
        cause = "Different number of columns." if len(node.columns) != len(columns) else "Incompatible types."
        raise SqlError(
            f"Column types of query result and sink for '{name}' do not match.\nCause: {cause}\n\n"
            f"Query schema: [{query}]\nSink schema:  [{sink}]"
        )
    return convert(node, columns, zone)


def correlate(
    node: Node,
    function: Any,
    arguments: Sequence[Expr],
    names: Sequence[str],
    *,
    outer: bool,
    zone: str,
    place: Place | None,
) -> Node:
    """Return each row joined with the rows of a table function.

    Raises:
        SqlError: The function is not a table function, or has another number of columns.
    """
    if function.kind != "table":
        raise SqlError(f"{function.name}{at(place)} is a {function.kind} function, not a table function")
    given = arguments_of(function, arguments, zone, place)
    types = function.result_types
    if names and len(names) != len(types):
        raise SqlError(f"{function.name}{at(place)} returns {len(types)} columns, but has {len(names)} names")
    chosen = names or [f"f{i}" for i in range(len(types))]
    kinds = [kind.nullable() if outer else kind for kind in types]
    produced = [Column(name, kind) for name, kind in zip(chosen, kinds, strict=True)]
    return Correlate((*node.columns, *produced), node, function, given, outer)


def row_type(columns: Sequence[Column]) -> t.RowType:
    """Return the columns as a type."""
    return t.RowType([t.RowField(column.name, column.type) for column in columns])
