"""The RocksDB backend: state on the local disk of the worker, which may be larger than memory."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.common._clock import wall_clock
from flintstream.state.backend import PIECE, Change
from flintstream.state.rocksdb.directories import new_directory
from flintstream.state.rocksdb.lists import RowNumbers
from flintstream.state.rocksdb.loading import Loader
from flintstream.state.rocksdb.options import RocksDBOptions
from flintstream.state.rocksdb.rows import Layout, place_of
from flintstream.state.rocksdb.states import ROCKSDB_KINDS
from flintstream.state.rocksdb.store import Store
from flintstream.state.rocksdb.tables import RocksTable
from flintstream.state.table_backend import TableBackend
from flintstream.state.tables import check_restored
from flintstream.state.ttl import CLEANUP_REST_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Cells, Scope, TableInfo
    from flintstream.state.kinds import StateKind
    from flintstream.state.settings import StateSettings
    from flintstream.state.table_backend import Place

CLEANED_AT_ONCE = 10_000
"""Rows that one clean-up of expired state checks."""

_CONVERTED_AT_ONCE = 1000


def open_backend(settings: StateSettings, operator: str, key_group: Callable[[Any], int]) -> RocksDBStateBackend:
    """Return an empty backend with the configured options.

    Raises:
        MissingDependencyError: RocksDB is not installed.
        ValueError: A value is invalid. The message names its key.
    """
    options = RocksDBOptions.of(settings.options, settings.factory)
    return RocksDBStateBackend(new_directory(options.directories), key_group, options, operator)


class RocksDBStateBackend(TableBackend):
    """Keeps rows in RocksDB, and recently used entries as objects in memory.

    As in Flink, and unlike with the hash map backend, changes to an object that a state returned have no effect until
    the program passes the object to ``update``, ``add`` or ``put``.
    """

    kinds: ClassVar[Mapping[type, StateKind]] = ROCKSDB_KINDS
    tables: dict[Place, RocksTable]

    def __init__(
        self,
        directory: str,
        key_group: Callable[[Any], int],
        options: RocksDBOptions | None = None,
        operator: str = "",
    ) -> None:
        """Start empty.

        Args:
            directory: a directory for this backend only. It is created here and removed by :meth:`close`.
            key_group: returns the key group of a key.
            options: options of RocksDB; by default those of an empty configuration.
            operator: the operator's name, for messages.
        """
        super().__init__(operator)
        self.options = options or RocksDBOptions()
        self._key_group = key_group
        self._declared: set[Place] = set()
        self._row_numbers = RowNumbers()
        self._uncleaned: dict[Place, bytes] = {}
        self._loader: Loader | None = None
        self._store = Store(directory, self.options.build)

    # -- states ------------------------------------------------------------------------------------------------------

    def cells(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Cells | None:
        """Return the table of a state; None with a time-to-live, and for maps, which have one row per entry."""
        table = self._table_of(descriptor, scope)
        return None if table.info.ttl or table.info.kind == "map" else table

    def _declare(self, info: TableInfo) -> RocksTable:
        """Return the table of a descriptor. It may exist already, with restored state."""
        place = (info.name, info.namespaced)
        table = self.tables.get(place)
        if table is None:
            table = self._new_table(info)
        else:
            check_restored(self.operator, table.info, info)
            self._become(table, info)
        self._declared.add(place)
        return table

    def _new_table(self, info: TableInfo, number: int | None = None) -> RocksTable:
        if number is None:
            number = max((table.layout.number for table in self.tables.values()), default=-1) + 1
        layout = Layout(info, number, self._key_group)
        table = RocksTable(self._store, layout, self.options.cache_entries, self.options.cache_bytes, self._row_numbers)
        self.tables[info.name, info.namespaced] = table
        return table

    def _become(self, table: RocksTable, info: TableInfo) -> None:
        """Convert a table to its declaration: add times for a new time-to-live, or drop those of a former one."""
        if table.info.ttl != info.ttl:
            self._write()
            table.values.forget()
            rows = self._store.rows_of(table.layout.number)
            now = wall_clock()
            while some := list(islice(rows, _CONVERTED_AT_ONCE)):
                batch = self._store.batch()
                for row, value in some:
                    batch.put(row, table.layout.convert_times(value, ttl=info.ttl, now=now))
                self._store.write(batch)
        table.become(info)

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have a value in the state with this name."""
        self._write()
        found = []
        for (known, _), table in self.tables.items():
            if known == name:
                several = table.info.kind in {"map", "list"}
                last = b"\xff"
                for row, value in self._store.rows_of(table.layout.number):
                    if not several:
                        found.append(table.layout.key_of(row, value))
                    elif not row.startswith(last):
                        last = row[: table.layout.prefix_end(row)]
                        key = table.layout.key_of(row, value)
                        found.append(key[0] if table.info.kind == "map" else key)
        return found

    # -- changes and snapshots ---------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Write the changes that are only in memory."""
        batch = self._store.batch()
        for table in self.tables.values():
            table.values.write(batch)
        self._store.write(batch)

    def _begin_delta(self) -> None:
        """Write the changes that are only in memory, and start the next delta after them."""
        self._write()
        self._row_numbers.set_mark()
        for table in self.tables.values():
            table.dirty.clear()

    def take_delta(self) -> list[Change]:
        """Return the changes since the last call."""
        changes = [change for table in self.tables.values() if table.dirty for change in table.changes()]
        self._begin_delta()
        return changes

    def take_snapshot(self) -> Iterator[Change]:
        """Return all entries in the order of the rows.

        Expired entries are left out if the user asked for that.
        """
        self._begin_delta()
        limits = {}
        for place, state in self._expiring():
            if state.strategies.in_full_snapshot():
                limits[place] = state.clock() - state._ttl
        return self._pieces(limits)

    def _pieces(self, limits: dict[Place, int]) -> Iterator[Change]:
        pending: dict[int, Change] = {}
        for table, key, value in self._entries(limits):
            number = table.layout.number
            piece = pending.get(number)
            if piece is None:
                piece = pending[number] = Change(table.info, [], [], [])
            piece.keys.append(key)
            piece.values.append(value)
            if len(piece.keys) >= PIECE:
                yield pending.pop(number)
        yield from pending.values()

    def _entries(self, limits: dict[Place, int]) -> Iterator[tuple[RocksTable, Any, Any]]:
        by_number = {table.layout.number: table for table in self.tables.values()}

        def of_one_key(entry: tuple[bytes, bytes]) -> bytes:
            layout = by_number[place_of(entry[0])[1]].layout
            return entry[0][: layout.prefix_end(entry[0])] if layout.info.kind == "list" else entry[0]

        for start, rows in groupby(self._store.rows(), of_one_key):
            table = by_number[place_of(start)[1]]
            layout, values = table.layout, table.values
            limit = limits.get((layout.info.name, layout.info.namespaced))
            if layout.info.kind != "list":
                row, value = next(rows)
                if limit is None or not layout.has_expired(value, limit):
                    yield table, layout.key_of(row, value), values.value_of(value)
                continue
            parts = list(rows)
            elements = [element for _, value in parts for element in values.value_of(value)]
            if limit is not None:
                elements = [element for element in elements if element[1] > limit]
            if elements:
                yield table, layout.key_of(*parts[0]), elements

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply a snapshot, or the changes since one.

        Raises:
            StateMigrationError: A state has another kind or type than the program declares.
        """
        for change in changes:
            place = (change.table.name, change.table.namespaced)
            table = self.tables.get(place)
            if table is None:
                table = self._new_table(change.table)
            elif place in self._declared:
                check_restored(self.operator, change.table, table.info)
            if self._loader is None:
                table.apply(change, wall_clock())
            else:
                self._loader.load(table.layout, change, wall_clock())
        if self._loader is None:
            self._begin_delta()

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Write what is applied within this context in bulk; until its end, state must not be read."""
        self._write()
        for table in self.tables.values():
            table.values.forget()
        self._loader = Loader(self._store, self._row_numbers)
        try:
            yield
            self._loader.write()
        finally:
            self._loader = None
        self._begin_delta()

    def clear_all(self) -> None:
        """Drop all state."""
        for table in self.tables.values():
            table.values.forget()
            table.dirty.clear()
        self._store.clear()
        if self._loader is not None:
            self._loader.forget()

    # -- files -------------------------------------------------------------------------------------------------------

    def write_native(self, directory: str) -> None:
        """Write the files of the database into ``directory``, which does not exist yet."""
        self._begin_delta()
        tables = {table.layout.number: table.info for table in self.tables.values()}
        self._store.write_catalogue(tables, self._row_numbers.last)
        self._store.checkpoint(directory)

    def restore_native(self, directory: str) -> None:
        """Replace all state by the files of :meth:`write_native`. ``directory`` itself does not change.

        Raises:
            StateMigrationError: A state has another kind or type than the program declares.
            ValueError: The files have another format.
        """
        self._store.restore(directory)
        if self._loader is not None:
            self._loader.forget()
        found, self._row_numbers.last = self._store.read_catalogue()
        self._row_numbers.set_mark()
        known = self.tables
        self.tables = {}
        self._uncleaned.clear()
        for number, info in found.items():
            place = (info.name, info.namespaced)
            table = known.pop(place, None)
            if table is None or place not in self._declared:
                self._new_table(info, number)
                continue
            declared = table.info
            check_restored(self.operator, info, declared)
            self.tables[place] = table
            table.values.forget()
            table.dirty.clear()
            table.layout.number = number
            table.become(info)
            self._become(table, declared)
        for place, table in known.items():
            if place in self._declared:
                table.values.forget()
                table.dirty.clear()
                table.layout.number = max((t.layout.number for t in self.tables.values()), default=-1) + 1
                self.tables[place] = table

    def close(self) -> None:
        """Close the database, remove its files, and free the memory of entries at once."""
        for table in self.tables.values():
            table.values.forget()
            table.dirty.clear()
        self._store.close()

    # -- time-to-live ------------------------------------------------------------------------------------------------

    def cleanup(self, now: int) -> None:
        """Remove expired entries among the next rows of every table with a strategy for RocksDB.

        RocksDB cannot call Python during a compaction, so the rows are checked here.
        """
        for place, state, _ in self._items_to_clean():
            table = self.tables[place]
            layout = table.layout
            limit = now - state._ttl
            rows = self._store.rows_of(layout.number, self._uncleaned.pop(place, b""))
            for row, value in islice(rows, CLEANED_AT_ONCE):
                if layout.has_expired(value, limit):
                    key = layout.key_of(row, value)
                    if layout.info.kind == "list" or key in table.values.unwritten:
                        state.expire(key, now)
                    else:  # no newer value in memory
                        del table.values[key]
                        if self.tracking:
                            table.dirty[key] = 0
            coming = next(rows, None)
            if coming is not None:
                self._uncleaned[place] = coming[0]

    def _strategy(self, strategies: Any) -> Any:
        return strategies.get_rocksdb_compact_filter_cleanup_strategy()

    def _period(self, strategy: Any) -> int:
        # A period of 0 means no period, as in Flink.
        return strategy.get_periodic_compaction_time().to_millis() or CLEANUP_REST_MS

    def _has_begun(self, place: Place) -> bool:
        return place in self._uncleaned

    def _has_entries(self, table: RocksTable) -> bool:
        return bool(table.values.unwritten) or next(self._store.rows_of(table.layout.number), None) is not None
