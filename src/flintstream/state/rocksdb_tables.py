"""Entries of states on their way between operators and RocksDB.

What was used of late is kept as objects, so that frequent keys cost no more than a look into a dict. What was changed
is written in batches. Values that a program could change in place are kept encoded, and every access gets a fresh one:
as in Flink, only what a program hands to ``update``, ``add`` or ``put`` is kept. Accumulators of aggregating state
belong to the aggregate function alone, and are kept as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import encode_one
from flintstream.state.backend import PIECE, Change
from flintstream.state.rocksdb_rows import Packed, after, is_fixed, number_of_row, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.state.backend import TableInfo
    from flintstream.state.rocksdb_rows import Layout
    from flintstream.state.rocksdb_store import Store

ABSENT = Packed(b"")
"""In the place of a value: there is none."""

FIXED = frozenset({int, str, bytes, bool, float, type(None)})


class Entries:
    """The single values of a state, or the entries of its maps: used like a dict.

    Two generations of entries are kept in memory. When the young one is full, its changes are written, and it takes the
    place of the old one, which is dropped.
    """

    def __init__(self, store: Store, layout: Layout, capacity: int) -> None:
        """Hold the entries laid out by ``layout`` in ``store``, up to ``capacity`` of them as objects."""
        self.store = store
        self.layout = layout
        self.capacity = max(capacity // 2, 1)
        self.young: dict[Any, Any] = {}
        self.old: dict[Any, Any] = {}
        self.unwritten: set[Any] = set()
        """Keys in the young generation that RocksDB has otherwise."""
        self.ttl = layout.info.ttl
        self.live = layout.info.kind == "aggregating"
        self.row: Callable[[Any], tuple[bytes, bytes | None]] = (
            layout.entry if layout.info.kind == "map" else layout.single
        )

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key."""
        value = self.young.get(key, self)
        if value.__class__ in FIXED:
            return value
        if value is self:
            value = self._miss(key)
        if value.__class__ is Packed:
            return default if value is ABSENT else unpacked(value)
        if self.ttl and value[0].__class__ is Packed:
            return unpacked(value[0]), value[1]
        return value

    def _miss(self, key: Any) -> Any:
        value = self.old.get(key, self)
        if value is self:
            value = self._read(key)
        self.young[key] = value
        if len(self.young) > self.capacity:
            self.turn()
        return value

    def _read(self, key: Any) -> Any:
        data = None if self.store.empty else self.store.get(self.layout.place(key))
        if data is None:
            return ABSENT
        return self.value_of(data) if self.live else self.layout.read(data)

    def __contains__(self, key: Any) -> bool:
        value = self.young.get(key, self)
        return (self._miss(key) if value is self else value) is not ABSENT

    def __getitem__(self, key: Any) -> Any:
        value = self.get(key, self)
        if value is self:
            raise KeyError(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        if value.__class__ not in FIXED and not self.live:
            if self.ttl:
                value = value if value[0].__class__ in FIXED else (packed(value[0]), value[1])
            elif not is_fixed(value):
                value = Packed(encode_one(value))
        self.young[key] = value
        self.unwritten.add(key)
        if len(self.young) > self.capacity:
            self.turn()

    def __delitem__(self, key: Any) -> None:
        self.young[key] = ABSENT
        self.unwritten.add(key)
        if len(self.young) > self.capacity:
            self.turn()

    def pop(self, key: Any, default: Any = None) -> Any:
        """Remove a key and return its value."""
        value = self.get(key, self)
        if value is self:
            return default
        del self[key]
        return value

    def peek(self, key: Any) -> Any:
        """Return the value of a key, ``ABSENT`` when there is none, without keeping it in memory."""
        value = self.young.get(key, self)
        if value is self:
            value = self._read(key)
        if value is ABSENT or not self.ttl:
            return value if value is ABSENT else unpacked(value)
        return unpacked(value[0]), value[1]

    def turn(self) -> None:
        """Make room."""
        batch = self.store.batch()
        self.write(batch)
        self.store.write(batch)
        # state objects hold on to the young one
        self.old = self.young.copy()
        self.young.clear()

    def write(self, batch: Any) -> None:
        """Put what was changed into a batch."""
        young, write, row = self.young, self.layout.write, self.row
        for key in self.unwritten:
            value = young[key]
            place, own = row(key)
            if value is ABSENT:
                batch.delete(place)
            else:
                batch.put(place, write(own, value))
        self.unwritten.clear()

    def forget(self) -> None:
        """Drop what is in memory, changes included."""
        self.young.clear()
        self.old.clear()
        self.unwritten.clear()

    # -- maps ------------------------------------------------------------------------------------------------------

    def of_map(self, key: Any) -> Iterator[tuple[Any, Any]]:
        """Return the entries of one map, in the order of their bytes, as they are now."""
        self.flush()
        prefix, _ = self.layout.prefix(key)
        rows = self.store.rows(prefix, after(prefix))
        return ((self.layout.key_of(row, data)[1], self.value_of(data)) for row, data in rows)

    def value_of(self, data: bytes) -> Any:
        """Return the value of a row, fresh."""
        value = self.layout.read(data)
        return (unpacked(value[0]), value[1]) if self.ttl else unpacked(value)

    def flush(self) -> None:
        """Write what was changed."""
        if self.unwritten:
            batch = self.store.batch()
            self.write(batch)
            self.store.write(batch)


class _List:
    """What is known of one list."""

    __slots__ = ("added", "anew", "read")

    def __init__(self) -> None:
        self.read: list[Any] | None = None
        """What RocksDB has; None when it was not read yet."""
        self.added: list[Any] = []
        """What comes after that, not written yet."""
        self.anew = False
        """Whether what RocksDB has is to go first."""


class Lists:
    """The lists of a state: used like a dict, with :meth:`append`, which reads nothing.

    What is added to a list between two writes becomes one more row. A list of many rows is joined when it is read.
    """

    MOST_ROWS = 16

    def __init__(self, store: Store, layout: Layout, capacity: int, number: Callable[[], int]) -> None:
        """Hold the lists laid out by ``layout``; ``number`` returns one that is greater every time."""
        self.store = store
        self.layout = layout
        self.capacity = max(capacity, 1)
        self.number = number
        self.lists: dict[Any, _List] = {}
        self.unwritten: set[Any] = set()
        self.room = self.capacity
        self.ttl = layout.info.ttl

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the elements, fresh ones where they could be changed."""
        elements = self._elements(key)
        if not elements:
            return default
        if self.ttl:
            return [(unpacked(value), time) for value, time in elements]
        return [unpacked(value) for value in elements]

    peek = get

    def value_of(self, data: bytes) -> list[Any]:
        """Return the elements of a row, fresh."""
        elements = self.layout.read_list(data)
        if self.ttl:
            return [(unpacked(value), time) for value, time in elements]
        return [unpacked(value) for value in elements]

    def _elements(self, key: Any) -> list[Any]:
        known = self.lists.get(key)
        if known is None:
            self._make_room()
            known = self.lists[key] = _List()
        if known.read is None:
            known.read, rows = self._read(key)
            self.room -= len(known.read)
            if rows > self.MOST_ROWS:
                known.added, known.read, known.anew = known.read + known.added, [], True
                self.unwritten.add(key)
        return known.read + known.added if known.added else known.read

    def _read(self, key: Any) -> tuple[list[Any], int]:
        prefix, _ = self.layout.prefix(key)
        elements, rows = [], 0
        for _, data in self.store.rows(prefix, after(prefix)):
            elements += self.layout.read_list(data)
            rows += 1
        return elements, rows

    def _pack(self, element: Any) -> Any:
        return (packed(element[0]), element[1]) if self.ttl else packed(element)

    def append(self, key: Any, element: Any) -> None:
        """Add an element to a list."""
        known = self.lists.get(key)
        if known is None:
            self._make_room()
            known = self.lists[key] = _List()
        known.added.append(self._pack(element))
        self.unwritten.add(key)
        self.room -= 1
        if self.room < 0:
            self._make_room()

    def __setitem__(self, key: Any, elements: list[Any]) -> None:
        known = self.lists[key] = _List()
        known.read, known.anew = [], True
        known.added = [self._pack(element) for element in elements]
        self.unwritten.add(key)
        self.room -= len(elements) + 1
        if self.room < 0:
            self._make_room()

    def __delitem__(self, key: Any) -> None:
        self[key] = []

    def pop(self, key: Any, default: Any = None) -> Any:
        """Remove a list and return its elements."""
        elements = self.get(key)
        if elements is None:
            return default
        self[key] = []
        return elements

    def _make_room(self) -> None:
        self.room -= 1
        if self.room < 0:
            self.flush()
            self.lists.clear()
            self.room = self.capacity

    def flush(self) -> None:
        """Write what was changed."""
        if self.unwritten:
            batch = self.store.batch()
            self.write(batch)
            self.store.write(batch)

    def write(self, batch: Any) -> None:
        """Put what was changed into a batch."""
        layout = self.layout
        for key in self.unwritten:
            known = self.lists[key]
            prefix, own = layout.prefix(key)
            if known.anew:
                for row, _ in self.store.rows(prefix, after(prefix)):
                    batch.delete(row)
                known.anew = False
            if known.added:
                batch.put(prefix + number_of_row(self.number()), layout.write_list(own, known.added))
                if known.read is not None:
                    known.read += known.added
                known.added = []
        self.unwritten.clear()

    def forget(self) -> None:
        """Drop what is in memory, changes included."""
        self.lists.clear()
        self.unwritten.clear()
        self.room = self.capacity


class RocksTable:
    """One state: its entries, and which of them changed since the last delta."""

    def __init__(self, store: Store, layout: Layout, capacity: int, number: Callable[[], int]) -> None:
        """Hold the state laid out by ``layout`` in ``store``."""
        self.store = store
        self.layout = layout
        self.dirty: set[Any] = set()
        self.values: Any = (
            Lists(store, layout, capacity, number) if layout.info.kind == "list" else Entries(store, layout, capacity)
        )

    @property
    def info(self) -> TableInfo:
        """What is known of the state."""
        return self.layout.info

    def become(self, info: TableInfo) -> None:
        """Take what a program declares for what is known of the state."""
        self.layout.info = info
        self.values.ttl = info.ttl

    def changes(self) -> Iterator[Change]:
        """Return what changed since the last call, piece by piece."""
        dirty, peek = list(self.dirty), self.values.peek
        self.dirty.clear()
        for at in range(0, len(dirty), PIECE):
            keys, values, deleted = [], [], []
            for key in dirty[at : at + PIECE]:
                value = peek(key)
                if value is ABSENT or (value is None and self.info.kind == "list"):
                    deleted.append(key)
                else:
                    keys.append(key)
                    values.append(value)
            yield Change(self.info, keys, values, deleted)

    def apply(self, change: Change, now: int) -> None:
        """Take over what changed, with or without times as the state has them."""
        entries = self.values
        for key in change.deleted:
            del entries[key]
        add, drop = self.info.ttl and not change.table.ttl, change.table.ttl and not self.info.ttl
        for key, value in zip(change.keys, change.values, strict=True):
            if self.info.kind == "list" and (add or drop):
                entries[key] = [(each, now) for each in value] if add else [each for each, _ in value]
            else:
                entries[key] = (value, now) if add else value[0] if drop else value
