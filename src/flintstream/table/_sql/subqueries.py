"""Queries within WHERE and SELECT: IN, EXISTS, and single values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import optional_module
from flintstream.table._errors import ColumnNotFoundError, SqlError, at
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table._expressions.operators import comparison
from flintstream.table._expressions.resolver import resolve
from flintstream.table._logical.nodes import Calc, Values
from flintstream.table._plan.build import filtered
from flintstream.table._plan.conditions import both, moved
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import ANTI, INNER, LEFT, SEMI, joined, with_condition
from flintstream.table._sql.correlated import HIDDEN, conjuncts_of, inner_rows, with_value
from flintstream.table._sql.grouping import Grouping
from flintstream.table._sql.joins import boolean
from flintstream.table._sql.members import as_values
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._expressions.resolver import Scope
    from flintstream.table._logical.nodes import Node

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_QUERIES = {"Select", "Union", "Intersect", "Except", "Values"}
_SIGNS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def filtered_by(
    planner: Any, node: Node, scope: Scope, where: Any, named: Mapping[str, Node]
) -> tuple[Node, Scope, Expr | None]:
    """Return a table with what WHERE demands of it, and the condition that is left.

    Raises:
        SqlError: The condition is not a BOOLEAN, or has a query where none can be.
    """
    queries, plain = [], []
    for conjunct in conjuncts_of(where):
        negated, inner = _positive(conjunct)
        kind = type(inner).__name__
        if kind == "Exists" or (kind == "In" and inner.args.get("query") is not None) or _quantified(inner):
            queries.append((negated, inner))
        else:
            plain.append(conjunct)
    resolved = []
    for item in plain:
        node, scope, each_ = with_values(planner, node, scope, item, named)
        resolved.append((item, each_))
    parts = [boolean(planner.reader.read(b), scope, "WHERE", planner.parsed.place(a)) for a, b in resolved]
    node, condition = with_condition(planner.session.settings, node, both(parts, planner.session.zone))
    if queries and condition is not None:
        node, condition = filtered(node, condition), None
    for negated, item in queries:
        node = _member(planner, node, scope, item, named, negated=negated)
    return node, scope, condition


def with_values(
    planner: Any, node: Node, scope: Scope, tree: Any, named: Mapping[str, Node]
) -> tuple[Node, Scope, Any]:
    """Return a table with a column for the value of each query within an expression, and the expression on it."""
    expressions = optional_module("sqlglot.expressions", extra="table", purpose="SQL")
    node, scope, tree = as_values(planner, node, scope, tree, named)
    found = [item for item in tree.find_all(expressions.Subquery) if not _within(item, tree)]
    for item in found:
        place = planner.parsed.place(item)
        try:
            value = planner.plan(item.this.copy(), named)
        except ColumnNotFoundError as error:
            if not scope.knows(error.name):
                raise
            node, scope, name = with_value(planner, node, scope, item.this, named)
            tree = _replaced(item, tree, expressions.column(name))
            continue
        if len(value.columns) != 1:
            raise SqlError(f"a subquery{at(place)} within an expression needs one column, but has {len(value.columns)}")
        constant = _is_one_row(value)
        single = value if constant else _single(planner.session, value)
        name = f"{HIDDEN}{len(scope.columns)}"
        right = type(single.columns[0])(name, single.columns[0].type.nullable())
        node = joined(planner.session.settings, node, _renamed(single, right), INNER if constant else LEFT, None)
        tables = (*scope.tables, HIDDEN) if scope.tables else ()
        scope = planner.session.scope(node.columns, tables)
        tree = _replaced(item, tree, expressions.column(name))
    return node, scope, tree


def _replaced(query: Any, tree: Any, column: object) -> Any:
    """Return an expression with a column for a query in it."""
    if query is tree:
        return column
    query.replace(column)
    return tree


def _quantified(tree: Any) -> tuple[str, str, Any] | None:
    """Return the sign, ANY or ALL, and the query of ``a > ALL (SELECT ...)``; None if it is something else."""
    sign, other = _SIGNS.get(type(tree).__name__), tree.args.get("expression")
    word = type(other).__name__.upper()
    if sign is None or other is None or word not in {"ANY", "ALL"}:
        return None
    query = other.this
    while type(query).__name__ in {"Subquery", "Paren"}:
        query = query.this
    return (sign, word, query) if type(query).__name__ in _QUERIES else None


def _within(query: Any, tree: Any) -> bool:
    """Return whether a query belongs to another one within the expression, or is a list of IN."""
    if query is tree:
        return False
    parent = query.parent
    if type(parent).__name__ == "In" and parent.args.get("query") is query:
        return True
    while parent is not None and parent is not tree:
        if type(parent).__name__ in {"Select", "Subquery", "Exists", "Any", "All"}:
            return True
        parent = parent.parent
    return False


def _renamed(node: Node, column: Column) -> Node:
    return Calc((column,), node, (Ref(column.type, 0),))


def _is_one_row(node: Node) -> bool:
    """Return whether a query has one row of constants."""
    while isinstance(node, Calc) and node.condition is None:
        node = node.input
    return isinstance(node, Values) and len(node.rows) == 1


def _single(session: Any, node: Node) -> Node:
    """Return the only row; an error when it runs if there are more, and None if there is none."""
    below = node
    while hasattr(below, "input") and not isinstance(below, Grouped):
        if getattr(below, "condition", None) is not None:
            break
        below = below.input
    if isinstance(below, Grouped) and below.keys == 0 and below.window is None:
        return node
    name = node.columns[0].name
    value = s.Alias(None, s.Aggregate(None, "SINGLE_VALUE", s.Name(None, (name,))), (name,))
    return Grouping(session, node, session.scope(node.columns), []).plan([value], None, "")


def _positive(tree: Any) -> tuple[bool, Any]:
    negated = False
    while type(tree).__name__ in {"Not", "Paren"}:
        negated ^= type(tree).__name__ == "Not"
        tree = tree.this
    return negated, tree


def _member(planner: Any, node: Node, scope: Scope, tree: Any, named: Mapping[str, Node], *, negated: bool) -> Node:
    """Return the rows that have a partner in a query, or none if ``negated``."""
    exists = type(tree).__name__ == "Exists"
    sign, word, query = _quantified(tree) or ("=", "ANY", tree.this if exists else tree.args["query"])
    while type(query).__name__ == "Subquery":
        query = query.this
    right, columns, condition = _inner(planner, scope, query, named)
    session = planner.session
    if word == "ALL":  # no row for which the opposite holds
        sign, negated = _OPPOSITE[sign], not negated
    conditions = [] if condition is None else [condition]
    if not exists:
        place = planner.parsed.place(tree)
        first = tree.this
        wanted = list(first.expressions) if type(first).__name__ == "Tuple" else [first]
        if len(wanted) != len(columns):
            raise SqlError(f"IN{at(place)} compares {len(wanted)} values with a subquery of {len(columns)} columns")
        for item, column in zip(wanted, columns, strict=True):
            pair = resolve(planner.reader.read(item), scope), moved(column, len(scope.columns))
            conditions.append(_compared(sign, pair, session.zone, place, negated=negated))
    return joined(session.settings, node, right, ANTI if negated else SEMI, both(conditions, session.zone))


def _compared(sign: str, pair: tuple[Expr, Expr], zone: str, place: Place | None, *, negated: bool) -> Expr:
    made = comparison(sign, pair, zone)
    if made is None:
        raise SqlError(f"IN{at(place)} compares {sql_name(pair[0].type)} with {sql_name(pair[1].type)}")
    parts = [made]
    for item in pair if negated else ():
        none = FUNCTIONS["IS NULL"].build("IS NULL", [item], zone) if item.nullable else None
        parts += [] if none is None else [none]
    return both(parts, zone, "OR") or made


def _inner(planner: Any, outer: Scope, query: Any, named: Mapping[str, Node]) -> tuple[Node, list[Expr], Expr | None]:
    """Return the table of a query, its columns, and the condition that names columns of the outer query."""
    try:
        node = planner.plan(query.copy(), named)
    except ColumnNotFoundError as error:
        if not outer.knows(error.name):
            raise
        first = error
    else:
        return node, [Ref(item.type, i) for i, item in enumerate(node.columns)], None
    found = inner_rows(planner, outer, query, named)
    if found is None:
        raise first
    node, scope, across = found
    items = [] if type(query.parent).__name__ == "Exists" else query.expressions
    return node, [resolve(planner.reader.read(item), scope) for item in items], both(across, scope.zone)
