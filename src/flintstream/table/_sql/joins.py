"""Joins in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.operators import logic
from flintstream.table._expressions.resolver import Item, resolve
from flintstream.table._plan.build import calc
from flintstream.table._plan.joins import FULL, INNER, LEFT, RIGHT, joined, versioned
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.resolver import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.session import Session

_SIDES = {"": INNER, LEFT: LEFT, RIGHT: RIGHT, FULL: FULL}


def joined_table(planner: Any, node: Node, scope: Scope, join: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
    """Return a table joined with the next one in FROM.

    Raises:
        SqlError: A condition is wrong or missing.
    """
    place = planner.parsed.place(join.this)
    kind = _SIDES.get(str(join.args.get("side") or "").upper())
    method = str(join.args.get("method") or "").upper()
    if method not in {"", "NATURAL"}:
        raise unsupported(f"{method} JOIN", place, "name the columns with ON or USING")
    if kind is None or str(join.args.get("kind") or "").upper() not in {"", "INNER", "OUTER", "CROSS"}:
        raise unsupported(f"{join.args.get('side') or ''} {join.args.get('kind') or ''} JOIN".strip(), place, "use IN")
    version = join.this.args.get("version")
    if version is not None:
        join.this.set("version", None)
    right, right_scope = planner.read_from(join.this, named)
    both = scope.tables + right_scope.tables
    wide = planner.session.scope((*node.columns, *right.columns), both)
    on, using = join.args.get("on"), [arg.name for arg in join.args.get("using") or ()]
    if method:
        names = [column.name for column in right.columns]
        using = [column.name for column in node.columns if column.name in names]
    condition = None if on is None else boolean(planner.reader.read(on), wide, "ON", planner.parsed.place(on))
    if using:
        condition = _using(node, right, using, planner.session, place)
    if version is not None:
        time = resolve(planner.reader.read(version.expression), scope)
        made = versioned(planner.session.settings, node, right, kind, condition, time, place)
        return made, planner.session.scope(made.columns, both)
    found = joined(planner.session.settings, node, right, kind, condition)
    if using:
        return _merged(found, len(node.columns), using, both, planner.session)
    return found, planner.session.scope(found.columns, both)


def boolean(syntax: s.Syntax, scope: Scope, clause: str, place: Place | None) -> Expr:
    """Return a condition.

    Raises:
        SqlError: It is not a BOOLEAN.
    """
    found = resolve(syntax, scope)
    if not isinstance(found.type, (t.BooleanType, t.NullType)):
        raise SqlError(f"{clause}{at(place)} needs a BOOLEAN, but got {sql_name(found.type)}")
    return found


def _using(left: Node, right: Node, names: Sequence[str], session: Session, place: Place | None) -> Expr | None:
    """Return the condition that columns of the same names are equal."""
    columns = (*left.columns, *right.columns)
    scope = session.scope(columns, ("l",) * len(left.columns) + ("r",) * len(right.columns))
    found: Expr | None = None
    for name in names:
        sides = (s.Name(place, ("l", name)), s.Name(place, ("r", name)))
        equal = resolve(s.Apply(place, "=", sides), scope)
        found = equal if found is None else logic("AND", [found, equal], session.zone)
    return found


def _merged(
    node: Any, width: int, names: Sequence[str], tables: tuple[str, ...], session: Session
) -> tuple[Node, Scope]:
    """Return a join with each column of USING once, before the others."""
    own = [column.name for column in node.columns]
    firsts = [own.index(name) for name in names]
    seconds = [own.index(name, width) for name in names]
    items = []
    for first, second in zip(firsts, seconds, strict=True):
        chosen = second if node.kind == RIGHT else first
        made: Expr = Ref(node.columns[chosen].type, chosen)
        if node.kind == FULL:
            parts = (s.Name(None, (f"${first}",)), s.Name(None, (f"${second}",)))
            numbered = tuple(type(c)(f"${i}", c.type) for i, c in enumerate(node.columns))
            made = resolve(s.Apply(None, "COALESCE", parts), session.scope(numbered))
        items.append(Item(own[first], made, node.columns[chosen].time))
    rest = [i for i in range(len(own)) if i not in {*firsts, *seconds}]
    items += [Item(own[i], Ref(node.columns[i].type, i), node.columns[i].time) for i in rest]
    found = calc(node, items)
    return found, session.scope(found.columns, tuple(tables[i] for i in (*firsts, *rest)))
