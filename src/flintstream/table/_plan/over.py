"""OVER windows and numbered rows of tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.datastream._streams.steps import add_keyed_step, leave_in_place, selector_of
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Const, Ref
from flintstream.table._logical.nodes import Calc, Node
from flintstream.table._operators.ordering import RowOrder, Sorted
from flintstream.table._operators.over import OverBatch, OverChanges, OverStream
from flintstream.table._operators.ranks import FirstByRowtime, LastRow, Ranked, RankedInWindow, RanksOfBlocks
from flintstream.table._operators.rows import key_at
from flintstream.table._operators.zones import Zone
from flintstream.table._plan.conditions import both, conjuncts
from flintstream.table._plan.joins import join_by_time
from flintstream.table._plan.translate import translate, translation
from flintstream.table._plan.window_columns import window_columns
from flintstream.table._types.rules import KEY_TYPES, has_lists

if TYPE_CHECKING:
    from flintstream.contracts.functions import KeyedProcessFunction
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._expressions.aggregates import AggregateCall
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._operators.over import Frame, Over, Position
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._plan.window_columns import WindowColumns


@dataclass(frozen=True)
class OverWindow(Node):
    """Rows of the input, without its last ``extra`` columns, and functions of the rows before each."""

    stamps = True

    input: Node
    extra: int
    partition: tuple[int, ...]
    order: tuple[Sorted, ...]
    frame: Frame
    calls: tuple[AggregateCall, ...]
    positions: tuple[Position, ...]
    batch: bool
    ttl_ms: int
    place: Place | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes: they are if a row can come before others that are already there."""
        return not self.batch and not self.timely

    @property
    def timely(self) -> bool:
        """Whether the order is that of a time attribute."""
        times = [self.input.columns[item.index].time for item in self.order]
        return len(times) == 1 and bool(times[0]) and not self.order[0].descending

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [column.name for column in self.input.columns]
        by = ", ".join(names[i] for i in self.partition)
        return f"OverAggregate(partitionBy=[{by}], orderBy=[{_order_text(self.order, names)}])"


