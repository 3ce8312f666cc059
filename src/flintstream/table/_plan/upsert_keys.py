"""Keys of changes: columns by which the changes of a table come in order, and no two rows of it are the same."""

from __future__ import annotations

from functools import singledispatch
from itertools import product
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.expr import Call, Ref
from flintstream.table._logical.nodes import Calc, Scan
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import ANTI, FULL, LEFT, RIGHT, SEMI, Join
from flintstream.table._plan.over import Rank
from flintstream.table._plan.sets import SetOperation
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node

    Keys = set[frozenset[int]]


_EXACT_AS_TEXT = (*INTEGERS, t.BooleanType, t.DateType, t.TimeType, t.TimestampType, t.DoubleType, t.FloatType)


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
        column = _without_exact_casts(item)
        if isinstance(column, Ref):
            places.setdefault(column.index, []).append(i)
    found: Keys = set()
    for key in below:
        found |= set(map(frozenset, product(*(places.get(i, []) for i in key))))
    return found


def _without_exact_casts(item: Expr) -> Expr:
    """Return what is cast, if different values stay different."""
    while isinstance(item, Call) and item.name == "CAST" and _is_exact(item.arguments[0].type, item.type):
        (item,) = item.arguments
    return item


def _is_exact(given: DataType, wanted: DataType) -> bool:
    if type(given) in INTEGERS and type(wanted) in INTEGERS:
        return INTEGERS[type(given)] <= INTEGERS[type(wanted)]
    if not isinstance(wanted, t.VarCharType):
        return given.nullable() == wanted.nullable()
    if isinstance(given, (t.CharType, t.VarCharType)):
        return given.length <= wanted.length
    return wanted.length == t.MAX_LENGTH and isinstance(given, _EXACT_AS_TEXT)


@upsert_keys.register(Grouped)
def _(node: Grouped) -> Keys:
    if node.window is not None:
        return set()
    keys = frozenset(range(node.keys))  # also the first columns of the input
    return {key for key in upsert_keys(node.input) if key <= keys} or {keys}


@upsert_keys.register(Rank)
def _(node: Rank) -> Keys:
    partition = frozenset(node.partition)
    if node.first == node.last == 1:
        return {partition}
    numbered = {partition | {len(node.input.columns)}} if node.number else set()
    return numbered | _keys_within(upsert_keys(node.input), partition)


@upsert_keys.register(SetOperation)
def _(node: SetOperation) -> Keys:
    """Distinct rows have all columns as their key."""
    return set() if node.operation.endswith("ALL") else {frozenset(range(len(node.columns)))}


@upsert_keys.register(Join)
def _(node: Join) -> Keys:
    pairs = [(a.index, b.index) for a, b in node.parts.keys if isinstance(a, Ref) and isinstance(b, Ref)]
    if len(pairs) < len(node.parts.keys):
        return set()
    by = frozenset(a for a, _ in pairs), frozenset(b for _, b in pairs)
    unique = upsert_keys(node.left), upsert_keys(node.right)
    left, right = (_keys_within(keys, columns) for keys, columns in zip(unique, by, strict=True))
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


def _keys_within(keys: Iterable[frozenset[int]], columns: frozenset[int]) -> Keys:
    """Return the keys whose changes stay in order when rows go to subtasks by these columns."""
    return {key for key in keys if columns <= key}
