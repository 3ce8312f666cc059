"""The keys of GROUP BY: lists of them, GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, at
from flintstream.table._sql import exp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._syntax.scalar import Syntax

    Read = Callable[[exp.Expr], Syntax]

_MOST = 64
"""Each row is there once for each set, so more are a mistake rather than a query."""


def grouping_keys(group: exp.Expr, read: Read) -> tuple[list[Syntax], list[list[Syntax]]]:
    """Return all keys of a GROUP BY, and its sets of keys; no sets if the keys are a plain list.

    Raises:
        SqlError: There are more than 64 sets.
    """
    parts = group.expressions
    choices = [_choices(part, read) for part in parts]
    if not any(map(_is_several, parts)):
        return [key for (keys,) in choices for key in keys], []
    sets = [[key for keys in chosen for key in keys] for chosen in product(*choices)]
    if len(sets) > _MOST:
        raise SqlError(
            f"GROUP BY{at(read(_first(parts[0])).place)} has {len(sets)} grouping sets: the limit is {_MOST}"
        )
    return [key for keys in sets for key in keys], sets


def _is_several(node: exp.Expr) -> bool:
    return isinstance(node, (exp.GroupingSets, exp.Rollup, exp.Cube))


def _first(node: exp.Expr) -> exp.Expr:
    return _first(node.expressions[0]) if node.expressions else node


def _choices(node: exp.Expr, read: Read) -> list[list[Syntax]]:
    """Return the sets of keys that a part stands for."""
    if isinstance(node, exp.GroupingSets):
        return [keys for expression in node.expressions for keys in _choices(expression, read)]
    if not _is_several(node):
        return [_keys(node, read)]
    units = [_keys(expression, read) for expression in node.expressions]
    sizes = range(len(units), -1, -1)
    if isinstance(node, exp.Rollup):
        return [_join(units[:size]) for size in sizes]
    return [_join(chosen) for size in sizes for chosen in combinations(units, size)]


def _keys(node: exp.Expr, read: Read) -> list[Syntax]:
    return [read(expression) for expression in (node.expressions if isinstance(node, exp.Tuple) else [node])]


def _join(units: Sequence[list[Syntax]]) -> list[Syntax]:
    return [key for unit in units for key in unit]
