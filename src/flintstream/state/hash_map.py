"""State as objects in dictionaries of the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.contracts.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.state.backend import Scope, TableInfo
from flintstream.state.heap_states import (
    HeapAggregatingState,
    HeapListState,
    HeapMapState,
    HeapReducingState,
    HeapValueState,
    Table,
)
from flintstream.state.tables import check_restored, pieces, type_text
from flintstream.state.ttl import (
    TtlAggregatingState,
    TtlListState,
    TtlMapState,
    TtlReducingState,
    TtlValueState,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Change

ACCESSES = 2_000
"""How many accesses to state one clean-up stands for: it looks at as many entries as they would together."""

_KINDS: dict[type, tuple[str, type, type]] = {
    ValueStateDescriptor: ("value", HeapValueState, TtlValueState),
    ListStateDescriptor: ("list", HeapListState, TtlListState),
    MapStateDescriptor: ("map", HeapMapState, TtlMapState),
    ReducingStateDescriptor: ("reducing", HeapReducingState, TtlReducingState),
    AggregatingStateDescriptor: ("aggregating", HeapAggregatingState, TtlAggregatingState),
}


def _kind_of(descriptor: StateDescriptor) -> tuple[str, type, type]:
    for base, kind in _KINDS.items():
        if isinstance(descriptor, base):
            return kind
    raise TypeError(f"{type(descriptor).__name__} describes no kind of keyed state")


class HashMapStateBackend(Scope):
    """Keeps the objects that users put in, as they are; nothing is serialized before a snapshot or delta is."""

    def __init__(self, operator: str = "") -> None:
        """Start empty; ``operator`` is named in errors."""
        self.key = None
        self.tracking = False
        self.operator = operator
        self.tables: dict[tuple[str, bool], Table] = {}
        """By name, and whether its keys include a namespace."""
        self.states: dict[str, tuple[str, Any, dict[Scope, Any]]] = {}
        self.uncleaned: dict[tuple[str, bool], list[Any]] = {}

    def state(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Any:
        """Return the state object of a descriptor and scope, the same one every time."""
        kind, plain, with_ttl = _KINDS.get(type(descriptor)) or _kind_of(descriptor)
        name = descriptor.name
        known = self.states.get(name)
        if known is not None:
            if known[0] != kind:
                raise Exception(  # noqa: TRY002 - the type PyFlink raises
                    f"The state name '{name}' is already in use and not a {kind} state but a {known[0]} state.",
                )
            if known[1] != descriptor.type_info:
                raise Exception(  # noqa: TRY002
                    f"State name corrupted: '{name}' was registered with {known[1]}, now with {descriptor.type_info}",
                )
        else:
            known = self.states[name] = (kind, descriptor.type_info, {})
        whose = scope or self
        state = known[2].get(whose)
        if state is None:
            ttl = descriptor.ttl_config
            expires = ttl is not None and ttl.is_enabled()
            info = TableInfo(name, kind, type_text(descriptor), expires, namespaced=whose is not self)
            made = with_ttl if expires else plain
            state = known[2][whose] = made(self, whose, self._table(info), descriptor)
        return state

    def _table(self, info: TableInfo) -> Table:
        """Return the table of a descriptor, with what was restored for it before the descriptor was seen."""
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
        """Return the keys that have something in the state of this name."""
        return [key for (known, _), table in self.tables.items() if known == name for key in table.values]

    def take_delta(self) -> list[Change]:
        """Return what changed since the last call."""
        return [table.changes() for table in self.tables.values() if table.dirty]

    def take_snapshot(self) -> Iterator[Change]:
        """Return all entries, without those that have expired where the user asked for that."""
        for place, state in self._expiring():
            if state.strategies.in_full_snapshot():
                now = state.clock()
                for key in list(self.tables[place].values):
                    state.expire(key, now)
        for table in self.tables.values():
            table.dirty.clear()
        return (piece for table in self.tables.values() for piece in pieces(table.info, table.rows()))

    def apply(self, changes: Iterable[Change]) -> None:
        """Take over a snapshot, or the changes since one."""
        for change in changes:
            info = change.table
            table = self.tables.get((info.name, info.namespaced))
            if table is None:
                table = self.tables[info.name, info.namespaced] = Table(info)
            table.apply(change)
        for table in self.tables.values():
            table.dirty.clear()

    def clear_all(self) -> None:
        """Drop everything."""
        for table in self.tables.values():
            table.values.clear()
            table.dirty.clear()

    def cleanup(self, now: int) -> None:
        """Drop what has expired among the next entries of every table with an incremental strategy.

        The strategy says how many entries an access looks at. Accesses are not counted, which would cost something for
        each: ``ACCESSES`` stands for their number.
        """
        for place, state, strategy in self._cleaned():
            waiting = self.uncleaned.get(place)
            if not waiting:
                waiting = self.uncleaned[place] = list(self.tables[place].values)
            at_once = strategy.get_cleanup_size() * ACCESSES
            for key in waiting[-at_once:]:
                state.expire(key, now)
            del waiting[-at_once:]

    def next_cleanup(self, now: int) -> int | None:
        """Return when to clean up again although no records come, None when nothing is there that could expire."""
        times = [
            state.next_cleanup(now, begun=bool(self.uncleaned.get(place)))
            for place, state, _ in self._cleaned()
            if self.tables[place].values
        ]
        return min(times, default=None)

    def close(self) -> None:
        """Nothing to release."""

    def _cleaned(self) -> Iterator[tuple[tuple[str, bool], Any, Any]]:
        """Return what :meth:`_expiring` does, and the strategy by which it is cleaned up, where there is one."""
        for place, state in self._expiring():
            strategy = state.strategies.get_incremental_cleanup_strategy()
            if strategy is not None:
                yield place, state, strategy

    def _expiring(self) -> Iterator[tuple[tuple[str, bool], Any]]:
        """Return a state object of each table with a time-to-live."""
        for name, (_, _, by_scope) in self.states.items():
            for namespaced in (False, True):
                # all scopes with a namespace share one table
                state = next((s for scope, s in by_scope.items() if (scope is not self) is namespaced), None)
                if hasattr(state, "expire"):
                    yield (name, namespaced), state
