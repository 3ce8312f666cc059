"""Entries of states between operators and RocksDB.

Recently used entries are kept as objects, so that frequent keys cost only a dict lookup. Changes are written in
batches. Mutable values are kept encoded, and every access decodes a fresh one: as in Flink, a change counts only when
the program passes the value to ``update``, ``add`` or ``put``. Accumulators of aggregating state belong to the
aggregate function alone, so they are kept as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import encode_one
from flintstream.errors import PickleRefusedError
from flintstream.state.backend import PIECE, Change
from flintstream.state.rocksdb.lists import ADDED_TO, Lists
from flintstream.state.rocksdb.room import Room
from flintstream.state.rocksdb.rows import ATOMS, Packed, after, is_fixed, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.state.backend import TableInfo
    from flintstream.state.rocksdb.lists import RowNumbers
    from flintstream.state.rocksdb.rows import Layout
    from flintstream.state.rocksdb.store import Store

ABSENT = Packed(b"")
"""Marks an absent value."""


class Entries:
    """The single values of a state, or the entries of its maps. Used like a dict.

    Two generations of entries are kept in memory. When the young one is full, its changes are written, and it replaces
    the old one.
    """

    def __init__(self, store: Store, layout: Layout, room: Room, dirty: dict[Any, Any]) -> None:
        """Hold the entries laid out by ``layout`` in ``store``, with ``room`` for those of one generation.

        ``dirty`` has the keys that changed since the last delta. It gets their values when they leave the memory.
        """
        self.store = store
        self.layout = layout
        self.room = room
        self.dirty = dirty
        self.capacity = room.entries
        self.young: dict[Any, Any] = {}
        self.old: dict[Any, Any] = {}
        self.unwritten: set[Any] = set()
        """Keys in the young generation whose values are not in RocksDB yet."""
        self.ttl = layout.info.ttl
        self.live = layout.info.kind == "aggregating"

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key."""
        value = self.young.get(key, self)
        if value.__class__ in ATOMS:
            return value
        if value is self:
            value = self._miss(key)
        if value.__class__ is Packed:
            return default if value is ABSENT else unpack(value)
        if self.ttl and value[0].__class__ is Packed:
            return unpack(value[0]), value[1]
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
        self.room.saw(1, len(data))
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
        if value.__class__ not in ATOMS and not self.live:
            try:
                if self.ttl:
                    value = value if value[0].__class__ in ATOMS else (pack(value[0]), value[1])
                elif not is_fixed(value):
                    value = Packed(encode_one(value))
            except PickleRefusedError as error:
                raise error.within(f"state '{self.layout.info.name}'") from None
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
        """Return the value of a key, or ``ABSENT``, without keeping it in memory."""
        value = self.young.get(key, self)
        if value is self:
            value = self.old.get(key, self)
        return self.fresh(self._read(key) if value is self else value)

    def fresh(self, value: Any) -> Any:
        """Return what the program may have of a value in memory, or ``ABSENT``."""
        if value is ABSENT or not self.ttl:
            return value if value is ABSENT else unpack(value)
        return unpack(value[0]), value[1]

    def turn(self) -> None:
        """Write the young generation, and make it the old one."""
        young, dirty = self.young, self.dirty
        # Otherwise the delta would have to read these values again. An accumulator may change when it is used.
        if dirty and not self.live and self.room.holds(len(dirty)):
            for key in self.unwritten:
                if key in dirty:
                    dirty[key] = young[key]
        batch = self.store.batch()
        self.write(batch)
        self.store.write(batch)
        # State objects hold a reference to the young dict, so it is reused.
        self.old = self.young.copy()
        self.young.clear()

    def write(self, batch: Any) -> None:
        """Put all changes into a batch."""
        if self.unwritten:
            self._write(batch)
        self.room.adapt()
        self.capacity = self.room.entries

    def _write(self, batch: Any) -> None:
        young, put, size = self.young, batch.put, 0
        keys, values = [], []
        for key in self.unwritten:
            value = young[key]
            if value is ABSENT:
                batch.delete(self.layout.place(key))
            else:
                keys.append(key)
                values.append(value)
        try:
            for row, data in self.layout.rows(keys, values):
                put(row, data)
                size += len(data)
        except PickleRefusedError as error:
            raise error.within(f"state '{self.layout.info.name}'") from None
        self.room.saw(len(keys), size)
        self.unwritten.clear()

    def forget(self) -> None:
        """Drop everything in memory, including changes."""
        self.young.clear()
        self.old.clear()
        self.unwritten.clear()

    # -- maps ------------------------------------------------------------------------------------------------------

    def of_map(self, key: Any) -> Iterator[tuple[Any, Any]]:
        """Return the current entries of one map, in the order of their bytes."""
        self.flush()
        prefix, _ = self.layout.prefix(key)
        rows = self.store.rows(prefix, after(prefix))
        return ((self.layout.key_of(row, data)[1], self.value_of(data)) for row, data in rows)

    def value_of(self, data: bytes) -> Any:
        """Return the value of a row, fresh."""
        value = self.layout.read(data)
        return (unpack(value[0]), value[1]) if self.ttl else unpack(value)

    def flush(self) -> None:
        """Write all changes."""
        if self.unwritten:
            batch = self.store.batch()
            self.write(batch)
            self.store.write(batch)


