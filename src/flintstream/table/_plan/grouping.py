"""Groupings and windows of tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.common import Time
from flintstream.datastream._streams.steps import add_keyed_step, leave_in_place, selector_of
from flintstream.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from flintstream.options.tables import (
    AGG_PHASE,
    ALLOW_LATENESS,
    EARLY_FIRE,
    EARLY_FIRE_DELAY,
    LATE_FIRE,
    LATE_FIRE_DELAY,
)
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._logical.nodes import Calc, Node
from flintstream.table._operators.emits import ChangesOfWindow, Emits, EmitTrigger
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.grouping import (
    NOTHING,
    Changes,
    ChangesOfBlocks,
    ChangesOfRows,
    WindowAggregate,
    WithWindow,
)
from flintstream.table._operators.partial_groups import PartialGroups
from flintstream.table._operators.rows import key_at, key_of_values
from flintstream.table._operators.windows import Cumulating, RowsOfSession, ToEnds, WindowsOf
from flintstream.table._operators.zones import LocalProcessingTime, ToEpoch, ToLocal, Zone
from flintstream.table._plan import edges
from flintstream.table._plan.translate import add_operator, translate, translation
from flintstream.table._types.rules import INTEGERS, KEY_TYPES, has_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._expressions.aggregates import AggregateCall
    from flintstream.table._expressions.expr import Column
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._syntax.queries import WindowKind


@dataclass(frozen=True)
class WindowSpec:
    """A window table function. All times are in ms."""

    kind: WindowKind
    size: int
    """Of a session, the gap."""
    slide: int = 0
    """Of CUMULATE, the step."""
    offset: int = 0
    event_time: bool = True
    partition: tuple[int, ...] | None = None
    """The columns by which sessions are apart; None for those of the grouping."""
    rows: bool = False
    """Whether sizes are numbers of rows, not times."""
    place: Place | None = field(default=None, compare=False)
    zone: str = ""
    """The time zone whose clocks show where windows begin; empty for UTC."""
    older: bool = False
    """Whether it is a window of ``GROUP BY TUMBLE(...)``, or of the Table API."""
    attached: bool = field(default=False, compare=False)
    """Whether rows have been in such a window before, and now have the time of its end."""

    def assigner(self) -> Any:
        """Return the assigner of windows."""
        if self.rows:
            return (
                CountSlidingWindowAssigner(self.size, self.slide)
                if self.slide
                else CountTumblingWindowAssigner(self.size)
            )
        size, slide, offset = (Time.milliseconds(item) for item in (self.size, self.slide or 1, self.offset))
        if self.attached and self.slide:  # windows have different ends
            return TumblingEventTimeWindows.of(slide, offset)
        if self.kind == "CUMULATE":
            return Cumulating(self.size, self.slide, self.offset, self.event_time)
        if self.kind == "HOP":
            return (SlidingEventTimeWindows if self.event_time else SlidingProcessingTimeWindows).of(
                size, slide, offset
            )
        if self.kind == "TUMBLE":
            return (TumblingEventTimeWindows if self.event_time else TumblingProcessingTimeWindows).of(size, offset)
        return (EventTimeSessionWindows if self.event_time else ProcessingTimeSessionWindows).with_gap(size)

    def start_of(self, end: int) -> int:
        """Return the start of the window that ends at a time."""
        if self.kind == "CUMULATE":
            return end - 1 - (end - 1 - self.offset) % self.size
        return end - self.size


@dataclass(frozen=True)
class Windowed(Node):
    """Rows with the windows that they belong to: each row once for each window."""

    input: Node
    spec: WindowSpec

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @property
    def null_columns(self) -> frozenset[int]:
        """The columns that the input does not have."""
        return self.input.null_columns

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"WindowTableFunction(window=[{self.spec.kind}(size=[{self.spec.size} ms])])"


@dataclass(frozen=True)
class TimedByEnd(Node):
    """Rows of windows that have the times of the windows' ends, which are local ones if there is a zone."""

    input: Node
    end: int
    """The position of the end."""
    zone: str

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)


