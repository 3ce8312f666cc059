"""Which columns of a table are the start, end and time of the windows that its rows belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

from flintstream.table._expressions.expr import Ref
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.grouping import Grouped, TimedByEnd, Windowed

if TYPE_CHECKING:
    from flintstream.table._expressions.expr import Column
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.grouping import WindowSpec


@dataclass(frozen=True)
class WindowColumns:
    """Positions of columns."""

    start: int
    end: int
    time: int | None
    """None if the time is no longer a column."""
    spec: WindowSpec
    moment: Column
    """What the time is as a column, whether or not there is one."""
    in_rows: bool
    """Whether rows have their own times, not that of the window's end."""

    @property
    def event_time(self) -> bool:
        """Whether the windows are of event time."""
        return self.spec.event_time

    def same_windows(self, other: WindowColumns) -> bool:
        """Return whether two tables have windows of the same kind and size."""
        return replace(self.spec, partition=None) == replace(other.spec, partition=None)


@singledispatch
def window_columns(node: Node) -> WindowColumns | None:  # noqa: ARG001 - what others register
    """Return the columns of the windows; None if rows belong to none."""
    return None


@window_columns.register(Windowed)
def _(node: Windowed) -> WindowColumns | None:
    return _last(node, node.spec, in_rows=True)


@window_columns.register(Grouped)
def _(node: Grouped) -> WindowColumns | None:
    return None if node.window is None else _last(node, node.window, in_rows=False)


def _last(node: Node, spec: WindowSpec, *, in_rows: bool) -> WindowColumns:
    width = len(node.columns)
    return WindowColumns(width - 3, width - 2, width - 1, spec, node.columns[-1], in_rows)


@window_columns.register(Calc)
def _(node: Calc) -> WindowColumns | None:
    below = window_columns(node.input)
    if below is None or node.projection is None:
        return below
    places = {item.index: i for i, item in reversed(list(enumerate(node.projection))) if isinstance(item, Ref)}
    if below.start not in places or below.end not in places:
        return None
    time = None if below.time is None else places.get(below.time)
    return replace(below, start=places[below.start], end=places[below.end], time=time)


def attach_windows(node: Node) -> Windowed | None:
    """Return a table whose rows can be grouped by the windows that they are in, each window once, at its end."""
    found = window_columns(node)
    if found is None or node.changelog or not found.event_time or found.spec.rows or found.spec.kind == "SESSION":
        return None
    start, end = (
        replace(node.columns[i], name=name) for i, name in ((found.start, "window_start"), (found.end, "window_end"))
    )
    spec = replace(found.spec, partition=None, older=False, attached=True)
    # The end of a window may be a local time that clocks skip, so it is taken from the row
    by_end = found.in_rows or spec.zone
    below = TimedByEnd(node.columns, node, found.end, spec.zone) if by_end else node
    return Windowed((*node.columns, start, end, found.moment), below, spec)
