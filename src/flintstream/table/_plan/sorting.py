"""ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.options.tables import SORT_LIMIT
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._logical.nodes import Calc, Node
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.ordering import RowOrder, Sorted, key_of_parts
from flintstream.table._operators.over import Frame, OverBatch, OverStream
from flintstream.table._operators.ranks import Ranked
from flintstream.table._operators.rows import RowFunction
from flintstream.table._plan import edges
from flintstream.table._plan.translate import add_operator, translate, translation
from flintstream.table._types.objects import BitmapType
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._plan.settings import PlannerSettings


@dataclass(frozen=True)
class Sort(Node):
    """Rows in an order, without the first ``skipped``, and at most ``limit``: the first columns of the input."""

    input: Node
    order: tuple[Sorted, ...]
    skipped: int
    limit: int | None
    batch: bool
    ttl_ms: int
    place: Place | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes: others can come before those of the first that are already there."""
        return not self.batch and self.limit is not None and (bool(self.order) or self.input.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [column.name for column in self.input.columns]
        order = ", ".join(f"{names[item.index]} {'DESC' if item.descending else 'ASC'}" for item in self.order)
        return f"Sort(orderBy=[{order}], offset=[{self.skipped}], fetch=[{self.limit}])"

    def checked(self) -> Sort:
        """Return the same.

        Raises:
            SqlError: A stream without end cannot be sorted so.
        """
        if not self.batch and self.limit is None:
            first = self.order[0] if self.order else Sorted(0, True)
            timely = self.input.columns[first.index].time == "ROWTIME" and not first.descending
            if not timely or self.skipped or self.input.changelog:
                raise SqlError(
                    f"ORDER BY{at(self.place)} of a stream begins with a rowtime column, ascending, or needs LIMIT: "
                    "Sort on a non-time-attribute field is not supported"
                )
        return self


def sorted_on(kind: t.DataType, index: int, descending: bool, none_first: bool, place: Place | None) -> Sorted:
    """Return the order by a column of a type.

    Raises:
        SqlError: The values of the type have no order.
    """
    if isinstance(kind, (t.MapType, t.MultisetType, BitmapType)):
        raise SqlError(f"ORDER BY{at(place)}: {sql_name(kind)} is not an orderable data type")
    parts = isinstance(kind, (t.RowType, t.ArrayType))
    return Sorted(index, descending, none_first, key_of_parts if parts else None)


def sort_rows(
    settings: PlannerSettings,
    node: Node,
    order: Sequence[tuple[Expr, bool, bool]],
    part: tuple[int, int | None] = (0, None),
    *,
    width: int | None = None,
    place: Place | None = None,
) -> Sort:
    """Return a table in an order, or a part of it.

    Args:
        settings: Those of the session.
        node: The table.
        order: Expressions on its columns, whether they are descending, and whether None comes first.
        part: How many rows are skipped, and how many follow at most.
        width: The number of columns that the result has; all by default.
        place: Its place in the statement.
    """
    visible = node.columns if width is None else node.columns[:width]
    listed: list[Sorted] = []
    more: list[Expr] = []
    for expression, descending, none in order:
        if isinstance(expression, Ref):
            listed.append(sorted_on(expression.type, expression.index, descending, none, place))
        else:
            listed.append(sorted_on(expression.type, len(node.columns) + len(more), descending, none, place))
            more.append(expression)
    if more:
        own = tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
        hidden = tuple(Column(f"$o{i}", item.type) for i, item in enumerate(more))
        node = Calc((*node.columns, *hidden), node, (*own, *more))
    return Sort(visible, node, tuple(listed), *part, settings.batch, settings.state_ttl_ms, place)


def a_part(settings: PlannerSettings, node: Node, skipped: int | None, limit: int | None) -> Sort:
    """Return a part of a table, which ``offset()`` and ``fetch()`` describe one after the other.

    Raises:
        SqlError: A number is negative, or the part was described before.
    """
    for name, number in (("offset", skipped), ("fetch", limit)):
        if number is not None and (not isinstance(number, int) or number < 0):
            raise SqlError(f"{name}() needs a number of at least 0, but got {number!r}")
    whole = node if isinstance(node, Sort) else sort_rows(settings, node, ())
    if whole.limit is not None:
        raise SqlError("fetch() is the last part of an order: neither offset() nor fetch() can follow it")
    if skipped is not None and whole.skipped:
        raise SqlError("offset() can only be called once")
    return replace(whole, skipped=whole.skipped if skipped is None else skipped, limit=limit)


@translation.register(Sort)
def _(node: Sort, env: StreamExecutionEnvironment) -> DataStream:
    node = node.checked()
    most = env._configuration.get(SORT_LIMIT)
    if node.batch and node.order and node.limit is None and most >= 0:
        node = replace(node, limit=most)
    keyed = translate(node.input, env).key_by(RowFunction([]))
    width = len(node.columns)
    over: dict[str, Any] = {
        "aggregation": aggregation((), retracts=True),
        "frame": Frame(rows=True, before=None),
        "positions": (),
        "width": width,
    }
    order = RowOrder(node.order)
    if node.limit is None and not node.batch:
        equal = RowOrder(node.order[1:]) if len(node.order) > 1 else None
        function: Any = OverStream(time=node.order[0].index, event_time=True, order=equal, **over)
        return keyed.process(function).name("Sort").force_non_parallel()
    if node.limit is None and not node.skipped and not node.input.changelog:
        function = OverBatch(order=order, first=Sorted(0), **over)
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
    shown = f"r[:{width}] + r[-1:]" if node.changelog else f"r[:{width}]"
    return add_operator(stream, "Rows", GeneratedOperator(*edges.both(shown)))
