"""Conditions of joins, taken apart: equal keys, bounds of times, and the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Const, Ref
from flintstream.table._expressions.operators import logic
from flintstream.table._types.rules import IntervalType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Column, Expr

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True)
class Parts:
    """A condition on a left row followed by a right one."""

    keys: tuple[tuple[Expr, Expr], ...]
    """Expressions on the left row, and on the right one, that must be equal."""
    rest: tuple[Expr, ...]
    """On both rows."""


def conjuncts(condition: Expr | None) -> list[Expr]:
    """Return the conditions that must all hold."""
    if condition is None:
        return []
    if isinstance(condition, Call) and condition.name == "AND":
        return [part for argument in condition.arguments for part in conjuncts(argument)]
    if isinstance(condition, Const) and condition.value is True:
        return []
    return [condition]


def both(conditions: Sequence[Expr], zone: str, word: str = "AND") -> Expr | None:
    """Return the condition that all hold (or, with OR, any does); None if there is none."""
    found: Expr | None = None
    for condition in conditions:
        found = condition if found is None else logic(word, [found, condition], zone)
    return found


def sides(expression: Expr, width: int) -> set[int]:
    """Return which rows an expression reads: 0 the left one, of ``width`` columns, and 1 the right one."""
    return {int(ref.index >= width) for ref in refs(expression)}


def move_refs(expression: Expr, by: int, start: int = 0) -> Expr:
    """Return an expression on columns that are ``by`` positions further, from the column ``start`` on."""
    if isinstance(expression, Ref):
        return Ref(expression.type, expression.index + by) if expression.index >= start else expression
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(move_refs(argument, by, start) for argument in expression.arguments))
    return expression


def taken_apart(condition: Expr | None, width: int) -> Parts:
    """Return the keys and the rest of a condition; ``width`` is that of the left row."""
    keys, rest = [], []
    for conjunct in conjuncts(condition):
        pair = _key(conjunct, width)
        if pair is None:
            rest.append(conjunct)
        else:
            keys.append(pair)
    return Parts(tuple(keys), tuple(rest))


def _key(condition: Expr, width: int) -> tuple[Expr, Expr] | None:
    if not isinstance(condition, Call) or condition.name != "=" or len(condition.arguments) != 2:
        return None
    left, right = condition.arguments
    found = sides(left, width), sides(right, width)
    if found == ({1}, {0}):
        left, right = right, left
    elif found != ({0}, {1}):
        return None
    return left, move_refs(right, -width)


@dataclass(frozen=True)
class Bounds:
    """How far the time of a right row may be from that of the left one, in ms."""

    lower: int
    upper: int
    left: int
    right: int
    """The positions of the time columns, each in its own row."""
    event_time: bool
    rest: tuple[Expr, ...]


def time_bounds(rest: Sequence[Expr], columns: Sequence[Column], width: int) -> Bounds | None:
    """Return the bounds of an interval join, and what they leave of its condition; None if it has not both."""
    lower: int | None = None
    upper: int | None = None
    others: list[Expr] = []
    times: tuple[int, int] | None = None
    for item in rest:
        found = [_bind(part, columns, width) for part in _compare(item)]
        if not found or any(one is None or times not in {None, one[2]} for one in found):
            others.append(item)
            continue
        for one in found:
            if one is None:
                continue
            low, high, times = one
            lower = low if lower is None or (low is not None and low > lower) else lower
            upper = high if upper is None or (high is not None and high < upper) else upper
    if lower is None or upper is None or times is None:
        return None
    left, right = times
    return Bounds(lower, upper, left, right - width, columns[left].time == "ROWTIME", tuple(others))


def _compare(condition: Expr) -> list[tuple[str, Expr, Expr]]:
    """Return the comparisons that a condition consists of."""
    if isinstance(condition, Call) and condition.name == "BETWEEN":
        value, low, high = condition.arguments
        return [(">=", value, low), ("<=", value, high)]
    if isinstance(condition, Call) and condition.name in _MIRRORED:
        return [(condition.name, *condition.arguments)]  # type: ignore[list-item]
    return []


def _bind(
    compared: tuple[str, Expr, Expr], columns: Sequence[Column], width: int
) -> tuple[int | None, int | None, tuple[int, int]] | None:
    """Return the least and greatest distance of the right time from the left one, and the time columns."""
    sign, first, second = compared
    a, b = _moment(first, columns), _moment(second, columns)
    if a is None or b is None or columns[a[0]].time != columns[b[0]].time:
        return None
    if a[0] >= width:
        a, b, sign = b, a, _MIRRORED[sign]
    if a[0] >= width or b[0] < width:
        return None
    # left + a[1] <sign> right + b[1], so right - left <mirrored sign> a[1] - b[1]
    distance = a[1] - b[1]
    bounds: dict[str, tuple[int | None, int | None]] = {
        "=": (distance, distance),
        "<": (distance + 1, None),
        "<=": (distance, None),
        ">": (None, distance - 1),
        ">=": (None, distance),
    }
    return (*bounds[sign], (a[0], b[0]))


def _moment(expression: Expr, columns: Sequence[Column]) -> tuple[int, int] | None:
    """Return the time column that an expression is, and the ms it adds."""
    if isinstance(expression, Ref):
        return (expression.index, 0) if columns[expression.index].time else None
    if isinstance(expression, Call) and expression.name in {"+", "-"} and len(expression.arguments) == 2:
        first, second = expression.arguments
        if expression.name == "+" and isinstance(first, Const):
            first, second = second, first
        if isinstance(second, Const) and isinstance(second.type, IntervalType) and not second.type.months:
            base = _moment(first, columns)
            if base is not None:
                return base[0], base[1] + (second.value if expression.name == "+" else -second.value)
    if isinstance(expression, Call) and expression.name == "CAST" and isinstance(expression.type, t.TimestampType):
        return _moment(expression.arguments[0], columns)
    return None
