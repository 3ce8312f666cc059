"""``LATERAL (SELECT ...)`` in FROM: the rows of a query that reads columns of the tables before it, as a join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.correlated import names_in
from flintstream.table._analyzer.grouping import aggregates_in
from flintstream.table._errors import unsupported
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table._analyzer.subqueries import Planner
    from flintstream.table._errors import Place
    from flintstream.table._expressions.scope import Scope

_CLAUSES = "a query in LATERAL whose clauses other than WHERE read"
_KEY, _NUMBER = "$k", "$n"


def _is_true(condition: s.Syntax | None) -> bool:
    return condition is None or (isinstance(condition, s.Value) and condition.value is True)


@dataclass(frozen=True)
class LateralJoin:
    """A join with a query that is planned once for all rows."""

    join: q.Join
    hidden: int
    """How many of the last columns of the query only the join reads."""
    computed: Mapping[int, s.Syntax]
    """Columns of the query that also read the outer row: their positions, and what they are after the join."""


def as_join(planner: Planner, scope: Scope, join: q.Join) -> LateralJoin:
    """Return the join that gives each row the rows of a query.

    The columns of the query that are compared with those of a row come after the others; aggregates are those of their
    groups, and LIMIT becomes a number of each row among those with the same of these columns. As in Flink, an aggregate
    of all rows has no row where there is none to aggregate.

    Raises:
        UnsupportedClauseError: It reads the outer row in a way that no join can.
    """
    query, place, table = join.right.table, join.right.place, join.right.name
    ordered = query if isinstance(query, q.Ordered) else q.Ordered(place, query, (), 0, 0, None)
    select = ordered.table
    if not isinstance(select, q.Select) or select.source is None or select.sets:
        raise unsupported("LATERAL of a query other than SELECT", place, "write a JOIN")
    names = planner.within(scope, _CLAUSES).rows(replace(select, where=None)).scope
    across = _Across([], [], [])
    for conjunct in () if select.where is None else s.conjuncts(select.where):
        across.add(names, conjunct)
    limited = ordered.limit is not None or ordered.skipped > 0
    aggregated = select.having is not None or any(map(aggregates_in, select.items))
    grouped = select.distinct or select.keys is not None or aggregated
    if across.others and (limited or grouped):
        raise unsupported("LATERAL of a query with a condition other than =,", across.others[0].place, "write a JOIN")
    if across.keys and (select.qualify is not None or any(map(_has_over, select.items))):
        raise unsupported("LATERAL of a query with OVER", select.place, "write a JOIN")
    outer = {i: item for i, item in enumerate(select.items) if _reads_outer(names, item)}
    if outer and grouped:
        what = "LATERAL of a query with aggregates or DISTINCT, whose SELECT reads the outer row,"
        raise unsupported(what, next(iter(outer.values())).place, "compute it in the outer SELECT")
    if outer and any(isinstance(item, s.Star) for item in select.items):
        what = "LATERAL of a query with * beside a column that reads the outer row,"
        raise unsupported(what, next(iter(outer.values())).place, "name the columns")
    compared = [key for key, _ in across.keys]
    read = _own_names(names, [*across.others, *outer.values()])
    hidden = [s.Alias(None, item, (f"{_KEY}{i}",)) for i, item in enumerate((*compared, *read, _TRUE))]
    columns = [s.Name(None, (table, alias.names[0])) for alias in hidden]
    shown = [_column_for_later(item) if i in outer else item for i, item in enumerate(select.items)]
    keys = None if select.keys is None and not (aggregated and compared) else (*compared, *(select.keys or ()))
    found: s.Query = replace(select, items=(*shown, *hidden), where=_all(across.own), keys=keys)
    if limited:
        found = _first_rows(planner, ordered, found, [alias.names for alias in hidden[: len(compared)]])
    meanings = {item.parts: column for item, column in zip(read, columns[len(compared) :], strict=False)}

    def read_columns(part: s.Syntax) -> s.Syntax:
        return meanings.get(part.parts, part) if isinstance(part, s.Name) else s.map_syntax(part, read_columns)

    equal = [s.Apply(place, "=", (row, column)) for (_, row), column in zip(across.keys, columns, strict=False)]
    on = [] if _is_true(join.condition) or join.condition is None else [join.condition]
    made = replace(
        join,
        right=replace(join.right, table=found, columns=()),
        condition=_all([*equal, *map(read_columns, across.others), *on]),
    )
    computed = {
        i: s.Apply(place, "CASE", (columns[-1], read_columns(_argument(item)), _NONE)) for i, item in outer.items()
    }
    return LateralJoin(made, ordered.hidden + len(hidden) + limited, computed)


_TRUE = s.Value(None, True, t.BooleanType(False))
"""In a column of its own, it tells rows of the query from those that an outer join fills with None."""
_NONE = s.Value(None, None, t.NullType())


def _argument(item: s.Syntax) -> s.Syntax:
    return item.argument if isinstance(item, s.Alias) else item


def _column_for_later(item: s.Syntax) -> s.Syntax:
    """Return a column with the name of an item that is computed after the join."""
    return replace(item, argument=_TRUE) if isinstance(item, s.Alias) else _TRUE


def _own_names(names: Scope, expressions: Sequence[s.Syntax]) -> list[s.Name]:
    """Return the different columns of a query that expressions read."""
    found = (name for item in expressions for name in names_in(item) if names.levels_up(name) == 0)
    return [s.Name(None, parts) for parts in dict.fromkeys(name.parts for name in found)]


@dataclass(frozen=True)
class _Across:
    """The conditions of WHERE: those of a query alone, those that equate, and others that read the outer row."""

    own: list[s.Syntax]
    keys: list[tuple[s.Syntax, s.Syntax]]
    """Expressions of the query and of the outer row."""
    others: list[s.Syntax]

    def add(self, names: Scope, condition: s.Syntax) -> None:
        """Take a further condition."""
        if not _reads_outer(names, condition):
            self.own.append(condition)
            return
        if isinstance(condition, s.Apply) and condition.function == "=":
            first, second = condition.arguments
            if _reads_outer(names, first):
                first, second = second, first
            if not _reads_outer(names, first) and not any(names.levels_up(name) == 0 for name in names_in(second)):
                self.keys.append((first, second))
                return
        self.others.append(condition)


def _reads_outer(names: Scope, syntax: s.Syntax) -> bool:
    return any(names.levels_up(name) > 0 for name in names_in(syntax))


def _has_over(item: s.Syntax) -> bool:
    return isinstance(item, s.Over) or any(map(_has_over, s.parts(item)))


def _first_rows(planner: Planner, ordered: q.Ordered, table: s.Query, keys: Sequence[tuple[str, ...]]) -> s.Query:
    """Return the part of a table that OFFSET and LIMIT say, for each value of the keys; its last column is a number."""
    place, name = ordered.place, s.Name(None, (_NUMBER,))
    columns = planner.plan(table).columns if any(isinstance(key, int) for key, _, _ in ordered.order) else ()
    order = tuple(
        (s.Name(place, (columns[key].name,)) if isinstance(key, int) else key, descending, none)
        for key, descending, none in ordered.order
    )
    if not order:
        order = ((s.Apply(place, "PROCTIME", ()), False, True),)
    number = s.Over(place, s.Apply(place, "ROW_NUMBER", ()), tuple(s.Name(None, key) for key in keys), order)
    numbered = q.Select(place, (s.Star(place), s.Alias(place, number, name.parts)), q.Source(place, table, ""))
    bounds = (
        [s.Apply(place, "<=", (name, _whole(place, ordered.skipped + ordered.limit)))]
        if ordered.limit is not None
        else []
    )
    if ordered.skipped:
        bounds.append(s.Apply(place, ">", (name, _whole(place, ordered.skipped))))
    return q.Select(place, (s.Star(place),), q.Source(place, numbered, ""), where=_all(bounds))


def _whole(place: Place | None, value: int) -> s.Value:
    return s.Value(place, value, t.BigIntType(False))


def _all(conditions: Sequence[s.Syntax]) -> s.Syntax | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return s.Apply(conditions[0].place, "AND", tuple(conditions))
