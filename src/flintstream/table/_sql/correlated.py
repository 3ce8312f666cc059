"""Queries for a value that read columns of the outer row: one value for each of the rows that they depend on."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import ColumnNotFoundError, SqlError, unsupported
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._expressions.operators import comparison, distinct_from
from flintstream.table._expressions.resolver import Scope, resolve
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.build import filtered
from flintstream.table._plan.conditions import both, moved, taken_apart
from flintstream.table._plan.joins import INNER, LEFT, joined, with_condition
from flintstream.table._sql.grouping import Grouping
from flintstream.table._sql.joins import boolean
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node

HIDDEN = "$q"
"""How the names of columns begin that hold the value of a query."""
CLAUSES = ("group", "having", "distinct", "limit", "offset", "order", "qualify")


@dataclass(frozen=True)
class _Inner(Scope):
    """The names of a query within another one: its own hide those of the outer query."""

    outer: Scope | None = None
    own: Scope | None = None

    def find(self, name: s.Name) -> tuple[int, tuple[str, ...]]:
        """Return the position of a column in an outer row followed by an inner one."""
        assert self.outer is not None  # noqa: S101
        assert self.own is not None  # noqa: S101
        try:
            index, rest = self.own.find(name)
        except ColumnNotFoundError:
            if not self.outer.knows(name.parts):
                raise
            return self.outer.find(name)
        return index + len(self.outer.columns), rest


def conjuncts_of(tree: Any) -> list[Any]:
    """Return the conditions that must all hold, as sqlglot's trees."""
    while type(tree).__name__ == "Paren":
        tree = tree.this
    if type(tree).__name__ == "And":
        return [part for item in (tree.this, tree.expression) for part in conjuncts_of(item)]
    return [tree]


def inner_rows(
    planner: Any, outer: Scope, query: Any, named: Mapping[str, Node]
) -> tuple[Node, Scope, list[Expr]] | None:
    """Return the rows of a query, their names, and its conditions on an outer row followed by one of its own.

    None means that the query has clauses with which this cannot be told.
    """
    if type(query).__name__ != "Select" or any(query.args.get(item) for item in CLAUSES):
        return None
    if query.args.get("from_") is None:
        return None
    place = planner.parsed.place(query)
    try:
        node, scope = planner.read_from(query.args["from_"].this, named)
        for join in query.args.get("joins") or ():
            node, scope = planner.read_join(node, scope, join, named)
    except ColumnNotFoundError as error:
        if not outer.knows(error.name):
            raise
        what = f"a query in FROM that reads the column '{'.'.join(error.name)}' of the outer query,"
        raise unsupported(what, place, "read it in WHERE, or use a JOIN") from None
    wide = _Inner((*outer.columns, *scope.columns), (), scope.functions, scope.zone, scope.database, outer, scope)
    own, across = [], []
    where = query.args.get("where")
    for conjunct in [] if where is None else conjuncts_of(where.this):
        made = boolean(planner.reader.read(conjunct), wide, "WHERE", place)
        if any(ref.index < len(outer.columns) for ref in refs(made)):
            across.append(made)
        else:
            own.append(moved(made, -len(outer.columns)))
    node, rest = with_condition(planner.session.settings, node, both(own, scope.zone))
    return node if rest is None else filtered(node, rest), scope, across


def with_value(
    planner: Any, node: Node, scope: Scope, query: Any, named: Mapping[str, Node]
) -> tuple[Node, Scope, str]:
    """Return a table with the value that a query has for each row, and the name of its column.

    The rows of the query are grouped by what its conditions compare with the outer row, and joined with it.

    Raises:
        UnsupportedClauseError: The query has other clauses than SELECT, FROM and WHERE, or several columns.
    """
    session, place = planner.session, planner.parsed.place(query)
    found = inner_rows(planner, scope, query, named)
    if found is None or len(query.expressions) != 1:
        what = "a scalar subquery that reads columns of the outer query and has clauses other than SELECT and WHERE"
        raise unsupported(what, place, "use a JOIN")
    inner, own, across = found
    item = planner.reader.read(query.expressions[0])
    item = item.argument if isinstance(item, s.Alias) else item
    width = len(scope.columns)
    parts = taken_apart(both(across, session.zone), width)
    if parts.rest or not parts.keys:
        inner, own, keys = _with_outer(session, node, inner, own, across)
        outer_keys: Sequence[Expr] = [Ref(scope.columns[i].type, i) for i in keys]
        strict = False
    else:
        outer_keys = [a for a, _ in parts.keys]
        inner, own = _widened(session, inner, own, [b for _, b in parts.keys], f"{HIDDEN}k")
        strict = True
    aggregates: list[s.Aggregate] = []
    above = _above(item, aggregates)
    if not aggregates:
        aggregates.append(s.Aggregate(place, "SINGLE_VALUE", item))
        above = s.Name(place, ("$0",))
    columns = [s.Name(place, (f"{HIDDEN}k{i}",)) for i in range(len(outer_keys))]
    listed = [*columns, *(s.Alias(place, element, (f"$a{i}",)) for i, element in enumerate(aggregates))]
    try:
        grouped = Grouping(session, inner, own, columns).plan(listed, None, "")
    except ColumnNotFoundError as error:
        if not scope.knows(error.name):
            raise
        what = "a scalar subquery whose SELECT reads columns of the outer query"
        raise unsupported(what, place, "read them outside its aggregates, or use a JOIN") from None
    names = [f"{HIDDEN}{width + i}" for i in range(len(grouped.columns))]
    right = [Column(name, element.type.nullable()) for name, element in zip(names, grouped.columns, strict=True)]
    renamed = Calc(tuple(right), grouped, tuple(Ref(element.type, i) for i, element in enumerate(grouped.columns)))
    equal = [_equal(a, Ref(right[i].type, width + i), session.zone, strict=strict) for i, a in enumerate(outer_keys)]
    made: Node = joined(session.settings, node, renamed, LEFT, both(equal, session.zone))
    tables = (*scope.tables, *([HIDDEN] * len(right))) if scope.tables else ()
    wide = session.scope(made.columns, tables)
    values = _values(aggregates, names[len(outer_keys) :])
    value = _named(above, values)
    if isinstance(value, s.Name) and len(value.parts) == 1 and value.parts[0] in names:
        return made, wide, value.parts[0]
    computed = resolve(value, wide)
    name = f"{HIDDEN}{len(made.columns)}v"
    kept = tuple(Ref(element.type, i) for i, element in enumerate(made.columns))
    made = Calc((*made.columns, Column(name, computed.type.nullable())), made, (*kept, computed))
    return made, session.scope(made.columns, (*tables, HIDDEN) if tables else ()), name


