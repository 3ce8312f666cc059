"""The contract between operators and keyed state backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream.state import StateDescriptor


class Scope:
    """Says whose state is meant: state objects read :attr:`key` at every access.

    A backend is itself the scope of the current key. A window operator has a second one whose ``key`` is ``(key,
    window)``.
    """

    key: Any = None


class KeyedStateBackend(Protocol):
    """Keyed state of one operator in one subtask. The operator sets :attr:`key` for every record."""

    key: Any
    """The current key, hashable."""

    tracking: bool
    """Whether to remember what changes, for :meth:`take_delta`."""

    def state(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Any:
        """Return the state object of a descriptor, the same one every time.

        Args:
            descriptor: its class says which kind of state, its name which one.
            scope: whose ``key`` counts; the backend itself (the current key) by default.

        Raises:
            Exception: The name is in use for another kind or type of state.
        """

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have something in the state of this name; those of a scope include its namespace."""

    def take_delta(self) -> object:
        """Return what changed since the last call, deletions included (picklable)."""

    def take_snapshot(self) -> object:
        """Return everything (picklable); also starts :meth:`take_delta` anew."""

    def restore(self, snapshot: object | None, deltas: Sequence[object]) -> None:
        """Replace everything by ``snapshot`` if there is one, then apply ``deltas`` in order."""

    def clear_all(self) -> None:
        """Drop everything; BATCH mode does so after each key."""

    def cleanup(self, now: int) -> None:
        """Drop some of what has expired at ``now`` (ms since the epoch); called between blocks, must be quick."""
