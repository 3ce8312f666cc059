"""The kinds of keyed state: one table from descriptors to the classes that implement them."""

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
    """The name in :attr:`TableInfo.kind` and in files."""
    state: Any
    """The class of state objects without a time-to-live."""
    state_with_ttl: Any
    """The class of state objects with a time-to-live."""
    panes: Any = None
    """The class of :class:`~flintstream.state.backend.Panes`; None if this kind cannot hold contents of windows."""


KINDS: Mapping[type, StateKind] = {
    ValueStateDescriptor: StateKind("value", HeapValueState, TtlValueState),
    ListStateDescriptor: StateKind("list", HeapListState, TtlListState, ListPanes),
    MapStateDescriptor: StateKind("map", HeapMapState, TtlMapState),
    ReducingStateDescriptor: StateKind("reducing", HeapReducingState, TtlReducingState, ReducingPanes),
    AggregatingStateDescriptor: StateKind("aggregating", HeapAggregatingState, TtlAggregatingState, AggregatingPanes),
}
"""The kinds by class of descriptor, for objects in a dictionary. Other backends replace some of the classes."""


def kind_of(descriptor: StateDescriptor, kinds: Mapping[type, StateKind] = KINDS) -> StateKind:
    """Return the kind of state that a descriptor describes.

    Raises:
        TypeError: Its class is not a known descriptor.
    """
    known = kinds.get(type(descriptor))
    if known is not None:
        return known
    for base, kind in kinds.items():
        if isinstance(descriptor, base):
            return kind
    raise TypeError(f"{type(descriptor).__name__} does not describe a kind of keyed state")
