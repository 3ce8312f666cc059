"""The contract between operators and keyed state backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from flintstream.checkpoint.changes import Change, TableInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from flintstream.contracts.state import StateDescriptor

    Add = Callable[[Any, Iterable[Any], Any], None]
    """Adds to the panes of a key and of each of some windows a value."""

__all__ = [
    "PIECE", "Add", "Cells", "Change", "DirectAccess", "KeyedStateBackend", "NativeSnapshots", "Panes",
    "RestingCleanup", "Scope", "TableInfo",
]  # fmt: skip

PIECE = 4096
"""Entries in one :class:`Change` of a snapshot, so that state larger than memory can be written and read."""


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
            Exception: The name is in use for another kind or type of state, here or in what was restored.
        """

    def keys(self, name: str) -> list[Any]:
        """Return the keys that have something in the state of this name; those of a scope include its namespace."""

    def take_delta(self) -> list[Change]:
        """Return what changed since the last call while :attr:`tracking`, deletions included.

        Lists that were only added to should be told by what was added, so that the log costs no more than that. A
        backend that does not know it may set them as a whole.
        """

    def take_snapshot(self) -> Iterator[Change]:
        """Return everything, piece by piece; also starts :meth:`take_delta` anew.

        Nothing may change before the iterator is used up. What has expired is left out where the user asked for that.
        """

    def apply(self, changes: Iterable[Change]) -> None:
        """Take over a snapshot, or the changes since one; tables that no descriptor was seen for are kept, too.

        Elements that were appended must be understood even by a backend that never says so itself: another backend may
        have written the log. Starts :meth:`take_delta` anew.
        """

    def clear_all(self) -> None:
        """Drop everything; BATCH mode does so after each key, and restoring does before it begins."""

    def cleanup(self, now: int) -> None:
        """Drop some of what has expired at ``now`` (ms since the epoch); called between blocks, must be quick."""

    def close(self) -> None:
        """Release files and memory; the backend is not used any more."""


class RestingCleanup(Protocol):
    """What a backend offers whose expired state is to be dropped even while no records come."""

    def next_cleanup(self, now: int) -> int | None:
        """Return when (ms since the epoch) :meth:`KeyedStateBackend.cleanup` shall be called at the latest.

        Asked at the end of each epoch, after a clean-up at about ``now``. None where there is nothing that could
        expire: such a stream rests. Any time should be at least a second ahead, as an epoch is run for it.
        """


class NativeSnapshots(Protocol):
    """What a backend offers that keeps its state in files and can hand them out faster than entry by entry."""

    tables: Collection[Any]
    """The states that there are; the files of a backend without any are not stored."""

    def write_native(self, directory: str) -> None:
        """Leave everything in files of ``directory``, which does not exist yet; hard links where that is possible.

        Files of equal name and content are stored once by incremental checkpoints. Starts :meth:`take_delta` anew.
        """

    def restore_native(self, directory: str) -> None:
        """Replace everything by what :meth:`write_native` left; ``directory`` itself stays as it is."""


class Panes(Protocol):
    """What windows hold, by pane: a key and a window. It is the same state as that of a state object.

    Every method makes ``key`` the current one, so that a user's function that it calls finds its own state, and marks
    what it changes for :meth:`KeyedStateBackend.take_delta`.
    """

    def adder(
        self, opened: Callable[[Any, Any], None] | None = None, copied: Callable[[Any], Any] | None = None
    ) -> Add:
        """Return a function that adds a value to panes: ``add(key, windows, value)``, called once per record.

        None empties the panes where values are reduced or aggregated. The function is valid until
        :attr:`KeyedStateBackend.tracking` is set again.

        Args:
            opened: called with key and window of each pane that may have been empty before, as often as that may be.
            copied: copies a value that others hold, too, where a user's function could change it in place.
        """

    def get(self, key: Any, window: Any) -> Any:
        """Return a fresh list, the reduced value or the result of the accumulator; None where there is nothing."""

    def pop(self, key: Any, window: Any) -> Any:
        """Empty a pane and return what :meth:`get` would have returned."""

    def clear(self, key: Any, window: Any) -> None:
        """Empty a pane, without a call of the user's function."""


class Cells(Protocol):
    """The entries of one state as the backend keeps them. A caller that changes an entry marks it."""

    values: Any
    """By key, used like a dict; those of a map state are dicts themselves."""

    dirty: dict[Any, int]
    """While the backend is ``tracking``: 0 beside each key that changed, in a map state (key, map key)."""


class DirectAccess(Protocol):
    """What a backend offers whose state can be reached without a state object and a scope, once per record.

    Either method returns None for state that the backend keeps in another form, such as state with a time-to-live.
    """

    tracking: bool
    """As :attr:`KeyedStateBackend.tracking`."""

    def panes(self, descriptor: StateDescriptor, scope: Scope) -> Panes | None:
        """Return the panes of a list, reducing or aggregating state whose scope has pairs of key and window."""

    def cells(self, descriptor: StateDescriptor, scope: Scope | None = None) -> Cells | None:
        """Return the entries of a state."""
