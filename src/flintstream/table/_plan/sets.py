"""UNION, INTERSECT and EXCEPT; ORDER BY and LIMIT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.aggregates import aggregation
from flintstream.table._expressions.expr import Ref
from flintstream.table._operators.ordering import RowOrder
from flintstream.table._operators.over import Frame, OverBatch, OverStream
from flintstream.table._operators.ranks import Ranked
from flintstream.table._operators.rows import RowFunction
from flintstream.table._operators.sets import CountedRows
from flintstream.table._plan import edges
from flintstream.table._plan.build import union_all
from flintstream.table._plan.nodes import Node
from flintstream.table._plan.settings import is_batch, state_ttl_ms
from flintstream.table._plan.translate import GeneratedOperator, then, translated, translation

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._expressions.syntax import Place
    from flintstream.table._operators.ordering import Sorted
    from flintstream.table._session import Session


@dataclass(frozen=True)
class SetOperation(Node):
    """UNION, INTERSECT or EXCEPT of two tables with the same types."""

    left: Node
    right: Node
    operation: str
    batch: bool
    ttl_ms: int

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return (self.left, self.right)

    @property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return not self.batch and (self.operation.startswith("EXCEPT") or self.left.changelog or self.right.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"SetOperation(operation=[{self.operation}])"


@dataclass(frozen=True)
class Sort(Node):
    """Rows in an order, without the first ``skipped``, and at most ``limit``."""

    input: Node
    order: tuple[Sorted, ...]
    skipped: int
    limit: int | None
    batch: bool
    ttl_ms: int

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @property
    def changelog(self) -> bool:
        """Whether rows are changes: others can come before those of the first that are already there."""
        return not self.batch and self.limit is not None and (bool(self.order) or self.input.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [each.name for each in self.columns]
        order = ", ".join(f"{names[each.index]} {'DESC' if each.descending else 'ASC'}" for each in self.order)
        return f"Sort(orderBy=[{order}], offset=[{self.skipped}], fetch=[{self.limit}])"


def combined(session: Session, left: Node, right: Node, operation: str, place: Place | None) -> Node:
    """Return a set operation.

    Raises:
        SqlError: The tables have different numbers or types of columns.
    """
    both: Any = union_all([left, right], session.zone, place)
    columns = tuple(type(each)(each.name, each.type) for each in both.columns)
    return SetOperation(columns, both.parts[0], both.parts[1], operation, is_batch(session), state_ttl_ms(session))


def ordered(
    session: Session, node: Node, order: tuple[Sorted, ...], skipped: int, limit: int | None, place: Place | None
) -> Node:
    """Return a table in an order, or a part of it.

    Raises:
        SqlError: A stream without end cannot be sorted so.
    """
    batch = is_batch(session)
    if not batch and limit is None:
        timely = bool(order) and node.columns[order[0].index].time == "ROWTIME" and not order[0].descending
        if not timely or skipped or node.changelog or len(order) > 1:
            raise SqlError(
                f"ORDER BY{at(place)} of a stream needs one rowtime column, ascending, or LIMIT: "
                "Sort on a non-time-attribute field is not supported"
            )
    return Sort(node.columns, node, order, skipped, limit, batch, state_ttl_ms(session))


@translation.register(SetOperation)
def _(node: SetOperation, env: StreamExecutionEnvironment) -> DataStream:
    sides = (node.left, node.right)
    first, second = (RowFunction([Ref(each.type, i) for i, each in enumerate(side.columns)]) for side in sides)
    kinds = (node.left.changelog, node.right.changelog)
    function = CountedRows(node.operation, kinds, changes=node.changelog, batch=node.batch, ttl_ms=node.ttl_ms)
    left, right = (translated(each, env) for each in sides)
    return left.connect(right).key_by(first, second).process(function).name("SetOperation")


@translation.register(Sort)
def _(node: Sort, env: StreamExecutionEnvironment) -> DataStream:
    keyed = translated(node.input, env).key_by(RowFunction([]))
    over: dict[str, Any] = {
        "aggregation": aggregation((), retracts=True),
        "frame": Frame(rows=True, before=None),
        "positions": (),
        "width": len(node.columns),
    }
    order = RowOrder(node.order)
    if node.limit is None and not node.batch:
        function: Any = OverStream(time=node.order[0].index, event_time=True, **over)
        return keyed.process(function).name("Sort").force_non_parallel()
    if node.limit is None and not node.skipped and not node.input.changelog:
        function = OverBatch(order=order, distance=0, descending=False, **over)
        return keyed.process(function).name("Sort").force_non_parallel()
    last = 1 << 62 if node.limit is None else node.skipped + node.limit
    ranked = Ranked(
        order,
        node.skipped + 1,
        last,
        number=False,
        newest=False,
        changelog=node.input.changelog,
        changes=node.changelog,
        batch=node.batch,
        ttl_ms=node.ttl_ms,
    )
    stream = keyed.process(ranked).name("SortLimit").force_non_parallel()
    shown = "r[:-2] + r[-1:]" if node.changelog else "r[:-1]"
    return then(stream, "Rows", GeneratedOperator(*edges.both(shown)))
