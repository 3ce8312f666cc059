"""The contents of a savepoint, as its reader returns them."""

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
    """The value of one key in a keyed state; for a map state, one entry of its map.

    >>> entry = StateEntry("ann", None, "apple", 0.5, None)
    >>> entry.key, entry.map_key, entry.value
    ('ann', 'apple', 0.5)
    """

    key: Any
    namespace: Any
    """The window, for state per key and window; else None."""
    map_key: Any
    """The key within the map; None unless the state is a map."""
    value: Any
    """The value, the list of all elements, the reduced value, the accumulator, or the value of the map entry."""
    last_access_ms: int | None
    """Time of the last access (ms since the epoch), for a list that of its youngest element; None without a
    time-to-live.
    """


class Timer(NamedTuple):
    """A registered timer.

    >>> Timer(time_ms=60_000, key="ann", namespace=None, domain="event time").time_ms
    60000
    """

    time_ms: int
    key: Any
    namespace: Any
    """The window, for a timer of a window operator; else None."""
    domain: str
    """``event time`` or ``processing time``."""


class OperatorValue(NamedTuple):
    """State of an operator other than keyed state.

    >>> OperatorValue("splits", subtask=0, value=["orders-0"]).value
    ['orders-0']
    """

    name: str
    """``operator`` (the operator's own state, such as the splits of a source, or broadcast state), ``watermark``,
    ``valve`` and ``channels`` (the progress of its inputs), ``enumerator`` (of a source) or ``committables`` (of a
    sink).
    """
    subtask: int | None
    """None for state that the coordinator keeps for all subtasks."""
    value: Any


@dataclass(frozen=True)
class StateSummary:
    """One keyed state of an operator.

    >>> StateSummary("visits", "value", "Long", ttl=False, namespaced=False, entries=2, bytes=64).entries
    2
    """

    name: str
    kind: str
    """``value``, ``list``, ``map``, ``reducing`` or ``aggregating``."""
    type: str
    """The declared type of the values as text; empty if none was declared."""
    ttl: bool
    namespaced: bool
    """Whether the state is per key and window."""
    entries: int
    bytes: int
    """Size of its keys and values as a state file holds them, whatever their present form."""


@dataclass(frozen=True)
class OperatorSummary:
    """One operator.

    >>> OperatorSummary("count", "Count", 2, 128, True, (), timers=0, bytes=0).uid
    'count'
    """

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
    """Return the entries in a change of a state."""
    table = change.table
    is_map, is_list = table.kind == "map", table.kind == "list"
    namespace = map_key = last = None
    for key, value in zip(change.keys, change.values, strict=True):
        if is_map:
            key, map_key = key  # noqa: PLW2901 - unwrapped layer by layer
        if table.namespaced:
            key, namespace = key  # noqa: PLW2901
        if table.ttl and is_list:
            last = max((time for _, time in value), default=None)
            value = [element for element, _ in value]  # noqa: PLW2901
        elif table.ttl:
            value, last = value  # noqa: PLW2901
        yield StateEntry(thaw_key(key), namespace, map_key, value, last)


def timers_of(change: Change) -> Iterator[Timer]:
    """Return the timers in a change of a table of timers."""
    domain = EVENT_TIME if change.table == EVENT_TIMERS else PROCESSING_TIME
    for time, key, namespace in change.keys:
        yield Timer(time, thaw_key(key), namespace, domain)
