"""UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.table._expressions.expr import Ref
from flintstream.table._logical.nodes import Node
from flintstream.table._operators.rows import RowFunction
from flintstream.table._operators.sets import CountedRows
from flintstream.table._plan.build import union_all
from flintstream.table._plan.translate import translate, translation

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._syntax.queries import SetOperator


@dataclass(frozen=True)
class SetOperation(Node):
    """UNION, INTERSECT or EXCEPT of two tables with the same types."""

    left: Node
    right: Node
    operation: SetOperator
    batch: bool
    ttl_ms: int

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return (self.left, self.right)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return not self.batch and (self.operation.startswith("EXCEPT") or self.left.changelog or self.right.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"SetOperation(operation=[{self.operation}])"


def combine(settings: PlannerSettings, left: Node, right: Node, operation: SetOperator, place: Place | None) -> Node:
    """Return a set operation.

    Raises:
        SqlError: The tables have different numbers or types of columns.
    """
    both: Any = union_all([left, right], settings.zone, place, operation)
    columns = tuple(type(column)(column.name, column.type) for column in both.columns)
    return SetOperation(columns, both.parts[0], both.parts[1], operation, settings.batch, settings.state_ttl_ms)


@translation.register(SetOperation)
def _(node: SetOperation, env: StreamExecutionEnvironment) -> DataStream:
    sides = (node.left, node.right)
    first, second = (RowFunction([Ref(item.type, i) for i, item in enumerate(side.columns)]) for side in sides)
    kinds = (node.left.changelog, node.right.changelog)
    function = CountedRows(node.operation, kinds, changes=node.changelog, batch=node.batch, ttl_ms=node.ttl_ms)
    left, right = (translate(item, env) for item in sides)
    return left.connect(right).key_by(first, second).process(function).name("SetOperation")
