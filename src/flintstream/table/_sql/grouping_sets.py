"""The keys of GROUP BY: lists of them, GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot.expressions import Expr

    from flintstream.table._syntax.scalar import Syntax

    Read = Callable[[Any], Syntax]

_SEVERAL = ("GroupingSets", "Rollup", "Cube")
_MOST = 64
"""Each row is there once for each set, so more are a mistake rather than a query."""


def grouping_keys(group: Expr, read: Read) -> tuple[list[Syntax], list[list[Syntax]]]:
    """Return all keys of a GROUP BY, and its sets of keys; no sets if the keys are a plain list.

    Raises:
        SqlError: There are more than 64 sets.
    """
    if group is None:
        return [], []
    parts = group.expressions
    choices = [_choices(part, read) for part in parts]
    if not any(type(part).__name__ in _SEVERAL for part in parts):
        return [key for (keys,) in choices for key in keys], []
    sets = [[key for keys in chosen for key in keys] for chosen in product(*choices)]
    if len(sets) > _MOST:
        raise SqlError(
            f"GROUP BY{at(read(_first(parts[0])).place)} has {len(sets)} grouping sets: the limit is {_MOST}"
        )
    return [key for keys in sets for key in keys], sets


def _first(node: Expr) -> Any:
    return _first(node.expressions[0]) if node.expressions else node


def _choices(node: Expr, read: Read) -> list[list[Syntax]]:
    """Return the sets of keys that a part stands for."""
    kind = type(node).__name__
    if kind == "GroupingSets":
        return [keys for expression in node.expressions for keys in _choices(expression, read)]
    if kind not in _SEVERAL:
        return [_keys(node, read)]
    units = [_keys(expression, read) for expression in node.expressions]
    sizes = range(len(units), -1, -1)
    if kind == "Rollup":
        return [_joined(units[:size]) for size in sizes]
    return [_joined(chosen) for size in sizes for chosen in combinations(units, size)]


def _keys(node: Expr, read: Read) -> list[Syntax]:
    return [read(expression) for expression in (node.expressions if type(node).__name__ == "Tuple" else [node])]


def _joined(units: Sequence[list[Syntax]]) -> list[Syntax]:
    return [key for unit in units for key in unit]