@dataclass(frozen=True)
class Grouped(Node):
    """Aggregates by the first columns of the input. With ``window``, those of each window, which do not change."""

    input: Node
    """Its columns are the keys, and then what the aggregates need."""
    keys: int
    calls: tuple[AggregateCall, ...]
    window: WindowSpec | None = None
    ttl_ms: int = 0
    final: bool = False
    """Whether only final results count, as in BATCH mode."""
    by_block: bool = False
    """Whether results between the rows of a block do not appear."""
    emits: Emits | None = None
    """When windows have results beside those of their end; None for never."""
    combines: bool = False
    """Whether rows of a block may be combined before they go to the subtasks of their keys."""

    @cached_property
    def is_combined(self) -> bool:
        """Whether they are: results must not depend on the order in which rows are added."""
        plain = not any(has_lists(column.type) for column in self.input.columns)
        plain = plain and all(type(column.type) in KEY_TYPES for column in self.columns[: self.keys])
        fits = self.combines and self.window is None and not self.input.changelog and not self.in_place
        return plain and fits and all(map(_is_associative, self.calls))

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @property
    def placed(self) -> frozenset[tuple[int, ...]]:
        """The keys."""
        plain = all(type(column.type) in KEY_TYPES for column in self.columns[: self.keys])
        if not self.keys or not plain or self.final or self.window is not None:
            return frozenset()
        return frozenset({tuple(range(self.keys))})

    @property
    def in_place(self) -> bool:
        """Whether rows are in the subtasks of their keys already."""
        changes = self.window is None and not self.final
        return changes and bool(self.keys) and tuple(range(self.keys)) in self.input.placed

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        if self.window is not None:
            return self.emits is not None
        return not self.final and (bool(self.calls) or self.input.changelog)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        given, names = self.input.display_columns(), [column.name for column in self.display_columns()]
        name = "GroupAggregate" if self.window is None else "WindowAggregate"
        if any(call.function is not None for call in self.calls):
            name = f"Python{name}"
        calls = [
            f"{_call_text(call, given)} AS {shown}" for call, shown in zip(self.calls, names[self.keys :], strict=False)
        ]
        select = [*names[: self.keys], *calls, *names[self.keys + len(calls) :]]
        return f"{name}(groupBy=[{', '.join(names[: self.keys])}], select=[{', '.join(select)}])"

    def display_columns(self) -> Sequence[Column]:
        """Return the columns with the names of the keys below, and ``EXPR$0`` and so on for aggregates."""
        given, found = self.input.display_columns(), []
        for i, column in enumerate(self.columns):
            name = given[i].name if i < self.keys else f"EXPR${i - self.keys}"
            found.append(replace(column, name=name) if column.name[:1] == "$" else column)
        return found


def _is_associative(call: AggregateCall) -> bool:
    """Return whether states of a call can be merged in any order, and keep each digit."""
    if call.function is not None or call.distinct:
        return False
    if call.name in {"SUM", "SUM0", "AVG"}:
        return type(call.argument_type) in INTEGERS
    return call.name == "COUNT" or (call.name in {"MIN", "MAX"} and type(call.argument_type) in KEY_TYPES)


def _call_text(call: AggregateCall, columns: Sequence[Column]) -> str:
    """Return a call of an aggregate function as ``explain()`` shows it."""
    inside = "*" if call.argument is None else columns[call.argument].name
    condition = "" if call.condition is None else f" FILTER {columns[call.condition].name}"
    return f"{call.name}({'DISTINCT ' if call.distinct else ''}{inside}){condition}"


@translation.register(Windowed)
def _(node: Windowed, env: StreamExecutionEnvironment) -> DataStream:
    stream = translate(node.input, env)
    zone = Zone(node.spec.zone) if node.spec.zone else None
    if node.spec.kind == "SESSION":
        keys = [Ref(node.columns[i].type, i) for i in node.spec.partition or ()]
        local = zone if node.spec.event_time else None
        if local is not None:
            stream = add_operator(stream, "LocalTime", ToLocal(local))
        windows = stream.key_by(key_of_values(keys)).window(node.spec.assigner())
        function = RowsOfSession(zone, changelog=node.input.changelog, event_time=node.spec.event_time)
        sessions = windows.process(function).name("WindowTableFunction")
        sessions = sessions if keys else sessions.force_non_parallel()
        return sessions if local is None else add_operator(sessions, "UtcTime", ToEpoch(local))
    rows = WindowsOf(node.spec.assigner(), changelog=node.input.changelog, zone=zone)
    return stream.process(rows).name("WindowTableFunction")


@translation.register(TimedByEnd)
def _(node: TimedByEnd, env: StreamExecutionEnvironment) -> DataStream:
    zone = Zone(node.zone) if node.zone else None
    return add_operator(translate(node.input, env), "WindowTime", ToEnds(node.end, zone))


