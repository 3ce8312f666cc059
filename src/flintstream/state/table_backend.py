"""What backends that keep state in tables have in common: which states there are, and which of them expire."""

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
    """Base of the backends here."""

    kinds: ClassVar[Mapping[type, StateKind]] = KINDS
    tables: dict[Place, Any]

    def __init__(self, operator: str = "") -> None:
        """Start without states; ``operator`` is named in errors."""
        self.key = None
        self.tracking = False
        self.operator = operator
        self.tables = {}
        self.states: dict[str, tuple[str, Any, dict[Scope, Any]]] = {}
        """By name: kind, declared type, and the state object of each scope."""

    # -- states ------------------------------------------------------------------------------------------------------

    def state(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Any:
        """Return the state object of a descriptor and scope, the same one every time.

        Raises:
            StateMigrationError: What was restored under this name is of another kind or type.
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
        """Return the table of a descriptor, with what was restored for it before the descriptor was seen."""
        raise NotImplementedError

    # -- time-to-live ------------------------------------------------------------------------------------------------

    def next_cleanup(self, now: int) -> int | None:
        """Return when to clean up again although no records come, None when nothing is there that could expire."""
        times = [
            state.next_cleanup(now, begun=self._has_begun(place), period=self._period(strategy))
            for place, state, strategy in self._cleaned()
            if self._has_entries(self.tables[place])
        ]
        return min(times, default=None)

    def _strategy(self, strategies: Any) -> Any:
        """Return which of a user's strategies this backend follows in :meth:`cleanup`, None for none."""
        raise NotImplementedError

    def _period(self, strategy: Any) -> int:  # noqa: ARG002 - the contract
        """Return how long a stream may rest between two rounds of clean-ups at most (ms)."""
        return CLEANUP_REST_MS

    def _has_begun(self, place: Place) -> bool:
        """Tell whether a round of clean-ups has looked at a part of a table."""
        raise NotImplementedError

    def _has_entries(self, table: Any) -> bool:
        """Tell whether a table holds anything."""
        raise NotImplementedError

    def _cleaned(self) -> Iterator[tuple[Place, Any, Any]]:
        """Return what :meth:`_expiring` does, and the strategy by which it is cleaned up, where there is one."""
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
