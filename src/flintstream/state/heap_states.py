"""State objects of the hash map backend.

A state object is created once per operator and serves all keys: every access reads the current key from the scope.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.compiled.state import (
    Access,
    AggregatingAccess,
    Dated,
    ListAccess,
    MapAccess,
    ReducingAccess,
    ValueAccess,
    forget_noted,
    map_changes,
    note,
    note_removed,
)
from flintstream.contracts.state import AggregatingState, ListState, MapState, ReducingState, ValueState
from flintstream.state.backend import Change
from flintstream.state.internal import InternalBag, InternalMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import KeyedStateBackend, Scope, TableInfo

    Convert = Callable[[Any], Any]


class Table:
    """The entries of one state, and a record of their changes.

    ``dirty`` has the changed keys, for a map (key, map key). The value for a list is its length without the elements
    that were added. It is 0 for entries that changed as a whole or were removed. Map states note most of their changes
    in ``noted`` instead, see :func:`flintstream.compiled.state.note`.

    In a list whose elements expire, each element is followed by the time of its last access. In a map whose entries
    expire, values are :class:`Dated`; other values that expire are pairs of the value and its time. A dated one
    knows whether its change is noted, so only :meth:`forget_changes` may empty ``noted``.
    """

    __slots__ = ("dirty", "info", "noted", "values")

    def __init__(self, info: TableInfo) -> None:
        self.info = info
        self.values: dict[Any, Any] = {}
        self.dirty: dict[Any, int] = {}
        self.noted: dict[Any, Any] = {}

    def rows(self) -> Iterator[tuple[Any, Any]]:
        """Return the entries, those of maps one by one. Lists are copies."""
        if self.info.kind == "list":
            outside = self._outside()
            return ((key, outside(elements)) for key, elements in self.values.items())
        if self.info.kind != "map":
            return iter(self.values.items())
        rows = (((key, item), held) for key, entries in self.values.items() for item, held in entries.items())
        return ((row, _pair(held)) for row, held in rows) if self.info.ttl else rows

    def _outside(self) -> Callable[[list[Any]], list[Any]]:
        """Return the function that copies a list into the form that it has in snapshots."""
        return pairs_of if self.info.ttl else list.copy

    def changes(self) -> Change:
        """Return the changes since the last call."""
        values = self.values
        keys: list[Any] = []
        found: list[Any] = []
        deleted: list[Any] = []
        appended: list[Any] = []
        if self.info.kind == "map":
            self._map_changes(keys, found, deleted)
        else:
            is_list, outside = self.info.kind == "list", self._outside()
            for key, same in self.dirty.items():
                if key not in values:
                    deleted.append(key)
                elif same:
                    appended.append((key, outside(values[key][same:])))
                else:
                    keys.append(key)
                    found.append(outside(values[key]) if is_list else values[key])
        self.forget_changes()
        return Change(self.info, keys, found, deleted, appended)

    def _map_changes(self, keys: list[Any], found: list[Any], deleted: list[Any]) -> None:
        """Sort changed entries into those that have a value and those that are gone."""
        for current, key in self.dirty:
            note(self.noted, current, key, 0)
        map_changes(self.values, self.noted, keys, found, deleted)
        if self.info.ttl:
            found[:] = map(_pair, found)

    def has_changes(self) -> bool:
        """Whether anything has changed since the last call of :meth:`changes`."""
        return bool(self.dirty or self.noted)

    def forget_changes(self) -> None:
        """Count what there is as known."""
        self.dirty.clear()
        if self.info.ttl and self.info.kind == "map":
            forget_noted(self.values, self.noted)
        else:
            self.noted.clear()

    def apply(self, change: Change) -> None:
        """Apply changes."""
        values = self.values
        if self.info.kind != "map":
            for key in change.deleted:
                values.pop(key, None)
            with_times = self.info.ttl and self.info.kind == "list"
            inside = flatten if with_times else _as_it_is
            values.update(zip(change.keys, map(inside, change.values), strict=True))
            for key, elements in change.appended:
                values.setdefault(key, []).extend(inside(elements))
            return
        for key, item in change.deleted:
            entries = values.get(key)
            if entries is not None:
                entries.pop(item, None)
                if not entries:
                    del values[key]
        for (key, item), value in zip(change.keys, change.values, strict=True):
            values.setdefault(key, {})[item] = Dated(*value) if self.info.ttl else value

    def give_times(self, now: int) -> None:
        """Give the time ``now`` (ms) to entries that were kept without a time-to-live."""
        self._each(
            lambda value: (value, now),
            lambda elements: flatten((element, now) for element in elements),
            lambda value: Dated(value, now),
        )
        self.info = replace(self.info, ttl=True)

    def drop_times(self) -> None:
        """Remove the times of entries that had a time-to-live."""
        self._each(itemgetter(0), itemgetter(slice(None, None, 2)), attrgetter("value"))
        self.info = replace(self.info, ttl=False)

    def _each(self, of_value: Convert, of_list: Convert, of_map: Convert) -> None:
        for key, value in self.values.items():
            if self.info.kind == "map":
                self.values[key] = {item: of_map(held) for item, held in value.items()}
            else:
                self.values[key] = of_list(value) if self.info.kind == "list" else of_value(value)


_pair = attrgetter("value", "time")
"""Returns the form that a map entry which expires has in snapshots."""


def pairs_of(elements: list[Any]) -> list[Any]:
    """Return the elements of a list that expire as pairs with their times, the form that they have in snapshots."""
    return list(zip(elements[::2], elements[1::2], strict=True))


def flatten(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Return pairs of an element and its time one behind the other: in memory, a tuple for each would be larger."""
    return [*chain.from_iterable(pairs)]


