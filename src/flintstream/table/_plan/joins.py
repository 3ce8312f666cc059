"""Joins of tables: regular ones, those within an interval, and those with versions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from flintstream.datastream._streams.steps import add_step, leave_in_place, selector_of, transformation_of
from flintstream.datastream.data_stream import DataStream
from flintstream.graph.transformation import OperatorTransformation
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.codegen import Source
from flintstream.table._expressions.expr import Ref, calls_python
from flintstream.table._expressions.operators import comparison
from flintstream.table._logical.nodes import Calc, Node, Scan, Union, Values, show
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.joins.interval import IntervalJoin
from flintstream.table._operators.joins.regular import JoinOfBlocks, RegularJoin, SemiJoin
from flintstream.table._operators.joins.temporal import CurrentVersionJoin, TemporalJoin
from flintstream.table._operators.joins.window import WindowJoin, WindowSemiJoin
from flintstream.table._operators.rows import ValueFunction, key_of_values
from flintstream.table._operators.zones import Zone
from flintstream.table._plan.build import widen
from flintstream.table._plan.conditions import both, conjuncts, move_refs, sides, taken_apart, time_bounds
from flintstream.table._plan.lookups import can_be_looked_up, looked_up
from flintstream.table._plan.translate import add_operator, translate, translation
from flintstream.table._plan.window_columns import window_columns
from flintstream.table._types.rules import KEY_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._plan.conditions import Bounds, Parts
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._plan.window_columns import WindowColumns
    from flintstream.table._syntax.queries import JoinKind

CURRENT = -1
"""The position of the time in a version that holds as long as no other one has come."""
INNER: Final = "INNER"
LEFT: Final = "LEFT"
RIGHT: Final = "RIGHT"
FULL: Final = "FULL"
SEMI: Final = "SEMI"
ANTI: Final = "ANTI"
_TITLES: dict[JoinKind, str] = {
    INNER: "InnerJoin",
    LEFT: "LeftOuterJoin",
    RIGHT: "RightOuterJoin",
    FULL: "FullOuterJoin",
    SEMI: "LeftSemiJoin",
    ANTI: "LeftAntiJoin",
}


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows for which a condition holds. Its kind tells what becomes of rows without a partner."""

    stamps = True

    left: Node
    right: Node
    kind: JoinKind
    condition: Expr | None
    """On a left row followed by a right one."""
    zone: str
    ttls_ms: tuple[int, int]
    """How long the rows of each side are kept."""
    batch: bool
    version: tuple[int, int] | None = None
    """Of a join with versions: the time in the left row, and that of the version in the right one, or CURRENT."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return (self.left, self.right)

    @cached_property
    def parts(self) -> Parts:
        """The keys, and the rest of the condition."""
        return taken_apart(self.condition, len(self.left.columns))

    @cached_property
    def windows(self) -> tuple[WindowColumns, WindowColumns] | None:
        """The windows of both sides, if rows only meet within the same one."""
        left, right = window_columns(self.left), window_columns(self.right)
        if left is None or right is None or self.batch or self.version or not left.same_windows(right):
            return None
        if self.left.changelog or self.right.changelog:
            return None
        keys = [(a.index, b.index) for a, b in self.parts.keys if isinstance(a, Ref) and isinstance(b, Ref)]
        return (left, right) if {(left.start, right.start), (left.end, right.end)} <= set(keys) else None

    @cached_property
    def bounds(self) -> Bounds | None:
        """The bounds of the times, if this is a join within an interval."""
        if self.kind in {SEMI, ANTI} or self.version or self.left.changelog or self.right.changelog or self.windows:
            return None
        both_columns = (*self.left.columns, *self.right.columns)
        return time_bounds(self.parts.rest, both_columns, len(self.left.columns))

    @property
    def null_columns(self) -> frozenset[int]:
        """The columns that neither side has."""
        right = () if self.kind in {SEMI, ANTI} else self.right.null_columns
        return self.left.null_columns | {len(self.left.columns) + i for i in right}

    def in_place(self, number: int) -> bool:
        """Return whether the rows of an input are in the subtasks of their keys already."""
        key = [pair[number] for pair in self.parts.keys]
        places = tuple(item.index for item in key if isinstance(item, Ref))
        return not self.batch and len(places) == len(key) and places in self.inputs[number].placed

    @property
    def placed(self) -> frozenset[tuple[int, ...]]:
        """The keys of each side whose rows all have them, if equal values of both sides are alike."""
        width, kept = len(self.left.columns), (self.kind not in {RIGHT, FULL}, self.kind in {INNER, RIGHT})
        keys = [(a.index, width + b.index) for a, b in self.parts.keys if isinstance(a, Ref) and isinstance(b, Ref)]
        plain = all(type(side.type) in KEY_TYPES for pair in self.parts.keys for side in pair)
        if self.batch or not plain or not keys or len(keys) < len(self.parts.keys):
            return frozenset()
        return frozenset(side for side, all_rows in zip(zip(*keys, strict=True), kept, strict=True) if all_rows)

    @property
    def outer(self) -> tuple[bool, bool]:
        """Whether left rows, and right ones, are there without a partner."""
        return self.kind in {LEFT, FULL}, self.kind in {RIGHT, FULL}

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        if self.version is not None:
            return self.left.changelog
        if self.batch or self.bounds is not None or self.windows is not None:
            return False
        return any(self.outer) or self.kind == ANTI or self.left.changelog or self.right.changelog

    def title(self) -> str:
        """Return the line of ``explain()``."""
        name = "TemporalJoin" if self.version else "IntervalJoin" if self.bounds else "Join"
        name = "WindowJoin" if self.windows else name
        columns = (*self.left.columns, *self.right.columns)
        where = " AND ".join(show(conjunct, columns) for conjunct in conjuncts(self.condition)) or "true"
        names = ", ".join(column.name for column in self.columns)
        return f"{name}(joinType=[{_TITLES[self.kind]}], where=[{where}], select=[{names}])"


@window_columns.register(Join)
def _(node: Join) -> WindowColumns | None:
    return None if node.windows is None or node.kind in {RIGHT, FULL} else node.windows[0]


def join_tables(
    settings: PlannerSettings,
    left: Node,
    right: Node,
    kind: JoinKind,
    condition: Expr | None,
    version: tuple[int, int] | None = None,
    ttls_ms: tuple[int, int] | None = None,
) -> Join:
    """Return a join with the settings of the session, perhaps with other times to keep the rows of each side."""
    columns: tuple[Column, ...] = left.columns
    if kind not in {SEMI, ANTI}:
        first = [_nullable(column) if kind in {RIGHT, FULL} else column for column in left.columns]
        second = [_nullable(column) if kind in {LEFT, FULL} else column for column in right.columns]
        columns = (*first, *second)
    ttls_ms = ttls_ms or (settings.state_ttl_ms, settings.state_ttl_ms)
    return _with_times(Join(columns, left, right, kind, condition, settings.zone, ttls_ms, settings.batch, version))


def _nullable(column: Column) -> Column:
    return replace(column, type=column.type.nullable())


def _with_times(join: Join) -> Join:
    """Return a join whose columns are time attributes only if rows come in their order."""
    width = len(join.left.columns)
    if join.windows is not None:
        moments = {join.windows[0].time, width + (-1 if join.windows[1].time is None else join.windows[1].time)}
        columns = [item if i in moments else replace(item, time="") for i, item in enumerate(join.columns)]
        return replace(join, columns=tuple(columns))
    if join.kind in {SEMI, ANTI} or join.bounds is not None:
        return join
    kept = width if join.version is not None else 0
    columns = [
        item if i < kept or item.time != "ROWTIME" else replace(item, time="") for i, item in enumerate(join.columns)
    ]
    return replace(join, columns=tuple(columns))


def with_condition(settings: PlannerSettings, node: Node, condition: Expr | None) -> tuple[Node, Expr | None]:
    """Return a table with the parts of a filter that belong in its joins, and the rest of the filter."""
    if condition is None or not isinstance(node, Join) or node.version is not None:
        return node, condition
    if node.kind not in {INNER, LEFT, SEMI, ANTI}:
        return node, condition
    width = len(node.left.columns)
    below: list[Expr] = []
    here: list[Expr] = []
    above: list[Expr] = []
    for conjunct in conjuncts(condition):
        read = sides(conjunct, width)
        if read == {0}:
            below.append(conjunct)
        elif node.kind == INNER and read:
            here.append(conjunct)
        else:
            above.append(conjunct)
    left: Node = node.left
    if below:
        left, rest = with_condition(settings, left, both(below, settings.zone))
        if rest is not None:
            left = Calc(left.columns, left, None, rest)
    if not below and not here:
        return node, condition
    right = node.right
    own = [item for item in here if sides(item, width) == {1}]
    if own:
        condition_ = both([move_refs(item, -width) for item in own], settings.zone)
        right = Calc(right.columns, right, None, condition_)
    condition = both([*conjuncts(node.condition), *(item for item in here if item not in own)], settings.zone)
    made = join_tables(settings, left, right, node.kind, condition, ttls_ms=node.ttls_ms)
    return made, both(above, settings.zone)


def join_version(
    settings: PlannerSettings,
    left: Node,
    right: Node,
    kind: JoinKind,
    condition: Expr | None,
    time: Expr,
    place: Place | None,
    retry: tuple[int, int] | None = None,
) -> Node:
    """Return a join of each left row with the right row of its time, which is perhaps looked up again if absent.

    Raises:
        SqlError: The time is not a time attribute, or the right table has none.
    """
    if kind not in {INNER, LEFT}:
        raise SqlError(f"FOR SYSTEM_TIME AS OF{at(place)} joins with INNER or LEFT JOIN, not {kind}")
    attribute = left.columns[time.index].time if isinstance(time, Ref) else ""
    if not isinstance(time, Ref) or not attribute:
        raise SqlError(
            f"FOR SYSTEM_TIME AS OF{at(place)} needs a time attribute of the left table: declare a WATERMARK for a "
            "column, or one AS PROCTIME()"
        )
    if attribute == "PROCTIME":
        if can_be_looked_up(right):
            return looked_up(settings, left, right, condition, place, outer=kind == LEFT, retry=retry)
        if settings.batch:
            what = "FOR SYSTEM_TIME AS OF a processing time, of a table other than a lookup table,"
            raise unsupported(f"{what} in BATCH mode", place, "join with a rowtime")
        return _by_key(join_tables(settings, left, right, kind, condition, (time.index, CURRENT)), place)
    times = [i for i, item in enumerate(right.columns) if item.time == "ROWTIME"]
    if not times:
        raise SqlError(
            f"FOR SYSTEM_TIME AS OF{at(place)}: the versioned table has no rowtime: declare a WATERMARK in it, and a "
            "PRIMARY KEY or a query with ROW_NUMBER() that keeps the last row of each key"
        )
    return _by_key(join_tables(settings, left, right, kind, condition, (time.index, times[0])), place)


def _by_key(made: Join, place: Place | None) -> Join:
    if not made.parts.keys:
        raise SqlError(
            f"FOR SYSTEM_TIME AS OF{at(place)} needs a join condition that equates columns: the key of the versions"
        )
    return made


def _with_key_columns(node: Join) -> Node:
    """Return a join whose keys do not call Python functions: only operators open them, and one call a row is enough."""
    keys = node.parts.keys
    if not any(map(calls_python, chain.from_iterable(keys))):
        return node
    first, second = (list(side) for side in zip(*keys, strict=True))
    left, left_keys = _with_columns(node.left, first)
    right, right_keys = _with_columns(node.right, second)
    width, old_width = len(left.columns), len(node.left.columns)
    equal = [comparison("=", (a, move_refs(b, width)), node.zone) for a, b in zip(left_keys, right_keys, strict=True)]
    rest = [move_refs(item, width - old_width, old_width) for item in node.parts.rest]
    condition = both([*filter(None, equal), *rest], node.zone)
    columns = left.columns if node.kind in {SEMI, ANTI} else (*left.columns, *right.columns)
    made = replace(node, columns=columns, left=left, right=right, condition=condition)
    kept = [*range(old_width), *range(width, width + len(node.right.columns))][: len(node.columns)]
    return Calc(node.columns, made, tuple(Ref(node.columns[at].type, i) for at, i in enumerate(kept)))


def _with_columns(node: Node, keys: Sequence[Expr]) -> tuple[Node, list[Expr]]:
    """Return a table with a column for each key that calls a Python function, and the keys on it."""
    added = [key for key in keys if calls_python(key)]
    if not added:
        return node, list(keys)
    places = iter(range(len(node.columns), len(node.columns) + len(added)))
    return widen(node, added, "$key"), [Ref(key.type, next(places)) if key in added else key for key in keys]


@translation.register(Join)
def _(node: Join, env: StreamExecutionEnvironment) -> DataStream:
    made = _with_key_columns(node)
    if made is not node:
        return translate(made, env)
    left, right = translate(node.left, env), translate(node.right, env)
    keys = node.parts.keys
    connected = left.connect(right).key_by(key_of_values([a for a, _ in keys]), key_of_values([b for _, b in keys]))
    for number, stream in enumerate((connected.stream1, connected.stream2)):
        if node.in_place(number):
            leave_in_place(stream)
    function, name = _function(node), node.title().partition("(")[0]
    if isinstance(function, RegularJoin):
        stream = _by_block(connected, name, function, (_ends(node.left), _ends(node.right)))
    else:
        stream = connected.process(function)
    stream = stream.name(name)
    if not keys:
        stream = stream.force_non_parallel()
    return join_by_time(stream, node)


def _ends(node: Node) -> bool:
    """Return whether a table has no row after its event time has ended.

    A stream of a program may have a generator of watermarks that ends the time early, so that others need not wait, and
    timers of the processing time may fire later.
    """
    if isinstance(node, Scan):
        return node.ends
    return isinstance(node, Values) or (isinstance(node, (Calc, Union)) and all(map(_ends, node.inputs)))


def _by_block(connected: Any, name: str, function: RegularJoin, ends: tuple[bool, bool]) -> DataStream:
    first, second = connected.stream1, connected.stream2
    transformation = OperatorTransformation(
        name,
        (transformation_of(first), transformation_of(second)),
        None,
        operator=JoinOfBlocks(function, selector_of(first), selector_of(second), ends=ends),
        kind="CO",
        keyed=True,
    )
    env = first.get_execution_environment()
    add_step(env, transformation)
    return DataStream(env, transformation)


def join_by_time(stream: DataStream, node: Node) -> DataStream:
    """Return a stream whose records have the timestamps of the first rowtime column."""
    found = next((i for i, item in enumerate(node.columns) if item.time == "ROWTIME"), None)
    if found is None:
        return stream
    plain = Source("def run(records, append):\n    for r in records: append(r)", {}, ())
    lines = [
        "def run(records, append, stamp):",
        "    for r, t in records:",
        "        append(r)",
        f"        stamp(t if r[{found}] is None else millis(r[{found}]))",
    ]
    return add_operator(stream, "Timestamps", GeneratedOperator(plain, Source("\n".join(lines), {}, ())))


def _function(node: Join) -> Any:
    rest = node.parts.rest if node.bounds is None else node.bounds.rest
    condition = both(rest, node.zone)
    sided: dict[str, Any] = {
        "kinds": (node.left.changelog, node.right.changelog),
        "widths": (len(node.left.columns), len(node.right.columns)),
        "condition": None if condition is None else ValueFunction(condition),
        "keys": len(node.parts.keys),
    }
    if node.version is not None and node.version[1] == CURRENT:
        return CurrentVersionJoin(outer=node.kind == LEFT, ttl_ms=node.ttls_ms[1], **sided)
    if node.version is not None:
        return TemporalJoin(times=node.version, outer=node.kind == LEFT, **sided)
    bounds = node.bounds
    if bounds is not None:
        reach, times = (bounds.lower, bounds.upper), (bounds.left, bounds.right)
        return IntervalJoin(bounds=reach, times=times, outer=node.outer, event_time=bounds.event_time, **sided)
    if node.windows is not None:
        left, right = node.windows
        zone = Zone(left.spec.zone) if left.spec.zone else None
        windowed = {"ends": (left.end, right.end), "event_time": left.event_time, "zone": zone, **sided}
        if node.kind in {SEMI, ANTI}:
            return WindowSemiJoin(anti=node.kind == ANTI, **windowed)
        return WindowJoin(outer=node.outer, **windowed)
    unbounded: dict[str, Any] = {"changes": node.changelog, "batch": node.batch, "ttls_ms": node.ttls_ms, **sided}
    if node.kind in {SEMI, ANTI}:
        return SemiJoin(anti=node.kind == ANTI, **unbounded)
    return RegularJoin(outer=node.outer, **unbounded)
