"""Keys of changes: columns by which the changes of a table come in order, and no two rows of it are the same."""

from __future__ import annotations

from functools import singledispatch
from itertools import product
from typing import TYPE_CHECKING

from flintstream.table._expressions.expr import Ref
from flintstream.table._logical.nodes import Calc, Scan
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import ANTI, FULL, LEFT, RIGHT, SEMI, Join
from flintstream.table._plan.over import Rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.table._logical.nodes import Node

    Keys = set[frozenset[int]]


@singledispatch
def upsert_keys(node: Node) -> Keys:  # noqa: ARG001 - what others register
    """Return the keys of a table's changes, as positions of columns; none if it has none that is known."""
    return set()


@upsert_keys.register(Scan)
def _(node: Scan) -> Keys:
    return {frozenset(node.key)} if node.key else set()


@upsert_keys.register(Calc)
def _(node: Calc) -> Keys:
    below = upsert_keys(node.input)
    if node.projection is None:
        return below
    places: dict[int, list[int]] = {}
    for i, item in enumerate(node.projection):
        if isinstance(item, Ref):
            places.setdefault(item.index, []).append(i)
    found: Keys = set()
    for key in below:
        found |= set(map(frozenset, product(*(places.get(i, []) for i in key))))
    return found


@upsert_keys.register(Grouped)
def _(node: Grouped) -> Keys:
    return {frozenset(range(node.keys))} if node.window is None else set()


@upsert_keys.register(Rank)
def _(node: Rank) -> Keys:
    partition = frozenset(node.partition)
    if node.first == node.last == 1:
        return {partition}
    numbered = {partition | {len(node.input.columns)}} if node.number else set()
    return numbered | _kept(upsert_keys(node.input), partition)


@upsert_keys.register(Join)
def _(node: Join) -> Keys:
    pairs = [(a.index, b.index) for a, b in node.parts.keys if isinstance(a, Ref) and isinstance(b, Ref)]
    if len(pairs) < len(node.parts.keys):
        return set()
    by = frozenset(a for a, _ in pairs), frozenset(b for _, b in pairs)
    unique = upsert_keys(node.left), upsert_keys(node.right)
    left, right = (_kept(keys, columns) for keys, columns in zip(unique, by, strict=True))
    if node.kind in {SEMI, ANTI} or node.version is not None:
        return left
    width = len(node.left.columns)
    moved = {frozenset(i + width for i in key) for key in right}
    found = {a | b for a in left for b in moved}
    if any(key <= by[1] for key in unique[1]) and node.kind not in {RIGHT, FULL}:  # at most one partner
        found |= left
    if any(key <= by[0] for key in unique[0]) and node.kind not in {LEFT, FULL}:
        found |= moved
    return found


def _kept(keys: Iterable[frozenset[int]], columns: frozenset[int]) -> Keys:
    """Return the keys whose changes stay in order when rows go to subtasks by these columns."""
    return {key for key in keys if columns <= key}
