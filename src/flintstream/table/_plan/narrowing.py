"""Sources read no columns that a query does not need, and fewer rows if they know its condition.

That is faster, and a field that cannot be read fails no query that does not read it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from flintstream.table._deep_stack import deep
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Ref, Unread
from flintstream.table._logical.merging import merge
from flintstream.table._logical.nodes import Calc, Node, Scan, Union
from flintstream.table._plan.grouping import Windowed
from flintstream.table._plan.joins import ANTI, SEMI, Join
from flintstream.table._plan.over import Rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.table._expressions.expr import Expr

    Need = frozenset[int] | None
    """Positions of columns; None for all."""


@deep
def narrow(node: Node, need: Need = None) -> Node:
    """Return a plan whose sources read only what it needs."""
    if isinstance(node, Scan):
        if need is None or node.narrowed is None or len(need) == len(node.columns):
            return node
        return replace(node, open=node.narrowed(need), need=need)
    if isinstance(node, Calc):
        return _calc(node, need)
    if isinstance(node, Windowed) and need is not None:
        passed = frozenset(i for i in need if i < len(node.input.columns))
        return replace(node, input=narrow(node.input, passed | {*(node.spec.partition or ())}))
    if isinstance(node, Rank) and need is not None and not node.input.changelog:
        return replace(node, input=narrow(node.input, _read_by_rank(node, need)))
    if isinstance(node, Union):
        return replace(node, parts=tuple(narrow(part, need) for part in node.parts))
    if isinstance(node, Join) and node.version is None:
        left, right = _sides(node, need)
        return replace(node, left=narrow(node.left, left), right=narrow(node.right, right))
    changed: dict[str, Any] = {}
    for field in fields(node):
        inside = getattr(node, field.name)
        made = narrow(inside) if isinstance(inside, Node) else inside
        if made is not inside:
            changed[field.name] = made
    return replace(node, **changed) if changed else node


def columns_of(expressions: Iterable[Expr | None]) -> frozenset[int]:
    """Return the positions of the columns that expressions read."""
    return frozenset(ref.index for expression in expressions if expression is not None for ref in refs(expression))


def _calc(node: Calc, need: Need) -> Node:
    """Return a projection that computes only what is needed."""
    if node.projection is None:
        below = narrow(node.input, None if need is None else need | columns_of([node.condition]))
        return _filter(merge(replace(node, input=below)))
    projection = tuple(
        item if need is None or i in need or isinstance(item, Ref) else Unread(item.type.nullable(), None)
        for i, item in enumerate(node.projection)
    )
    chosen = [item for i, item in enumerate(projection) if need is None or i in need]
    below = narrow(node.input, columns_of([*chosen, node.condition]))
    return _filter(merge(replace(node, input=below, projection=projection)))


def _filter(node: Calc) -> Calc:
    """Return the same steps over a source that leaves out rows which their condition refuses, if it can."""
    scan = node.input
    if not isinstance(scan, Scan) or scan.filtered is None or node.condition is None:
        return node
    found = scan.filtered(node.condition)
    if found is None:
        return node
    # It keeps "filtered": what is merged with these steps later may have further conditions.
    fewer = replace(scan, open=found.open, narrowed=found.narrowed, batches=found.batches, need=None)
    return replace(node, input=narrow(fewer, scan.need))


def _read_by_rank(node: Rank, need: frozenset[int]) -> frozenset[int]:
    window = () if node.window is None else (node.window[0],)
    passed = (i for i in need if i < len(node.input.columns))
    return frozenset((*passed, *node.partition, *(item.index for item in node.order), *window))


def _sides(node: Join, need: Need) -> tuple[Need, Need]:
    width = len(node.left.columns)
    right: Need = frozenset() if node.kind in {SEMI, ANTI} else None
    left: Need = None
    if need is not None:
        left, right = frozenset(i for i in need if i < width), frozenset(i - width for i in need if i >= width)
    met = columns_of([node.condition])
    return (
        None if left is None else left | {i for i in met if i < width},
        None if right is None else right | {i - width for i in met if i >= width},
    )
