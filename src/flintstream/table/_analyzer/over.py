"""OVER: windows of rows in SELECT."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, UnsupportedClauseError, at, unsupported
from flintstream.table._expressions.aggregates import AGGREGATES, AggregateCall, result_type
from flintstream.table._expressions.expr import Column, Const, Ref
from flintstream.table._expressions.invocations import arguments_of
from flintstream.table._expressions.resolver import resolve, resolve_condition, resolve_items
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._operators.over import Frame, Position
from flintstream.table._plan.build import add_filter, calc, distinct_names, widen
from flintstream.table._plan.conditions import both
from flintstream.table._plan.over import limit_ranks, over, without_unused_number
from flintstream.table._plan.sorting import sorted_on
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType, is_nullable, with_null

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._operators.ordering import Sorted
    from flintstream.table._plan.settings import PlannerSettings

T = TypeVar("T")
NUMBERS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
PARTS = ("CUME_DIST", "NTILE", "PERCENT_RANK")
"""Functions of the position of a row among all rows of its partition."""
MOVED = ("LAG", "LEAD")
_UP_TO_CURRENT = ((None, "UNBOUNDED"), (None, "CURRENT ROW"))
"""Both ends of the frames that a stream can have in any ascending order."""
FULL_NAMES = {"VARIANCE": "VAR_SAMP", "STDDEV": "STDDEV_SAMP"}


def select_items(
    settings: PlannerSettings,
    node: Node,
    scope: Scope,
    items: Sequence[s.Syntax],
    condition: Expr | None = None,
    qualify: s.Syntax | None = None,
    unnamed: str = "EXPR$",
) -> Node:
    """Return what SELECT chooses of the rows for which a condition holds, and then that of QUALIFY.

    Raises:
        SqlError: A window has no order, or a frame that cannot be.
    """
    node, scope, found, condition = _with_windows(settings, node, scope, [*items, *list_of(qualify)], condition)
    if qualify is not None:
        wanted = resolve_condition(found.pop(), scope, "QUALIFY", qualify.place)
        condition = both([*list_of(condition), wanted], settings.zone)
    node, condition = limit_ranks(node, condition, settings.zone)
    return without_unused_number(calc(node, distinct_names(resolve_items(found, scope, unnamed)), condition))


def list_of(item: T | None) -> list[T]:
    """Return a list of what is there."""
    return [] if item is None else [item]


def _with_windows(
    settings: PlannerSettings, node: Node, scope: Scope, items: Sequence[s.Syntax], condition: Expr | None
) -> tuple[Node, Scope, list[s.Syntax], Expr | None]:
    """Return a table with a column for each function OVER a window, and the expressions on it."""
    groups: dict[object, list[s.Over]] = {}
    for item in items:
        for call in _windows_in(item):
            groups.setdefault((call.partition, call.order, call.frame), []).append(call)
    if not groups:
        return node, scope, list(items), condition
    if condition is not None:
        node = add_filter(node, condition)
    names: dict[int, str] = {}
    for calls in groups.values():
        node, scope = _with_window(settings, node, scope, calls, names)

    def replace_window(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Over):
            return s.Name(syntax.place, (names[id(syntax)],))
        return s.map_syntax(syntax, replace_window)

    return node, scope, list(map(replace_window, items)), None


def with_names(syntax: s.Syntax, items: Sequence[s.Syntax], scope: Scope) -> s.Syntax:
    """Return a condition of QUALIFY with what its names mean that SELECT gives to expressions."""
    meanings = {item.names: item.argument for item in items if isinstance(item, s.Alias)}
    own = {(column.name,) for column in scope.columns}

    def expand_name(part: s.Syntax) -> s.Syntax:
        if isinstance(part, s.Name):
            return part if part.parts in own else meanings.get(part.parts, part)
        return s.map_syntax(part, expand_name)

    return expand_name(syntax)


def _windows_in(syntax: s.Syntax) -> Iterator[s.Over]:
    if isinstance(syntax, s.Over):
        yield syntax
        return
    for part in s.parts(syntax):
        yield from _windows_in(part)


def _with_window(
    settings: PlannerSettings, node: Node, scope: Scope, calls: list[s.Over], names: dict[int, str]
) -> tuple[Node, Scope]:
    first = calls[0]
    extra: list[Expr] = []

    def place_of(made: Expr) -> int:
        if isinstance(made, Ref):
            return made.index
        extra.append(made)
        return len(node.columns) + len(extra) - 1

    def position(syntax: s.Syntax) -> int:
        return place_of(resolve(syntax, scope))

    def by(syntax: s.Syntax, descending: bool, none_first: bool) -> Sorted:
        made = resolve(syntax, scope)
        return sorted_on(made.type, place_of(made), descending, none_first, syntax.place)

    partition = tuple(position(item) for item in first.partition)
    order = tuple(by(item, descending, none) for item, descending, none in first.order)
    frame = _frame(first, bool(order), batch=settings.batch)
    _check_order(node, first, order, batch=settings.batch)
    if extra:
        node = widen(node, extra, f"{HIDDEN}x{len(node.columns)}")
        scope = scope.of(node.columns)
        extra = []
    aggregates: list[tuple[AggregateCall, s.Over]] = []
    positions: list[tuple[Position, t.DataType, s.Over]] = []
    for item in calls:
        if isinstance(item.function, s.Aggregate) and not isinstance(item.function.function, str):
            call = own_call(item.function, scope, settings.zone, place_of)
            aggregates.append((_fitting(call, item), item))
        elif isinstance(item.function, s.Aggregate):
            aggregates.append((_aggregate(item.function, scope, position, framed=item.frame is not None), item))
        else:
            positions.append((*_position(item, scope, position, batch=settings.batch), item))
    results = [(call.type, item) for call, item in aggregates] + [(kind, item) for _, kind, item in positions]
    columns = []
    for number, (kind, item) in enumerate(results):
        names[id(item)] = f"{HIDDEN}{len(node.columns) + number}"
        columns.append(Column(names[id(item)], kind))
    made = over(
        settings,
        widen(node, extra, "$") if extra else node,
        len(extra),
        (partition, order, frame),
        tuple(call for call, _ in aggregates),
        tuple(place for place, _, _ in positions),
        tuple(columns),
        first.place,
    )
    return made, scope.of(made.columns)


def _check_order(node: Node, call: s.Over, order: tuple[Sorted, ...], *, batch: bool) -> None:
    if not order and not batch:
        raise unsupported("OVER without ORDER BY on a stream", call.place, "order it by a time attribute")
    if batch or call.frame is None or (call.frame[1:] == _UP_TO_CURRENT and not any(item.descending for item in order)):
        return
    first = order[0]
    column = node.columns[first.index] if first.index < len(node.columns) else None
    if len(order) > 1 or first.descending or column is None or not column.time:
        raise unsupported(
            "a frame of OVER with a first row that is not ordered by a time attribute, ascending,",
            call.place,
            "declare a WATERMARK for the column, use one AS PROCTIME(), or begin the frame at UNBOUNDED PRECEDING",
        )


def own_call(call: s.Aggregate, scope: Scope, zone: str, position: Callable[[Expr], int]) -> AggregateCall:
    """Return the call of an aggregate function of the program, whose arguments get positions in the record.

    Raises:
        SqlError: It is another kind of function, or takes other arguments.
    """
    function = call.function
    if function.kind != "aggregate":
        raise SqlError(f"{function.name}{at(call.place)} is a {function.kind} function: {function.advice}")
    written = [*list_of(call.argument), *call.more]
    arguments = arguments_of(function, [resolve(item, scope) for item in written], zone, call.place)
    types = [item.type for item in arguments]
    kind = types[0] if len(types) == 1 else t.RowType([t.RowField(f"f{i}", item) for i, item in enumerate(types)])
    places = list(map(position, arguments))
    condition = None if call.condition is None else position(resolve(call.condition, scope))
    return AggregateCall(
        function.name,
        places[0] if places else None,
        kind,
        function.result_type.nullable(),
        call.distinct,
        condition,
        function=function.of_types(types, zone),
        more=tuple(places[1:]),
    )


def _fitting(made: AggregateCall, item: s.Over) -> AggregateCall:
    """Return the call of a function of the program, if it can leave rows behind a frame."""
    bounded = item.frame is not None and (item.frame[1][0] is not None or item.frame[1][1] == "CURRENT ROW")
    if bounded and not made.function.retracts:
        raise SqlError(f"{made.name}{at(item.place)} has no method retract(), but its frame leaves rows behind")
    return made


def _aggregate(call: s.Aggregate, scope: Scope, position: Callable[[s.Syntax], int], *, framed: bool) -> AggregateCall:
    argument = None if call.argument is None else resolve(call.argument, scope)
    kind = t.BigIntType(False) if argument is None else argument.type
    name = FULL_NAMES.get(call.function, call.function)
    if name == "PERCENTILE":
        raise unsupported("PERCENTILE() OVER", call.place, "use it with GROUP BY")
    returned = result_type(name, kind, call.place, grouped=True)
    where = None if call.condition is None else position(call.condition)
    if (where is not None and name != "COUNT") or (framed and name in {"SUM", "AVG"}):
        returned = returned.nullable()
    place = None if call.argument is None else position(call.argument)
    return AggregateCall(name, place, kind, returned, call.distinct, where, call.option)


def _position(
    call: s.Over, scope: Scope, position: Callable[[s.Syntax], int], *, batch: bool
) -> tuple[Position, t.DataType]:
    function = call.function
    if not isinstance(function, s.Apply) or function.function.upper() not in (*NUMBERS, *PARTS, *MOVED):
        known = ", ".join((*NUMBERS, *PARTS, *MOVED, *AGGREGATES))
        raise SqlError(f"OVER{at(call.place)} needs one of {known}")
    name = function.function.upper()
    if name in NUMBERS:
        return Position(name), t.BigIntType(False)
    if name in PARTS:
        return _part(call, function, scope, batch=batch)
    if name == "LEAD" and not batch:
        raise unsupported("LEAD() on a stream", call.place, "use LAG() in the opposite order")
    argument, *more = function.arguments
    kind = resolve(argument, scope).type
    values = [resolve(item, scope) for item in more]
    if any(not isinstance(value, Const) for value in values):
        raise SqlError(f"{name}{at(call.place)} needs literals after its first argument")
    literals = [value.value for value in values if isinstance(value, Const)]
    offset, default = [*literals, *[1, None][len(literals) :]][:2]
    nullable = default is None or any(value.nullable for value in values[1:])
    return Position(name, position(argument), int(offset), default), with_null(kind, nullable or is_nullable(kind))


def _part(call: s.Over, function: s.Apply, scope: Scope, *, batch: bool) -> tuple[Position, t.DataType]:
    """Return a function of the position among all rows of a partition, which only a bounded table has."""
    name, place = function.function.upper(), call.place
    if not batch:
        raise unsupported(f"{name}() on a stream", place, "run it in BATCH mode")
    if len(function.arguments) != (name == "NTILE"):
        raise SqlError(f"{name}{at(place)} takes {'one argument' if name == 'NTILE' else 'no arguments'}")
    if name != "NTILE":
        if not call.order:
            raise SqlError(f"{name}{at(place)} needs ORDER BY")
        return Position(name), t.DoubleType(False)
    count = resolve(function.arguments[0], scope)
    if not isinstance(count, Const) or not isinstance(count.value, int) or count.value < 1:
        raise SqlError(f"NTILE{at(place)} needs a positive whole number as a literal")
    return Position(name, offset=count.value), t.BigIntType(False)


def _frame(call: s.Over, ordered: bool, *, batch: bool) -> Frame:
    """Return the rows that count: by default those up to the current one, or all if there is no order."""
    if call.frame is None:
        return Frame(rows=False, before=None, after=0 if ordered else None)
    rows, low, high = call.frame
    if high[1] != "CURRENT ROW" and not batch:
        raise UnsupportedClauseError(
            f"OVER RANGE FOLLOWING windows are not supported yet on streams{at(call.place)}: what follows is not there "
            "yet; end the frame at CURRENT ROW, or use BATCH mode"
        )
    return Frame(
        rows,
        _distance(low, call, rows=rows, batch=batch, sign=1),
        _distance(high, call, rows=rows, batch=batch, sign=-1),
    )


def _distance(end: tuple[s.Syntax | None, str], call: s.Over, *, rows: bool, batch: bool, sign: int) -> int | None:
    value, side = end
    while isinstance(value, s.Convert):
        value = value.argument
    if value is None:
        return 0 if side == "CURRENT ROW" else None
    if not isinstance(value, s.Value) or not isinstance(value.value, int):
        raise SqlError(f"the frame of OVER{at(call.place)} needs a literal or INTERVAL")
    interval = isinstance(value.type, IntervalType)
    if isinstance(value.type, IntervalType) and value.type.months:
        raise SqlError(f"the frame of OVER{at(call.place)}: an INTERVAL of months or years has no fixed length")
    if (interval and rows) or not (interval or rows or batch):  # in a batch, RANGE takes numbers as well
        raise SqlError(f"the frame of OVER{at(call.place)}: ROWS takes a number, RANGE an INTERVAL")
    return value.value * (sign if side == "PRECEDING" else -sign)