@dataclass(frozen=True)
class Rank(Node):
    """The rows from number ``first`` to ``last`` of each key, with their number as last column."""

    stamps = True

    input: Node
    partition: tuple[int, ...]
    order: tuple[Sorted, ...]
    first: int
    last: int
    batch: bool
    ttl_ms: int
    number: bool = True
    """Whether the number is used; it is None otherwise."""
    window: tuple[int, bool, str] | None = None
    """The column with the end of the window that the key belongs to, whether it is of event time, and its zone."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return not self.batch and self.window is None and not self.keeps_first

    @property
    def null_columns(self) -> frozenset[int]:
        """The columns that the input does not have."""
        return self.input.null_columns

    @property
    def placed(self) -> frozenset[tuple[int, ...]]:
        """The columns of the key."""
        plain = all(type(self.columns[i].type) in KEY_TYPES for i in self.partition)
        return frozenset({self.partition}) if self.partition and plain and not self.batch else frozenset()

    @property
    def in_place(self) -> bool:
        """Whether rows are in the subtasks of their keys already."""
        return not self.batch and self.partition in self.input.placed

    @property
    def keeps_first(self) -> bool:
        """Whether the first row of a key stays forever: the order is that of time."""
        times = [self.input.columns[item.index].time for item in self.order]
        ascending = times in (["PROCTIME"], ["ROWTIME"]) and not self.order[0].descending
        return self.last == 1 and ascending and not self.input.changelog

    def title(self) -> str:
        """Return the line of ``explain()``."""
        names = [column.name for column in self.input.columns]
        by = ", ".join(names[i] for i in self.partition)
        return (
            f"Rank(rankType=[ROW_NUMBER], rankRange=[rankStart={self.first}, rankEnd={self.last}], "
            f"partitionBy=[{by}], orderBy=[{_order_text(self.order, names)}])"
        )


def _order_text(order: tuple[Sorted, ...], names: list[str]) -> str:
    return ", ".join(f"{names[item.index]} {'DESC' if item.descending else 'ASC'}" for item in order)


def over(
    settings: PlannerSettings,
    node: Node,
    extra: int,
    window: tuple[tuple[int, ...], tuple[Sorted, ...], Frame],
    calls: tuple[AggregateCall, ...],
    positions: tuple[Position, ...],
    results: tuple[Column, ...],
    place: Place | None,
) -> OverWindow:
    """Return the functions of a window with the settings of the session."""
    columns = (*node.columns[: len(node.columns) - extra], *results)
    return OverWindow(columns, node, extra, *window, calls, positions, settings.batch, settings.state_ttl_ms, place)


# -- numbered rows with a limit --------------------------------------------------------------------------------------


def limit_ranks(node: Node, condition: Expr | None, zone: str) -> tuple[Node, Expr | None]:
    """Return numbered rows whose number has a limit as top-N, and the rest of the condition."""
    if condition is None:
        return node, condition
    if isinstance(node, OverWindow):
        number = len(node.columns) - 1
        bounds = _bounds(condition, number)
        made = None if bounds is None else _rank(node, bounds[0], bounds[1])
        return (node, condition) if made is None or bounds is None else (made, both(bounds[2], zone))
    if not isinstance(node, Calc) or node.condition is not None:
        return node, condition
    below = node.input
    number = len(below.columns) - 1
    while isinstance(below, Calc) and below.condition is None and below.projection is None:
        below = below.input
    if not isinstance(below, OverWindow):
        return node, condition
    parts = node.projection or tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
    places = [i for i, item in enumerate(parts) if isinstance(item, Ref) and item.index == number]
    for place in places:
        bounds = _bounds(condition, place)
        made = None if bounds is None else _rank(below, bounds[0], bounds[1])
        if made is not None and bounds is not None:
            return replace(node, input=made, projection=parts), both(bounds[2], zone)
    return node, condition


def _rank(node: OverWindow, first: int, last: int | None) -> Rank | None:
    if last is None or node.calls or [position.name for position in node.positions] != ["ROW_NUMBER"]:
        return None
    below: Node = node.input
    if node.extra:
        return None
    ends = window_columns(below)
    window = None
    if ends is not None and {ends.start, ends.end} <= set(node.partition) and not node.batch:
        window = (ends.end, ends.event_time, ends.spec.zone)
    timed_ = len(node.order) == 1 and bool(below.columns[node.order[0].index].time) and last == 1
    columns = node.columns
    if not timed_ and window is None:
        columns = tuple(replace(column, time="") if column.time == "ROWTIME" else column for column in columns)
    return Rank(columns, below, node.partition, node.order, first, last, node.batch, node.ttl_ms, window=window)


def _bounds(condition: Expr, number: int) -> tuple[int, int | None, list[Expr]] | None:
    """Return the limits of a column in a condition, and its other parts; None if it has no upper limit."""
    first, last = 1, None
    rest = []
    for conjunct in conjuncts(condition):
        found = _limit(conjunct, number)
        if found is None:
            rest.append(conjunct)
            continue
        low, high = found
        first = max(first, low or 1)
        last = high if last is None else last if high is None else min(last, high)
    return None if last is None else (first, last, rest)


def _limit(condition: Expr, number: int) -> tuple[int | None, int | None] | None:
    if not isinstance(condition, Call) or condition.name not in {"=", "<", "<=", ">", ">="}:
        return None
    a, b = (_bare(argument) for argument in condition.arguments)
    sign = condition.name
    if isinstance(a, Const):
        a, b, sign = b, a, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    if not isinstance(a, Ref) or a.index != number or not isinstance(b, Const) or not isinstance(b.value, int):
        return None
    value = b.value
    return {
        "=": (value, value),
        "<": (None, value - 1),
        "<=": (None, value),
        ">": (value + 1, None),
        ">=": (value, None),
    }[sign]


def _bare(expression: Expr) -> Expr:
    """Return a column or literal without the cast that a comparison adds."""
    if isinstance(expression, Call) and expression.name == "CAST":
        return _bare(expression.arguments[0])
    return expression


def without_unused_number(node: Node) -> Node:
    """Return a projection of numbered rows; if it does not read the number, the rows have none."""
    chain: list[Calc] = []
    below = node
    while isinstance(below, Calc):
        chain.append(below)
        below = below.input
    if not isinstance(below, Rank) or below.window is not None or not chain:
        return node
    used = set(range(len(node.columns)))
    for item in chain:
        parts = used if item.projection is None else _read(item.projection[i] for i in used)
        used = set(parts) | (set() if item.condition is None else _read([item.condition]))
    if len(below.columns) - 1 in used:
        return node
    made: Node = replace(below, number=False)
    for item in reversed(chain):
        made = replace(item, input=made)
    return made


def _read(expressions: Any) -> set[int]:
    return {ref.index for expression in expressions for ref in refs(expression)}


@window_columns.register(Rank)
def _(node: Rank) -> WindowColumns | None:
    return None if node.window is None else window_columns(node.input)


# -- translation -----------------------------------------------------------------------------------------------------


@translation.register(Rank)
def _(node: Rank, env: StreamExecutionEnvironment) -> DataStream:
    stream = translate(node.input, env)
    times = [node.input.columns[item.index].time for item in node.order]
    newest = len(times) == 1 and bool(times[0]) and node.order[0].descending and node.last == 1
    order = RowOrder([item for item in node.order if node.input.columns[item.index].time != "PROCTIME"])
    keyed = stream.key_by(key_at(node.partition))
    if node.in_place:
        leave_in_place(keyed)
    if node.window is not None:
        end, event_time, zone = node.window
        window: dict[str, Any] = {"end": end, "event_time": event_time, "zone": Zone(zone) if zone else None}
        function: KeyedProcessFunction = RankedInWindow(order, node.first, node.last, newest=newest, **window)
    elif node.keeps_first and times == ["ROWTIME"] and not node.batch:
        function = FirstByRowtime(node.order[0].index, number=node.number, ttl_ms=node.ttl_ms)
    elif newest and node.changelog and not node.input.changelog and not node.order[0].none_first:
        time = node.order[0].index if times == ["ROWTIME"] else None
        function = LastRow(time, number=node.number, ttl_ms=node.ttl_ms)
    else:
        function = Ranked(
            order,
            node.first,
            node.last,
            number=node.number,
            newest=newest,
            changelog=node.input.changelog,
            changes=node.changelog,
            batch=node.batch,
            ttl_ms=node.ttl_ms,
        )
    if isinstance(function, (Ranked, LastRow)):
        copies = any(has_lists(column.type) for column in node.columns)
        ranked = add_keyed_step(keyed, "Rank", RanksOfBlocks(function, selector_of(keyed), copies=copies))
    else:
        ranked = keyed.process(function).name("Rank")
    if not node.partition:
        ranked.force_non_parallel()
    return join_by_time(ranked, node)


@translation.register(OverWindow)
def _(node: OverWindow, env: StreamExecutionEnvironment) -> DataStream:
    if node.input.changelog and not node.changelog:
        raise SqlError(f"OVER{at(node.place)} needs a table of insertions only, but its input has changes")
    stream = translate(node.input, env)
    width = len(node.input.columns) - node.extra
    settings: dict[str, Any] = {
        "aggregation": aggregation(node.calls, retracts=True),
        "frame": node.frame,
        "positions": node.positions,
        "width": width,
        "ttl_ms": node.ttl_ms,
    }
    if node.batch or not node.timely:
        settings |= {"order": RowOrder(node.order), "first": node.order[0] if node.order else Sorted(0)}
        function: Over = OverBatch(**settings) if node.batch else OverChanges(node.input.changelog, **settings)
    else:
        time = node.order[0].index
        event_time = node.input.columns[time].time == "ROWTIME"
        function = OverStream(time=time, event_time=event_time, **settings)
    keyed = stream.key_by(key_at(node.partition))
    made = keyed.process(function).name("OverAggregate")
    if not node.partition:
        made.force_non_parallel()
    return join_by_time(made, node)
