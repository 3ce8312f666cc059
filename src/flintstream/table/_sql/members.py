"""``IN`` and ``EXISTS`` with a query where a value is needed: in SELECT, or beside OR. They become numbers of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import optional_module
from flintstream.table._errors import SqlError
from flintstream.table._expressions.aggregates import AGGREGATES
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import Item, resolve
from flintstream.table._plan.build import calc
from flintstream.table._sql.correlated import CLAUSES, HIDDEN
from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.expressions import Expr

    from flintstream.table._expressions.resolver import Scope
    from flintstream.table._logical.nodes import Node


def as_values(planner: Any, node: Node, scope: Scope, tree: Expr, named: Mapping[str, Node]) -> tuple[Node, Scope, Any]:
    """Return a table with a column for what each IN compares, and the expression with queries for single values."""
    trees = optional_module("sqlglot.expressions", extra="table", purpose="SQL")
    for item in list(tree.find_all(trees.Exists, trees.In)):
        query = item.this if isinstance(item, trees.Exists) else item.args.get("query")
        while isinstance(query, trees.Subquery):
            query = query.this
        if not isinstance(query, trees.Select) or _within(item, tree, trees) or any(map(query.args.get, CLAUSES)):
            continue
        if any(
            call.name.upper() in AGGREGATES for part in query.expressions for call in part.find_all(trees.Anonymous)
        ):
            continue  # one row, whatever the conditions
        if isinstance(item, trees.Exists):
            made = _some(trees, query)
        elif isinstance(item.this, trees.Tuple) or len(query.expressions) != 1:
            continue
        else:
            node, scope, made = _in(planner, node, scope, item, query, named, trees)
        if item is tree:
            return node, scope, made
        item.replace(made)
    return node, scope, tree


def _within(node: Any, tree: Expr, trees: Any) -> bool:
    """Return whether it belongs to another query within the expression."""
    parent = node.parent if node is not tree else None
    while parent is not None and parent is not tree:
        if isinstance(parent, (trees.Select, trees.Exists, trees.In)):
            return True
        parent = parent.parent
    return parent is tree and node is not tree and isinstance(tree, (trees.Select, trees.Exists))


def _some(trees: Any, query: Any, condition: object = None) -> Any:
    """Return the expression for whether a query has rows, perhaps those for which a condition holds."""
    counted = query.copy()
    counted.set("expressions", [trees.Anonymous(this="COUNT", expressions=[trees.Star()])])
    if condition is not None:
        counted = counted.where(condition)
    given = [trees.Subquery(this=counted), trees.Literal.number(0)]
    number = trees.Anonymous(this="COALESCE", expressions=given)
    return trees.Paren(this=trees.GT(this=number, expression=trees.Literal.number(0)))


def _in(
    planner: Any, node: Node, scope: Scope, tree: Expr, query: Expr, named: Mapping[str, Node], trees: Any
) -> tuple[Node, Scope, Any]:
    value = resolve(planner.reader.read(tree.this), scope)
    name = f"{HIDDEN}{len(scope.columns)}"
    items = [Item(element.name, Ref(element.type, i), element.time) for i, element in enumerate(node.columns)]
    node = calc(node, [*items, Item(name, value)])
    scope = planner.session.scope(node.columns, (*scope.tables, HIDDEN) if scope.tables else ())
    item = query.expressions[0].unalias()
    met = _some(trees, query, trees.EQ(this=item.copy(), expression=trees.column(name)))
    try:
        nullable = is_nullable(planner.plan(query.copy(), named).columns[0].type)
    except SqlError:  # it reads the outer row
        nullable = True
    unknown = [trees.Is(this=trees.column(name), expression=trees.Null())] if value.nullable else []
    unknown += [_some(trees, query, trees.Is(this=item.copy(), expression=trees.Null()))] if nullable else []
    if not unknown:
        return node, scope, met
    nothing = trees.Not(this=_some(trees, query))
    cases = [trees.If(this=met, true=trees.true()), trees.If(this=nothing, true=trees.false())]
    cases += [trees.If(this=element, true=trees.Null()) for element in unknown]
    return node, scope, trees.Paren(this=trees.Case(ifs=cases, default=trees.false()))
