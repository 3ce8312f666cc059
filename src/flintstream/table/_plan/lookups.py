"""Joins with a table as it is at the moment of processing: ``FOR SYSTEM_TIME AS OF`` a column ``AS PROCTIME()``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.expr import Call, Ref
from flintstream.table._logical.nodes import Calc, Node, Scan, show
from flintstream.table._operators.lookups import LookupJoinOperator, RepeatedLookup
from flintstream.table._operators.rows import RowFunction
from flintstream.table._plan.conditions import both, conjuncts, taken_apart
from flintstream.table._plan.translate import add_operator, translate, translation
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._operators.lookups import Lookup
    from flintstream.table._plan.settings import PlannerSettings


@dataclass(frozen=True)
class LookupJoin(Node):
    """Rows of a stream, each with the rows that a table has for its key."""

    left: Node
    right: Node
    """The table that is read by key, with filters and projections of its rows."""
    lookup: Lookup
    keys: tuple[Expr, ...]
    rest: Expr | None
    outer: bool

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads as a stream."""
        return (self.left,)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        kind = "LeftOuterJoin" if self.outer else "InnerJoin"
        keys = ", ".join(show(key, self.left.columns) for key in self.keys)
        names = ", ".join(column.name for column in self.columns)
        scan, _ = _scan(self.right)
        return f"LookupJoin(table=[{scan.name}], joinType=[{kind}], lookup=[{keys}], select=[{names}])"


def can_be_looked_up(node: Node) -> bool:
    """Return whether a table, perhaps filtered and projected, is read by key."""
    while isinstance(node, Calc):
        node = node.input
    return isinstance(node, Scan) and node.lookup is not None


def looked_up(
    settings: PlannerSettings,
    left: Node,
    right: Node,
    condition: Expr | None,
    place: Place | None,
    *,
    outer: bool,
    retry: tuple[int, int] | None,
) -> Node:
    """Return a join of each left row with the rows that the right table has for it.

    Args:
        settings: Those of the session.
        left: The rows of a stream.
        right: The table that is read by key.
        condition: On a left row followed by a right one.
        place: Where the statement has the table.
        outer: Whether left rows are there without a partner.
        retry: How long a key without rows waits until it is looked up again (ms), and how often; None for never.

    Raises:
        SqlError: No column of the table must equal something in the left row.
    """
    scan, steps = _scan(right)
    keys: dict[int, Expr] = {}
    rest: list[Expr] = []
    for conjunct in conjuncts(condition):
        compared = taken_apart(conjunct, len(left.columns)).keys
        position = _physical(compared[0][1], steps) if compared else None
        if position is None or position in keys:
            rest.append(conjunct)
        else:
            keys[position] = compared[0][0]
    if not keys or scan.lookup is None:
        raise SqlError(
            f"FOR SYSTEM_TIME AS OF{at(place)} a processing time needs an equality of a column of table '{scan.name}' "
            "with something in the other table"
        )
    positions = sorted(keys)
    columns = [replace(column, type=column.type.nullable()) if outer else column for column in right.columns]
    columns = [replace(column, time="") for column in columns]
    found = scan.lookup(positions)
    if retry is not None:
        found = RepeatedLookup(found, *retry)
    own_keys = tuple(keys[i] for i in positions)
    return LookupJoin((*left.columns, *columns), left, right, found, own_keys, both(rest, settings.zone), outer)


def _scan(node: Node) -> tuple[Scan, list[Calc]]:
    """Return the table itself, and the steps from it to a node."""
    steps: list[Calc] = []
    while isinstance(node, Calc):
        steps.append(node)
        node = node.input
    if not isinstance(node, Scan):
        raise TypeError(f"{node!r} is not read by key")
    return node, steps[::-1]


def _physical(expression: Expr, steps: list[Calc]) -> int | None:
    """Return the stored column that an expression is; None if it is computed."""
    for step in reversed(steps):
        expression = _without_widening(expression)
        if not isinstance(expression, Ref):
            return None
        if step.projection is not None:
            expression = step.projection[expression.index]
    expression = _without_widening(expression)
    return expression.index if isinstance(expression, Ref) else None


def _without_widening(expression: Expr) -> Expr:
    """Return the integer that a cast makes wider: the values are the same."""
    if isinstance(expression, Call) and expression.name == "CAST" and type(expression.type) in INTEGERS:
        inner = expression.arguments[0]
        if INTEGERS.get(type(inner.type), 99) <= INTEGERS[type(expression.type)]:
            return inner
    return expression


@translation.register(LookupJoin)
def _(node: LookupJoin, env: StreamExecutionEnvironment) -> DataStream:
    _, steps = _scan(node.right)
    made: list[tuple[Any, Any]] = [
        (
            None if step.condition is None else RowFunction([step.condition]),
            None if step.projection is None else RowFunction(step.projection),
        )
        for step in steps
    ]
    operator = LookupJoinOperator(
        node.lookup,
        RowFunction(node.keys),
        made,
        None if node.rest is None else RowFunction([node.rest]),
        nulls=(None,) * len(node.right.columns) if node.outer else None,
        changelog=node.changelog,
    )
    return add_operator(translate(node.left, env), "LookupJoin", operator)
