"""The rows of a key in their order, if they are many: each is an entry of a map state, and the order is in memory.

A change then writes one entry, and finds its place by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from typing import TYPE_CHECKING

from flintstream.table._operators.rows import map_state, to_hashable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import MapState
    from flintstream.table._operators.rows import Row

MOST_IN_LIST = 100
"""How many rows of a key are a list in the state: more of them are entries of a map."""
MOST_REMEMBERED = 2_000_000
"""How many rows, of all keys, may be in memory."""


class OrderedRows:
    """Rows by their order, and among equal ones by their numbers: the lowest first, or the highest if ``newest``."""

    def __init__(self, key: Callable[[Row], Row], entries: Iterable[tuple[int, Row]], *, newest: bool) -> None:
        """Take what rows are sorted by, and numbered rows."""
        self.rows = dict(entries)
        self._key, self._newest = key, newest
        self._order = sorted(self._entry(number, row) for number, row in self.rows.items())
        self._numbers: dict[object, list[int]] = {}
        for number in sorted(self.rows):
            self._numbers.setdefault(to_hashable(self.rows[number]), []).append(number)
        self._next = 1 + max(self.rows, default=0)

    def _entry(self, number: int, row: Row) -> tuple[Row, int]:
        return self._key(row), -number if self._newest else number

    def add(self, row: Row) -> tuple[int, int]:
        """Add a row, and return its place and its number."""
        number, self._next = self._next, self._next + 1
        entry = self._entry(number, row)
        place = bisect_left(self._order, entry)
        insort(self._order, entry)
        self.rows[number] = row
        self._numbers.setdefault(to_hashable(row), []).append(number)
        return place, number

    def remove(self, row: Row) -> tuple[int, int] | None:
        """Remove the first of equal rows, and return its place and its number; None if there is none."""
        place_of = to_hashable(row)
        numbers = self._numbers.get(place_of)
        if not numbers:
            return None
        number = numbers.pop(-1 if self._newest else 0)
        if not numbers:
            del self._numbers[place_of]
        place = bisect_left(self._order, self._entry(number, self.rows.pop(number)))
        del self._order[place]
        return place, number

    def first(self, count: int) -> list[Row]:
        """Return the first rows."""
        rows, sign = self.rows, -1 if self._newest else 1
        return [rows[sign * number] for _, number in self._order[:count]]


class ManyRows:
    """The ordered rows of keys that have many of them."""

    def __init__(self, context: RuntimeContext, key: Callable[[Row], Row], *, newest: bool) -> None:
        """Declare the state."""
        self._state: MapState[int, Row] = context.get_map_state(map_state("ordered"))
        self._key, self._newest = key, newest
        self._known: OrderedDict[object, OrderedRows] = OrderedDict()
        self._count = 0
        """The rows in memory."""

    def change(self, key: object, row: Row, *, removes: bool) -> tuple[OrderedRows, int] | None:
        """Add a row to those of the current key, or remove it; return the rows and its place. None if it is missing."""
        name = to_hashable((key,))
        rows = self._known.get(name)
        if rows is None:
            rows = OrderedRows(self._key, self._state.items(), newest=self._newest)
            self._remember(name, rows)
        self._known.move_to_end(name)
        found = rows.remove(row) if removes else rows.add(row)
        if found is None:
            return None
        place, number = found
        if removes:
            self._state.remove(number)
        else:
            self._state.put(number, row)
        self._count += -1 if removes else 1
        return rows, place

    def _remember(self, name: object, rows: OrderedRows) -> None:
        self._known[name] = rows
        self._count += len(rows.rows)
        while self._count > MOST_REMEMBERED and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._count -= len(oldest.rows)

    def move_out(self, key: object, rows: list[Row]) -> None:
        """Take over the rows of the current key, which are in their order."""
        numbered = list(enumerate(reversed(rows) if self._newest else rows, 1))
        for number, row in numbered:
            self._state.put(number, row)
        self._remember(to_hashable((key,)), OrderedRows(self._key, numbered, newest=self._newest))

    def move_in(self, key: object) -> list[Row]:
        """Give up the rows of the current key, and return them in their order."""
        rows = self._known.pop(to_hashable((key,)))
        self._count -= len(rows.rows)
        self._state.clear()
        return rows.first(len(rows.rows))
