"""Plans of joins: their keys are found in the condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common import _datatypes as t
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.units import parse_nanos
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions import syntax as s
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Column, Ref
from flintstream.table._expressions.operators import compared, logic
from flintstream.table._expressions.resolver import Scope, resolve
from flintstream.table._expressions.types import sql_name
from flintstream.table._plan.joins import Join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._plan.nodes import Node
    from flintstream.table._session import Session


def conjuncts(syntax: s.Syntax | None) -> list[s.Syntax]:
    """Return the parts that AND connects."""
    if isinstance(syntax, s.Apply) and syntax.function == "AND":
        return [part for each in syntax.arguments for part in conjuncts(each)]
    return [] if syntax is None else [syntax]


def together(left: tuple[Node, Scope], right: tuple[Node, Scope], outer: tuple[bool, bool]) -> Scope:
    """Return the names of both sides; columns of a side that may be missing are nullable."""
    columns: list[Column] = []
    for (node, _), missing in ((left, outer[1]), (right, outer[0])):
        for each in node.columns:
            kind = each.type.nullable() if missing else each.type
            columns.append(Column(each.name, kind, "" if each.time == "ROWTIME" else each.time))
    tables = tuple(name for node, scope in (left, right) for name in (scope.tables or ("",) * len(node.columns)))
    return Scope(tuple(columns), tables, left[1].functions, left[1].zone)


def joined(
    session: Session,
    left: tuple[Node, Scope],
    right: tuple[Node, Scope],
    outer: tuple[bool, bool],
    parts: Sequence[s.Syntax],
) -> tuple[Node, Scope]:
    """Return a join on the conjunction of conditions.

    Raises:
        SqlError: A condition is no BOOLEAN, or names what is not there.
    """
    scope = together(left, right, outer)
    keys: list[tuple[Expr, Expr]] = []
    rest: list[Expr] = []
    width = len(left[0].columns)
    for each in parts:
        pair = _key(each, scope, width)
        if pair is not None:
            keys.append(pair)
            continue
        made = resolve(each, scope)
        if not isinstance(made.type, (t.BooleanType, t.NullType)):
            raise SqlError(f"the condition of a join{at(each.place)} must be BOOLEAN, but it is {sql_name(made.type)}")
        rest.append(made)
    condition = None if not rest else rest[0] if len(rest) == 1 else logic("AND", rest, scope.zone)
    configuration = session.env._configuration  # noqa: SLF001 - a layer of this package
    ttl = configuration.to_dict().get("table.exec.state.ttl")
    final = configuration.get(RUNTIME_MODE) == "BATCH"
    ttl_ms = 0 if ttl is None else parse_nanos(ttl) // 1_000_000
    return Join(scope.columns, left[0], right[0], tuple(keys), condition, outer, ttl_ms, final), scope


def _key(syntax: s.Syntax, scope: Scope, width: int) -> tuple[Expr, Expr] | None:
    """Return the two sides of an equality between the left and the right."""
    if not isinstance(syntax, s.Apply) or syntax.function != "=":
        return None
    first, second = (resolve(each, scope) for each in syntax.arguments)
    pair = compared(first, second, scope.zone)
    if pair is None:
        return None
    sides = [{ref.index < width for ref in refs(each)} for each in pair]
    if sides == [{False}, {True}]:
        pair, sides = (pair[1], pair[0]), [{True}, {False}]
    if sides != [{True}, {False}]:
        return None
    return pair[0], _shifted(pair[1], width)


def _shifted(expression: Expr, by: int) -> Expr:
    """Return an expression on the columns of the right alone."""
    if isinstance(expression, Ref):
        return Ref(expression.type, expression.index - by)
    if isinstance(expression, Call):
        arguments = tuple(_shifted(each, by) for each in expression.arguments)
        return Call(expression.type, expression.name, arguments, expression.emit, expression.strict)
    return expression


def is_equality_of(syntax: s.Syntax, scope: Scope, width: int) -> bool:
    """Return whether a condition of WHERE compares the left with the right of a join; what is unknown does not."""
    try:
        return _key(syntax, scope, width) is not None
    except SqlError:
        return False
