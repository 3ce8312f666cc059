"""What methods of tables take: other tables, and conditions and columns with queries among their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._analyzer.queries import QueryPlanner
from flintstream.table._analyzer.subqueries import filter_rows, with_values
from flintstream.table._errors import SqlError
from flintstream.table._expressions.resolver import items_of, resolve, resolve_items
from flintstream.table._plan.build import add_filter, calc
from flintstream.table._plan.joins import with_condition
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.session import Session


def where(session: Session, node: Node, condition: s.Syntax) -> Node:
    """Return the rows for which a condition holds.

    Raises:
        SqlError: A name or type is wrong, or a query is where it cannot be.
    """
    settings, scope = session.settings, session.scope(node.columns)
    if s.has_query(condition):
        rows = filter_rows(_planner(session), node, scope, list(s.conjuncts(condition)), correlated=False)
        return calc(rows.complete(settings), items_of(node.columns))
    found, rest = with_condition(settings, node, resolve(condition, scope))
    return found if rest is None else add_filter(found, rest)


def select(session: Session, node: Node, items: list[s.Syntax]) -> Node:
    """Return columns and expressions.

    Raises:
        SqlError: A name or type is wrong.
    """
    scope = session.scope(node.columns)
    if any(map(s.has_query, items)):
        node, scope, items = with_values(_planner(session), node, scope, items)
    return calc(node, resolve_items(items, scope))


def _planner(session: Session) -> QueryPlanner:
    return QueryPlanner(session.settings, session.scope(()), session.table)


def peer(session: Session, other: Session, node: Node) -> Node:
    """Return the plan of another table, for a join or a set operation.

    Raises:
        SqlError: Its names and settings are those of another environment.
    """
    if other is not session:
        raise SqlError("both tables must belong to the same TableEnvironment; from_pandas() can copy rows")
    return node
