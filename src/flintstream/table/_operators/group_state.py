"""The state of a group: a list of values, and in map states, entry by entry, the values that functions have counted.

A change of one value then writes one entry, however many values a group has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flintstream.table._operators.rows import map_state, value_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import MapState, MapStateDescriptor, ValueState
    from flintstream.state.backend import Cells, DirectAccess, KeyedStateBackend

    Group: TypeAlias = list[Any]
    """Values, the first of which is the number of rows."""


MOST_INSIDE = 100
"""How many rows a group may have so that its counts are within the list: a larger one has map states."""


class HeldCounts(dict[object, int]):
    """The counts of values of one key, as the backend keeps them, and which of them have changed."""

    __slots__ = ("changed", "key")

    def __init__(self, key: object, counts: dict[object, int]) -> None:
        super().__init__(counts)
        self.key = key
        self.changed: list[object] = []

    def __setitem__(self, value: object, count: int) -> None:
        self.changed.append(value)
        dict.__setitem__(self, value, count)

    def __delitem__(self, value: object) -> None:
        self.changed.append(value)
        dict.__delitem__(self, value)

    def pop(self, value: object, default: int | None = None) -> int | None:  # type: ignore[override]
        """Forget a value, and return its count."""
        self.changed.append(value)
        return dict.pop(self, value, default)

    def clear(self) -> None:
        """Forget all values."""
        self.changed += self
        dict.clear(self)


class StoredCounts:
    """The counts of one key in a map state that is asked for each of them."""

    __slots__ = ("_backend", "_key", "_state")

    def __init__(self, backend: KeyedStateBackend | None, key: object, state: MapState[object, int]) -> None:
        self._backend, self._key, self._state = backend, key, state

    def _of_key(self) -> MapState[object, int]:
        if self._backend is not None:
            self._backend.key = self._key
        return self._state

    def __contains__(self, value: object) -> bool:
        return self._of_key().contains(value)

    def __getitem__(self, value: object) -> int:
        return self._of_key().get(value)

    def __setitem__(self, value: object, count: int) -> None:
        self._of_key().put(value, count)

    def __delitem__(self, value: object) -> None:
        self._of_key().remove(value)

    def get(self, value: object, default: int) -> int:
        """Return the count of a value."""
        found = self._of_key().get(value)
        return default if found is None else found

    def pop(self, value: object, default: int | None) -> int | None:
        """Forget a value, and return its count."""
        found = self._of_key().get(value)
        if found is None:
            return default
        self._state.remove(value)
        return found

    def items(self) -> Iterable[tuple[object, int]]:
        """Return the values and their counts."""
        return self._of_key().items()

    def clear(self) -> None:
        """Forget all values."""
        self._of_key().clear()


class GroupState:
    """The state of the current group. ``start`` makes the values of a new one, ``distinct`` are places of counts.

    The first of the values is the number of rows. Counts of few rows are a dictionary among the values; in the place of
    others is None while they are stored.
    """

    def __init__(
        self, context: RuntimeContext, start: Callable[[], Group], distinct: Sequence[int], ttl_ms: int
    ) -> None:
        """Declare the states, whose content expires after ``ttl_ms`` without a write; 0 keeps it."""
        self.start = start
        self._values: ValueState[Group] = context.get_state(value_state("group", ttl_ms))
        self._described: dict[int, MapStateDescriptor[object, int]] = {
            place: map_state(f"distinct{place}", ttl_ms) for place in distinct
        }
        self._states = {place: context.get_map_state(item) for place, item in self._described.items()}
        self._cells: dict[int, Cells | None] = dict.fromkeys(distinct)
        self._backend: KeyedStateBackend | None = None
        self._outside: set[object] = set()
        """The keys of groups whose counts have been taken from map states."""

    def attach(self, backend: KeyedStateBackend) -> None:
        """Use a backend's dictionaries, if it has them. The caller sets its key before it asks for another group."""
        self._backend = backend
        if hasattr(backend, "cells"):
            direct = cast("DirectAccess", backend)
            self._cells = {place: direct.cells(item) for place, item in self._described.items()}

    def _key(self) -> object:
        return None if self._backend is None else self._backend.key

    def value(self) -> Group | None:
        """Return the values of the group, or None."""
        group = self._values.value()
        if group is None or not self._cells or group[0] <= MOST_INSIDE:
            return group
        self._outside.add(self._key())
        group = [*group]
        for place in self._cells:
            if group[place] is None:  # else the group was written before it was large
                group[place] = self._counts(place)
        return group

    def _counts(self, place: int) -> HeldCounts | StoredCounts:
        key = self._key()
        cells = self._cells[place]
        if cells is None:
            return StoredCounts(self._backend, key, self._states[place])
        held = cells.values.get(key)
        return held if type(held) is HeldCounts else HeldCounts(key, held or {})

    def update(self, group: Group) -> None:
        """Write the values of the current key."""
        if self._cells and group[0] > MOST_INSIDE:
            group = [*group]
            for place in self._cells:
                self._write(place, self._move_out(place, group[place]))
                group[place] = None
        elif self._outside:
            self._move_in(group)
        self._values.update(group)

    def _move_out(self, place: int, counts: dict[object, int] | HeldCounts | StoredCounts) -> HeldCounts | StoredCounts:
        if isinstance(counts, (HeldCounts, StoredCounts)):
            return counts
        stored = self._counts(place)
        for value, count in counts.items():
            stored[value] = count
        return stored

    def _move_in(self, group: Group) -> None:
        """Take counts back into the values of a group that has become small."""
        key = self._key()
        if key in self._outside:
            self._outside.discard(key)
            for place in self._cells:
                counts = group[place]
                if type(counts) is not dict:
                    group[place] = dict(counts.items())
                    counts.clear()
                    self._write(place, counts)

    def empty(self, group: Group) -> Group:
        """Return the values of a group that has lost its last row."""
        for place in self._cells:
            counts = group[place]
            if type(counts) is not dict:
                counts.clear()
                self._write(place, counts)
        return self.start()

    def clear(self, group: Group) -> None:
        """Forget the group of the current key, whose values these are."""
        self.empty(group)
        self._outside.discard(self._key())
        self._values.clear()

    def _write(self, place: int, counts: HeldCounts | StoredCounts) -> None:
        cells = self._cells[place]
        if cells is None or not isinstance(counts, HeldCounts) or not counts.changed:
            return
        if counts:
            cells.values[counts.key] = counts
        else:
            cells.values.pop(counts.key, None)
        if cast("KeyedStateBackend", self._backend).tracking:
            cells.dirty.update(dict.fromkeys([(counts.key, value) for value in counts.changed], 0))
        counts.changed.clear()
