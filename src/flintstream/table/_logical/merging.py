"""Projections and filters on top of each other as one.

>>> from flintstream.common._types.data_types import DataTypes
>>> from flintstream.table._expressions.expr import Column, Ref
>>> from flintstream.table._logical.nodes import Scan
>>> a, b = Column("a", DataTypes.INT()), Column("b", DataTypes.INT())
>>> scan = Scan((a, b), "t", print)
>>> swapped = Calc((b, a), scan, (Ref(b.type, 1), Ref(a.type, 0)))
>>> merge(Calc((b,), swapped, (Ref(b.type, 0),))).projection == (Ref(b.type, 1),)
True
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.table._expressions.codegen import conjuncts, refs
from flintstream.table._expressions.expr import Call, Ref, calls_python, is_stable
from flintstream.table._expressions.operators import logic
from flintstream.table._logical.nodes import Calc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Expr

MOST_PARTS = 2_000
"""How large merged expressions may be: each level of views may double them."""


def merge(node: Calc) -> Calc:
    """Return a projection and filter that does the work of one below it, too, if values and effects stay the same."""
    below = node.input
    if not isinstance(below, Calc):
        return node
    outer = [*(node.projection or ()), *conjuncts(node.condition)]
    inner = below.projection
    if any(map(calls_python, (*outer, *(inner or ()), *conjuncts(below.condition)))):
        return node
    projection, condition = node.projection, node.condition
    if inner is not None:
        read = Counter(ref.index for item in outer for ref in refs(item))
        if projection is None:
            read.update(range(len(inner)))
        if any(count > 1 and not is_stable(inner[index]) for index, count in read.items()):
            return node
        if sum(count * _size(inner[index]) for index, count in read.items()) > MOST_PARTS:
            return node
        projection = inner if projection is None else tuple(inline(item, inner) for item in projection)
        condition = None if condition is None else inline(condition, inner)
    both = (*conjuncts(below.condition), *conjuncts(condition))
    return Calc(node.columns, below.input, projection, logic("AND", both, "UTC") if both else None)


def _size(expression: Expr) -> int:
    return 1 + sum(map(_size, expression.arguments)) if isinstance(expression, Call) else 1


def inline(expression: Expr, columns: Sequence[Expr]) -> Expr:
    """Return an expression of the columns below, from one of columns that those compute."""
    if isinstance(expression, Ref):
        return columns[expression.index]
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(inline(item, columns) for item in expression.arguments))
    return expression
