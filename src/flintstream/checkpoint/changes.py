"""Keyed state in the form that all backends hand out and take over, and that files hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class TableInfo:
    """What is known of one state of one operator, whichever backend holds it."""

    name: str
    kind: str
    """The kind of state: ``value``, ``list``, ``map``, ``reducing`` or ``aggregating``; ``timers`` for timers."""
    type: str = ""
    """How the declared type of the values reads; empty when none was declared."""
    ttl: bool = False
    """Whether every value (list element, map entry) is a pair with the time of its last access (ms)."""
    namespaced: bool = False
    """Whether the keys are pairs of key and namespace (a window)."""


class Change(NamedTuple):
    """Entries of a table that were set, removed or added to; a snapshot is a series of them that only set.

    It reads the same for every backend. ``keys`` and ``deleted`` hold keys as the backend's :attr:`key` has them, in a
    namespaced table ``(key, namespace)``; in a table of kind ``map`` each of these is paired with a map key once more:
    ``(key, map key)``. ``values`` stand beside ``keys``: the value of a ``value`` state, the reduced value, the
    accumulator, the list of all elements, or the value of one map entry. A table of timers has ``(timestamp, key,
    namespace)`` for keys and no values at all.

    ``appended`` is for lists alone: pairs of a key and the elements, at least one, that come after those that the key
    has; it may have none. A change takes effect in this order: keys are deleted, keys are set, elements are appended.
    To set or delete twice is as good as once, to append is not: each change is to be applied exactly once.
    """

    table: TableInfo
    keys: list[Any]
    values: list[Any]
    deleted: list[Any]
    appended: Sequence[tuple[Any, list[Any]]] = ()
