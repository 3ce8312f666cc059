"""How many entries of a state are kept as objects."""

from __future__ import annotations

FEW = 1000
"""Entries that are kept before the size of any is known."""

_ENOUGH = 100
"""Rows whose average counts."""

_OBJECTS = 50
"""Bytes of an entry in memory, in addition to its content: at least so many."""


class Room:
    """Room for a number of entries, or for fewer if they are large.

    To measure each object would cost more than the rest of an access. So the number follows from the encoded size of
    the rows that were read and written last, and at most doubles from one time to the next.
    """

    __slots__ = ("_bytes", "_most", "_rows", "_size", "average", "entries")

    def __init__(self, entries: int, size: int) -> None:
        """Make room for up to ``entries``, with about ``size`` bytes."""
        self._most = max(entries, 1)
        self._bytes = size
        self._rows = 0
        self._size = 0
        self.entries = min(self._most, FEW)
        """The number of entries that there is room for."""
        self.average = 0
        """Bytes of an entry."""

    def saw(self, rows: int, size: int) -> None:
        """Take note of rows of ``size`` bytes altogether."""
        self._rows += rows
        self._size += size

    def adapt(self) -> None:
        """Set the number of entries by the size of the rows that were seen since the last time, if they are enough."""
        if self._rows >= min(self.entries, _ENOUGH):
            self.average = self._size // self._rows + _OBJECTS
            self.entries = max(min(self._most, 2 * self.entries, self._bytes // self.average), 1)
            self._rows = self._size = 0

    def holds(self, entries: int) -> bool:
        """Return whether so many entries have no more than the given number of bytes."""
        return entries * self.average <= self._bytes
