"""State objects of the RocksDB backend, where they differ from those of the hash map backend."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.state.heap_states import EntryIterator, HeapListState, HeapMapState, HeapValueState
from flintstream.state.kinds import KINDS
from flintstream.state.panes import ListPanes
from flintstream.state.rocksdb.lists import ADDED_TO
from flintstream.state.ttl import TtlListState, TtlMapState, _Ttl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flintstream.state.backend import Add
    from flintstream.state.rocksdb.lists import Lists
    from flintstream.state.rocksdb.tables import Entries

CHANGELESS = frozenset({int, str, bytes, bool, float})


class RocksValueState(HeapValueState):
    """One value per key. Programs use it most, so atoms in memory need no further call."""

    __slots__ = ("_unwritten", "_young")
    _values: Entries

    def _configure(self, descriptor: Any) -> None:
        super()._configure(descriptor)
        self._young = self._values.young
        self._unwritten = self._values.unwritten

    def value(self) -> Any:
        """Return the value, or None."""
        key = self._scope.key
        value = self._young.get(key)
        return value if value.__class__ in CHANGELESS else self._values.get(key)

    def update(self, value: Any) -> None:
        """Set the value; None removes it."""
        key = self._scope.key
        if value.__class__ in CHANGELESS and key in self._young:
            self._young[key] = value
            self._unwritten.add(key)
        elif value is None:
            del self._values[key]
        else:
            self._values[key] = value
        if self._backend.tracking:
            self._dirty[key] = 0


class RocksListState(HeapListState):
    """A list per key. Adding to it does not read."""

    __slots__ = ()
    _values: Lists

    def add(self, value: Any) -> None:
        """Append an element."""
        key = self._scope.key
        self._values.append(key, value)
        if self._backend.tracking and key not in self._dirty:
            self._dirty[key] = ADDED_TO

    def _extend(self, key: Any, added: list[Any]) -> None:
        for value in added:
            self._values.append(key, value)
        if added and self._backend.tracking:
            self._dirty.setdefault(key, ADDED_TO)


class RocksTtlListState(TtlListState, RocksListState):  # type: ignore[misc]
    """A list whose elements expire one by one. Each is a pair with its time, as its row is written."""

    def _entries(self, key: Any) -> list[tuple[Any, int]]:
        return self._values.get(key) or []

    def _to_stored(self, entries: list[tuple[Any, int]]) -> list[Any]:
        return entries

    def get(self) -> Iterable[Any]:
        """Return the elements that have not expired."""
        return self.remove_expired()

    def add(self, value: Any) -> None:
        """Append an element."""
        RocksListState.add(self, (value, self.clock()))


class RocksEntryIterator(EntryIterator):
    """Iterates over a map without reading it as a whole."""

    def __init__(self, state: Any, pick: Callable[[tuple[Any, Any]], Any]) -> None:
        self._state = state
        self._pick = pick
        self._items = state.stream()
        self._changes = state.changes
        self._last = None


class RocksMapState(HeapMapState):
    """A map per key, with a row for each entry."""

    __slots__ = ()
    _values: Entries

    def clear(self) -> None:
        """Remove the map of the current key."""
        self.changes += 1
        current = self._scope.key
        for item, _ in self._values.of_map(current):
            self._delete((current, item))

    def _delete(self, pair: tuple[Any, Any]) -> None:
        del self._values[pair]
        if self._backend.tracking:
            self._dirty[pair] = 0

    def get(self, key: Any) -> Any:
        """Return the value of a map key, or None."""
        return self._values.get((self._scope.key, key))

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        self.changes += 1
        pair = (self._scope.key, key)
        self._values[pair] = value
        if self._backend.tracking:
            self._dirty[pair] = 0

    def remove(self, key: Any) -> None:
        """Remove a map key if it exists."""
        pair = (self._scope.key, key)
        if pair in self._values:
            self.changes += 1
            self._delete(pair)

    def is_empty(self) -> bool:
        """Return whether the map has no keys."""
        return next(self._values.of_map(self._scope.key), None) is None

    def stream(self) -> Iterator[tuple[Any, Any]]:
        """Return the current entries of the current key, and read them lazily."""
        return self._values.of_map(self._scope.key)

    def entries(self) -> dict[Any, Any]:
        """Return the map of the current key."""
        return dict(self.stream())

    def items(self) -> EntryIterator:
        """Iterate over the pairs. The iterator has ``remove()``; after any other change it raises RuntimeError."""
        return RocksEntryIterator(self, lambda item: item)

    def keys(self) -> EntryIterator:
        """Iterate over the map keys; see :meth:`items`."""
        return RocksEntryIterator(self, itemgetter(0))

    def values(self) -> EntryIterator:
        """Iterate over the values; see :meth:`items`."""
        return RocksEntryIterator(self, itemgetter(1))

    def merge_into(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the one map of the scope keys ``sources`` to ``target``. Two maps cannot be merged."""
        for source in sources:
            moved = list(self._values.of_map(source))
            if moved and next(self._values.of_map(target), None) is not None:
                self._merge_values(None, None)
            for item, value in moved:
                self._delete((source, item))
                self._values[target, item] = value
                if self._backend.tracking:
                    self._dirty[target, item] = 0


