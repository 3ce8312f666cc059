"""Lists between operators and RocksDB. Appending to a list does not read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import PickleRefusedError
from flintstream.state.rocksdb.rows import ATOMS, after, number_of_row, pack, unpack

if TYPE_CHECKING:
    from flintstream.state.rocksdb.room import Room
    from flintstream.state.rocksdb.rows import Layout
    from flintstream.state.rocksdb.store import Store

ADDED_TO = 1
"""Mark of a list that was only appended to since the last delta."""


class RowNumbers:
    """Numbers for the rows of all lists of a backend, in the order in which they are written."""

    def __init__(self) -> None:
        """Start with 1."""
        self.last = 0
        self.mark = 0
        """The last number when the last delta was taken. Later rows hold the elements added since."""

    def next(self) -> int:
        """Return a number greater than all previous ones."""
        self.last += 1
        return self.last

    def set_mark(self) -> None:
        """Exclude the rows written so far from the next delta."""
        self.mark = self.last


class _List:
    """The part of one list that is in memory."""

    __slots__ = ("added", "read", "replaced")

    def __init__(self) -> None:
        self.read: list[Any] | None = None
        """Elements in RocksDB; None if they have not been read."""
        self.added: list[Any] = []
        """Elements after those, not written yet."""
        self.replaced = False
        """Whether the rows in RocksDB must be deleted first."""


class Lists:
    """The lists of a state. Used like a dict, with :meth:`append`, which does not read.

    The elements added to a list between two writes become one row. Reading a list with many rows joins them, except
    those of the next delta.
    """

    MOST_ROWS = 16

    def __init__(self, store: Store, layout: Layout, held: Room, numbers: RowNumbers, dirty: dict[Any, int]) -> None:
        """Hold the lists laid out by ``layout``, with ``held`` for the elements in memory.

        ``dirty`` has the lists that changed since the last delta.
        """
        self.store = store
        self.layout = layout
        self.held = held
        self.numbers = numbers
        self.dirty = dirty
        self.lists: dict[Any, _List] = {}
        self.unwritten: set[Any] = set()
        self.room = held.entries
        self.ttl = layout.info.ttl

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the elements. Mutable ones are fresh copies."""
        elements = self._elements(key)
        return self._fresh(elements) if elements else default

    peek = get

    def recent(self, key: Any) -> list[Any]:
        """Return the elements added since the last delta to a list that was not changed otherwise."""
        found: list[Any] = []
        mark = self.numbers.mark
        if self.numbers.last > mark:  # else no row has been written since
            prefix, _ = self.layout.prefix(key)
            for _, data in self.store.rows(prefix + number_of_row(mark + 1), after(prefix)):
                found += self.layout.read_list(data)
        known = self.lists.get(key)
        if known is not None:
            found += known.added
        return self._fresh(found)

    def value_of(self, data: bytes) -> list[Any]:
        """Return the elements of a row, fresh."""
        return self._fresh(self.layout.read_list(data))

    def _fresh(self, elements: list[Any]) -> list[Any]:
        if self.ttl:
            return [(unpack(value), time) for value, time in elements]
        return [unpack(value) for value in elements]

    def _elements(self, key: Any) -> list[Any]:
        known = self.lists.get(key)
        if known is None:
            self._make_room()
            known = self.lists[key] = _List()
        if known.read is None:
            known.read = self._read(key)
            self.room -= len(known.read)
        return known.read + known.added if known.added else known.read

    def _read(self, key: Any) -> list[Any]:
        prefix, _ = self.layout.prefix(key)
        rows = list(self.store.rows(prefix, after(prefix)))
        if len(rows) > self.MOST_ROWS:
            newest = prefix + number_of_row(self.numbers.mark if key in self.dirty else self.numbers.last)
            self._join([row for row in rows if row[0] <= newest])
        elements = [element for _, data in rows for element in self.layout.read_list(data)]
        self.held.saw(len(elements), sum(len(data) for _, data in rows))
        return elements

    def _join(self, rows: list[tuple[bytes, bytes]]) -> None:
        """Write many rows as one, under the key of the last one."""
        if len(rows) > self.MOST_ROWS:
            batch = self.store.batch()
            for row, _ in rows[:-1]:
                batch.delete(row)
            batch.put(rows[-1][0], self.layout.join([data for _, data in rows]))
            self.store.write(batch)

    def _pack(self, element: Any) -> Any:
        try:
            return (pack(element[0]), element[1]) if self.ttl else pack(element)
        except PickleRefusedError as error:
            raise error.within(f"state '{self.layout.info.name}'") from None

    def append(self, key: Any, element: Any) -> None:
        """Add an element to a list."""
        known = self.lists.get(key)
        if known is None:
            self._make_room()
            known = self.lists[key] = _List()
        known.added.append(element if element.__class__ in ATOMS else self._pack(element))
        self.unwritten.add(key)
        self.room -= 1
        if self.room < 0:
            self._make_room()

    def __setitem__(self, key: Any, elements: list[Any]) -> None:
        known = self.lists[key] = _List()
        known.read, known.replaced = [], True
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
            self.held.adapt()
            self.room = self.held.entries

    def flush(self) -> None:
        """Write all changes."""
        if self.unwritten:
            batch = self.store.batch()
            self.write(batch)
            self.store.write(batch)

    def write(self, batch: Any) -> None:
        """Put all changes into a batch."""
        layout = self.layout
        for key in self.unwritten:
            known = self.lists[key]
            prefix, own = layout.prefix(key)
            if known.replaced:
                for row, _ in self.store.rows(prefix, after(prefix)):
                    batch.delete(row)
                known.replaced = False
            if known.added:
                data = layout.write_list(own, known.added)
                batch.put(prefix + number_of_row(self.numbers.next()), data)
                self.held.saw(len(known.added), len(data))
                if known.read is not None:
                    known.read += known.added
                known.added = []
        self.unwritten.clear()

    def forget(self) -> None:
        """Drop everything in memory, including changes."""
        self.lists.clear()
        self.unwritten.clear()
        self.room = self.held.entries
