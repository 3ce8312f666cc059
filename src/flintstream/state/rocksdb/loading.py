"""Restoring rows in bulk: sorted files, which RocksDB takes over as they are.

A row that is put into RocksDB is copied into its write buffer, sorted, written to a file, and often written again by
compactions. While state is restored nothing reads it, so the rows can be merged and sorted here: each is written once,
with its latest value. Files of a snapshot in the order of the rows do not overlap, and no compaction writes them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import PickleRefusedError
from flintstream.state.rocksdb.rows import Layout, after, number_of_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.state.backend import Change
    from flintstream.state.rocksdb.lists import RowNumbers
    from flintstream.state.rocksdb.store import Store

FILE_BYTES = 64 << 20
"""Memory for rows, roughly: when they need more, they become a file."""

SMALL_BYTES = 1 << 20
"""Fewer rows than this are not worth a file."""

_OBJECTS = 200
"""Bytes of a row in memory, in addition to its content: two objects and their place in a dict."""

_LAST = b"\xff" * 8


class Loader:
    """Collects restored rows, and writes them file by file.

    A file that is written later hides equal rows of earlier ones, as a later write does.
    """

    def __init__(self, store: Store, numbers: RowNumbers) -> None:
        """Load rows into ``store``. ``numbers`` has the numbers of the rows of lists."""
        self._store = store
        self._numbers = numbers
        self._rows: dict[bytes, bytes | None] = {}
        """Latest value by row; None if it is deleted."""
        self._lists: dict[bytes, tuple[bool, list[bytes]]] = {}
        """By prefix of the rows of a list: whether earlier rows are deleted first, and the values that follow."""
        self._size = 0
        self._highest = b"" if store.empty else _LAST
        """No row in the store comes after this one, so that it need not be read to delete rows after it."""

    def forget(self) -> None:
        """Drop all rows, because the store was cleared or replaced."""
        self._rows.clear()
        self._lists.clear()
        self._size = 0
        self._highest = b"" if self._store.empty else _LAST

    def load(self, layout: Layout, change: Change, now: int) -> None:
        """Add a change to a state. Times are added (``now``, in ms) or removed as the layout requires."""
        add, drop = layout.info.ttl and not change.table.ttl, change.table.ttl and not layout.info.ttl
        try:
            if layout.info.kind == "list":
                self._load_lists(layout, change, _conversion(add=add, drop=drop, now=now))
            else:
                values: Iterable[Any] = change.values
                if add or drop:
                    values = [(value, now) for value in values] if add else [value for value, _ in values]
                for key in change.deleted:
                    row = layout.place(key)
                    self._rows[row] = None
                    self._size += len(row) + _OBJECTS
                before = len(self._rows)
                rows = dict(layout.rows(change.keys, values))
                self._rows.update(rows)
                self._size += sum(map(len, rows)) + sum(map(len, rows.values()))
                self._size += (len(self._rows) - before) * _OBJECTS
        except PickleRefusedError as error:
            raise error.within(f"state '{layout.info.name}'") from None
        if self._size > FILE_BYTES:
            self.write()

    def _load_lists(self, layout: Layout, change: Change, converted: Callable[[list[Any]], list[Any]] | None) -> None:
        for key in change.deleted:
            self._lists[layout.prefix(key)[0]] = (True, [])
            self._size += _OBJECTS
        for pairs, replaces in ((zip(change.keys, change.values, strict=True), True), (change.appended, False)):
            for key, elements in pairs:
                prefix, own = layout.prefix(key)
                if replaces or prefix not in self._lists:
                    self._lists[prefix] = (replaces, [])
                if elements:
                    value = layout.write_list(own, elements if converted is None else converted(elements))
                    self._lists[prefix][1].append(value)
                    self._size += len(value)
                self._size += len(prefix) + _OBJECTS

    def write(self) -> None:
        """Write all rows."""
        rows, store, highest = self._rows, self._store, self._highest
        for prefix, (replaces, values) in self._lists.items():
            if replaces and prefix < highest:
                rows.update((row, None) for row, _ in store.rows(prefix, after(prefix)))
            if values:
                rows[prefix + number_of_row(self._numbers.next())] = Layout.join(values)
        order = sorted(rows)
        changes = ((row, value) for row in order if (value := rows[row]) is not None or row <= highest)
        if self._size > SMALL_BYTES:
            store.ingest(changes)
        else:
            batch = store.batch()
            for row, value in changes:
                if value is None:
                    batch.delete(row)
                else:
                    batch.put(row, value)
            store.write(batch)
        if order:
            self._highest = max(highest, order[-1])
        rows.clear()
        self._lists.clear()
        self._size = 0


def _conversion(*, add: bool, drop: bool, now: int) -> Callable[[list[Any]], list[Any]] | None:
    if add:
        return lambda elements: [(element, now) for element in elements]
    return (lambda elements: [item for item, _ in elements]) if drop else None
