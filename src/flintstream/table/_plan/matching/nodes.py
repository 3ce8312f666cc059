"""The plan of MATCH_RECOGNIZE, and its translation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, at
from flintstream.table._logical.nodes import Node
from flintstream.table._operators.matching.operator import MatchByProctime, MatchByRowtime
from flintstream.table._operators.ordering import RowOrder
from flintstream.table._operators.rows import key_at
from flintstream.table._plan.joins import join_by_time
from flintstream.table._plan.translate import translate, translation

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._operators.matching.operator import MatchRows, MatchSpec
    from flintstream.table._operators.ordering import Sorted


@dataclass(frozen=True)
class MatchRecognize(Node):
    """A row for each match in the rows of a partition."""

    input: Node
    partition: tuple[int, ...]
    order: tuple[Sorted, ...]
    """The time attribute, and what orders rows of the same time."""
    pattern: str
    spec: MatchSpec
    place: Place | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes: a match stays."""
        return False

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [column.name for column in self.input.columns]
        by = ", ".join(names[i] for i in self.partition)
        order = ", ".join(f"{names[item.index]} {'DESC' if item.descending else 'ASC'}" for item in self.order)
        measures = ", ".join(column.name for column in self.columns[len(self.partition) :])
        return (
            f"Match(partitionBy=[{by}], orderBy=[{order}], measures=[{measures}], rowsPerMatch=[ONE ROW PER MATCH], "
            f"pattern=[{self.pattern}])"
        )

    def check_input(self) -> MatchRecognize:
        """Return the same.

        Raises:
            SqlError: The rows of the input may change.
        """
        if self.input.changelog:
            raise SqlError(
                f"MATCH_RECOGNIZE{at(self.place)} needs a table of insertions only, but its input has changes: "
                "aggregate in windows, or match before you aggregate"
            )
        return self


@translation.register(MatchRecognize)
def _(node: MatchRecognize, env: StreamExecutionEnvironment) -> DataStream:
    keyed = translate(node.input, env).key_by(key_at(node.partition))
    time, *others = node.order
    order = RowOrder(others) if others else None
    if node.input.columns[time.index].time == "ROWTIME":
        function: MatchRows = MatchByRowtime(node.spec, order, time.index)
    else:
        function = MatchByProctime(node.spec, order)
    made = keyed.process(function).name("Match")
    if not node.partition:
        made.force_non_parallel()
    return join_by_time(made, node)
