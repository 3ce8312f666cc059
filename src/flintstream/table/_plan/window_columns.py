"""Which columns of a table are the start, end and time of the windows that its rows belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

from flintstream.table._expressions.expr import Ref
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.grouping import Grouped, Windowed

if TYPE_CHECKING:
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
    return _last(node, node.spec)


@window_columns.register(Grouped)
def _(node: Grouped) -> WindowColumns | None:
    return None if node.window is None else _last(node, node.window)


def _last(node: Node, spec: WindowSpec) -> WindowColumns:
    width = len(node.columns)
    return WindowColumns(width - 3, width - 2, width - 1, spec)


@window_columns.register(Calc)
def _(node: Calc) -> WindowColumns | None:
    below = window_columns(node.input)
    if below is None or node.projection is None:
        return below
    places = {item.index: i for i, item in reversed(list(enumerate(node.projection))) if isinstance(item, Ref)}
    if below.start not in places or below.end not in places:
        return None
    return WindowColumns(places[below.start], places[below.end], places.get(below.time or -1), below.spec)
