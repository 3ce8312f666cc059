"""A map by key as a dictionary of dictionaries, whatever the backend makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from flintstream.compiled.state import note
from flintstream.table._operators.rows import to_hashable

if TYPE_CHECKING:
    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Cells, DirectAccess, KeyedStateBackend
    from flintstream.table._operators.rows import Row

    Entry = tuple[Row, int, int]
    """A row, how often it is there, and how many partners it has."""
    from collections.abc import Mapping

    class _Cells(Cells, Protocol):
        """The entries of a map state in dictionaries."""

        noted: dict[object, object]


_NONE: Mapping[object, Entry] = {}


class Entries(Protocol):
    """The entries of a map state of any key: unlike a state object, it is asked for a key."""

    def of(self, key: object) -> Mapping[object, Entry]:
        """Return the entries of a key, which the caller does not change."""

    def put(self, key: object, place: object, entry: Entry) -> None:
        """Set an entry."""

    def change(self, key: object, row: Row, count: int, partners: int) -> None:
        """Add a row with its partners ``count`` times, or take it away; its partners stay as they are if it exists."""

    def direct(self) -> DirectEntries | None:
        """Return the dictionaries of the backend, if it has them."""


def entries_of(backend: KeyedStateBackend, descriptor: StateDescriptor) -> Entries:
    """Return the entries of a map state: the dictionaries of the backend themselves, if it has them."""
    direct = cast("DirectAccess", backend) if hasattr(backend, "cells") else None
    cells = None if direct is None else direct.cells(descriptor)
    return (
        _Stored(backend, descriptor)
        if direct is None or cells is None
        else DirectEntries(direct, cast("_Cells", cells))
    )


class DirectEntries:
    """Entries that the backend keeps in dictionaries."""

    __slots__ = ("_backend", "_noted", "values")

    def __init__(self, backend: DirectAccess, cells: _Cells) -> None:
        self._backend, self._noted, self.values = backend, cells.noted, cells.values

    def direct(self) -> DirectEntries:
        """Return this object."""
        return self

    def changes(self) -> dict[object, object] | None:
        """Return where changes are noted; None if they are not."""
        return self._noted if self._backend.tracking else None

    def of(self, key: object) -> Mapping[object, Entry]:
        return self.values.get(key) or _NONE

    def put(self, key: object, place: object, entry: Entry) -> None:
        entries = self.values.get(key)
        if entries is None:
            self.values[key] = {place: entry}
        else:
            entries[place] = entry
        if self._backend.tracking:
            note(self._noted, key, place, 0)

    def change(self, key: object, row: Row, count: int, partners: int) -> None:
        place = to_hashable(row)
        entries = self.values.get(key)
        known = None if entries is None else entries.get(place)
        if known is not None:
            count, partners = count + known[1], known[2]
            if count <= 0:
                del entries[place]
                if not entries:
                    del self.values[key]
        elif count <= 0:
            return
        if entries is None:
            self.values[key] = {place: (row, count, partners)}
        elif count > 0:
            entries[place] = (row, count, partners)
        if self._backend.tracking:
            note(self._noted, key, place, 0)


class _Stored:
    """Entries that the backend keeps in another form, or with the time when they expire."""

    __slots__ = ("_backend", "_state")

    def __init__(self, backend: KeyedStateBackend, descriptor: StateDescriptor) -> None:
        self._backend, self._state = backend, backend.state(descriptor)

    def direct(self) -> None:
        return None

    def of(self, key: object) -> Mapping[object, Entry]:
        self._backend.key = key
        return dict(self._state.items())

    def put(self, key: object, place: object, entry: Entry) -> None:
        self._backend.key = key
        self._state.put(place, entry)

    def change(self, key: object, row: Row, count: int, partners: int) -> None:
        self._backend.key = key
        place = to_hashable(row)
        known = self._state.get(place)
        if known is not None:
            count, partners = count + known[1], known[2]
        if count > 0:
            self._state.put(place, (row, count, partners))
        elif known is not None:
            self._state.remove(place)
