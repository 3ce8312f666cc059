"""Helpers for the tables of all backends."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.errors import StateMigrationError
from flintstream.state.backend import PIECE, Change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import TableInfo


class Holder(Protocol):
    """A receiver of changes: a backend, or the timers."""

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply changes."""

    def clear_all(self) -> None:
        """Drop all entries."""


_UNDECLARED = "PickledByteArrayTypeInfo"


def type_text(descriptor: StateDescriptor) -> str:
    """Return the declared type of a state as text, empty if none was declared."""
    declared = getattr(descriptor, "type_info", None)
    text = "" if declared is None else str(declared)
    return "" if text == _UNDECLARED else text


def check_restored(operator: str, restored: TableInfo, wanted: TableInfo) -> None:
    """Check that restored state matches its declaration in the program.

    Raises:
        StateMigrationError: It has another kind or type.
    """
    if restored.kind != wanted.kind:
        was, now = f"a {restored.kind} state", f"a {wanted.kind} state"
    elif restored.type and wanted.type and restored.type != wanted.type:
        was, now = restored.type, wanted.type
    else:
        return
    raise StateMigrationError(
        f"operator '{operator}': the state '{wanted.name}' was saved as {was}, but is now declared as {now}: give the "
        "state another name, declare it as before, or rewrite the savepoint"
    )


def pieces(info: TableInfo, rows: Iterator[tuple[Any, Any]]) -> Iterator[Change]:
    """Split the entries of a table into changes of at most ``PIECE`` entries."""
    while rows_now := list(islice(rows, PIECE)):
        keys, values = zip(*rows_now, strict=True)
        yield Change(info, list(keys), list(values), [])


def restore(held: Holder, snapshot: Iterable[Change] | None, deltas: Iterable[Iterable[Change]]) -> None:
    """Replace all entries by ``snapshot`` if it is given, then apply ``deltas`` in order."""
    if snapshot is not None:
        held.clear_all()
        held.apply(snapshot)
    for delta in deltas:
        held.apply(delta)