def _as_it_is(value: Any) -> Any:
    return value


class _HeapState(Access):
    __slots__ = ()

    def __init__(self, backend: KeyedStateBackend, scope: Scope, table: Table, descriptor: StateDescriptor) -> None:
        self._backend = backend
        self._scope = scope
        self._table = table
        self._values = table.values
        self._dirty = table.dirty
        self._clock = None
        self._configure(descriptor)

    def _configure(self, descriptor: Any) -> None:
        """Read the settings of this kind of state from the descriptor."""

    @property
    def name(self) -> str:
        """The name in the descriptor."""
        name: str = self._table.info.name
        return name

    @property
    def namespace(self) -> Any:
        """The current window; None for state without a namespace."""
        scope: object = self._scope
        return None if scope is self._backend else self._scope.key[1]

    def get_internal_state(self) -> Any:
        """Return a view of this state with the methods of PyFlink's internal state."""
        return InternalMap(self) if self._table.info.kind == "map" else InternalBag(self)

    def merge_into(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the values of the scope keys ``sources`` into that of ``target``."""
        found = []
        for source in sources:
            value = self._values.pop(source, None)
            if value is not None:
                found.append(value)
                if self._backend.tracking:
                    self._dirty[source] = 0
        if found:
            merged = self._values.get(target)
            for value in found:
                merged = value if merged is None else self._merge_values(merged, value)
            self._values[target] = merged
            if self._backend.tracking:
                self._dirty[target] = 0

    def _merge_values(self, one: Any, other: Any) -> Any:
        raise Exception(f"{type(self).__name__} cannot be merged")  # noqa: TRY002 - as in PyFlink


class HeapValueState(ValueAccess, _HeapState, ValueState):
    """One value per key."""

    __slots__ = ()


class HeapListState(ListAccess, _HeapState, ListState):
    """A list per key."""

    __slots__ = ()

    def add_all(self, values: list[Any]) -> None:
        """Append several elements."""
        self._extend(self._scope.key, list(values))

    def _extend(self, key: Any, added: list[Any]) -> None:
        """Append elements to the list of a key. Without a list, ``added`` itself becomes the list."""
        if not added:
            return
        elements = self._values.get(key)
        if self._backend.tracking:
            self._dirty.setdefault(key, len(elements or ()))
        if elements is None:
            self._values[key] = added
        else:
            elements += added

    def update(self, values: list[Any]) -> None:
        """Replace all elements. An empty list removes the state."""
        key = self._scope.key
        if values:
            self._values[key] = list(values)
        else:
            self._values.pop(key, None)
        if self._backend.tracking:
            self._dirty[key] = 0

    def merge_into(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the elements of the scope keys ``sources`` to the end of the list of ``target``."""
        for source in sources:
            moved = self._values.pop(source, None)
            if moved is not None:
                if self._backend.tracking:
                    self._dirty[source] = 0
                self._extend(target, moved)


class HeapMapState(MapAccess, _HeapState, MapState):
    """A map per key."""

    __slots__ = ()

    def _configure(self, descriptor: Any) -> None:
        super()._configure(descriptor)
        self.changes = 0
        """Number of changes, so that an iterator notices changes by others."""
        if isinstance(self._table, Table):  # RocksDB's have all changes in one dict
            self._noted = self._table.noted

    def clear(self) -> None:
        """Remove the map of the current key."""
        self.changes += 1
        current = self._scope.key
        entries = self._values.pop(current, None)
        if entries and self._backend.tracking:
            for key in entries:
                note_removed(self._noted, current, key)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set several map keys, from a dict or from pairs."""
        for key, value in dict(dict_value).items():
            self.put(key, value)

    def is_empty(self) -> bool:
        """Return whether the map has no keys."""
        return not self._values.get(self._scope.key)

    def items(self) -> EntryIterator:
        """Iterate over the pairs. The iterator has ``remove()``; after any other change it raises RuntimeError."""
        return EntryIterator(self, lambda item: item)

    def keys(self) -> EntryIterator:
        """Iterate over the map keys; see :meth:`items`."""
        return EntryIterator(self, itemgetter(0))

    def values(self) -> EntryIterator:
        """Iterate over the values; see :meth:`items`."""
        return EntryIterator(self, itemgetter(1))

    def __iter__(self) -> Iterator[Any]:
        return self.keys()

    def entries(self) -> dict[Any, Any]:
        """Return the map of the current key itself, not a copy."""
        return self._values.get(self._scope.key) or {}


class EntryIterator:
    """Iterates over a map state. :meth:`remove` is the only change allowed during the iteration."""

    def __init__(self, state: Any, pick: Callable[[tuple[Any, Any]], Any]) -> None:
        self._state = state
        self._pick = pick
        self._items = iter(list(state.entries().items()))
        self._changes = state.changes
        self._last: tuple[Any, Any] | None = None

    def __iter__(self) -> EntryIterator:
        return self

    def __next__(self) -> Any:
        self._check()
        self._last = next(self._items)
        return self._pick(self._last)

    def remove(self) -> None:
        """Remove the entry that was returned last.

        Raises:
            RuntimeError: There is no entry to remove, or the map was changed in another way.
        """
        if self._last is None:
            raise RuntimeError("remove() must follow a call of next(), and can be called once after each")
        self._check()
        self._state.remove(self._last[0])
        self._last = None
        self._changes = self._state.changes

    def _check(self) -> None:
        if self._state.changes != self._changes:
            raise RuntimeError(
                "Concurrent modification detected: the map state was changed during iteration: collect the changes and "
                "make them afterwards, or use remove() of the iterator",
            )


class HeapReducingState(ReducingAccess, _HeapState, ReducingState):
    """One value per key, reduced as values are added."""

    __slots__ = ()

    def _configure(self, descriptor: Any) -> None:
        self._reduce = descriptor.get_reduce_function().reduce

    def _merge_values(self, one: Any, other: Any) -> Any:
        return self._reduce(one, other)


class HeapAggregatingState(AggregatingAccess, _HeapState, AggregatingState):
    """One accumulator per key."""

    __slots__ = ()

    def _configure(self, descriptor: Any) -> None:
        self._function = descriptor.get_agg_function()

    def _merge_values(self, one: Any, other: Any) -> Any:
        return self._function.merge(one, other)