class RocksTable:
    """One state: its entries, and a record of their changes since the last delta.

    ``dirty`` has the changed keys (for a map, with the map key). The value is ``ADDED_TO`` for lists that were only
    appended to, and 0 for all others, or what the key had when it left the memory.
    """

    def __init__(self, store: Store, layout: Layout, entries: int, size: int, numbers: RowNumbers) -> None:
        """Hold the state laid out by ``layout`` in ``store``, and about ``entries`` as objects, of ``size`` bytes."""
        self.store = store
        self.layout = layout
        self.dirty: dict[Any, Any] = {}
        self.values: Any = (
            Lists(store, layout, Room(entries, size), numbers, self.dirty)
            if layout.info.kind == "list"
            else Entries(store, layout, Room(entries // 2, size // 2), self.dirty)
        )

    @property
    def info(self) -> TableInfo:
        """The name, kind and type of the state."""
        return self.layout.info

    def become(self, info: TableInfo) -> None:
        """Set what is known of the state to what the program declares."""
        self.layout.info = info
        self.values.ttl = info.ttl

    def changes(self) -> Iterator[Change]:
        """Return the changes since the last delta, in pieces."""
        dirty, peek, lists = list(self.dirty.items()), self.values.peek, self.info.kind == "list"
        for at in range(0, len(dirty), PIECE):
            keys, values, deleted, appended = [], [], [], []
            for key, how in dirty[at : at + PIECE]:
                if lists and how == ADDED_TO:
                    appended.append((key, self.values.recent(key)))
                    continue
                # A value of 0 is read again.
                value = peek(key) if how.__class__ is int and how == 0 else self.values.fresh(how)
                if value is ABSENT or (value is None and lists):
                    deleted.append(key)
                else:
                    keys.append(key)
                    values.append(value)
            yield Change(self.info, keys, values, deleted, appended)

    def apply(self, change: Change, now: int) -> None:
        """Apply changes, and add or remove times to match the state."""
        entries = self.values
        for key in change.deleted:
            del entries[key]
        add, drop = self.info.ttl and not change.table.ttl, change.table.ttl and not self.info.ttl

        def convert(elements: list[Any]) -> list[Any]:
            return [(item, now) for item in elements] if add else [item for item, _ in elements] if drop else elements

        for key, value in zip(change.keys, change.values, strict=True):
            if self.info.kind == "list":
                entries[key] = convert(value)
            else:
                entries[key] = (value, now) if add else value[0] if drop else value
        for key, elements in change.appended:
            for element in convert(elements):
                entries.append(key, element)
