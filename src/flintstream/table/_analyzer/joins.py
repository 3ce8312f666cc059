"""Tables in FROM that are joined with those before them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.operators import logic
from flintstream.table._expressions.resolver import Item, resolve, resolve_condition
from flintstream.table._plan.build import calc
from flintstream.table._plan.joins import FULL, RIGHT, join_tables, join_version
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._analyzer.hints import Hints
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.joins import Join
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._syntax import queries as q


def joined_table(
    settings: PlannerSettings, left: tuple[Node, Scope], join: q.Join, right: tuple[Node, Scope], hints: Hints
) -> tuple[Node, Scope]:
    """Return a table, which may be a join, joined with the next one in FROM.

    Raises:
        SqlError: A condition is wrong or missing.
    """
    (node, scope), (other, other_scope) = left, right
    tables = scope.tables + other_scope.tables
    wide = scope.of((*node.columns, *other.columns), tables)
    using = join.using
    if join.natural:
        names = [column.name for column in other.columns]
        using = tuple(column.name for column in node.columns if column.name in names)
    condition = None
    if using:
        condition = _using(wide, len(node.columns), using, join.right.place)
    elif join.condition is not None:
        condition = resolve_condition(join.condition, wide, "ON", join.condition_place)
    if join.time is not None:
        time = resolve(join.time, scope)
        retry = hints.retries.get(join.right.name)
        made: Node = join_version(settings, node, other, join.kind, condition, time, join.right.place, retry)
        return made, wide.of(made.columns)
    own_name = next(iter(scope.tables), "") if len(set(scope.tables)) == 1 else ""
    first, second = (hints.state_ttls_ms.get(name, settings.state_ttl_ms) for name in (own_name, join.right.name))
    found = join_tables(settings, node, other, join.kind, condition, ttls_ms=(first, second))
    if using:
        return _merge(found, len(node.columns), using, wide)
    return found, wide.of(found.columns)


def _using(wide: Scope, width: int, names: Sequence[str], place: Place | None) -> Expr:
    """Return the condition that columns of the same names are equal."""
    scope = wide.of(wide.columns, ("l",) * width + ("r",) * (len(wide.columns) - width))
    found: Expr | None = None
    for name in names:
        sides = (s.Name(place, ("l", name)), s.Name(place, ("r", name)))
        equal = resolve(s.Apply(place, "=", sides), scope)
        found = equal if found is None else logic("AND", [found, equal], wide.zone)
    assert found is not None  # noqa: S101 - there are names
    return found


def _merge(node: Join, width: int, names: Sequence[str], scope: Scope) -> tuple[Node, Scope]:
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
            numbered = tuple(replace(column, name=f"${i}") for i, column in enumerate(node.columns))
            made = resolve(s.Apply(None, "COALESCE", parts), scope.of(numbered, ()))
        items.append(Item(own[first], made, node.columns[chosen].time))
    rest = [i for i in range(len(own)) if i not in {*firsts, *seconds}]
    items += [Item(own[i], Ref(node.columns[i].type, i), node.columns[i].time) for i in rest]
    found = calc(node, items)
    return found, scope.of(found.columns, tuple(scope.tables[i] for i in (*firsts, *rest)))
