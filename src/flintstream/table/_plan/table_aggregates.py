"""Functions with any number of rows for each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.table._expressions.expr import Column
from flintstream.table._logical.nodes import Calc, Node
from flintstream.table._operators.rows import key_at
from flintstream.table._operators.table_aggregates import TableAggregate
from flintstream.table._plan.translate import Produced, translate, translation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._plan.settings import PlannerSettings


@dataclass(frozen=True)
class FlatGrouped(Node):
    """The keys, and the rows of a function for each group. The input has the keys, and then the arguments."""

    input: Node
    keys: int
    function: Any
    batch: bool
    ttl_ms: int

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return not self.batch

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [column.name for column in self.columns]
        return f"GroupTableAggregate(groupBy=[{', '.join(names[: self.keys])}], select=[{', '.join(names)}])"


def flat_grouped(
    settings: PlannerSettings,
    node: Node,
    keys: Sequence[tuple[str, Expr]],
    function: Any,
    arguments: Sequence[Expr],
    names: Sequence[str],
) -> FlatGrouped:
    """Return the groups with the settings of the session; ``names`` are those of the columns of the function."""
    own = [Column(name, expression.type) for name, expression in keys]
    parts = (*(expression for _, expression in keys), *arguments)
    below = Calc(tuple(Column(f"$i{i}", item.type) for i, item in enumerate(parts)), node, parts)
    made = [Column(name, kind.nullable()) for name, kind in zip(names, function.result_types, strict=True)]
    return FlatGrouped((*own, *made), below, len(own), function, settings.batch, settings.state_ttl_ms)


@translation.register(FlatGrouped)
def _(node: FlatGrouped, env: StreamExecutionEnvironment) -> DataStream:
    rows = Produced([column.type for column in node.columns[node.keys :]])
    function = TableAggregate(
        node.function.implementation,
        rows,
        node.keys,
        changelog=node.input.changelog,
        batch=node.batch,
        ttl_ms=node.ttl_ms,
    )
    keyed = translate(node.input, env).key_by(key_at(range(node.keys)))
    made = keyed.process(function).name("GroupTableAggregate")
    return made if node.keys else made.force_non_parallel()
