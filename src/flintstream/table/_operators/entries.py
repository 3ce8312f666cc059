"""A map by key as a dictionary of dictionaries, whatever the backend makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Cells, DirectAccess, KeyedStateBackend
    from flintstream.table._operators.rows import Row

    Entry = tuple[Row, int, int]
    """A row, how often it is there, and how many partners it has."""
    from collections.abc import Mapping


class Entries(Protocol):
    """The entries of a map state of any key: unlike a state object, it is asked for a key."""

    def of(self, key: object) -> Mapping[object, Entry]:
        """Return the entries of a key, which the caller does not change."""

    def put(self, key: object, place: object, entry: Entry) -> None:
        """Set an entry."""

    def remove(self, key: object, place: object) -> None:
        """Remove an entry that exists."""


def entries_of(backend: KeyedStateBackend, descriptor: StateDescriptor) -> Entries:
    """Return the entries of a map state: the dictionaries of the backend themselves, if it has them."""
    direct = cast("DirectAccess", backend) if hasattr(backend, "cells") else None
    cells = None if direct is None else direct.cells(descriptor)
    return _Stored(backend, descriptor) if direct is None or cells is None else _Held(direct, cells)


class _Held:
    """Entries that the backend keeps in dictionaries."""

    __slots__ = ("_backend", "_cells", "_values")

    def __init__(self, backend: DirectAccess, cells: Cells) -> None:
        self._backend, self._cells, self._values = backend, cells, cells.values

    def of(self, key: object) -> Mapping[object, Entry]:
        return self._values.get(key) or {}

    def put(self, key: object, place: object, entry: Entry) -> None:
        entries = self._values.get(key)
        if entries is None:
            self._values[key] = {place: entry}
        else:
            entries[place] = entry
        if self._backend.tracking:
            self._cells.dirty[key, place] = 0

    def remove(self, key: object, place: object) -> None:
        entries = self._values[key]
        del entries[place]
        if not entries:
            del self._values[key]
        if self._backend.tracking:
            self._cells.dirty[key, place] = 0


class _Stored:
    """Entries that the backend keeps in another form, or with the time when they expire."""

    __slots__ = ("_backend", "_state")

    def __init__(self, backend: KeyedStateBackend, descriptor: StateDescriptor) -> None:
        self._backend, self._state = backend, backend.state(descriptor)

    def of(self, key: object) -> Mapping[object, Entry]:
        self._backend.key = key
        return dict(self._state.items())

    def put(self, key: object, place: object, entry: Entry) -> None:
        self._backend.key = key
        self._state.put(place, entry)

    def remove(self, key: object, place: object) -> None:
        self._backend.key = key
        self._state.remove(place)
