"""The contract between operators and keyed state backends."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.compiled.base import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from flintstream.contracts.state import StateDescriptor

    Add = Callable[[Any, Iterable[Any], Sequence[Any]], None]
    """Adds values to the panes of a key and each of several windows."""

__all__ = [
    "PIECE", "Add", "BulkLoading", "Cells", "Change", "DirectAccess", "KeyedStateBackend", "NativeSnapshots", "Panes",
    "RestingCleanup", "Scope", "TableInfo", "loading",
]  # fmt: skip

PIECE = 4096
"""Largest number of entries in one :class:`Change` of a snapshot, which may not fit into memory as a whole."""


class KeyedStateBackend(Protocol):
    """Keyed state of one operator in one subtask. The operator sets :attr:`key` for every record."""

    key: Any
    """The current key, hashable."""

    tracking: bool
    """Whether to record changes for :meth:`take_delta`."""

    def state(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Any:
        """Return the state object of a descriptor, the same one for every call.

        Args:
            descriptor: its class determines the kind of state, and its name identifies the state.
            scope: the scope whose ``key`` the state uses; by default the backend itself (the current key).

        Raises:
            Exception: The name is in use for another kind or type of state, here or in restored state.
        """

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have a value in the state with this name. Those of a scope include its namespace."""

    def take_delta(self) -> list[Change]:
        """Return the changes since the last call while :attr:`tracking`, including deletions.

        For lists that only grew, the change should hold just the appended elements, to keep the log small. A backend
        that does not track this may set the whole list.
        """

    def take_snapshot(self) -> Iterator[Change]:
        """Return all state in pieces, and reset :meth:`take_delta`.

        State must not change before the iterator is exhausted. Expired state is left out if the user asked for that.
        """

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply a snapshot, or changes since one, and reset :meth:`take_delta`.

        Tables without a known descriptor are kept. Every backend must accept appended elements, even if it never
        reports any: another backend may have written the log.
        """

    def clear_all(self) -> None:
        """Drop all state. BATCH mode calls this after each key, and restoring calls it first."""

    def cleanup(self, now: int) -> None:
        """Drop part of the state that has expired at ``now`` (ms since the epoch). Called between blocks; be quick."""

    def close(self) -> None:
        """Release files and memory. The backend is not used after this call."""


class RestingCleanup(Protocol):
    """Optional part of a backend: dropping expired state while no records arrive."""

    def next_cleanup(self, now: int) -> int | None:
        """Return the latest time (ms since the epoch) for the next call of :meth:`KeyedStateBackend.cleanup`.

        Called at the end of each epoch, after a clean-up at about ``now``. Return None if no state can expire: an idle
        stream then runs no epochs. Otherwise the time should be at least a second ahead, as it costs an epoch.
        """


class NativeSnapshots(Protocol):
    """Optional part of a backend: snapshots of its files, which are faster than snapshots of entries."""

    tables: Collection[Any]
    """The states. Without any, the files are not stored."""

    def write_native(self, directory: str) -> None:
        """Write all state into files of ``directory``, which does not exist yet, and reset :meth:`take_delta`.

        Use hard links if possible. Incremental checkpoints store files of equal name and content once.
        """

    def restore_native(self, directory: str) -> None:
        """Replace all state by the files of :meth:`write_native`. ``directory`` itself does not change."""


class BulkLoading(Protocol):
    """Optional part of a backend: restoring much state faster than change by change."""

    def loading(self) -> AbstractContextManager[None]:
        """Return a context in which only ``apply``, ``clear_all`` and ``restore_native`` are called.

        The state they leave may be written at its end. It must not take more memory the more state there is.
        """


def loading(backend: Any) -> AbstractContextManager[None]:
    """Return the context in which to restore much state into a backend."""
    context: AbstractContextManager[None] = backend.loading() if hasattr(backend, "loading") else nullcontext()
    return context


class Panes(Protocol):
    """The contents of windows by pane, which is a key and a window. A state object shows the same state.

    Every method makes ``key`` the current key, so that a user's function finds its own state, and marks changes for
    :meth:`KeyedStateBackend.take_delta`.
    """

    cursor: Iterator[Any]
    """The iterator over the values that are being added: if a user's function fails, it has just returned its value."""

    folds: bool
    """Whether values may come as columns, because adding them needs no call of a function."""

    def adder(
        self, opened: Callable[[Any, Any], None] | None = None, copied: Callable[[Any], Any] | None = None
    ) -> Add:
        """Return a function that adds values to panes: ``add(key, windows, values)``.

        The value None empties panes of reduced or aggregated values. The function is valid until
        :attr:`KeyedStateBackend.tracking` is set again.

        Args:
            opened: called with key and window after a pane that may have been empty got values.
            copied: copies a value that is also held elsewhere, if a user's function could change it in place.
        """

    def get(self, key: Any, window: Any) -> Any:
        """Return a fresh list, the reduced value or the result of the accumulator; None for an empty pane."""

    def pop(self, key: Any, window: Any) -> Any:
        """Empty a pane and return what :meth:`get` would have returned."""

    def clear(self, key: Any, window: Any) -> None:
        """Empty a pane without calling the user's function."""


class Cells(Protocol):
    """The entries of one state as the backend keeps them. A caller that changes an entry marks it."""

    values: Any
    """Values by key, used like a dict. Values of a map state are dicts."""

    dirty: dict[Any, int]
    """While the backend is ``tracking``: each changed key, in a map state (key, map key), with the value 0."""


class DirectAccess(Protocol):
    """Optional part of a backend: access to state without a state object and a scope, for calls per record.

    Both methods return None for state that the backend keeps in another form, such as state with a time-to-live.
    """

    tracking: bool
    """Same as :attr:`KeyedStateBackend.tracking`."""

    def panes(self, descriptor: StateDescriptor, scope: Scope) -> Panes | None:
        """Return the panes of a list, reducing or aggregating state. The keys of its scope are (key, window)."""

    def cells(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Cells | None:
        """Return the entries of a state."""
