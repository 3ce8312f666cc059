"""A map by key as a dictionary of dictionaries, whatever the backend makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Entries(Protocol):
    """The entries of a map state of any key: unlike a state object, it is asked for a key."""

    def of(self, key: Any) -> Mapping[Any, Any]:
        """Return the entries of a key, which the caller does not change."""

    def put(self, key: object, place: object, entry: object) -> None:
        """Set an entry."""

    def remove(self, key: object, place: object) -> None:
        """Remove an entry that exists."""


def entries_of(backend: object, descriptor: object) -> Entries:
    """Return the entries of a map state: the dictionaries of the backend themselves, if it has them."""
    cells = backend.cells(descriptor) if hasattr(backend, "cells") else None
    return _Stored(backend, descriptor) if cells is None else _Held(backend, cells)


class _Held:
    """Entries that the backend keeps in dictionaries."""

    __slots__ = ("_backend", "_cells", "_values")

    def __init__(self, backend: Any, cells: Any) -> None:
        self._backend, self._cells, self._values = backend, cells, cells.values

    def of(self, key: Any) -> Mapping[Any, Any]:
        return self._values.get(key) or {}

    def put(self, key: Any, place: Any, entry: object) -> None:
        entries = self._values.get(key)
        if entries is None:
            self._values[key] = {place: entry}
        else:
            entries[place] = entry
        if self._backend.tracking:
            self._cells.dirty[key, place] = 0

    def remove(self, key: Any, place: Any) -> None:
        entries = self._values[key]
        del entries[place]
        if not entries:
            del self._values[key]
        if self._backend.tracking:
            self._cells.dirty[key, place] = 0


class _Stored:
    """Entries that the backend keeps in another form, or with the time when they expire."""

    __slots__ = ("_backend", "_state")

    def __init__(self, backend: Any, descriptor: object) -> None:
        self._backend, self._state = backend, backend.state(descriptor)

    def of(self, key: Any) -> Mapping[Any, Any]:
        self._backend.key = key
        return dict(self._state.items())

    def put(self, key: Any, place: object, entry: object) -> None:
        self._backend.key = key
        self._state.put(place, entry)

    def remove(self, key: Any, place: object) -> None:
        self._backend.key = key
        self._state.remove(place)
