"""The rows of a query that may read columns of the outer row, and a value of them for each outer row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.grouping import Grouping
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Column, OuterRef, Ref
from flintstream.table._expressions.operators import comparison, distinct_from
from flintstream.table._expressions.resolver import resolve, resolve_condition
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.build import add_filter, widen
from flintstream.table._plan.conditions import both, taken_apart
from flintstream.table._plan.joins import INNER, LEFT, join_tables, with_condition
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings


@dataclass(frozen=True)
class Rows:
    """The rows of a query before SELECT."""

    node: Node
    scope: Scope
    own: tuple[Expr, ...] = ()
    """The conditions of WHERE that the rows have yet to meet."""
    across: tuple[Expr, ...] = ()
    """The conditions that also read the outer row."""

    def where(self, conditions: Sequence[s.Syntax], *, correlated: bool) -> Rows:
        """Return the rows that meet further conditions, which may read the outer row if the query is correlated.

        Raises:
            SqlError: A condition is not a BOOLEAN.
        """
        scope = replace(self.scope, barrier="") if correlated else self.scope
        made = [resolve_condition(item, scope, "WHERE", item.place) for item in conditions]
        across = tuple(item for item in made if _reads_outer_row(item))
        return replace(
            self, own=(*self.own, *(item for item in made if item not in across)), across=(*self.across, *across)
        )

    def apply_conditions(self, settings: PlannerSettings) -> tuple[Node, Expr | None]:
        """Return the rows, and the condition that is left of their own ones."""
        return with_condition(settings, self.node, both(self.own, settings.zone))

    def complete(self, settings: PlannerSettings) -> Node:
        """Return the rows that meet their own conditions."""
        node, rest = self.apply_conditions(settings)
        return node if rest is None else add_filter(node, rest)

    def reads_outer_row(self, items: Sequence[s.Syntax]) -> bool:
        """Return whether the rows, or expressions on them, depend on the outer row."""
        names = (name for item in items for name in names_in(item))
        return bool(self.across) or any(self.scope.levels_up(name) > 0 for name in names)


def _reads_outer_row(expression: Expr) -> bool:
    if isinstance(expression, Call):
        return any(map(_reads_outer_row, expression.arguments))
    return isinstance(expression, OuterRef)


def names_in(syntax: s.Syntax) -> Iterator[s.Name]:
    """Yield the names that an expression reads, not those of queries within it."""
    if isinstance(syntax, s.Name):
        yield syntax
    for part in s.parts(syntax):
        yield from names_in(part)


def after_outer_row(expression: Expr, width: int) -> Expr:
    """Return an expression on an outer row, of ``width`` columns, followed by the row of its query."""
    if isinstance(expression, OuterRef):
        return Ref(expression.type, expression.index)
    if isinstance(expression, Ref):
        return Ref(expression.type, expression.index + width)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(after_outer_row(item, width) for item in expression.arguments))
    return expression


def value_for_each_row(
    settings: PlannerSettings, node: Node, scope: Scope, rows: Rows, item: s.Syntax, place: Place | None
) -> tuple[Node, Scope, s.Syntax]:
    """Return a table with the value that a query has for each row, and what names it.

    The rows of the query are grouped by what its conditions compare with the outer row, and joined with it.

    Raises:
        SqlError: The value is neither aggregated nor a column of the outer row.
        UnsupportedClauseError: An aggregate reads the outer row.
    """
    inner, own, outer_keys, strict = _add_keys(settings, node, scope, rows)
    item = item.argument if isinstance(item, s.Alias) else item
    aggregates = list(_aggregates(item))
    if not aggregates:
        item = s.Aggregate(place, "SINGLE_VALUE", item)
        aggregates = [item]
    keys = [s.Name(place, (f"{HIDDEN}k{i}",)) for i in range(len(outer_keys))]
    listed = [*keys, *(s.Alias(place, element, (f"$a{i}",)) for i, element in enumerate(aggregates))]
    own = replace(own, barrier="a scalar subquery whose SELECT reads")
    grouped = Grouping(settings, inner, own, keys).plan(listed, None, "")
    width = len(node.columns)
    names = [f"{HIDDEN}{width + i}" for i in range(len(grouped.columns))]
    right = tuple(Column(name, c.type.nullable()) for name, c in zip(names, grouped.columns, strict=True))
    renamed = Calc(right, grouped, tuple(Ref(c.type, i) for i, c in enumerate(grouped.columns)))
    equal = [_equal(a, Ref(right[i].type, width + i), settings.zone, strict=strict) for i, a in enumerate(outer_keys)]
    node = join_tables(settings, node, renamed, LEFT, both(equal, settings.zone))
    scope = scope.of(node.columns)
    columns = {id(element): name for element, name in zip(aggregates, names[len(keys) :], strict=True)}

    def value(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Aggregate):
            column = s.Name(None, (columns[id(syntax)],))
            nothing = s.Value(None, 0, t.BigIntType(False))  # what a COUNT of no rows is
            return s.Apply(syntax.place, "COALESCE", (column, nothing)) if syntax.function == "COUNT" else column
        if isinstance(syntax, s.Name) and rows.scope.levels_up(syntax) == 0:
            raise SqlError(f"Expression '{'.'.join(syntax.parts)}'{at(syntax.place)} is not being grouped")
        return s.map_syntax(syntax, value)

    found = value(item)
    if not isinstance(found, s.Name):
        computed = resolve(found, scope)
        found = s.Name(None, (f"{HIDDEN}{len(node.columns)}v",))
        column = Column(found.parts[0], computed.type.nullable())
        kept = tuple(Ref(element.type, i) for i, element in enumerate(node.columns))
        node = Calc((*node.columns, column), node, (*kept, computed))
        scope = scope.of(node.columns)
    return node, scope, found


def _add_keys(
    settings: PlannerSettings, node: Node, scope: Scope, rows: Rows
) -> tuple[Node, Scope, Sequence[Expr], bool]:
    """Return the rows of a query with columns for what they share with outer rows, which is also returned.

    And whether these are equal only if they are not None.
    """
    inner, width = rows.complete(settings), len(node.columns)
    across = [after_outer_row(item, width) for item in rows.across]
    parts = taken_apart(both(across, settings.zone), width)
    if parts.keys and not parts.rest:
        inner = widen(inner, [b for _, b in parts.keys], f"{HIDDEN}k")
        return inner, rows.scope.of(inner.columns), [a for a, _ in parts.keys], True
    read = sorted({ref.index for item in across for ref in refs(item) if ref.index < width})
    names = [s.Name(None, (f"{HIDDEN}k{i}",)) for i in range(len(read))]
    chosen = tuple(Ref(node.columns[i].type, i) for i in read)
    columns = tuple(Column(name.parts[0], ref.type) for name, ref in zip(names, chosen, strict=True))
    outer_values = Calc(columns, node, chosen)
    different = Grouping(settings, outer_values, scope.of(columns, ()), names).plan(names, None, "")
    places = {i: len(inner.columns) + at for at, i in enumerate(read)}
    conditions = [_before_outer_values(item, places) for item in rows.across]
    inner = join_tables(settings, inner, different, INNER, both(conditions, settings.zone))
    return inner, rows.scope.of(inner.columns), chosen, False


def _before_outer_values(expression: Expr, places: dict[int, int]) -> Expr:
    """Return a condition on a row of the query followed by outer values."""
    if isinstance(expression, OuterRef):
        return Ref(expression.type, places[expression.index])
    if isinstance(expression, Call):
        arguments = tuple(_before_outer_values(argument, places) for argument in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression


def _aggregates(syntax: s.Syntax) -> Iterator[s.Aggregate]:
    if isinstance(syntax, s.Aggregate):
        yield syntax
        return
    for part in s.parts(syntax):
        yield from _aggregates(part)


def _equal(a: Expr, b: Expr, zone: str, *, strict: bool) -> Expr:
    if strict or not a.nullable:
        made = comparison("=", (a, b), zone)
    else:
        made = distinct_from("IS NOT DISTINCT FROM", (a, b), zone)
    if made is None:
        raise SqlError("columns of a scalar subquery cannot be compared")
    return made