def _values(aggregates: Sequence[s.Aggregate], names: Sequence[str]) -> list[s.Syntax]:
    """Return the columns of aggregates; a COUNT of no rows is 0."""
    found: list[s.Syntax] = []
    for item, name in zip(aggregates, names, strict=True):
        column: s.Syntax = s.Name(item.place, (name,))
        if item.function == "COUNT":
            column = s.Apply(item.place, "COALESCE", (column, s.Value(item.place, 0, t.BigIntType(False))))
        found.append(column)
    return found


def _equal(a: Expr, b: Expr, zone: str, *, strict: bool) -> Expr:
    if strict or not a.nullable:
        made = comparison("=", (a, b), zone)
    else:
        made = distinct_from("IS NOT DISTINCT FROM", (a, b), zone)
    if made is None:
        raise SqlError("columns of a scalar subquery cannot be compared")
    return made


def _with_outer(
    session: Any, node: Node, inner: Node, own: Scope, across: Sequence[Expr]
) -> tuple[Node, Scope, list[int]]:
    """Return the rows of a query with all outer values for which its conditions hold, and the outer columns."""
    width = len(node.columns)
    read = sorted({ref.index for item in across for ref in refs(item) if ref.index < width})
    names = [s.Name(None, (f"{HIDDEN}k{i}",)) for i in range(len(read))]
    columns = tuple(Column(item.parts[0], node.columns[i].type) for item, i in zip(names, read, strict=True))
    chosen = Calc(columns, node, tuple(Ref(node.columns[i].type, i) for i in read))
    different = Grouping(session, chosen, session.scope(columns), names).plan(names, None, "")
    places = {i: len(inner.columns) + at for at, i in enumerate(read)}
    conditions = [_replaced(item, places, width) for item in across]
    made = joined(session.settings, inner, different, INNER, both(conditions, session.zone))
    tables = (*own.tables, *([HIDDEN] * len(read))) if own.tables else ()
    return made, session.scope(made.columns, tables), read


def _replaced(expression: Any, places: Mapping[int, int], width: int) -> Any:
    """Return a condition on an inner row followed by outer values, from one on an outer row and an inner one."""
    if isinstance(expression, Ref):
        index = places[expression.index] if expression.index < width else expression.index - width
        return Ref(expression.type, index)
    if hasattr(expression, "arguments"):
        return replace(
            expression, arguments=tuple(_replaced(argument, places, width) for argument in expression.arguments)
        )
    return expression


def _widened(session: Any, node: Node, scope: Scope, more: Sequence[Expr], name: str) -> tuple[Node, Scope]:
    """Return a table with further columns: ``name`` and a number each."""
    own = tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
    columns = tuple(Column(f"{name}{i}", item.type) for i, item in enumerate(more))
    made = Calc((*node.columns, *columns), node, (*own, *more))
    tables = (*scope.tables, *([HIDDEN] * len(columns))) if scope.tables else ()
    return made, session.scope(made.columns, tables)


def _above(syntax: object, found: list[s.Aggregate]) -> Any:
    """Return an expression with a name ``$i`` for aggregate ``i`` within it."""
    if isinstance(syntax, s.Aggregate):
        found.append(syntax)
        return s.Name(syntax.place, (f"${len(found) - 1}",))
    if isinstance(syntax, tuple):
        return tuple(_above(item, found) for item in syntax)
    if is_dataclass(syntax) and isinstance(syntax, s.Syntax):
        return replace(syntax, **{field.name: _above(getattr(syntax, field.name), found) for field in fields(syntax)})
    return syntax


def _named(syntax: object, values: Sequence[s.Syntax]) -> Any:
    """Return an expression with the columns of its aggregates."""
    if isinstance(syntax, s.Name) and syntax.parts[0][:1] == "$" and syntax.parts[0][1:].isdigit():
        return values[int(syntax.parts[0][1:])]
    if isinstance(syntax, tuple):
        return tuple(_named(item, values) for item in syntax)
    if is_dataclass(syntax) and isinstance(syntax, s.Syntax):
        return replace(syntax, **{field.name: _named(getattr(syntax, field.name), values) for field in fields(syntax)})
    return syntax