@translation.register(Grouped)
def _(node: Grouped, env: StreamExecutionEnvironment) -> DataStream:
    stream = translate(node.input, env)
    if node.window is not None:
        return _in_windows(node, node.window, stream)
    changelog = node.input.changelog
    code = aggregation(node.calls, retracts=changelog, expires=node.ttl_ms > 0)
    from_the_start = not node.keys and (node.final or _never(node.input))
    key = key_at(range(node.keys))
    if node.is_combined:
        stream = add_operator(stream, "LocalGroupAggregate", PartialGroups(code, node.keys, key))
    if from_the_start:
        width = 1 if node.is_combined else len(node.input.columns)
        if not changelog:
            stream = add_operator(stream, "Changes", GeneratedOperator(*edges.both("r + (0,)")))
        nothing = env.from_collection([((None,) * width, NOTHING)])
        stream = stream.union(nothing.map(_as_record))
        changelog = True
    grouped = Changes(
        code, node.keys, changelog=changelog, ttl_ms=node.ttl_ms, final=node.final, combined=node.is_combined
    )
    keyed = stream.key_by(key)
    if node.in_place:
        leave_in_place(keyed)
    if from_the_start and not node.by_block:
        changes = keyed.process(grouped).name("GroupAggregate")
    else:
        operator: Any
        if node.by_block:
            operator = ChangesOfBlocks(grouped, selector_of(keyed))
        else:
            copies = any(has_lists(column.type) for column in node.columns)
            operator = ChangesOfRows(grouped, selector_of(keyed), copies=copies)
        changes = add_keyed_step(keyed, "GroupAggregate", operator)
    if not node.keys:
        changes = changes.force_non_parallel()
    if node.changelog:
        return changes
    return add_operator(changes, "Rows", GeneratedOperator(*edges.both("r[:-1]", "r[-1] == 0")))


def _in_windows(node: Grouped, window: WindowSpec, stream: DataStream) -> DataStream:
    code = aggregation(node.calls, retracts=node.input.changelog)
    zone = Zone(window.zone) if window.zone else None
    assigner = window.assigner()
    event_time = window.event_time
    if zone is not None and event_time:
        if not window.attached:
            stream = add_operator(stream, "LocalTime", ToLocal(zone))
    elif zone is not None and window.kind != "SESSION":
        assigner = LocalProcessingTime(assigner, zone)
    windows = stream.key_by(key_at(range(node.keys))).window(assigner)
    function = WithWindow(node.keys, zone, event_time=event_time)
    if window.attached:
        function.start_of = window.start_of
    if node.emits is not None:
        windows = windows.trigger(EmitTrigger(node.emits, event_time=event_time))
        windows = windows.allowed_lateness(node.emits.lateness_ms)
    result = function if node.emits is None else ChangesOfWindow(function)
    made = windows.aggregate(WindowAggregate(code, changelog=node.input.changelog), result).name("WindowAggregate")
    return add_operator(made, "UtcTime", ToEpoch(zone)) if zone is not None and event_time else made


def _never(node: Node) -> bool:
    """Return whether a constant condition refuses all rows.

    In STREAMING mode, Flink has a result without any row only if it knows so when it plans.
    """
    while isinstance(node, Calc):
        if isinstance(node.condition, Const) and node.condition.value is not True:
            return True
        node = node.input
    return False


def _as_record(pair: Any) -> tuple[object, ...]:
    values, kind = pair
    return (*values, kind)


def group_rows(
    settings: PlannerSettings,
    node: Node,
    keys: int,
    calls: tuple[AggregateCall, ...],
    columns: tuple[Column, ...],
    window: WindowSpec | None,
) -> Grouped:
    """Return a grouping with the settings of the session."""
    by_block = settings.by_block or settings.batch
    emits = None if window is None or settings.batch else _emits(settings, window)
    combines = by_block and settings.value(AGG_PHASE) != "ONE_PHASE"
    return Grouped(columns, node, keys, calls, window, settings.state_ttl_ms, settings.batch, by_block, emits, combines)


def _emits(settings: PlannerSettings, window: WindowSpec) -> Emits | None:
    """Return when a window has results beside that of its end.

    Raises:
        SqlError: It cannot have any, or a delay is missing.
    """
    early, late = settings.value(EARLY_FIRE), settings.value(LATE_FIRE) and window.event_time
    if not (early or late) or window.rows:
        return None
    if not window.older or window.kind == "SESSION":
        what = f"{window.kind}{at(window.place)}" if window.kind == "SESSION" else "a window table function"
        raise SqlError(
            f"'{EARLY_FIRE.key}' and '{LATE_FIRE.key}' do not apply to {what}: only GROUP BY TUMBLE(...) and HOP(...) "
            "have results before and after their end"
        )
    delays = [settings.value(option) for option in (EARLY_FIRE_DELAY, LATE_FIRE_DELAY)]
    for enabled, option, delay in zip((early, late), (EARLY_FIRE_DELAY, LATE_FIRE_DELAY), delays, strict=True):
        if enabled and delay is None:
            raise SqlError(f"the option '{option.key}' is missing: set it to '0 s' for a result after each row")
    lateness = (settings.value(ALLOW_LATENESS) or settings.state_ttl_ms) if late else 0
    if late and not lateness:
        raise SqlError(f"'{LATE_FIRE.key}' needs '{ALLOW_LATENESS.key}': how long windows take rows after their end")
    return Emits(delays[0] if early else None, delays[1] if late else None, lateness)
