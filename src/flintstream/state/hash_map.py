"""The hash map backend: state as objects in dictionaries of the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.state.heap_states import Table
from flintstream.state.table_backend import TableBackend
from flintstream.state.tables import check_restored, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flintstream.state.backend import Change, TableInfo
    from flintstream.state.table_backend import Place

ACCESSES = 2_000
"""Assumed number of state accesses per clean-up. A clean-up checks as many entries as these accesses would."""

LARGE = 32_768
"""Entries of a dict from which on it helps to look ahead. A look-up in one of half the size waits little."""


class HashMapStateBackend(TableBackend):
    """Keeps the users' objects themselves. Serialization happens only for snapshots and deltas."""

    tables: dict[Place, Table]

    def __init__(self, operator: str = "") -> None:
        """Start empty. Errors name ``operator``."""
        super().__init__(operator)
        self.uncleaned: dict[Place, list[Any]] = {}

    def _declare(self, info: TableInfo) -> Table:
        """Return the table of a descriptor. It may exist already, with restored state."""
        table = self.tables.get((info.name, info.namespaced))
        if table is None:
            table = self.tables[info.name, info.namespaced] = Table(info)
            return table
        check_restored(self.operator, table.info, info)
        if info.ttl and not table.info.ttl:
            table.give_times(wall_clock())
        elif table.info.ttl and not info.ttl:
            table.drop_times()
        table.info = info
        return table

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have a value in the state with this name."""
        return [key for (known, _), table in self.tables.items() if known == name for key in table.values]

    def large_dicts(self) -> list[dict[Any, Any]]:
        """Return the dicts that have entries of the current key, and are too large for the processor's caches."""
        tables = [table for table in self.tables.values() if not table.info.namespaced]
        return [item for table in tables for item in (table.values, table.dirty, table.noted) if len(item) > LARGE]

    def take_delta(self) -> list[Change]:
        """Return the changes since the last call."""
        return [table.changes() for table in self.tables.values() if table.has_changes()]

    def take_snapshot(self) -> Iterator[Change]:
        """Return all entries, without expired ones if the user asked for that."""
        for place, state in self._expiring():
            if state.strategies.in_full_snapshot():
                now = state.clock()
                for key in list(self.tables[place].values):
                    state.expire(key, now)
        for table in self.tables.values():
            table.forget_changes()
        return (piece for table in self.tables.values() for piece in pieces(table.info, table.rows()))

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply a snapshot, or the changes since one."""
        for change in changes:
            info = change.table
            table = self.tables.get((info.name, info.namespaced))
            if table is None:
                table = self.tables[info.name, info.namespaced] = Table(info)
            table.apply(change)
        for table in self.tables.values():
            table.forget_changes()

    def clear_all(self) -> None:
        """Drop all state."""
        for table in self.tables.values():
            table.values.clear()
            table.forget_changes()

    def cleanup(self, now: int) -> None:
        """Drop expired entries among the next entries of every table with an incremental strategy.

        The strategy sets the number of entries to check per access. ``ACCESSES`` is an estimate of the accesses, as
        counting them would slow each one down.
        """
        for place, state, strategy in self._items_to_clean():
            waiting = self.uncleaned.get(place)
            if not waiting:
                waiting = self.uncleaned[place] = list(self.tables[place].values)
            at_once = strategy.get_cleanup_size() * ACCESSES
            for key in waiting[-at_once:]:
                state.expire(key, now)
            del waiting[-at_once:]

    def _strategy(self, strategies: Any) -> Any:
        return strategies.get_incremental_cleanup_strategy()

    def _has_begun(self, place: Place) -> bool:
        return bool(self.uncleaned.get(place))

    def _has_entries(self, table: Table) -> bool:
        return bool(table.values)

    def close(self) -> None:
        """Free the memory at once: to find the state of an ended run among all objects takes ten times as long."""
        self.clear_all()
        self.uncleaned.clear()
