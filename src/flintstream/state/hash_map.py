"""State as objects in dictionaries of the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.state.backend import Scope
from flintstream.state.heap_states import (
    HeapAggregatingState,
    HeapListState,
    HeapMapState,
    HeapReducingState,
    HeapValueState,
    Table,
)
from flintstream.state.ttl import TtlAggregatingState, TtlListState, TtlMapState, TtlReducingState, TtlValueState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.datastream.state import StateDescriptor

CLEANED_AT_ONCE = 10_000
"""Entries looked at by one incremental clean-up of expired state."""

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
    """Keeps the objects that users put in, as they are; nothing is serialized until a delta is taken."""

    def __init__(self) -> None:
        self.key = None
        self.tracking = False
        self.tables: dict[str, Table] = {}
        self.states: dict[str, tuple[str, Any, dict[Scope, Any]]] = {}
        self.uncleaned: dict[str, list[Any]] = {}

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
            table = self.tables.setdefault(name, Table())
            ttl = descriptor.ttl_config
            made = with_ttl if ttl is not None and ttl.is_enabled() else plain
            state = known[2][whose] = made(self, whose, table, descriptor)
        return state

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have something in the state of this name."""
        table = self.tables.get(name)
        return [] if table is None else list(table.values)

    def take_delta(self) -> object:
        """Return what changed since the last call: per state, the entries to set and the keys to delete."""
        delta = {}
        for name, table in self.tables.items():
            if table.dirty:
                values = table.values
                changed = [(key, values[key]) for key in table.dirty if key in values]
                delta[name] = (changed, [key for key in table.dirty if key not in values])
                table.dirty.clear()
        return delta

    def take_snapshot(self) -> object:
        """Return all entries, in the form of a delta; without those that have expired where the user asked for that."""
        for name, state in self._expiring():
            if state.in_full_snapshot:
                now = state.clock()
                for key in list(self.tables[name].values):
                    state.expire(key, now)
        for table in self.tables.values():
            table.dirty.clear()
        return {name: (list(table.values.items()), []) for name, table in self.tables.items()}

    def restore(self, snapshot: object | None, deltas: Sequence[object]) -> None:
        """Replace everything by ``snapshot`` if there is one, then apply ``deltas`` in order."""
        if snapshot is not None:
            for table in self.tables.values():
                table.values.clear()
                table.dirty.clear()
        pieces: list[Any] = ([snapshot] if snapshot is not None else []) + list(deltas)
        for piece in pieces:
            for name, (changed, deleted) in piece.items():
                values = self.tables.setdefault(name, Table()).values
                values.update(changed)
                for key in deleted:
                    values.pop(key, None)

    def clear_all(self) -> None:
        """Drop everything."""
        for table in self.tables.values():
            if table.values:
                table.values.clear()

    def cleanup(self, now: int) -> None:
        """Drop what has expired among the next entries of every table that is to be cleaned in the background.

        How many those are is the same for all tables: a strategy's own number is per access, which this is not.
        """
        for name, state in self._expiring():
            if not state.background:
                continue
            waiting = self.uncleaned.get(name)
            if not waiting:
                waiting = self.uncleaned[name] = list(self.tables[name].values)
            for key in waiting[-CLEANED_AT_ONCE:]:
                state.expire(key, now)
            del waiting[-CLEANED_AT_ONCE:]

    def _expiring(self) -> Iterator[tuple[str, Any]]:
        """Return a state object of each table with a time-to-live."""
        for name, (_, _, by_scope) in self.states.items():
            state = next(iter(by_scope.values()), None)  # all scopes of a name share its table
            if hasattr(state, "expire"):
                yield name, state
