"""The kinds of keyed state: one table from descriptors to the classes that implement them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.compiled import load
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


_compiled = load("keyed")


def _fast(cls: Any, access: str) -> Any:
    """Return a class whose most frequent methods are the compiled ones of ``access``, if there are any."""
    if _compiled is None:
        return cls
    # What the compiled get() of lists and maps that expire leaves to Python
    left = {"_seldom": cls.get} if access in {"TtlListAccess", "TtlMapAccess"} else {}
    return type(cls)(cls.__name__, (getattr(_compiled, access), cls), {"__slots__": (), "__doc__": cls.__doc__, **left})


KINDS: Mapping[type, StateKind] = {
    ValueStateDescriptor: StateKind(
        "value", _fast(HeapValueState, "ValueAccess"), _fast(TtlValueState, "TtlValueAccess")
    ),
    ListStateDescriptor: StateKind(
        "list", _fast(HeapListState, "ListAccess"), _fast(TtlListState, "TtlListAccess"), ListPanes
    ),
    MapStateDescriptor: StateKind("map", _fast(HeapMapState, "MapAccess"), _fast(TtlMapState, "TtlMapAccess")),
    ReducingStateDescriptor: StateKind(
        "reducing",
        _fast(HeapReducingState, "ReducingAccess"),
        _fast(TtlReducingState, "TtlReducingAccess"),
        ReducingPanes,
    ),
    AggregatingStateDescriptor: StateKind(
        "aggregating",
        _fast(HeapAggregatingState, "AggregatingAccess"),
        _fast(TtlAggregatingState, "TtlAggregatingAccess"),
        AggregatingPanes,
    ),
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
