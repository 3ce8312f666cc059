"""Window table functions: TUMBLE, HOP, CUMULATE and SESSION."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import ColumnNotFoundError, SqlError, at, nearest
from flintstream.table._expressions.expr import Column
from flintstream.table._plan.grouping import Windowed, WindowSpec
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType, RowsType, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._syntax import queries as q

_COLUMNS = ("window_start", "window_end", "window_time")
_OLDER_COLUMNS = tuple(f"${name}" for name in _COLUMNS)
"""Names that no column of a program has: functions of GROUP BY stand for them."""
_SIZES = {"TUMBLE": (1, 2), "HOP": (2, 3), "CUMULATE": (2, 3), "SESSION": (1, 1)}
_NAMES = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}
_WITHOUT_EFFECT = ("EMITONLYONUPDATE",)
"""Arguments of CUMULATE that Flink 2.3 takes by name, and then does nothing with."""


def add_windows(node: Node, call: q.Window, zone: str) -> Node:
    """Return a table with the columns of its windows.

    Raises:
        SqlError: The time column is not a time attribute, or a size is missing or wrong.
    """
    names = [item.name for item in node.columns]
    if call.column not in names:
        raise ColumnNotFoundError((call.column,), f" in DESCRIPTOR{at(call.place)}", nearest(call.column, names))
    column = node.columns[names.index(call.column)]
    if not column.time:
        raise SqlError(
            f"The window function {call.kind}{at(call.place)} requires the time column '{column.name}' to be a time "
            "attribute: declare a WATERMARK for it, or use a column AS PROCTIME()"
        )
    sizes = _sizes(call)
    size = sizes.get("SIZE", sizes.get("GAP", 0))
    slide = sizes.get("SLIDE", sizes.get("STEP", 0))
    if call.kind in {"HOP", "CUMULATE"} and size % slide:
        step = "slide" if call.kind == "HOP" else "step"
        raise SqlError(
            f"{call.kind}{at(call.place)}: the size must be a multiple of the {step}, but got {size} and {slide} ms"
        )
    for item in call.partition:
        if item not in names:
            raise ColumnNotFoundError((item,), f" in PARTITION BY{at(call.place)}", nearest(item, names))
    partition = tuple(names.index(item) for item in call.partition)
    spec = WindowSpec(
        call.kind,
        size,
        slide,
        sizes.get("OFFSET", 0),
        column.time == "ROWTIME",
        partition,
        place=call.place,
        zone=_zone(column, zone),
    )
    moment = t.TimestampType(3, False)
    time = column.type.not_null() if column.time == "ROWTIME" else moment
    return _with_times(node, spec, _COLUMNS, moment, time, column.time)


def _with_times(
    node: Node, spec: WindowSpec, names: tuple[str, ...], moment: t.DataType, time: t.DataType, attribute: str
) -> Windowed:
    start, end, last = names
    times = (Column(start, moment), Column(end, moment), Column(last, time, attribute))
    return Windowed((*node.columns, *times), node, spec)


def _zone(column: Column, zone: str) -> str:
    """Return the zone whose clocks show where windows of a column begin; empty for UTC."""
    local = isinstance(column.type, t.LocalZonedTimestampType) and zone not in {"UTC", "GMT", "Etc/UTC", "Z"}
    return zone if local else ""


def _sizes(call: q.Window) -> dict[str, int]:
    least, most = _SIZES[call.kind]
    names = _NAMES[call.kind]
    sizes = [item for item in call.sizes if call.kind != "CUMULATE" or item[0] not in _WITHOUT_EFFECT]
    if not least <= len(sizes) <= most:
        wanted = ", ".join(names[:least])
        raise SqlError(f"{call.kind}{at(call.place)} needs {wanted} after DESCRIPTOR(...), as INTERVAL '5' MINUTE")
    found: dict[str, int] = {}
    for i, (name, value) in enumerate(sizes):
        if not isinstance(value, s.Value) or not isinstance(value.type, IntervalType) or value.type.months:
            raise SqlError(f"{call.kind}{at(call.place)}: {name or names[i]} must be an INTERVAL of days or less")
        if (name or names[i]) not in names:
            raise SqlError(f"{call.kind}{at(call.place)} has no argument {name}{nearest(name, names)}")
        found[name or names[i]] = value.value
    if any(value <= 0 for key, value in found.items() if key != "OFFSET"):
        raise SqlError(f"{call.kind}{at(call.place)}: sizes must be greater than 0")
    return found


# -- the older functions of GROUP BY ---------------------------------------------------------------------------------

_OLDER: dict[str, q.WindowKind] = {"TUMBLE": "TUMBLE", "HOP": "HOP", "SESSION": "SESSION"}
_PARTS = dict(zip(("START", "END", "ROWTIME", "PROCTIME"), (*_OLDER_COLUMNS, _OLDER_COLUMNS[2]), strict=True))


def is_group_window(key: s.Syntax) -> bool:
    """Return whether a key of GROUP BY is ``TUMBLE(ts, INTERVAL ...)``, HOP or SESSION."""
    return isinstance(key, s.Apply) and key.function.upper() in _OLDER and len(key.arguments) > 1


def group_window(
    node: Node, key: s.Syntax, scope: Scope
) -> tuple[Node, Callable[[Sequence[s.Syntax]], list[s.Syntax]]]:
    """Return a table with the columns of a window, and what replaces the window's functions by these columns.

    Raises:
        SqlError: The time column is not a time attribute, or a size is wrong.
    """
    if not isinstance(key, s.Apply) or not isinstance(key.arguments[0], s.Name):
        raise SqlError(f"a window of GROUP BY{at(key.place)} needs a time attribute and an INTERVAL")
    kind = _OLDER[key.function.upper()]
    column = node.columns[scope.find(key.arguments[0])[0]]
    if not column.time:
        raise SqlError(
            f"Window aggregate can only be defined over a time attribute column, but {column.name}{at(key.place)} is "
            f"{sql_name(column.type)}"
        )
    given = [argument for argument in key.arguments[1:] if isinstance(argument, s.Value)]
    sizes = [item.value for item in given if isinstance(item.type, (IntervalType, RowsType))]
    rows = any(isinstance(item.type, RowsType) for item in given)
    if len(sizes) != len(key.arguments) - 1 or not sizes:
        raise SqlError(f"{kind}{at(key.place)} needs INTERVALs after the time attribute")
    if any(isinstance(item.type, IntervalType) and item.type.months for item in given):
        raise SqlError(f"{kind}{at(key.place)}: windows have sizes of days or less, not of months or years")
    if any(size <= 0 for size in sizes[:2]) or (rows and kind == "SESSION"):
        raise SqlError(f"{kind}{at(key.place)} needs sizes greater than 0; a session needs a time")
    slide, size = (sizes[0], sizes[1]) if kind == "HOP" and len(sizes) > 1 else (0, sizes[0])
    offset = sizes[-1] if len(sizes) > (2 if kind == "HOP" else 1) and kind != "SESSION" else 0
    spec = WindowSpec(
        kind,
        size,
        slide,
        offset,
        column.time == "ROWTIME",
        rows=rows,
        place=key.place,
        zone="" if rows else _zone(column, scope.zone),
        older=True,
    )
    tables = {f"{kind}_{part}": name for part, name in _PARTS.items()}

    def replace_call(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Apply) and syntax.function.upper() in tables:
            return s.Name(syntax.place, (tables[syntax.function.upper()],))
        return s.map_syntax(syntax, replace_call)

    def rewrite(given: Sequence[s.Syntax]) -> list[s.Syntax]:
        found: list[s.Syntax] = []
        for item in given:
            if is_group_window(item):
                found += [s.Name(item.place, (name,)) for name in _OLDER_COLUMNS]
            else:
                found.append(replace_call(item))
        return found

    moment = t.TimestampType(3, rows)
    return _with_times(node, spec, _OLDER_COLUMNS, moment, column.type, column.time), rewrite
