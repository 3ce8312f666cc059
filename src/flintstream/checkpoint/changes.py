"""The common form of keyed state: all backends produce and accept it, and files hold it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.checkpoint.registry import Opaque
from flintstream.errors import CorruptDataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


def check_form(change: Change) -> None:
    """Check that keys and values have the form of their table, as a reader of a savepoint relies on it.

    Raises:
        CorruptDataError: They do not. A state file with right checksums was not written by flintstream.

    >>> check_form(Change(TableInfo("total", "value"), ["a"], [], []))
    Traceback (most recent call last):
    flintstream.errors.CorruptDataError: it has 1 keys, but 0 values
    """
    table, keys, values, deleted, appended = change
    if table.kind == "timers":
        _check_tuples(3, keys, deleted)
        if set(map(type, (timer[0] for timer in chain(keys, deleted)))) - {int}:
            raise CorruptDataError("a timer without a timestamp")
        return
    if len(keys) != len(values):
        raise CorruptDataError(f"it has {len(keys)} keys, but {len(values)} values")
    all_keys: Iterable[Any] = (keys, deleted, [pair[0] for pair in _pairs(appended)])
    if table.kind == "map":
        _check_tuples(2, *all_keys)
        all_keys = [[key for key, _ in item] for item in all_keys]
    if table.namespaced:
        _check_tuples(2, *all_keys)
    if appended and table.kind != "list":
        raise CorruptDataError("elements for a state that is not a list")
    if table.kind == "list":
        values = [*values, *(elements for _, elements in appended)]
        if set(map(type, values)) - {list}:
            raise CorruptDataError("a list state with a value that is not a list")
        if table.ttl:
            _check_times(chain.from_iterable(values))
    elif table.ttl:
        _check_times(values)


def _pairs(items: Sequence[Any]) -> Sequence[Any]:
    _check_tuples(2, items)
    return items


def _check_tuples(width: int, *several: Iterable[Any]) -> None:
    for items in several:
        kinds = set(map(type, items))
        if Opaque in kinds:
            raise CorruptDataError("it is nested too deeply to be read without pickle: allow pickle if you trust it")
        if kinds - {tuple} or set(map(len, items)) - {width}:
            raise CorruptDataError(f"a key or value that is not a tuple of {width}")


def _check_times(pairs: Iterable[Any]) -> None:
    pairs = list(pairs)
    _check_tuples(2, pairs)
    if set(map(type, (time for _, time in pairs))) - {int}:
        raise CorruptDataError("a value without the time of its last access")
