"""What a savepoint holds, as its reader shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.runtime.keys import thaw_key
from flintstream.runtime.operators.timers import EVENT_TIMERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.state.backend import Change

EVENT_TIME = "event time"
PROCESSING_TIME = "processing time"


class StateEntry(NamedTuple):
    """What one key has in a keyed state; of a map state, one entry of its map."""

    key: Any
    namespace: Any
    """The window, in state that is kept per key and window; else None."""
    map_key: Any
    """The key within the map; None unless the state is a map."""
    value: Any
    """The value, the list of all elements, the reduced value, the accumulator, or the value of the map entry."""
    last_access_ms: int | None
    """With a time-to-live: when it was accessed last (ms since the epoch), of a list its youngest element; else
    None.
    """


class Timer(NamedTuple):
    """A registered timer."""

    time_ms: int
    key: Any
    namespace: Any
    """The window, of a timer that a window operator has set; else None."""
    domain: str
    """``event time`` or ``processing time``."""


class OperatorValue(NamedTuple):
    """Something that an operator holds beside keyed state."""

    name: str
    """``operator`` (what the operator itself keeps: the splits a source reads, broadcast state), ``watermark``,
    ``valve`` and ``channels`` (how far its inputs are), ``enumerator`` (of a source) or ``committables`` (of a sink).
    """
    subtask: int | None
    """None for what the coordinator keeps for all subtasks."""
    value: Any


@dataclass(frozen=True)
class StateSummary:
    """One keyed state of an operator."""

    name: str
    kind: str
    """``value``, ``list``, ``map``, ``reducing`` or ``aggregating``."""
    type: str
    """How the declared type of the values reads; empty when none was declared."""
    ttl: bool
    namespaced: bool
    """Whether it is kept per key and window."""
    entries: int
    bytes: int
    """Size of its keys and values when they are written, whatever form they have now."""


@dataclass(frozen=True)
class OperatorSummary:
    """One operator."""

    uid: str
    name: str
    parallelism: int
    max_parallelism: int
    keyed: bool
    states: tuple[StateSummary, ...]
    timers: int
    bytes: int
    """Size of its keyed state and timers."""


def entries_of(change: Change) -> Iterator[StateEntry]:
    """Return the entries of a piece of a state."""
    table = change.table
    is_map, is_list = table.kind == "map", table.kind == "list"
    namespace = map_key = last = None
    for key, value in zip(change.keys, change.values, strict=True):
        if is_map:
            key, map_key = key  # noqa: PLW2901 - peeled off layer by layer
        if table.namespaced:
            key, namespace = key  # noqa: PLW2901
        if table.ttl and is_list:
            last = max((time for _, time in value), default=None)
            value = [element for element, _ in value]  # noqa: PLW2901
        elif table.ttl:
            value, last = value  # noqa: PLW2901
        yield StateEntry(thaw_key(key), namespace, map_key, value, last)


def timers_of(change: Change) -> Iterator[Timer]:
    """Return the timers of a piece of a table of timers."""
    domain = EVENT_TIME if change.table == EVENT_TIMERS else PROCESSING_TIME
    for time, key, namespace in change.keys:
        yield Timer(time, thaw_key(key), namespace, domain)
