"""Calls of aggregate functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._sql import exp
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from flintstream.table._errors import Place
    from flintstream.table._sql.ordering import Reader


def aggregate(reader: Reader, name: str, given: list[exp.Expr], place: Place | None) -> s.Syntax:
    """Return a call of an aggregate function of SQL.

    Raises:
        SqlError: It has more or fewer arguments than the function takes.
    """
    if name == "ARRAY_AGG":
        given = [_without_order(item) for item in given]
    distinct = len(given) > 0 and isinstance(given[0], exp.Distinct)
    if distinct:
        given = [*given[0].expressions, *given[1:]]
    option = None
    if name == "LISTAGG" and len(given) == 2:
        option = str(given.pop().this)
    if name == "COUNT" and len(given) == 1 and isinstance(given[0], exp.Star):
        given = []
    if name == "COUNT" and len(given) > 1:
        return s.Aggregate(place, name, _all_known(place, tuple(map(reader.read, given))), distinct)
    if name == "PERCENTILE" and len(given) in {2, 3}:
        return replace(s.aggregate_of(place, name, tuple(map(reader.read, given))), distinct=distinct)
    if len(given) > 1 or (not given and name != "COUNT"):
        raise SqlError(f"{name}{at(place)} takes one argument, but got {len(given)}")
    return s.Aggregate(place, name, reader.read(given[0]) if given else None, distinct, None, option)


def own_aggregate(reader: Reader, function: object, given: list[exp.Expr], place: Place | None) -> s.Syntax:
    """Return a call of an aggregate function of the program."""
    distinct = len(given) == 1 and isinstance(given[0], exp.Distinct)
    arguments = tuple(map(reader.read, given[0].expressions if distinct else given))
    return replace(s.aggregate_of(place, function, arguments), distinct=distinct)


def json_object_agg(reader: Reader, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return JSON_OBJECTAGG."""
    (pair,) = node.expressions
    option = "ABSENT" if str(node.args.get("null_handling") or "").startswith("ABSENT") else "NULL"
    both = s.Apply(place, "ROW", (reader.read(pair.this), reader.read(pair.expression)))
    return s.Aggregate(place, "JSON_OBJECTAGG", both, option=option)


def json_array_agg(reader: Reader, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return JSON_ARRAYAGG."""
    option = "NULL" if str(node.args.get("null_handling") or "").startswith("NULL") else "ABSENT"
    return s.Aggregate(place, "JSON_ARRAYAGG", reader.read(_without_order(node.this)), option=option)


def _without_order(node: exp.Expr) -> exp.Expr:
    """Return what is aggregated: like Flink, arrays keep the order of the rows, whatever their ORDER BY says."""
    found: exp.Expr = node.this if isinstance(node, exp.Order) else node
    return found


def within_group(reader: Reader, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return JSON_ARRAYAGG before WITHIN GROUP.

    Raises:
        SqlError: It follows something else.
    """
    if not isinstance(node.this, exp.JSONArrayAgg):
        raise SqlError(f"WITHIN GROUP{at(place)} must follow JSON_ARRAYAGG")
    return reader.read(node.this)


def aggregate_with_filter(reader: Reader, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return an aggregate with FILTER.

    Raises:
        SqlError: It follows something else.
    """
    found = reader.read(node.this)
    if not isinstance(found, s.Aggregate):
        raise SqlError(f"FILTER{at(place)} must follow an aggregate function")
    return replace(found, condition=reader.read(node.expression.this))


def _all_known(place: Place | None, parts: tuple[s.Syntax, ...]) -> s.Syntax:
    """Return a row of values, or NULL if one of them is."""
    tests = tuple(s.Apply(place, "IS NOT NULL", (part,)) for part in parts)
    nothing = s.Value(place, None, t.NullType())
    return s.Apply(place, "CASE", (s.Apply(place, "AND", tests), s.Apply(place, "ROW", parts), nothing))
