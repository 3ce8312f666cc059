"""Joins of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common._datatypes import DataTypes
from flintstream.table._expressions.codegen import source
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._operators.grouping import FirstColumns
from flintstream.table._operators.joins import KeyedJoin
from flintstream.table._plan import edges
from flintstream.table._plan.nodes import Calc, Node, shown
from flintstream.table._plan.translate import GeneratedOperator, then, translated, translation

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._expressions.expr import Expr

KIND = DataTypes.TINYINT()


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows with equal keys for which a condition holds, and rows without a partner of an outer side."""

    left: Node
    right: Node
    keys: tuple[tuple[Expr, Expr], ...]
    """Expressions on the left and on the right."""
    condition: Expr | None
    """On the columns of both."""
    outer: tuple[bool, bool]
    ttl_ms: int = 0
    final: bool = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return (self.left, self.right)

    @property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return not self.final and (any(self.outer) or self.left.changelog or self.right.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        kind = {(False, False): "Inner", (True, False): "LeftOuter", (False, True): "RightOuter"}.get(self.outer)
        sides = [f"{shown(a, self.left.columns)} = {shown(b, self.right.columns)}" for a, b in self.keys]
        return f"Join(joinType=[{kind or 'FullOuter'}Join], where=[{' AND '.join(sides) or 'true'}])"


def _side(node: Node, keys: tuple[Expr, ...]) -> Node:
    """Return (key..., row...)."""
    refs = tuple(Ref(each.type, i) for i, each in enumerate(node.columns))
    names = tuple(type(node.columns[0])(f"$k{i}", each.type) for i, each in enumerate(keys)) if node.columns else ()
    return Calc((*names, *node.columns), node, (*keys, *refs))


@translation.register(Join)
def _(node: Join, env: StreamExecutionEnvironment) -> DataStream:
    sides = []
    for side, keys in ((node.left, [a for a, _ in node.keys]), (node.right, [b for _, b in node.keys])):
        stream = translated(_side(side, tuple(keys)), env)
        if not side.changelog:
            stream = then(stream, "Changes", GeneratedOperator(*edges.both("r + (0,)")))
        sides.append(stream.key_by(FirstColumns(len(node.keys))))
    condition = None
    if node.condition is not None:
        condition = source((Const(KIND, 0),), node.condition, stamped=False)
    widths = (len(node.left.columns), len(node.right.columns))
    join = KeyedJoin(len(node.keys), widths, node.outer, condition, ttl_ms=node.ttl_ms, final=node.final)
    joined = sides[0].connect(sides[1]).process(join).name("Join")
    if not node.keys:
        joined.force_non_parallel()
    if node.changelog:
        return joined
    return then(joined, "Rows", GeneratedOperator(*edges.both("r[:-1]")))
