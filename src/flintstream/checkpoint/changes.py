"""The common form of keyed state: all backends produce and accept it, and files hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class TableInfo:
    """The description of one state of one operator, independent of the backend."""

    name: str
    kind: str
    """The kind of state: ``value``, ``list``, ``map``, ``reducing`` or ``aggregating``; ``timers`` for timers."""
    type: str = ""
    """The declared type of the values as text; empty if none was declared."""
    ttl: bool = False
    """Whether every value (list element, map entry) is a pair with the time of its last access (ms)."""
    namespaced: bool = False
    """Whether the keys are pairs of key and namespace (a window)."""


class Change(NamedTuple):
    """Entries of a table that were set, deleted or appended to. A snapshot is a series of changes that only set.

    The form is the same for all backends. ``keys`` and ``deleted`` hold values of the backend's :attr:`key`; in a
    namespaced table ``(key, namespace)``; in a table of kind ``map`` additionally paired with a map key: ``(key, map
    key)``. ``values`` correspond to ``keys``: the value of a ``value`` state, the reduced value, the accumulator, the
    list of all elements, or the value of one map entry. A table of timers has ``(timestamp, key, namespace)`` for keys
    and no values.

    ``appended`` is only for lists: pairs of a key and one or more elements, which follow the key's present elements, if
    it has any. A change takes effect in this order: keys are deleted, keys are set, elements are appended. Setting and
    deleting are idempotent, but appending is not, so each change must be applied exactly once.
    """

    table: TableInfo
    keys: list[Any]
    values: list[Any]
    deleted: list[Any]
    appended: Sequence[tuple[Any, list[Any]]] = ()
