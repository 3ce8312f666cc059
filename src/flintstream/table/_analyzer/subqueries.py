"""Queries within WHERE and SELECT: IN, EXISTS, ANY, ALL and single values; each is planned once, in its scope."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeGuard

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.correlated import Rows, after_outer_row, value_for_each_row
from flintstream.table._analyzer.grouping import Grouping, aggregates_in
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table._expressions.operators import comparison
from flintstream.table._expressions.resolver import resolve, resolve_items
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._logical.nodes import Calc, Values
from flintstream.table._plan.build import widen
from flintstream.table._plan.conditions import both
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import ANTI, INNER, LEFT, SEMI, join_tables
from flintstream.table._plan.sorting import Sort
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_CLAUSES = "a subquery that has clauses other than SELECT and WHERE and reads"


class Planner(Protocol):
    """What plans the parts of a subquery."""

    @property
    def settings(self) -> PlannerSettings:
        """The settings of the session."""

    def within(self, outer: Scope, barrier: str) -> Planner:
        """Return the planner of queries within another one."""

    def plan(self, query: s.Query) -> Node:
        """Return the plan of a query."""

    def rows(self, query: q.Select, *, correlated: bool = False) -> Rows:
        """Return the rows of FROM for which WHERE holds."""

    def select(self, query: q.Select, rows: Rows) -> Node:
        """Return what SELECT makes of rows."""


def filter_rows(planner: Planner, node: Node, scope: Scope, where: Sequence[s.Syntax], *, correlated: bool) -> Rows:
    """Return the rows that meet conditions with queries; they may read the outer row if the query is correlated.

    Raises:
        SqlError: The condition is not a BOOLEAN, or has a query where none can be.
    """
    members: list[tuple[bool, s.Subquery]] = []
    conditions: list[s.Syntax] = []
    for conjunct in where:
        negated, inner = _positive(conjunct)
        if isinstance(inner, s.Exists) and _always_has_a_row(inner.query):
            conditions.append(s.Value(None, not negated, t.BooleanType(False)))
        elif isinstance(inner, (s.Exists, s.Quantified)):
            members.append((negated, inner))
        else:
            node, scope, found = with_values(planner, node, scope, [conjunct])
            conditions += found
    rows = Rows(node, scope).where(conditions, correlated=correlated)
    for negated, member in members:
        node = _with_partner(planner, rows.complete(planner.settings), scope, member, negated=negated)
        rows = replace(rows, node=node, own=())
    return rows


def _positive(syntax: s.Syntax) -> tuple[bool, s.Syntax]:
    negated = False
    while isinstance(syntax, s.Apply) and syntax.function == "NOT":
        negated, (syntax,) = not negated, syntax.arguments
    return negated, syntax


def _always_has_a_row(query: s.Query) -> bool:
    """Return whether a query aggregates all rows, of which there is one result, whatever the rows are."""
    if not isinstance(query, q.Select) or query.keys is not None or query.having is not None:
        return False
    return query.qualify is None and any(map(aggregates_in, query.items))


def _with_partner(planner: Planner, node: Node, scope: Scope, member: s.Subquery, *, negated: bool) -> Node:
    """Return the rows that have a partner in a query, or none if ``negated``."""
    settings, width = planner.settings, len(node.columns)
    right, columns, across = _partners(planner, scope, member)
    conditions = [after_outer_row(item, width) for item in across]
    if isinstance(member, s.Quantified):
        sign = member.sign
        if member.quantifier == "ALL":  # no row for which the opposite holds
            sign, negated = _OPPOSITE[sign], not negated
        if len(member.values) != len(columns):
            values = len(member.values)
            raise SqlError(f"IN{at(member.place)} compares {values} values with a subquery of {len(columns)} columns")
        for value, column in zip(member.values, columns, strict=True):
            pair = resolve(value, scope), after_outer_row(column, width)
            conditions.append(_compare(sign, pair, settings.zone, member.place, negated=negated))
    return join_tables(settings, node, right, ANTI if negated else SEMI, both(conditions, settings.zone))


def _partners(planner: Planner, scope: Scope, member: s.Subquery) -> tuple[Node, list[Expr], tuple[Expr, ...]]:
    """Return the table of a query, its columns, and the conditions that also read the outer row."""
    inner, query = planner.within(scope, _CLAUSES), member.query
    if _is_plain(query):
        rows = inner.rows(query, correlated=True)
        if rows.reads_outer_row(query.items):
            items = () if isinstance(member, s.Exists) else query.items
            found = resolve_items(items, replace(rows.scope, barrier=""))
            return rows.complete(planner.settings), [item.expression for item in found], rows.across
        node = inner.select(query, rows)
    else:
        node = inner.plan(query)
    return node, [Ref(item.type, i) for i, item in enumerate(node.columns)], ()


def _is_plain(query: s.Query) -> TypeGuard[q.Select]:
    """Return whether a query has only clauses with which it can read the outer row."""
    if not isinstance(query, q.Select) or query.source is None or query.distinct:
        return False
    return query.keys is None and query.having is None and query.qualify is None


def _compare(sign: str, pair: tuple[Expr, Expr], zone: str, place: Place | None, *, negated: bool) -> Expr:
    made = comparison(sign, pair, zone)
    if made is None:
        raise SqlError(f"IN{at(place)} compares {sql_name(pair[0].type)} with {sql_name(pair[1].type)}")
    parts = [made]
    for item in pair if negated else ():
        none = FUNCTIONS["IS NULL"].build("IS NULL", [item], zone) if item.nullable else None
        parts += [] if none is None else [none]
    return both(parts, zone, "OR") or made


# -- values ----------------------------------------------------------------------------------------------------------


def with_values(
    planner: Planner, node: Node, scope: Scope, items: Sequence[s.Syntax]
) -> tuple[Node, Scope, list[s.Syntax]]:
    """Return a table with a column for the value of each query within expressions, and the expressions on it."""

    def replace_query(part: s.Syntax) -> s.Syntax:
        nonlocal node, scope
        if isinstance(part, s.Exists) and _always_has_a_row(part.query):
            part = s.Value(None, True, t.BooleanType(False))
        elif isinstance(part, (s.Exists, s.Quantified)):
            node, scope, part = _as_value(planner, node, scope, part)
        elif isinstance(part, s.Subquery):
            inner, query = planner.within(scope, _CLAUSES), part.query
            if _is_plain(query):
                rows = inner.rows(query, correlated=True)
                node, scope, part = _value(inner, node, scope, rows, query)
            else:
                node, scope, part = _single_value(planner.settings, node, scope, inner.plan(query), part.place)
        else:
            part = s.map_syntax(part, replace_query)
        return part

    found = [replace_query(item) if s.has_query(item) else item for item in items]
    return node, scope, found


def _value(inner: Planner, node: Node, scope: Scope, rows: Rows, query: q.Select) -> tuple[Node, Scope, s.Syntax]:
    """Return a table with the value that SELECT makes of the rows of a query, and what names it."""
    if not rows.reads_outer_row(query.items):
        return _single_value(inner.settings, node, scope, inner.select(query, rows), query.place)
    if len(query.items) != 1:
        raise _not_one_column(query.place, len(query.items))
    return value_for_each_row(inner.settings, node, scope, rows, query.items[0], query.place)


def _single_value(
    settings: PlannerSettings, node: Node, scope: Scope, value: Node, place: Place | None
) -> tuple[Node, Scope, s.Syntax]:
    """Return a table with the only value of another one."""
    if len(value.columns) != 1:
        raise _not_one_column(place, len(value.columns))
    constant = _is_one_row(value)
    single = value if constant else _single(settings, value, scope)
    name, kind = f"{HIDDEN}{len(scope.columns)}", single.columns[0].type.nullable()
    right = Calc((Column(name, kind),), single, (Ref(kind, 0),))
    node = join_tables(settings, node, right, INNER if constant else LEFT, None)
    return node, scope.of(node.columns), s.Name(None, (name,))


def _not_one_column(place: Place | None, count: int) -> SqlError:
    return SqlError(f"a subquery{at(place)} within an expression needs one column, but has {count}")


def _is_one_row(node: Node) -> bool:
    """Return whether a query has one row of constants."""
    while isinstance(node, Calc) and node.condition is None:
        node = node.input
    return isinstance(node, Values) and len(node.rows) == 1


def _single(settings: PlannerSettings, node: Node, scope: Scope) -> Node:
    """Return the only row; an error when it runs if there are more, and None if there is none."""
    below = node
    while isinstance(below, Sort) or (isinstance(below, Calc) and below.condition is None):
        below = below.input
    if isinstance(below, Grouped) and below.keys == 0 and below.window is None:
        return node
    name = node.columns[0].name
    value = s.Alias(None, s.Aggregate(None, "SINGLE_VALUE", s.Name(None, (name,))), (name,))
    return Grouping(settings, node, scope.of(node.columns, ()), []).plan([value], None, "")


def _lists_all(query: q.Select) -> bool:
    return any(isinstance(item, s.Star) for item in query.items)


def _as_value(
    planner: Planner, node: Node, scope: Scope, member: s.Exists | s.Quantified
) -> tuple[Node, Scope, s.Syntax]:
    """Return a table with numbers of rows of a query, and what they say about EXISTS or IN."""
    query = member.query
    all_columns = isinstance(member, s.Quantified) and isinstance(query, q.Select) and _lists_all(query)
    if not _is_plain(query) or all_columns or any(map(aggregates_in, query.items)):
        name = f"{HIDDEN}v"
        source = q.Source(query.place, query, HIDDEN, (name,) if isinstance(member, s.Quantified) else ())
        query = q.Select(query.place, (s.Name(query.place, (name,)),), source)
    value, compared = None, None
    if isinstance(member, s.Quantified):
        if member.quantifier != "IN" or len(member.values) != 1 or len(query.items) != 1:
            return node, scope, member
        value = resolve(member.values[0], scope)
        node = widen(node, [value], f"{HIDDEN}{len(node.columns)}_")
        scope = scope.of(node.columns)
        compared = s.Name(None, (node.columns[-1].name,))
    inner = planner.within(scope, _CLAUSES)
    rows = inner.rows(query, correlated=True)
    counted = replace(query, items=(s.Aggregate(query.place, "COUNT", None),))
    zero = s.Value(None, 0, t.IntType(False))

    def some(*conditions: s.Syntax) -> s.Syntax:
        """Return whether there are rows that meet conditions."""
        nonlocal node, scope
        node, scope, number = _value(inner, node, scope, rows.where(conditions, correlated=True), counted)
        return s.Apply(None, ">", (s.Apply(None, "COALESCE", (number, zero)), zero))

    if value is None or compared is None:
        exists = some()
        return node, scope, exists
    item = query.items[0].argument if isinstance(query.items[0], s.Alias) else query.items[0]
    nullable = rows.reads_outer_row([item]) or resolve(item, rows.scope).nullable
    met = some(s.Apply(None, "=", (item, compared)))
    if not nullable and not value.nullable:
        return node, scope, met
    nothing = s.Apply(None, "NOT", (some(),))
    unknown: list[s.Syntax] = [s.Apply(None, "IS NULL", (compared,))] if value.nullable else []
    unknown += [some(s.Apply(None, "IS NULL", (item,)))] if nullable else []
    true, false = (s.Value(None, truth, t.BooleanType(False)) for truth in (True, False))
    none = s.Value(None, None, t.NullType())
    cases = [met, true, nothing, false, *(part for condition in unknown for part in (condition, none)), false]
    return node, scope, s.Apply(None, "CASE", tuple(cases))
