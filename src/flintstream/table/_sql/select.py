"""Plans of queries: SELECT, VALUES, UNION ALL, WITH and LATERAL TABLE."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import resolve, resolve_items
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.build import calc, correlated, filtered, union_all, values
from flintstream.table._plan.conditions import both
from flintstream.table._plan.over import limited, without_unused_number
from flintstream.table._plan.sets import combined
from flintstream.table._plan.sorting import ordered
from flintstream.table._sql.dialect import Parsed
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._sql.grouping import Grouping, aggregates_in, distinct
from flintstream.table._sql.grouping_sets import grouping_keys
from flintstream.table._sql.hints import table_options
from flintstream.table._sql.joins import joined_table
from flintstream.table._sql.ordering import keys_in_select, sorted_by
from flintstream.table._sql.over import qualification, with_names, with_windows
from flintstream.table._sql.subqueries import filtered_by, with_values
from flintstream.table._sql.unnest import unnested
from flintstream.table._sql.windows import group_window, is_group_window, windowed
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.resolver import Item, Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.session import Session
    from flintstream.table._sql.dialect import WindowCall


class QueryPlanner:
    """Plans one query."""

    def __init__(self, session: Session, parsed: Parsed) -> None:
        self.session = session
        self.parsed = parsed
        self.reader = ExpressionReader(parsed, session.catalog.functions)

    def plan(self, tree: Any = None, named: Mapping[str, Node] | None = None) -> Node:
        """Return the plan.

        Raises:
            SqlError: A name or type is wrong, or the query has a clause that is not supported.
        """
        if tree is None:
            found = self.plan(self.parsed.tree, named)
            unread = [hint for hints in self.parsed.hints.values() for hint in hints if hint.options]
            if unread:
                raise unsupported("OPTIONS here", unread[0].place, "write them right after the name of a table in FROM")
            return found
        named = dict(named or {})
        with_ = tree.args.get("with_")
        for expression in () if with_ is None else with_.expressions:
            named[expression.alias] = self._renamed(self.plan(expression.this, named), expression.args.get("alias"))
        kind = type(tree).__name__
        if kind == "Subquery":
            return self.plan(tree.this, named)
        if any(tree.args.get(name) is not None for name in ("order", "limit", "offset")):
            return self._ordered(tree, named)
        if kind == "Select":
            return self._select(tree, named)
        if kind in {"Intersect", "Except"} or (kind == "Union" and tree.args.get("distinct")):
            operation = kind.upper() + ("" if tree.args.get("distinct") else " ALL")
            left, right = self.plan(tree.this, named), self.plan(tree.expression, named)
            return combined(self.session.settings, left, right, operation, self.parsed.place(tree.expression))
        if kind == "Values":
            return self._values(tree)
        if kind == "Union":
            parts = [self.plan(tree.this, named), self.plan(tree.expression, named)]
            return union_all(parts, self.session.zone, self.parsed.place(tree.expression))
        raise unsupported(kind.upper(), self.parsed.place(tree), "combine the streams in the program")

    def _ordered(self, tree: Any, named: Mapping[str, Node]) -> Node:
        """Return a query in the order that it asks for, and the part of it."""
        place = self.parsed.place(tree.args.get("order") or tree)
        order, limit, offset = (tree.args.get(name) for name in ("order", "limit", "offset"))
        for name in ("order", "limit", "offset"):
            tree.set(name, None)
        added = keys_in_select(tree, order)
        node = self.plan(tree, named)
        width = len(node.columns) - sum(item is not None for item in added)
        scope = self.session.scope(node.columns[:width])
        listed: list[tuple[Expr, bool, bool]] = []
        for key, number in zip([] if order is None else order.expressions, added, strict=True):
            syntax, descending, none = sorted_by(self.reader, key)
            if number is None and not (isinstance(syntax, s.Value) and isinstance(syntax.value, int)):
                listed.append((resolve(syntax, scope), descending, none))
                continue
            index = syntax.value - 1 if isinstance(syntax, s.Value) else width + (number or 0)
            if not 0 <= index < (width if number is None else len(node.columns)):
                raise SqlError(f"ORDER BY{at(place)} has no column {index + 1}: the query has {width}")
            listed.append((Ref(node.columns[index].type, index), descending, none))
        skipped, most = (None if item is None else self._count(item) for item in (offset, limit))
        return ordered(self.session.settings, node, listed, (skipped or 0, most), width=width, place=place).checked()

    def _count(self, tree: Any) -> int:
        given = tree.args.get("count") if type(tree).__name__ == "Fetch" else tree.expression
        if given is None:
            return 1  # FETCH FIRST ROW ONLY
        value = self.reader.read(given)
        if not isinstance(value, s.Value) or not isinstance(value.value, int):
            raise SqlError(f"LIMIT{at(self.parsed.place(given))} needs a whole number")
        return value.value

    def _select(self, tree: Any, named: Mapping[str, Node]) -> Node:
        from_ = tree.args.get("from_")
        if from_ is None:
            node: Node = values([()], [], self.session.zone)
            scope = self.session.scope((), ())
        else:
            node, scope = self.read_from(from_.this, named)
        if tree.args.get("sample") is not None and tree.args.get("joins"):
            raise unsupported("TABLESAMPLE here", self.parsed.place(tree.args["sample"]), "write it in a query in FROM")
        node = self._sampled(node, tree.args.get("sample"))
        for join in tree.args.get("joins") or ():
            node, scope = self.read_join(node, scope, join, named)
        self.reader.windows = {arg.name: arg for arg in tree.args.get("windows") or ()}
        condition = None
        where = tree.args.get("where")
        if where is not None:
            node, scope, condition = filtered_by(self, node, scope, where.this, named)
        expressions = []
        for item in tree.expressions:
            node, scope, expression = with_values(self, node, scope, item, named)
            expressions.append(expression)
        listed = [self.reader.read(item) for item in expressions]
        having, qualify = (
            None if tree.args.get(name) is None else self.reader.read(tree.args[name].this)
            for name in ("having", "qualify")
        )
        group = tree.args.get("group")
        qualified = () if qualify is None else (with_names(qualify, listed, scope),)
        if group is not None or having is not None or any(map(aggregates_in, (*listed, *qualified))):
            parts = listed, grouping_keys(group, self.reader.read), having, *qualified
            found = self._grouped(node, scope, parts, condition)
        else:
            node, scope, both_, condition = with_windows(self.session, node, scope, [*listed, *qualified], condition)
            listed = both_[: len(listed)]
            for item in both_[len(listed) :]:
                wanted = [*([] if condition is None else [condition]), qualification(item, scope)]
                condition = both(wanted, self.session.zone)
            node, condition = limited(node, condition, self.session.zone)
            found = without_unused_number(calc(node, distinct_names(resolve_items(listed, scope, "EXPR$")), condition))
        return distinct(self.session, found) if tree.args.get("distinct") else found

    def _grouped(self, node: Node, scope: Scope, parts: Any, condition: Any) -> Node:
        listed, (keys, sets), *conditions = parts
        call = next((key for key in keys if is_group_window(key)), None)
        if call is not None:
            node, rewrite = group_window(node, call, scope)
            scope = self.session.scope(node.columns, (*scope.tables, *([""] * 3)) if scope.tables else ())
            listed, keys = rewrite(list(listed)), rewrite(list(keys))
            conditions = [None if item is None else rewrite(item) for item in conditions]
            sets = [rewrite(item) for item in sets]
        return Grouping(self.session, node, scope, keys, condition, sets).plan(
            listed, conditions[0], "EXPR$", *conditions[1:]
        )

    def read_from(self, source: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
        """Return the table that FROM names, and its columns."""
        kind = type(source).__name__
        alias = source.args.get("alias")
        if kind == "Table":
            if source.args.get("version") is not None:
                raise unsupported("FOR SYSTEM_TIME AS OF", self.parsed.place(source), "look values up in a function")
            name = tuple(part.name for part in source.parts)
            if name[0].startswith("$window"):
                return self._window(self.parsed.windows[int(name[0][7:])], alias, named)
            if type(source.this).__name__ == "Anonymous":
                raise unsupported(f"{source.this.name}()", self.parsed.place(source), "use window() on a keyed stream")
            node = named[name[0]] if len(name) == 1 and name[0] in named else self._table(source, name)
            self._no_hints(source)
            table = source.alias or name[-1]
        elif kind == "Unnest":
            nothing = values([()], [], self.session.zone)
            return self._unnested((nothing, self.session.scope((), ())), source, outer=False)
        elif kind in {"Subquery", "Values"}:
            node = self.plan(source if kind == "Values" else source.this, named)
            table = source.alias
        else:
            clause = f"{kind.upper()} of a query" if kind == "Lateral" else f"{kind} in FROM"
            raise unsupported(clause, self.parsed.place(source), "write a JOIN")
        node = self._sampled(self._renamed(node, alias), source.args.get("sample"))
        return node, self.session.scope(node.columns, (table,) * len(node.columns))

    def _sampled(self, node: Node, sample: Any) -> Node:
        """Return each row of a table with the probability that TABLESAMPLE says."""
        if sample is None:
            return node
        place = self.parsed.place(sample) or self.parsed.place(sample.parent)
        method, size = str(sample.args.get("method") or "").upper(), sample.args.get("size")
        if method not in {"BERNOULLI", "SYSTEM"} or size is None:
            raise unsupported(f"TABLESAMPLE {method}".strip(), place, "write TABLESAMPLE BERNOULLI (percent)")
        seed = () if sample.args.get("seed") is None else (self.reader.read(sample.args["seed"]),)
        percent = self.reader.read(size)
        if not isinstance(percent, s.Value) or not 0 <= (percent.value or 0) <= 100:
            raise SqlError(f"TABLESAMPLE{at(place)} takes a percentage from 0 to 100, but got {size.sql()}")
        chance = s.Value(place, float(percent.value) / 100, t.DoubleType(False))
        below = s.Apply(place, "<", (s.Apply(place, "RAND", seed), chance))
        return filtered(node, resolve(below, self.session.scope(())))

    def _window(self, given: WindowCall, alias: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
        if isinstance(given.table, Parsed):
            inner = QueryPlanner(self.session, given.table).plan(None, named)
        else:
            inner = named[given.table[0]] if given.table[0] in named else self.session.table(given.table, given.place)
        zone = self.session.zone
        node = windowed(inner, given, lambda parsed: ExpressionReader(parsed).read(parsed.tree.expressions[0]), zone)
        table = "" if alias is None else alias.name
        node_ = self._renamed(node, alias)
        return node_, self.session.scope(node_.columns, (table,) * len(node_.columns))

    def _table(self, source: Any, name: tuple[str, ...]) -> Node:
        hints = self.parsed.hints.pop(source.parts[-1].meta.get("end"), [])
        return self.session.table(name, self.parsed.place(source), table_options(hints))

    def _no_hints(self, source: Any) -> None:
        """Refuse hints of what is not a table of the catalog."""
        for hint in self.parsed.hints.pop(source.parts[-1].meta.get("end"), []):
            if hint.options:
                raise SqlError(f"OPTIONS{at(hint.place)} apply to a table, not to a query or view")

    def _renamed(self, node: Node, alias: Any) -> Node:
        columns = [] if alias is None else [arg.name for arg in alias.args.get("columns") or ()]
        if not columns:
            return node
        return renamed(node, columns, self.parsed.place(alias))

    def read_join(self, node: Node, scope: Scope, join: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
        """Return a table joined with another one, and the columns of both."""
        given = join.this
        if type(given).__name__ == "Lateral" and given.this.name.upper() == "TABLE":
            return self._lateral(node, scope, join)
        if type(given).__name__ == "Unnest":
            on = join.args.get("on")
            if on is not None and not (type(on).__name__ == "Boolean" and on.this):
                raise unsupported("ON of UNNEST", self.parsed.place(on), "filter with WHERE")
            return self._unnested((node, scope), given, outer=str(join.args.get("side") or "").upper() == "LEFT")
        return joined_table(self, node, scope, join, named)

    def _unnested(self, left: tuple[Node, Scope], given: Any, *, outer: bool) -> tuple[Node, Scope]:
        node, scope = left
        place = self.parsed.place(given)
        if len(given.expressions) != 1:
            raise SqlError(f"UNNEST{at(place)} takes one ARRAY or MAP")
        alias, offset = given.args.get("alias"), given.args.get("offset")
        names = [] if alias is None else [arg.name for arg in alias.args.get("columns") or ()]
        if offset and names:
            names.append(offset.name if hasattr(offset, "name") else "ORDINALITY")
        container = resolve(self.reader.read(given.expressions[0]), scope)
        found = unnested(node, container, names, place, outer=outer, numbered=bool(offset))
        tables = scope.tables or ("",) * len(node.columns)
        more = (given.alias,) * (len(found.columns) - len(node.columns))
        return found, self.session.scope(found.columns, (*tables, *more))

    def _lateral(self, node: Node, scope: Scope, join: Any) -> tuple[Node, Scope]:
        lateral = join.this
        call = lateral.this.expressions[0]
        place = self.parsed.place(call)
        function = self.session.catalog.functions.get(call.name.lower())
        if function is None:
            raise SqlError(
                f"No table function '{call.name}'{at(place)}{nearest(call.name, self.session.catalog.functions)}"
            )
        on = join.args.get("on")
        if on is not None and not (type(on).__name__ == "Boolean" and on.this):
            raise unsupported("ON of a table function", self.parsed.place(on), "filter with WHERE")
        arguments = [resolve(self.reader.read(expression), scope) for expression in call.expressions]
        alias = lateral.args.get("alias")
        names = [] if alias is None else [arg.name for arg in alias.args.get("columns") or ()]
        outer = str(join.args.get("side") or "").upper() == "LEFT"
        joined = correlated(node, function, arguments, names, outer=outer, zone=scope.zone, place=place)
        table = lateral.alias or call.name
        tables = (*scope.tables, *(table for _ in joined.columns[len(node.columns) :]))
        return joined, self.session.scope(joined.columns, tables)

    def _values(self, tree: Any) -> Node:
        scope = self.session.scope((), ())
        rows = []
        for expression in tree.expressions:
            cells = expression.expressions if type(expression).__name__ == "Tuple" else [expression]
            rows.append(tuple(resolve(self.reader.read(cell), scope) for cell in cells))
        return values(rows, [f"EXPR${i}" for i in range(len(rows[0]))], self.session.zone, self.parsed.place(tree))


def distinct_names(items: list[Item]) -> list[Item]:
    """Return the columns with a number after names that come again: id, id0, id1."""
    taken = {element.name for element in items}
    seen: set[str] = set()
    found = []
    for item in items:
        name = item.name
        if name in seen:
            name = next(f"{item.name}{i}" for i in count() if f"{item.name}{i}" not in taken)
            taken.add(name)
        seen.add(name)
        found.append(replace(item, name=name))
    return found


def renamed(node: Node, names: list[str], place: Any = None) -> Node:
    """Return a table with other names for its columns.

    Raises:
        SqlError: There are more or fewer names than columns.
    """
    if len(names) != len(node.columns):
        raise SqlError(f"{len(names)} names{at(place)} for {len(node.columns)} columns: {', '.join(names)}")
    columns = tuple(type(c)(name, c.type, c.time) for name, c in zip(names, node.columns, strict=True))
    return Calc(columns, node, None)
