"""The common base of backends that keep state in tables: the registry of states, and their expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.state.backend import Scope, TableInfo
from flintstream.state.kinds import KINDS, kind_of
from flintstream.state.tables import type_text
from flintstream.state.ttl import CLEANUP_REST_MS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Cells, Panes
    from flintstream.state.kinds import StateKind

    Place = tuple[str, bool]
    """The name of a table, and whether its keys include a namespace."""


class TableBackend(Scope):
    """Base of the built-in backends."""

    kinds: ClassVar[Mapping[type, StateKind]] = KINDS
    tables: dict[Place, Any]

    def __init__(self, operator: str = "") -> None:
        """Start without states. Errors name ``operator``."""
        self.key = None
        self.tracking = False
        self.operator = operator
        self.tables = {}
        self.states: dict[str, tuple[str, Any, dict[Scope, Any]]] = {}
        """Name -> kind, declared type, and the state object of each scope."""

    # -- states ------------------------------------------------------------------------------------------------------

    def state(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Any:
        """Return the state object of a descriptor and scope, the same one for every call.

        Raises:
            StateMigrationError: The state restored under this name has another kind or type.
        """
        kind = kind_of(descriptor, self.kinds)
        name = descriptor.name
        known = self.states.get(name)
        if known is None:
            known = self.states[name] = (kind.name, descriptor.type_info, {})
        elif known[0] != kind.name:
            raise Exception(  # noqa: TRY002 - the type PyFlink raises
                f"The state name '{name}' is already in use and not a {kind.name} state but a {known[0]} state.",
            )
        elif known[1] != descriptor.type_info:
            raise Exception(  # noqa: TRY002
                f"State name corrupted: '{name}' was registered with {known[1]}, now with {descriptor.type_info}",
            )
        whose = scope or self
        state = known[2].get(whose)
        if state is None:
            ttl = descriptor.ttl_config
            expires = ttl is not None and ttl.is_enabled()
            info = TableInfo(name, kind.name, type_text(descriptor), expires, namespaced=whose is not self)
            made = kind.state_with_ttl if expires else kind.state
            state = known[2][whose] = made(self, whose, self._declare(info), descriptor)
        return state

    def panes(self, descriptor: StateDescriptor, scope: Scope) -> Panes | None:
        """Return the panes of a list, reducing or aggregating state; None with a time-to-live."""
        kind, table = kind_of(descriptor, self.kinds), self._table_of(descriptor, scope)
        if kind.panes is None or table.info.ttl:
            return None
        panes: Panes = kind.panes(self, table, descriptor)
        return panes

    def cells(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Cells | None:
        """Return the table of a state; None with a time-to-live."""
        table = self._table_of(descriptor, scope)
        return None if table.info.ttl else table

    def _table_of(self, descriptor: StateDescriptor, scope: Scope | None) -> Any:
        self.state(descriptor, scope)
        return self.tables[descriptor.name, scope is not None and scope is not self]

    def _declare(self, info: TableInfo) -> Any:
        """Return the table of a descriptor. It may exist already, with restored state."""
        raise NotImplementedError

    # -- time-to-live ------------------------------------------------------------------------------------------------

    def next_cleanup(self, now: int) -> int | None:
        """Return the time of the next clean-up if no records arrive, or None if no state can expire."""
        times = [
            state.next_cleanup(now, begun=self._has_begun(place), period=self._period(strategy))
            for place, state, strategy in self._items_to_clean()
            if self._has_entries(self.tables[place])
        ]
        return min(times, default=None)

    def _strategy(self, strategies: Any) -> Any:
        """Return the clean-up strategy of the user that :meth:`cleanup` follows, or None."""
        raise NotImplementedError

    def _period(self, strategy: Any) -> int:
        """Return the longest time (ms) between two rounds of clean-ups of an idle stream."""
        return CLEANUP_REST_MS

    def _has_begun(self, place: Place) -> bool:
        """Return whether a round of clean-ups is in progress for a table."""
        raise NotImplementedError

    def _has_entries(self, table: Any) -> bool:
        """Return whether a table has any entries."""
        raise NotImplementedError

    def _items_to_clean(self) -> Iterator[tuple[Place, Any, Any]]:
        """Return the items of :meth:`_expiring` that have a clean-up strategy, and the strategy."""
        for place, state in self._expiring():
            strategy = self._strategy(state.strategies)
            if strategy is not None:
                yield place, state, strategy

    def _expiring(self) -> Iterator[tuple[Place, Any]]:
        """Return a state object of each table with a time-to-live."""
        for name, (_, _, by_scope) in self.states.items():
            for namespaced in (False, True):
                # all scopes with a namespace share one table
                state = next((s for scope, s in by_scope.items() if (scope is not self) is namespaced), None)
                if hasattr(state, "expire"):
                    yield (name, namespaced), state