class RocksTtlMapState(TtlMapState, RocksMapState):
    """A map whose entries expire one by one."""

    _values: Entries  # type: ignore[assignment]

    def get(self, key: Any) -> Any:
        """Return the value of a map key, or None if it is absent or has expired."""
        return self.live((self._scope.key, key))

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key and its time."""
        RocksMapState.put(self, key, (value, self.clock()))

    def is_empty(self) -> bool:
        """Return whether the map has no visible keys."""
        limit = self.clock() - self._ttl
        found = self._values.of_map(self._scope.key)
        return not any(self._return_expired or stamp > limit for _, (_, stamp) in found)

    def stream(self) -> Iterator[tuple[Any, Any]]:
        """Return the visible entries of the current key, and read them lazily."""
        current = self._scope.key
        return self._visible(current, self._values.of_map(current))

    def _visible(self, current: Any, found: Iterator[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        for item, (value, _) in found:
            pair = (current, item)
            entry = self._values.get(pair)  # a read since then may have extended its life
            if entry is None:
                continue
            now = self.clock()
            if entry[1] + self._ttl <= now:
                self.expire(pair, now)
                if not self._return_expired:
                    continue
            elif self._on_read:
                self._store(pair, value)
            yield item, value

    def entries(self) -> dict[Any, Any]:
        """Return the visible entries of the current key."""
        return dict(self.stream())

    def expire(self, key: Any, now: int) -> None:
        """Drop the entry of a pair of key and map key if it has expired."""
        _Ttl.expire(self, key, now)


class RocksListPanes(ListPanes):
    """All records of a window. Adding does not read, so every pane may have been empty before."""

    __slots__ = ()
    _values: Lists

    def adder(
        self,
        opened: Callable[[Any, Any], None] | None = None,
        copied: Callable[[Any], Any] | None = None,
    ) -> Add:
        """Return a function that appends records to panes."""
        backend, append, dirty, tracking = self._backend, self._values.append, self._dirty, self._backend.tracking

        def add(key: Any, windows: Iterable[Any], records: Sequence[Any]) -> None:
            backend.key = key
            for window in windows:
                pane = (key, window)
                for value in records:
                    append(pane, value)
                if tracking and pane not in dirty:
                    dirty[pane] = ADDED_TO
                if opened is not None:
                    opened(key, window)

        return add


_REPLACED: dict[str, dict[str, Any]] = {
    "value": {"state": RocksValueState},
    "list": {"state": RocksListState, "state_with_ttl": RocksTtlListState, "panes": RocksListPanes},
    "map": {"state": RocksMapState, "state_with_ttl": RocksTtlMapState},
}

ROCKSDB_KINDS = {base: kind._replace(**_REPLACED.get(kind.name, {})) for base, kind in KINDS.items()}
"""The kinds of state by class of descriptor, with the classes of this module."""
