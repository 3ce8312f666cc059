"""OVER: windows of rows in SELECT."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.aggregates import AGGREGATES, AggregateCall, result_type
from flintstream.table._expressions.expr import Column, Const, Ref
from flintstream.table._expressions.resolver import resolve
from flintstream.table._logical.nodes import Calc
from flintstream.table._operators.ordering import Sorted
from flintstream.table._operators.over import Frame, Position
from flintstream.table._plan.over import over
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType, is_nullable, sql_name, with_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.resolver import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.session import Session

NUMBERS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
MOVED = ("LAG", "LEAD")
HIDDEN = "$q"
"""How the names of columns begin that ``*`` does not show."""


def with_windows(
    session: Session, node: Node, scope: Scope, items: Sequence[s.Syntax], condition: Expr | None
) -> tuple[Node, Scope, list[s.Syntax], Expr | None]:
    """Return a table with a column for each function OVER a window, and the expressions on it.

    Raises:
        SqlError: A window has no order, or a frame that cannot be.
    """
    found: list[s.Over] = []
    for item in items:
        _collect(item, found)
    if not found:
        return node, scope, list(items), condition
    if condition is not None:
        node, condition = Calc(node.columns, node, None, condition), None
    groups: dict[Any, list[s.Over]] = {}
    for item in found:
        groups.setdefault((item.partition, item.order, item.frame), []).append(item)
    names: dict[int, str] = {}
    for calls in groups.values():
        node, scope = _with_window(session, node, scope, calls, names)
    return node, scope, [_replaced(item, names) for item in items], None


def qualification(syntax: s.Syntax, scope: Scope) -> Expr:
    """Return the condition of QUALIFY.

    Raises:
        SqlError: It is not a BOOLEAN.
    """
    made = resolve(syntax, scope)
    if not isinstance(made.type, (t.BooleanType, t.NullType)):
        raise SqlError(f"QUALIFY{at(syntax.place)} needs a BOOLEAN, but got {sql_name(made.type)}")
    return made


def with_names(syntax: object, items: Sequence[s.Syntax], scope: Scope) -> Any:
    """Return a condition of QUALIFY with what its names mean that SELECT gives to expressions."""
    if isinstance(syntax, s.Name) and len(syntax.parts) == 1:
        named = [item.argument for item in items if isinstance(item, s.Alias) and item.names == syntax.parts]
        own = any(column.name == syntax.parts[0] for column in scope.columns)
        return named[0] if named and not own else syntax
    if isinstance(syntax, tuple):
        return tuple(with_names(item, items, scope) for item in syntax)
    if isinstance(syntax, s.Syntax):
        return replace(
            syntax, **{field.name: with_names(getattr(syntax, field.name), items, scope) for field in fields(syntax)}
        )
    return syntax


def _collect(syntax: object, found: list[s.Over]) -> None:
    if isinstance(syntax, s.Over):
        found.append(syntax)
    elif isinstance(syntax, tuple):
        for item in syntax:
            _collect(item, found)
    elif is_dataclass(syntax):
        for one in fields(syntax):
            _collect(getattr(syntax, one.name), found)


def _replaced(syntax: object, names: dict[int, str]) -> Any:
    if isinstance(syntax, s.Over):
        return s.Name(syntax.place, (names[id(syntax)],))
    if isinstance(syntax, tuple):
        return tuple(_replaced(item, names) for item in syntax)
    if isinstance(syntax, s.Syntax) and not isinstance(syntax, (s.Name, s.Star, s.Columns)):
        changed = {field.name: _replaced(getattr(syntax, field.name), names) for field in fields(syntax)}
        return replace(syntax, **changed)
    return syntax


def _with_window(
    session: Session, node: Node, scope: Scope, calls: list[s.Over], names: dict[int, str]
) -> tuple[Node, Scope]:
    first = calls[0]
    batch = session.settings.batch
    width = len(node.columns)
    extra: list[Expr] = []

    def position(syntax: s.Syntax) -> int:
        made = resolve(syntax, scope)
        if isinstance(made, Ref):
            return made.index
        extra.append(made)
        return width + len(extra) - 1

    partition = tuple(position(item) for item in first.partition)
    order = tuple(Sorted(position(item), descending, none) for item, descending, none in first.order)
    _check_order(node, first, order, batch=batch)
    if any(i >= width for i in (*partition, *(item.index for item in order))):
        node, scope, width = _widened(session, node, scope, extra)
        extra = []
    aggregates: list[AggregateCall] = []
    positions: list[Position] = []
    results: list[tuple[int, Column, s.Over]] = []
    for item in calls:
        name = f"{HIDDEN}{width + len(results)}"
        if isinstance(item.function, s.Aggregate):
            call = _aggregate(item.function, scope, position, partitioned=True)
            aggregates.append(call)
            results.append((0, Column(name, call.type), item))
        else:
            place, kind = _position(item, scope, position, batch=batch)
            positions.append(place)
            results.append((1, Column(name, kind), item))
    ordered = sorted(results, key=lambda one: one[0])
    for _, column, item in ordered:
        names[id(item)] = column.name
    below = node
    if extra:
        own = tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
        more = tuple(Column(f"${i}", item.type) for i, item in enumerate(extra))
        below = Calc((*node.columns, *more), node, (*own, *extra))
    frame = _frame(first, bool(order))
    columns = tuple(column for _, column, _ in ordered)
    window = (partition, order, frame)
    made = over(session.settings, below, len(extra), window, tuple(aggregates), tuple(positions), columns, first.place)
    tables = (*scope.tables, *([HIDDEN] * len(columns))) if scope.tables else ()
    return made, session.scope(made.columns, tables)


def _widened(session: Session, node: Node, scope: Scope, extra: list[Expr]) -> tuple[Node, Scope, int]:
    """Return a table with hidden columns for the keys and order of a window."""
    own = tuple(Ref(item.type, i) for i, item in enumerate(node.columns))
    more = tuple(Column(f"{HIDDEN}x{len(node.columns) + i}", item.type) for i, item in enumerate(extra))
    made = Calc((*node.columns, *more), node, (*own, *extra))
    tables = (*scope.tables, *([HIDDEN] * len(more))) if scope.tables else ()
    return made, session.scope(made.columns, tables), len(made.columns)


def _check_order(node: Node, call: s.Over, order: tuple[Sorted, ...], *, batch: bool) -> None:
    if not order and not batch:
        raise SqlError(f"OVER{at(call.place)} needs ORDER BY")
    if batch or call.frame is None:
        return
    first = order[0]
    column = node.columns[first.index] if first.index < len(node.columns) else None
    if len(order) > 1 or first.descending or column is None or not column.time:
        raise unsupported(
            "a frame of OVER that is not ordered by a time attribute, ascending,",
            call.place,
            "declare a WATERMARK for the column, or use one AS PROCTIME()",
        )


def _aggregate(given: s.Aggregate, scope: Scope, position: Any, *, partitioned: bool) -> AggregateCall:
    argument = None if given.argument is None else resolve(given.argument, scope)
    kind = t.BigIntType(False) if argument is None else argument.type
    name = {"VARIANCE": "VAR_SAMP", "STDDEV": "STDDEV_SAMP"}.get(given.function, given.function)
    returned = result_type(name, kind, given.place, grouped=partitioned)
    where = None if given.condition is None else position(given.condition)
    if where is not None and name != "COUNT":
        returned = returned.nullable()
    place = None if given.argument is None else position(given.argument)
    return AggregateCall(name, place, kind, returned, given.distinct, where, given.option)


def _position(call: s.Over, scope: Scope, position: Any, *, batch: bool) -> tuple[Position, t.DataType]:
    function = call.function
    if not isinstance(function, s.Apply) or function.function.upper() not in (*NUMBERS, *MOVED):
        known = ", ".join((*NUMBERS, *MOVED, *AGGREGATES))
        raise SqlError(f"OVER{at(call.place)} needs one of {known}")
    name = function.function.upper()
    if name in NUMBERS:
        if name != "ROW_NUMBER" and not batch:
            raise unsupported(f"{name}() on a stream", call.place, "use ROW_NUMBER()")
        return Position(name), t.BigIntType(False)
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


def _frame(call: s.Over, ordered: bool) -> Frame:
    """Return the rows that count: by default those up to the current one, or all if there is no order."""
    if call.frame is None:
        return Frame(rows=False, before=None, after=0 if ordered else None)
    rows, low, high = call.frame
    return Frame(rows, _distance(low, call, rows=rows, sign=1), _distance(high, call, rows=rows, sign=-1))


def _distance(end: tuple[s.Syntax | None, str], call: s.Over, *, rows: bool, sign: int) -> int | None:
    value, side = end
    if value is None:
        return 0 if side == "CURRENT ROW" else None
    if not isinstance(value, s.Value) or not isinstance(value.value, int):
        raise SqlError(f"the frame of OVER{at(call.place)} needs a literal or INTERVAL")
    if rows == isinstance(value.type, IntervalType):
        raise SqlError(f"the frame of OVER{at(call.place)}: ROWS takes a number, RANGE an INTERVAL")
    return value.value * (sign if side == "PRECEDING" else -sign)
