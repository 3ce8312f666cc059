"""Plans of queries: SELECT and what is in FROM, VALUES, WITH, ORDER BY and set operations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flintstream.table._analyzer.changelogs import convert_changes
from flintstream.table._analyzer.correlated import Rows
from flintstream.table._analyzer.grouping import Grouping, aggregates_in, distinct
from flintstream.table._analyzer.hints import read_hints
from flintstream.table._analyzer.joins import joined_table
from flintstream.table._analyzer.lateral import as_join
from flintstream.table._analyzer.matching.plan import match_rows
from flintstream.table._analyzer.over import select_items, with_names
from flintstream.table._analyzer.subqueries import filter_rows, with_values
from flintstream.table._analyzer.unnest import unnest
from flintstream.table._analyzer.windows import add_windows, group_window, is_group_window
from flintstream.table._errors import SqlError, at, nearest
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import items_of, resolve
from flintstream.table._plan.build import add_filter, calc, correlate, rename, union_all, values
from flintstream.table._plan.sets import combine
from flintstream.table._plan.sorting import sort_rows
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from flintstream.table._analyzer.hints import Hints
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings

    ReadTable = Callable[[tuple[str, ...], Place | None, Mapping[str, str]], Node]


@dataclass(frozen=True)
class QueryPlanner:
    """Plans the queries at one place of a statement."""

    settings: PlannerSettings
    base: Scope
    """A scope without columns: the functions of the program, and the scope of the query around this one."""
    read_table: ReadTable
    """Returns the plan that reads a table of the catalog, with other options."""
    named: Mapping[str, Node] = field(default_factory=dict)
    """The tables of WITH."""

    def within(self, outer: Scope | None, barrier: str) -> QueryPlanner:
        """Return the planner of queries within another one, and how errors call them if they read its columns."""
        return replace(self, base=replace(self.base, parent=outer, barrier=barrier))

    def plan(self, query: s.Query) -> Node:
        """Return the plan of a query.

        Raises:
            SqlError: A name or type is wrong.
            UnsupportedClauseError: A subquery is where it cannot be.
        """
        if isinstance(query, q.Select):
            return self.select(query, self.rows(query))
        if isinstance(query, q.TableName):
            return self._table(query)
        if isinstance(query, q.SetOperation):
            return self._set_operation(query)
        if isinstance(query, q.Ordered):
            return self._order(query)
        if isinstance(query, q.With):
            return self._with(query)
        if isinstance(query, q.MatchRecognize):
            below = self.plan(query.table)
            return match_rows(below, self.base.of(below.columns, (query.name,) * len(below.columns)), query)
        if isinstance(query, q.Window):
            return add_windows(self.plan(query.table), query, self.settings.zone)
        if isinstance(query, q.Changelog):
            return convert_changes(self.plan(query.table), query, batch=self.settings.batch)
        if isinstance(query, q.Values):
            rows = [tuple(resolve(cell, self.base) for cell in row) for row in query.rows]
            return values(rows, [f"EXPR${i}" for i in range(len(rows[0]))], self.settings.zone, query.place)
        raise TypeError(f"{query!r} is not a query")

    def _with(self, query: q.With) -> Node:
        named = dict(self.named)
        for table in query.tables:
            node = replace(self, named=named).plan(table.table)
            named = {**named, table.name: _with_columns(node, table)}
        return replace(self, named=named).plan(query.table)

    def _set_operation(self, query: q.SetOperation) -> Node:
        left, right = self.plan(query.left), self.plan(query.right)
        if query.operator == "UNION ALL":
            return union_all([left, right], self.settings.zone, query.right.place)
        return combine(self.settings, left, right, query.operator, query.right.place)

    def _order(self, query: q.Ordered) -> Node:
        """Return a query in the order that it asks for, and the part of it."""
        node = self.plan(query.table)
        width = len(node.columns) - query.hidden
        scope = self.base.of(node.columns, ())
        listed: list[tuple[Expr, bool, bool]] = []
        for key, descending, none in query.order:
            if isinstance(key, s.Syntax):
                listed.append((resolve(key, scope), descending, none))
                continue
            if not 0 <= key < width:
                raise SqlError(f"ORDER BY{at(query.place)} has no column {key + 1}: the query has {width}")
            listed.append((Ref(node.columns[key].type, key), descending, none))
        part = (query.skipped, query.limit)
        return sort_rows(self.settings, node, listed, part, width=width, place=query.place).checked()

    def rows(self, query: q.Select, *, correlated: bool = False) -> Rows:
        """Return the rows of FROM for which WHERE holds, which may read the outer query if the query is correlated."""
        if query.source is None:
            node: Node = values([()], [], self.settings.zone)
            scope = self.base.of((), ())
        elif isinstance(query.source, (q.Unnest, q.Lateral)):
            node, scope = self._add_nested(values([()], [], self.settings.zone), self.base, query.source)
        else:
            node, scope = self._source(query.source)
        hints = read_hints(query, batch=self.settings.batch)
        for join in query.joins:
            if isinstance(join, q.Join) and join.lateral:
                node, scope = self._lateral_query(node, scope, join, hints)
            elif isinstance(join, q.Join):
                node, scope = joined_table(self.settings, (node, scope), join, self._source(join.right), hints)
            else:
                node, scope = self._add_nested(node, scope, join)
        conditions = [] if query.where is None else list(s.conjuncts(query.where))
        if any(map(s.has_query, conditions)):
            return filter_rows(self, node, scope, conditions, correlated=correlated)
        return Rows(node, scope).where(conditions, correlated=correlated)

    def select(self, query: q.Select, rows: Rows) -> Node:
        """Return what SELECT makes of rows."""
        node, condition = rows.apply_conditions(self.settings)
        scope = rows.scope
        items = list(query.items)
        if any(map(s.has_query, items)):
            node, scope, items = with_values(self, node, scope, items)
        qualify = None if query.qualify is None else with_names(query.qualify, items, scope)
        conditions = () if qualify is None else (qualify,)
        grouped = query.keys is not None or query.having is not None
        if grouped or any(map(aggregates_in, (*items, *conditions))):
            found = self._of_groups(query)._group(node, scope, query, items, condition, qualify)
        else:
            found = select_items(self.settings, node, scope, items, condition, qualify)
        return distinct(self._of_groups(query).settings, found, self.base) if query.distinct else found

    def _of_groups(self, query: q.Select) -> QueryPlanner:
        """Return a planner that keeps the groups of a SELECT as long as its hint says: only one table has them."""
        if query.source is None or query.joins:
            return self
        ttl_ms = read_hints(query, batch=self.settings.batch).state_ttls_ms.get(
            query.source.name, self.settings.state_ttl_ms
        )
        return replace(self, settings=replace(self.settings, state_ttl_ms=ttl_ms))

    def _group(
        self,
        node: Node,
        scope: Scope,
        query: q.Select,
        items: list[s.Syntax],
        condition: Expr | None,
        qualify: s.Syntax | None,
    ) -> Node:
        keys, sets, having = list(query.keys or ()), list(map(list, query.sets)), query.having
        call = next((key for key in keys if is_group_window(key)), None)
        if call is not None:
            node, rewrite = group_window(node, call, scope)
            scope = scope.of(node.columns)
            items, keys, sets = rewrite(items), rewrite(keys), list(map(rewrite, sets))
            having, qualify = (None if item is None else rewrite([item])[0] for item in (having, qualify))
        return Grouping(self.settings, node, scope, keys, condition, sets).plan(items, having, "EXPR$", qualify)

    # -- FROM ------------------------------------------------------------------------------------------------------

    def _source(self, source: q.Source) -> tuple[Node, Scope]:
        """Return a table in FROM, and its columns."""
        node = _with_columns(self.within(self.base.parent, "a query in FROM that reads").plan(source.table), source)
        for sample in source.samples:
            node = add_filter(node, resolve(sample, self.base))
        return node, self.base.of(node.columns, (source.name,) * len(node.columns))

    def _table(self, query: q.TableName) -> Node:
        node = self.named.get(query.name[0]) if len(query.name) == 1 else None
        if node is None:
            return self.read_table(query.name, query.place, query.options)
        if query.options:
            raise SqlError(f"OPTIONS{at(query.place)} apply to a table, not to a query or view")
        return node

    def _add_nested(self, node: Node, scope: Scope, table: q.Unnest | q.Lateral) -> tuple[Node, Scope]:
        """Return rows beside those that each of them makes."""
        if isinstance(table, q.Unnest):
            node, scope = self._unnest(node, scope, table)
        else:
            node, scope = self._lateral(node, scope, table)
        return (node if table.on is None else add_filter(node, resolve(table.on, scope))), scope

    def _lateral_query(self, node: Node, scope: Scope, join: q.Join, hints: Hints) -> tuple[Node, Scope]:
        """Return rows beside those of a query that reads them."""
        made = as_join(self, scope, join)
        found, wide = joined_table(self.settings, (node, scope), made.join, self._source(made.join.right), hints)
        items, width = items_of(found.columns), len(node.columns)
        for i, value in made.computed.items():
            items[width + i] = replace(items[width + i], expression=resolve(value, wide))
        found = calc(found, items[: len(items) - made.hidden])
        if join.right.columns:
            own = (column.name for column in node.columns)
            found = rename(found, (*own, *join.right.columns), join.right.columns_place)
        return _next_to(node, scope, found, join.right.name)

    def _unnest(self, node: Node, scope: Scope, table: q.Unnest) -> tuple[Node, Scope]:
        container = resolve(table.container, scope)
        names = (table.name, table.columns)
        found = unnest(node, container, *names, table.place, outer=table.outer, numbered=table.numbered)
        return _next_to(node, scope, found, table.name)

    def _lateral(self, node: Node, scope: Scope, call: q.Lateral) -> tuple[Node, Scope]:
        function: Any = scope.functions.get(call.function.lower())
        if function is None:
            raise SqlError(
                f"No table function '{call.function}'{at(call.place)}{nearest(call.function, scope.functions)}"
            )
        arguments = [resolve(argument, scope) for argument in call.arguments]
        outer, zone = call.outer, self.settings.zone
        found = correlate(node, function, arguments, call.columns, outer=outer, zone=zone, place=call.place)
        return _next_to(node, scope, found, call.name)


def _with_columns(node: Node, source: q.Source) -> Node:
    return rename(node, source.columns, source.columns_place) if source.columns else node


def _next_to(node: Node, scope: Scope, found: Node, table: str) -> tuple[Node, Scope]:
    """Return a table that has the columns of another one as well, and the names of both."""
    tables = scope.tables or ("",) * len(node.columns)
    return found, scope.of(found.columns, (*tables, *([table] * (len(found.columns) - len(node.columns)))))
