"""Plans of queries: SELECT, VALUES, UNION ALL, WITH and LATERAL TABLE."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._expressions import syntax as s
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.operators import logic
from flintstream.table._expressions.resolver import Item, resolve, resolve_items
from flintstream.table._expressions.types import sql_name
from flintstream.table._plan.build import calc, correlated, union_all, values
from flintstream.table._plan.nodes import Calc
from flintstream.table._sql.dialect import Parsed
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._sql.grouping import Grouping, aggregates_in, distinct
from flintstream.table._sql.grouping_sets import grouping_keys
from flintstream.table._sql.joins import conjuncts, is_equality_of, joined, together
from flintstream.table._sql.unnest import unnested
from flintstream.table._sql.windows import group_window, is_group_window, windowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._expressions.resolver import Scope
    from flintstream.table._plan.nodes import Node
    from flintstream.table._session import Session
    from flintstream.table._sql.dialect import WindowCall

_CLAUSES = {
    "order": ("ORDER BY", "sort the results in the program that reads them"),
    "limit": ("LIMIT", "limit the results in the program that reads them"),
    "offset": ("OFFSET", "skip results in the program that reads them"),
    "windows": ("WINDOW", "use window() on a keyed stream"),
    "qualify": ("QUALIFY", "use key_by() and state on the stream"),
    "match": ("MATCH_RECOGNIZE", "use key_by() and state on the stream"),
}


class QueryPlanner:
    """Plans one query."""

    def __init__(self, session: Session, parsed: Parsed) -> None:
        self.session = session
        self.parsed = parsed
        self.reader = ExpressionReader(parsed)

    def plan(self, tree: Any = None, named: Mapping[str, Node] | None = None) -> Node:
        """Return the plan.

        Raises:
            SqlError: A name or type is wrong, or the query has a clause that is not supported.
        """
        tree = self.parsed.tree if tree is None else tree
        named = dict(named or {})
        with_ = tree.args.get("with_")
        for each in () if with_ is None else with_.expressions:
            named[each.alias] = self._renamed(self.plan(each.this, named), each.args.get("alias"))
        kind = type(tree).__name__
        if kind == "Subquery":
            return self.plan(tree.this, named)
        if kind == "Union" and tree.args.get("distinct"):
            raise unsupported("UNION", self.parsed.place(tree.expression), "use UNION ALL")
        self._refuse(tree)
        if kind == "Select":
            return self._select(tree, named)
        if kind == "Values":
            return self._values(tree)
        if kind == "Union":
            parts = [self.plan(tree.this, named), self.plan(tree.expression, named)]
            return union_all(parts, self.session.zone, self.parsed.place(tree.expression))
        raise unsupported(kind.upper(), self.parsed.place(tree), "combine the streams in the program")

    def _refuse(self, tree: Any) -> None:
        for key, (clause, instead) in _CLAUSES.items():
            given = tree.args.get(key)
            if given:
                raise unsupported(clause, self.parsed.place(given if hasattr(given, "walk") else tree), instead)

    def _select(self, tree: Any, named: Mapping[str, Node]) -> Node:
        from_ = tree.args.get("from_")
        if from_ is None:
            node: Node = values([()], [], self.session.zone)
            scope = self.session.scope((), ())
        else:
            node, scope = self._from(from_.this, named)
        where = tree.args.get("where")
        filters = [] if where is None else conjuncts(self.reader.read(where.this))
        for join in tree.args.get("joins") or ():
            node, scope = self._join((node, scope), join, filters, named)
        condition = self._condition(filters, scope)
        listed = [self.reader.read(each) for each in tree.expressions]
        having = None if tree.args.get("having") is None else self.reader.read(tree.args["having"].this)
        group = tree.args.get("group")
        if group is not None or having is not None or any(map(aggregates_in, listed)):
            found = self._grouped(node, scope, (listed, grouping_keys(group, self.reader.read), having), condition)
        else:
            found = calc(node, distinct_names(resolve_items(listed, scope, "EXPR$")), condition)
        return distinct(self.session, found) if tree.args.get("distinct") else found

    def _condition(self, filters: list[Any], scope: Scope) -> Any:
        """Return the conjunction of conditions; None if there are none."""
        found = []
        for each in filters:
            made = resolve(each, scope)
            if not isinstance(made.type, (t.BooleanType, t.NullType)):
                raise SqlError(f"WHERE{at(each.place)} needs a BOOLEAN, but got {sql_name(made.type)}")
            found.append(made)
        return None if not found else found[0] if len(found) == 1 else logic("AND", found, scope.zone)

    def _grouped(self, node: Node, scope: Scope, parts: Any, condition: Any) -> Node:
        listed, (keys, sets), having = parts
        call = next((each for each in keys if is_group_window(each)), None)
        if call is not None:
            node, rewrite = group_window(node, call, scope)
            scope = self.session.scope(node.columns, (*scope.tables, *([""] * 3)) if scope.tables else ())
            listed, keys, having = (rewrite(each) for each in (list(listed), list(keys), having))
            sets = [rewrite(each) for each in sets]
        return Grouping(self.session, node, scope, keys, condition, sets).plan(listed, having, "EXPR$")

    def _from(self, source: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
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
            table = source.alias or name[-1]
        elif kind == "Unnest":
            nothing = values([()], [], self.session.zone)
            return self._unnested((nothing, self.session.scope((), ())), source, outer=False)
        elif kind in {"Subquery", "Values"}:
            node = self.plan(source if kind == "Values" else source.this, named)
            table = source.alias
        else:
            raise unsupported(f"{kind} in FROM", self.parsed.place(source), "join the streams before")
        node = self._renamed(node, alias)
        return node, self.session.scope(node.columns, (table,) * len(node.columns))

    def _window(self, given: WindowCall, alias: Any, named: Mapping[str, Node]) -> tuple[Node, Scope]:
        if isinstance(given.table, Parsed):
            inner = QueryPlanner(self.session, given.table).plan(None, named)
        else:
            inner = named[given.table[0]] if given.table[0] in named else self.session.table(given.table, given.place)
        node = windowed(inner, given, lambda parsed: ExpressionReader(parsed).read(parsed.tree.expressions[0]))
        table = "" if alias is None else alias.name
        node_ = self._renamed(node, alias)
        return node_, self.session.scope(node_.columns, (table,) * len(node_.columns))

    def _table(self, source: Any, name: tuple[str, ...]) -> Node:
        return self.session.table(name, self.parsed.place(source))

    def _renamed(self, node: Node, alias: Any) -> Node:
        columns = [] if alias is None else [each.name for each in alias.args.get("columns") or ()]
        if not columns:
            return node
        return renamed(node, columns, self.parsed.place(alias))

    def _join(
        self, left: tuple[Node, Scope], join: Any, filters: list[Any], named: Mapping[str, Node]
    ) -> tuple[Node, Scope]:
        lateral = join.this
        if type(lateral).__name__ == "Lateral" and lateral.this.name.upper() == "TABLE":
            return self._lateral(*left, join)
        if type(lateral).__name__ == "Unnest":
            on = join.args.get("on")
            if on is not None and not (type(on).__name__ == "Boolean" and on.this):
                raise unsupported("ON of UNNEST", self.parsed.place(on), "filter with WHERE")
            return self._unnested(left, lateral, outer=str(join.args.get("side") or "").upper() == "LEFT")
        place = self.parsed.place(lateral)
        side, kind = (str(join.args.get(key) or "").upper() for key in ("side", "kind"))
        if str(join.args.get("method") or "").upper() == "NATURAL":
            raise unsupported("NATURAL JOIN", place, "name the columns with USING or ON")
        if kind in {"SEMI", "ANTI"} or side not in {"", "LEFT", "RIGHT", "FULL"}:
            raise unsupported(f"{kind or side} JOIN", place, "use an inner or outer join")
        right = self._from(lateral, named)
        outer = (side in {"LEFT", "FULL"}, side in {"RIGHT", "FULL"})
        on, using = join.args.get("on"), join.args.get("using") or []
        if using:
            return self._joined_using(left, right, outer, [each.name for each in using])
        parts = [] if on is None else conjuncts(self.reader.read(on))
        if on is None and not any(outer):  # of FROM a, b WHERE a.x = b.y
            scope = together(left, right, outer)
            parts = [each for each in filters if is_equality_of(each, scope, len(left[0].columns))]
            filters[:] = [each for each in filters if all(each is not other for other in parts)]
        return joined(self.session, left, right, outer, parts)

    def _joined_using(
        self, left: tuple[Node, Scope], right: tuple[Node, Scope], outer: tuple[bool, bool], names: list[str]
    ) -> tuple[Node, Scope]:
        """Return a join by columns of the same name, which the result has once."""
        marked = ("$left", "$right")
        sides = []
        for (node, scope), mark in zip((left, right), marked, strict=True):
            sides.append((node, self.session.scope(node.columns, (mark,) * len(node.columns))))
            for name in names:
                scope.find(s.Name(None, (name,)))
        parts = [s.Apply(None, "=", tuple(s.Name(None, (mark, name)) for mark in marked)) for name in names]
        node, _ = joined(self.session, sides[0], sides[1], outer, parts)
        width = len(left[0].columns)
        tables = [*(left[1].tables or ("",) * width), *(right[1].tables or ("",) * len(right[0].columns))]
        kept = [i for i, each in enumerate(node.columns) if i < width or each.name not in names]
        if outer[1]:
            raise unsupported("USING of a RIGHT or FULL JOIN", None, "compare the columns with ON")
        items = [Item(node.columns[i].name, Ref(node.columns[i].type, i)) for i in kept]
        return calc(node, items), self.session.scope(
            tuple(node.columns[i] for i in kept), tuple(tables[i] for i in kept)
        )

    def _unnested(self, left: tuple[Node, Scope], given: Any, *, outer: bool) -> tuple[Node, Scope]:
        node, scope = left
        place = self.parsed.place(given)
        if len(given.expressions) != 1:
            raise SqlError(f"UNNEST{at(place)} takes one ARRAY or MAP")
        alias, offset = given.args.get("alias"), given.args.get("offset")
        names = [] if alias is None else [each.name for each in alias.args.get("columns") or ()]
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
        arguments = [resolve(self.reader.read(each), scope) for each in call.expressions]
        alias = lateral.args.get("alias")
        names = [] if alias is None else [each.name for each in alias.args.get("columns") or ()]
        outer = str(join.args.get("side") or "").upper() == "LEFT"
        joined = correlated(node, function, arguments, names, outer=outer, zone=scope.zone, place=place)
        table = lateral.alias or call.name
        tables = (*scope.tables, *(table for _ in joined.columns[len(node.columns) :]))
        return joined, self.session.scope(joined.columns, tables)

    def _values(self, tree: Any) -> Node:
        scope = self.session.scope((), ())
        rows = []
        for each in tree.expressions:
            cells = each.expressions if type(each).__name__ == "Tuple" else [each]
            rows.append(tuple(resolve(self.reader.read(cell), scope) for cell in cells))
        return values(rows, [f"EXPR${i}" for i in range(len(rows[0]))], self.session.zone, self.parsed.place(tree))


def distinct_names(items: list[Item]) -> list[Item]:
    """Return the columns with a number after names that come again: id, id0, id1."""
    taken = {each.name for each in items}
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
