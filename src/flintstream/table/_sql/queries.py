"""From sqlglot's trees of queries to our syntax."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._sql import exp
from flintstream.table._sql.dialect import CHANGELOGS, WINDOWS, Parsed
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._sql.hints import table_options
from flintstream.table._sql.matching.reader import read_match
from flintstream.table._sql.ordering import sorted_by
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SIDES: dict[str, q.JoinKind] = {"": "INNER", "LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL"}
_ORDER = ("order", "limit", "offset")
_MOST_SETS = 64
"""Each row is there once for each set, so more are a mistake rather than a query."""


def read_query(parsed: Parsed, functions: Mapping[str, Any]) -> s.Query:
    """Return the syntax of a query; ``functions`` are those of the program by name.

    Raises:
        SqlError: A part of it cannot be.
        UnsupportedClauseError: It has a clause that is not supported.
    """
    found = QueryReader(parsed, functions).query(parsed.tree)
    unread = [hint for hints in parsed.hints.values() for hint in hints]
    if unread:
        where = "right after the name of a table in FROM" if unread[0].name == "OPTIONS" else "right after SELECT"
        raise unsupported(f"{unread[0].name} here", unread[0].place, f"write it {where}")
    return found


class QueryReader(ExpressionReader):
    """Converts queries and their expressions."""

    def query(self, tree: exp.Expr) -> s.Query:
        """Return the syntax of a query."""
        with_ = tree.args.get("with_")
        tables = tuple(map(self._common_table, () if with_ is None else with_.expressions))
        found = self._order(tree) if any(map(tree.args.get, _ORDER)) else self._plain(tree)
        return q.With(found.place, tables, found) if tables else found

    def _common_table(self, tree: exp.Expr) -> q.Source:
        return self._name_source(tree.args.get("alias"), self.query(tree.this), tree.alias)

    def _plain(self, tree: exp.Expr) -> s.Query:
        """Return a query without its order."""
        place = self.parsed.place(tree)
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        if isinstance(tree, exp.Select):
            return self._select(tree)
        if isinstance(tree, exp.Values):
            rows = (row.expressions if isinstance(row, exp.Tuple) else [row] for row in tree.expressions)
            return q.Values(place, tuple(tuple(map(self.read, row)) for row in rows))
        operator = _set_operator(tree)
        if operator is None:
            raise unsupported(type(tree).__name__.upper(), place, "combine the streams in the program")
        return q.SetOperation(place, operator, self.query(tree.this), self.query(tree.expression))

    # -- ORDER BY --------------------------------------------------------------------------------------------------

    def _order(self, tree: exp.Expr) -> q.Ordered:
        order, limit, offset = (tree.args.get(name) for name in _ORDER)
        place = self.parsed.place(order or tree)
        table = self._plain(tree)
        hidden: list[s.Syntax] = []
        keys: list[tuple[s.Syntax | int, bool, bool]] = []
        for item in () if order is None else order.expressions:
            syntax, descending, none = sorted_by(self, item)
            key: s.Syntax | int = syntax
            if isinstance(syntax, s.Value) and isinstance(syntax.value, int):
                key = syntax.value - 1
            elif isinstance(table, q.Select) and not table.distinct and not _is_listed(syntax, table.items):
                key = s.Name(syntax.place, (f"$o{len(hidden)}",))
                hidden.append(s.Alias(syntax.place, _with_meanings(syntax, table.items), key.parts))
            keys.append((key, descending, none))
        if isinstance(table, q.Select):
            table = replace(table, items=(*table.items, *hidden))
        skipped, most = (None if item is None else self._count(item) for item in (offset, limit))
        return q.Ordered(place, table, tuple(keys), len(hidden), skipped or 0, most)

    def _count(self, tree: exp.Expr) -> int | None:
        given = tree.args.get("count") if isinstance(tree, exp.Fetch) else tree.expression
        if given is None:
            return 1  # FETCH FIRST ROW ONLY
        if isinstance(given, exp.Column) and given.name.upper() == "ALL":
            return None
        value = self.read(given)
        if not isinstance(value, s.Value) or not isinstance(value.value, int):
            raise SqlError(f"LIMIT{at(self.parsed.place(given))} needs a whole number")
        return value.value

    # -- SELECT ----------------------------------------------------------------------------------------------------

    def _select(self, tree: exp.Select) -> q.Select:
        args = tree.args
        outer_windows = self.windows
        self.windows = {window.name: window for window in args.get("windows") or ()}
        group = args.get("group")
        keys, sets = ([], []) if group is None else _grouping_keys(group, self.read)
        found = q.Select(
            self.parsed.place(tree),
            tuple(map(self.read, tree.expressions)),
            self._first_source(tree),
            tuple(map(self._join, args.get("joins") or ())),
            self._clause(args.get("where")),
            None if group is None else tuple(keys),
            tuple(map(tuple, sets)),
            self._clause(args.get("having")),
            self._clause(args.get("qualify")),
            bool(args.get("distinct")),
            tuple(hint for token in _hint_tokens(tree) for hint in self.parsed.hints.pop(token)),
        )
        self.windows = outer_windows
        return found

    def _clause(self, tree: exp.Expr | None) -> s.Syntax | None:
        return None if tree is None else self.read(tree.this)

    # -- FROM ------------------------------------------------------------------------------------------------------

    def _first_source(self, tree: exp.Select) -> q.Source | q.Unnest | q.Lateral | None:
        from_, sample = tree.args.get("from_"), tree.args.get("sample")
        version = None if from_ is None else from_.this.args.get("version")
        if version is not None:
            advice = "set the options of the table that name a version in /*+ OPTIONS(...) */, or join with it"
            raise unsupported("FOR SYSTEM_TIME AS OF without a join", self.parsed.place(version), advice)
        if sample is not None and tree.args.get("joins"):
            raise unsupported("TABLESAMPLE here", self.parsed.place(sample), "write it in a query in FROM")
        if from_ is None:
            return None
        if isinstance(from_.this, exp.Unnest):
            return self._unnest(from_.this, outer=False)
        call = _table_function(from_.this)
        if call is not None:
            return self._lateral(from_.this, call)
        source = self._source(from_.this)
        return source if sample is None else replace(source, samples=(*source.samples, self._sample(sample)))

    def _source(self, tree: exp.Expr) -> q.Source:
        """Return a table in FROM."""
        place = self.parsed.place(tree)
        alias, sample = tree.args.get("alias"), tree.args.get("sample")
        if alias is not None and alias.name.startswith("$match"):
            match = self.parsed.matches[int(alias.name.removeprefix("$match"))]
            tree.set("alias", None)
            found = read_match(self.parsed.sql, self.functions, match, self._source(tree))
        elif isinstance(tree, exp.Table):
            found = self._table(tree)
        elif isinstance(tree, exp.Lateral):
            found = self._name_source(alias, self.query(tree.this), tree.alias)
        elif isinstance(tree, (exp.Subquery, exp.Values)):
            found = self._name_source(alias, self.query(tree), tree.alias)
        else:
            raise unsupported(f"{type(tree).__name__} in FROM", place, "write a JOIN")
        return replace(found, place=place, samples=() if sample is None else (self._sample(sample),))

    def _table(self, tree: exp.Table) -> q.Source:
        place, alias = self.parsed.place(tree), tree.args.get("alias")
        name = tuple(part.name for part in tree.parts)
        if name[0].startswith("$window"):
            window = self._window_function(int(name[0][len("$window") :]))
            return self._name_source(alias, window, "" if alias is None else alias.name)
        hints = self.parsed.hints.pop(tree.parts[-1].meta["end"], [])
        return self._name_source(alias, q.TableName(place, name, table_options(hints)), tree.alias or name[-1])

    def _window_function(self, number: int) -> q.Window | q.Changelog:
        call = self.parsed.windows[number]
        table: s.Query
        if isinstance(call.table, Parsed):
            table = read_query(call.table, self.functions)
        else:
            table = q.TableName(call.place, call.table, {})
        sizes = [(name, ExpressionReader(size).read(size.tree.expressions[0])) for name, size in call.sizes]
        if call.kind in CHANGELOGS:
            return q.Changelog(call.place, call.kind, table, call.column, tuple(sizes), call.partition)
        return q.Window(call.place, WINDOWS[call.kind], table, call.column, tuple(sizes), call.partition)

    def _name_source(self, alias: exp.Expr | None, table: s.Query, name: str) -> q.Source:
        place = None if alias is None else self.parsed.place(alias)
        return q.Source(table.place, table, name, _columns(alias), place)

    def _sample(self, tree: exp.Expr) -> s.Syntax:
        """Return the condition that holds for a row with the probability that TABLESAMPLE says."""
        place = self.parsed.place(tree)
        if place is None and tree.parent is not None:
            place = self.parsed.place(tree.parent)
        method, size = str(tree.args.get("method") or "").upper(), tree.args.get("size")
        if method not in {"BERNOULLI", "SYSTEM"} or size is None:
            raise unsupported(f"TABLESAMPLE {method}".strip(), place, "write TABLESAMPLE BERNOULLI (percent)")
        seed = tree.args.get("seed")
        percent = self.read(size)
        if not isinstance(percent, s.Value) or not 0 <= (percent.value or 0) <= 100:
            raise SqlError(f"TABLESAMPLE{at(place)} takes a percentage from 0 to 100, but got {size.sql()}")
        chance = s.Value(place, float(percent.value) / 100, t.DoubleType(False))
        random = s.Apply(place, "RAND", () if seed is None else (self.read(seed),))
        return s.Apply(place, "<", (random, chance))

    def _join(self, join: exp.Join) -> q.Join | q.Unnest | q.Lateral:
        """Return the next table in FROM."""
        given = join.this
        place = self.parsed.place(given)
        side, kind, method, on = (join.args.get(name) for name in ("side", "kind", "method", "on"))
        side, kind, method = (str(word or "").upper() for word in (side, kind, method))
        call = _table_function(given)
        if call is not None:
            condition = self._condition(on, side, "a table function")
            return self._lateral(given, call, outer=side == "LEFT", condition=condition)
        if isinstance(given, exp.Unnest):
            condition = self._condition(on, side, "UNNEST")
            return self._unnest(given, outer=side == "LEFT", condition=condition)
        if method not in {"", "NATURAL"}:
            raise unsupported(f"{method} JOIN", place, "name the columns with ON or USING")
        if side not in _SIDES or kind not in {"", "INNER", "OUTER", "CROSS"}:
            raise unsupported(f"{side} {kind} JOIN".strip(), place, "use IN")
        version = given.args.get("version")
        return q.Join(
            self._source(given),
            _SIDES[side],
            None if on is None else self.read(on),
            None if on is None else self.parsed.place(on),
            tuple(column.name for column in join.args.get("using") or ()),
            method == "NATURAL",
            None if version is None else self.read(version.expression),
            isinstance(given, exp.Lateral),
        )

    def _lateral(
        self, tree: exp.Expr, call: exp.Expr, *, outer: bool = False, condition: s.Syntax | None = None
    ) -> q.Lateral:
        columns, arguments = _columns(tree.args.get("alias")), tuple(map(self.read, call.expressions))
        place = self.parsed.place(call)
        return q.Lateral(place, call.name, arguments, tree.alias or call.name, columns, outer, condition)

    def _condition(self, on: exp.Expr | None, side: str, table: str) -> s.Syntax | None:
        """Return the condition of a join with rows that a row makes; like Flink, none is possible beside LEFT."""
        if on is None or (isinstance(on, exp.Boolean) and on.this):
            return None
        if side:
            raise unsupported(f"ON of {table} beside {side}", self.parsed.place(on), "write ON TRUE, filter with WHERE")
        return self.read(on)

    def _unnest(self, tree: exp.Unnest, *, outer: bool, condition: s.Syntax | None = None) -> q.Unnest:
        place = self.parsed.place(tree)
        if len(tree.expressions) != 1:
            raise SqlError(f"UNNEST{at(place)} takes one ARRAY or MAP")
        columns, offset = _columns(tree.args.get("alias")), tree.args.get("offset")
        if offset and columns:
            columns = (*columns, offset.name if isinstance(offset, exp.Expr) else "ORDINALITY")
        return q.Unnest(place, self.read(tree.expressions[0]), tree.alias, columns, bool(offset), outer, condition)


def _table_function(tree: exp.Expr) -> exp.Expr | None:
    """Return the call of a table function in FROM: ``LATERAL TABLE(f(x))``, ``TABLE(f(1))`` or ``f(1)``."""
    if not isinstance(tree, (exp.Lateral, exp.Table)) or not isinstance(tree.this, exp.Anonymous):
        return None
    found: exp.Expr = tree.this.expressions[0] if tree.this.name.upper() == "TABLE" else tree.this
    return found.expression if isinstance(found, exp.Dot) else found  # after the names of its catalog and database


def _hint_tokens(tree: exp.Select) -> list[int]:
    """Return where the tokens of hints after SELECT end."""
    hint = tree.args.get("hint")
    return [] if hint is None else [int(item.name[1:]) for item in hint.expressions]


def _set_operator(tree: exp.Expr) -> q.SetOperator | None:
    distinct = bool(tree.args.get("distinct"))
    if isinstance(tree, exp.Union):
        return "UNION" if distinct else "UNION ALL"
    if isinstance(tree, exp.Intersect):
        return "INTERSECT" if distinct else "INTERSECT ALL"
    if isinstance(tree, exp.Except):
        return "EXCEPT" if distinct else "EXCEPT ALL"
    return None


def _columns(alias: exp.Expr | None) -> tuple[str, ...]:
    """Return the names that an alias gives to columns."""
    return () if alias is None else tuple(column.name for column in alias.args.get("columns") or ())


def _is_listed(key: s.Syntax, items: Sequence[s.Syntax]) -> bool:
    """Return whether a key of ORDER BY is the name of a column of the result."""
    if not isinstance(key, s.Name) or len(key.parts) != 1:
        return False
    aliases = {item.names[0] for item in items if isinstance(item, s.Alias)}
    return key.parts[0] in aliases | {item.parts[-1] for item in items if isinstance(item, s.Name)}


def _with_meanings(key: s.Syntax, items: Sequence[s.Syntax]) -> s.Syntax:
    """Return a key of ORDER BY with what SELECT gives its names to."""
    meanings = {item.names: item.argument for item in items if isinstance(item, s.Alias)}

    def expand_name(part: s.Syntax) -> s.Syntax:
        return meanings.get(part.parts, part) if isinstance(part, s.Name) else s.map_syntax(part, expand_name)

    return expand_name(key)


# -- GROUP BY ----------------------------------------------------------------------------------------------------------


def _grouping_keys(
    group: exp.Expr, read: Callable[[exp.Expr], s.Syntax]
) -> tuple[list[s.Syntax], list[list[s.Syntax]]]:
    """Return all keys of a GROUP BY, and its sets of keys; no sets if the keys are a plain list.

    Raises:
        SqlError: There are more than 64 sets.
    """
    parts = group.expressions
    choices = [_choices(part, read) for part in parts]
    if not any(map(_is_several, parts)):
        return [key for (keys,) in choices for key in keys], []
    sets = [[key for keys in chosen for key in keys] for chosen in product(*choices)]
    if len(sets) > _MOST_SETS:
        raise SqlError(
            f"GROUP BY{at(read(_first_key(parts[0])).place)} has {len(sets)} grouping sets: the limit is {_MOST_SETS}"
        )
    return [key for keys in sets for key in keys], sets


def _is_several(node: exp.Expr) -> bool:
    return isinstance(node, (exp.GroupingSets, exp.Rollup, exp.Cube))


def _first_key(node: exp.Expr) -> exp.Expr:
    return _first_key(node.expressions[0]) if node.expressions else node


def _choices(node: exp.Expr, read: Callable[[exp.Expr], s.Syntax]) -> list[list[s.Syntax]]:
    """Return the sets of keys that a part stands for."""
    if isinstance(node, exp.GroupingSets):
        return [keys for expression in node.expressions for keys in _choices(expression, read)]
    if not _is_several(node):
        return [[read(key) for key in _keys_of(node)]]
    units = [_keys_of(expression) for expression in node.expressions]
    sizes = range(len(units), -1, -1)
    if isinstance(node, exp.Rollup):
        sets = [_join(units[:size]) for size in sizes]
    else:
        sets = [_join(chosen) for size in sizes for chosen in combinations(units, size)]
    return [[read(key) for key in keys] for keys in {frozenset(keys): keys.values() for keys in sets}.values()]


def _keys_of(node: exp.Expr) -> list[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _join(units: Sequence[list[exp.Expr]]) -> dict[str, exp.Expr]:
    """Return the keys of units by their texts: CUBE and ROLLUP have no set twice, and a set no key."""
    return {key.sql(): key for unit in units for key in unit}
