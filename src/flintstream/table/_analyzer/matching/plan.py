"""Plans of MATCH_RECOGNIZE."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.table._analyzer.matching.pattern import pattern_of, pattern_text, skip_of
from flintstream.table._analyzer.matching.values import MatchedRows, MatchValues
from flintstream.table._errors import SqlError, TableNotFoundError, at
from flintstream.table._expressions.expr import Column, Const
from flintstream.table._expressions.resolver import resolve, resolve_condition, resolve_items
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._operators.matching.expressions import MatchFunction
from flintstream.table._operators.matching.operator import MatchSpec
from flintstream.table._operators.matching.pattern import compile_pattern
from flintstream.table._operators.ordering import Sorted
from flintstream.table._plan.build import widen
from flintstream.table._plan.matching.nodes import MatchRecognize
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._syntax import queries as q


def match_rows(node: Node, scope: Scope, query: q.MatchRecognize) -> MatchRecognize:
    """Return a row for each match among the rows of a table.

    Raises:
        SqlError: The pattern, the order or a name is wrong, or the table has changes.
        UnsupportedClauseError: Flink has no such pattern or function.
    """
    pattern = pattern_of(query.pattern)
    skip = skip_of(query, pattern)
    within_ms = _within(query, scope)
    order = _order(query, scope)
    rows = MatchedRows(scope, pattern, [item.names[0] for item in query.define], order[0].index)
    partition = _partition(query, scope)
    tests = _tests(query, rows)
    _add_subsets(query, rows)
    columns, measures = _measures(query, rows, partition)
    spec = MatchSpec(compile_pattern(pattern), tests, measures, skip, within_ms)
    below = widen(node, rows.extra, f"{HIDDEN}m") if rows.extra else node
    return MatchRecognize(columns, below, partition, order, pattern_text(pattern), spec, query.place).check_input()


def _within(query: q.MatchRecognize, scope: Scope) -> int | None:
    """Return how long a match may take (ms)."""
    if query.within is None:
        return None
    given = resolve(query.within, scope)
    if not isinstance(given, Const) or not isinstance(given.type, IntervalType) or given.type.months:
        raise SqlError(f"WITHIN{at(query.place)} needs an interval of days or less, such as INTERVAL '1' HOUR")
    return int(given.value) if given.value > 0 else None  # as in Flink, 0 means no limit


def _order(query: q.MatchRecognize, scope: Scope) -> tuple[Sorted, ...]:
    """Return the order, which begins with a time attribute."""
    listed = [
        Sorted(_column(key, scope, "ORDER BY"), descending, none_first) for key, descending, none_first in query.order
    ]
    first = scope.columns[listed[0].index] if listed else None
    if first is None or not first.time:
        given = "has no ORDER BY" if first is None else f"begins its ORDER BY with '{first.name}'"
        raise SqlError(
            f"MATCH_RECOGNIZE{at(query.place)} {given}, but needs a time attribute there: declare a WATERMARK for a "
            "column, or use one AS PROCTIME()"
        )
    if listed[0].descending:
        raise SqlError(
            f"ORDER BY {first.name} DESC{at(query.order[0][0].place)}: rows match in ascending order of time"
        )
    return tuple(listed)


def _column(key: s.Syntax, scope: Scope, clause: str) -> int:
    index, fields = scope.find(key) if isinstance(key, s.Name) else (0, ("",))
    if fields:
        raise SqlError(
            f"{clause}{at(key.place)} of MATCH_RECOGNIZE takes columns: compute other values in a preceding query"
        )
    return index


def _partition(query: q.MatchRecognize, scope: Scope) -> tuple[int, ...]:
    found: list[int] = []
    for key in query.partition:
        index = _column(key, scope, "PARTITION BY")
        if index in found:
            raise SqlError(f"PARTITION BY{at(key.place)} names the column '{scope.columns[index].name}' twice")
        found.append(index)
    return tuple(found)


def _tests(query: q.MatchRecognize, rows: MatchedRows) -> tuple[MatchFunction | None, ...]:
    """Return the conditions of the variables of the pattern; None for those that have none."""
    tests: list[MatchFunction | None] = [None] * (len(rows.numbers) + 1)
    defined: set[str] = set()
    for item in query.define:
        (name,) = item.names
        if name in defined:
            raise SqlError(f"DEFINE{at(item.place)} has a second condition of '{name}': join both with AND")
        defined.add(name)
        values = MatchValues(rows, rows.numbers[name])
        written = values.rewrite(item.argument)
        scope, read = values.scope_and_values()
        condition = resolve_condition(written, scope, f"DEFINE {name}", item.place)
        tests[rows.numbers[name]] = MatchFunction([condition], read, values.last)
    return tuple(tests[: len(rows.pattern)])


def _add_subsets(query: q.MatchRecognize, rows: MatchedRows) -> None:
    """Let measures name subsets and, as Flink does, find no rows of them; anchors are without effect there, too."""
    variables = set(rows.numbers)
    for subset in query.subsets:
        if subset.name in rows.numbers:
            raise SqlError(f"SUBSET{at(subset.place)}: the variable '{subset.name}' exists already")
        for name in subset.variables:
            if name not in variables:
                raise TableNotFoundError((name,), subset.place, variables)
        rows.add_without_rows(subset.name)
        warnings.warn(
            f"the subset '{subset.name}'{at(subset.place)} has no rows, as in Flink: name each variable in MEASURES, "
            "as in COALESCE(B.x, A.x)",
            stacklevel=2,
        )
    for sign in query.anchors:
        warnings.warn(
            f"'{sign}' in PATTERN{at(query.place)} has no effect, as in Flink: number the rows in the table that is "
            "matched",
            stacklevel=2,
        )


def _measures(
    query: q.MatchRecognize, rows: MatchedRows, partition: Sequence[int]
) -> tuple[tuple[Column, ...], MatchFunction]:
    """Return the columns of the result, and what computes them: those of the partition, then the measures."""
    values = MatchValues(rows)
    items: list[s.Alias] = [s.Alias(None, values.share_column(i), (rows.scope.columns[i].name,)) for i in partition]
    items += [s.Alias(item.place, values.rewrite(item.argument), item.names) for item in query.measures]
    names: set[str] = set()
    for item in items:
        if item.names[0] in names:
            raise SqlError(f"MEASURES{at(item.place)}: the result has two columns '{item.names[0]}'")
        names.add(item.names[0])
    scope, read = values.scope_and_values()
    found = resolve_items(items, scope)
    columns = tuple(Column(item.name, item.expression.type, item.time) for item in found)
    return columns, MatchFunction([item.expression for item in found], read, values.last)
