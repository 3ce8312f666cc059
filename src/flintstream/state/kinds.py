"""The kinds of keyed state: one table, from a program's descriptor to the classes that keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.contracts.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.state.heap_states import (
    HeapAggregatingState,
    HeapListState,
    HeapMapState,
    HeapReducingState,
    HeapValueState,
)
from flintstream.state.panes import AggregatingPanes, ListPanes, ReducingPanes
from flintstream.state.ttl import TtlAggregatingState, TtlListState, TtlMapState, TtlReducingState, TtlValueState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.contracts.state import StateDescriptor


class StateKind(NamedTuple):
    """One kind of state."""

    name: str
    """As :attr:`TableInfo.kind` and files have it."""
    state: Any
    """The class of state objects without a time-to-live."""
    state_with_ttl: Any
    """The class of those with one."""
    panes: Any = None
    """The class of :class:`~flintstream.state.backend.Panes`; None where such state holds no window's contents."""


KINDS: Mapping[type, StateKind] = {
    ValueStateDescriptor: StateKind("value", HeapValueState, TtlValueState),
    ListStateDescriptor: StateKind("list", HeapListState, TtlListState, ListPanes),
    MapStateDescriptor: StateKind("map", HeapMapState, TtlMapState),
    ReducingStateDescriptor: StateKind("reducing", HeapReducingState, TtlReducingState, ReducingPanes),
    AggregatingStateDescriptor: StateKind("aggregating", HeapAggregatingState, TtlAggregatingState, AggregatingPanes),
}
"""By class of descriptor, as objects in a dictionary. A backend that keeps some otherwise replaces their classes."""


def kind_of(descriptor: StateDescriptor, kinds: Mapping[type, StateKind] = KINDS) -> StateKind:
    """Return the kind of state that a descriptor describes.

    Raises:
        TypeError: It describes none.
    """
    known = kinds.get(type(descriptor))
    if known is not None:
        return known
    for base, kind in kinds.items():
        if isinstance(descriptor, base):
            return kind
    raise TypeError(f"{type(descriptor).__name__} describes no kind of keyed state")
