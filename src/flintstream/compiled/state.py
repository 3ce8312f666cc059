# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""What a program calls for each record of state objects in memory; ``_state.pxd`` has its types for the compiler.

``flintstream/state/heap_states.py`` and ``ttl.py`` have the other methods of these objects.
"""

from __future__ import annotations

from typing import Any

from flintstream.compiled.base import key_of, lookup, lookup_or, now, now_ms, tracks

LAST = (1 << 62) - 1
"""The highest time of a map entry that expires (ms)."""

FAR = 1 << 61
"""The longest time-to-live that does not leave 64 bits when it is added to a time."""

FRESH = -1
"""A change of a map entry that was not there before: nothing is left of it when the entry is removed again."""

_ABSENT = object()
_NOTHING: dict[object, Any] = {}


class Access:
    """What state objects of all kinds have: the attributes where compiled code finds them."""

    _backend: Any
    _scope: Any
    _table: Any
    _values: Any
    _dirty: dict[object, int]
    _noted: dict[object, Any]
    _reduce: Any
    _function: Any
    _clock: Any
    """None if nothing expires."""
    _ttl: int
    _on_read: bool
    _return_expired: bool
    changes: int

    def clear(self) -> None:
        """Remove the value of the current key."""
        key = key_of(self._scope)
        if self._values.pop(key, None) is not None and tracks(self._backend):
            self._dirty[key] = 0


def read(state: Access, key: object) -> Any:
    """Return the single value of a key if it is visible."""
    entry = lookup(state._values, key)
    if entry is None or state._clock is None:
        return entry
    value, stamp = entry
    if state._on_read or stamp + state._ttl <= now(state._clock):
        return state.live(key)  # type: ignore[attr-defined]
    return value


def write(state: Access, key: object, value: object) -> None:
    """Set the single value of a key."""
    state._values[key] = value if state._clock is None else (value, now(state._clock))
    if tracks(state._backend):
        state._dirty[key] = 0


class ValueAccess(Access):
    """One value per key."""

    def value(self) -> Any:
        """Return the value, or None if it is absent or has expired."""
        return read(self, key_of(self._scope))

    def update(self, value: object) -> None:
        """Set the value; None removes it."""
        key = key_of(self._scope)
        if value is not None:
            write(self, key, value)
            return
        self._values.pop(key, None)
        if tracks(self._backend):
            self._dirty[key] = 0


class ReducingAccess(Access):
    """One value per key, reduced as values are added."""

    def get(self) -> Any:
        """Return the reduced value, or None if it is absent or has expired."""
        return read(self, key_of(self._scope))

    def add(self, value: object) -> None:
        """Reduce a value into the current one. None clears the state."""
        if value is None:
            self.clear()
            return
        key = key_of(self._scope)
        reduced = read(self, key)
        write(self, key, value if reduced is None else self._reduce(reduced, value))


class AggregatingAccess(Access):
    """One accumulator per key."""

    def get(self) -> Any:
        """Return the result of the accumulator, or None if it is absent or has expired."""
        accumulator = read(self, key_of(self._scope))
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: object) -> None:
        """Add a value to the accumulator. None clears the state."""
        if value is None:
            self.clear()
            return
        key = key_of(self._scope)
        accumulator = read(self, key)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        write(self, key, self._function.add(value, accumulator))


# -- lists -----------------------------------------------------------------------------------------------------------


def append_to(state: Access, key: object, value: object) -> None:
    """Append to the list of a key."""
    elements = lookup(state._values, key)
    if elements is None:
        state._values[key] = [value] if state._clock is None else [value, now(state._clock)]
        if tracks(state._backend):
            state._dirty[key] = 0
        return
    if tracks(state._backend) and key not in state._dirty:
        state._dirty[key] = len(elements)
    elements.append(value)
    if state._clock is not None:
        elements.append(now(state._clock))


def all_live(entries: list[object], limit: int) -> list[object] | None:
    """Return the elements that are each followed by their time; None if the time of one is up to ``limit``."""
    found = []
    for place in range(0, len(entries) - 1, 2):
        since: Any = entries[place + 1]
        if since <= limit:
            return None
        found.append(entries[place])
    return found


class ListAccess(Access):
    """A list per key. If its elements expire, each is followed by its time."""

    def get(self) -> Any:
        """Return the elements that have not expired. The result is empty if there are none."""
        elements = lookup(self._values, key_of(self._scope))
        if elements is None:
            return []
        if self._clock is None:
            return list(elements)
        found = None if self._on_read else all_live(elements, now_ms(self._clock) - self._ttl)
        return self.remove_expired() if found is None else found  # type: ignore[attr-defined]

    def add(self, value: object) -> None:
        """Append an element."""
        append_to(self, key_of(self._scope), value)


# -- maps ------------------------------------------------------------------------------------------------------------


def note(noted: dict[object, Any], current: object, key: object, mark: int) -> None:
    """Note that an entry has changed. The first mark of an entry stays.

    ``noted`` has, for each key, either one pair of a map key and its mark, or a dict of them: most keys change one
    entry between two snapshots, and a pair takes a quarter of the memory of a dict. The mark of an entry is
    :data:`FRESH` if it was not there before, else 0.
    """
    marks = lookup(noted, current)
    if marks is None:
        noted[current] = (key, mark)
    elif type(marks) is dict:
        several = marks
        several.setdefault(key, mark)
    else:
        pair = marks
        only, mark_of_only = pair
        if not (only is key or only == key):
            noted[current] = {only: mark_of_only, key: mark}


def note_removed(noted: dict[object, Any], current: object, key: object) -> None:
    """Note that an entry is gone; forget it if it was fresh."""
    marks = lookup(noted, current)
    if marks is None:
        noted[current] = (key, 0)
    elif type(marks) is dict:
        if lookup(marks, key) is FRESH:
            del marks[key]
        else:
            marks[key] = 0
    else:
        pair = marks
        only, mark_of_only = pair
        if not (only is key or only == key):
            noted[current] = {only: mark_of_only, key: 0}
        elif mark_of_only is FRESH:
            del noted[current]


class MapAccess(Access):
    """A map per key."""

    def get(self, key: object) -> Any:
        """Return the value of a map key, or None."""
        entries = lookup(self._values, key_of(self._scope))
        return None if entries is None else lookup(entries, key)

    def contains(self, key: object) -> bool:
        """Return whether a map key has a value other than None."""
        return self.get(key) is not None

    def put(self, key: object, value: object) -> None:
        """Set the value of a map key."""
        self.changes += 1
        current = key_of(self._scope)
        entries = lookup(self._values, current)
        if entries is None:
            self._values[current] = entries = {}
        size = len(entries)
        entries[key] = value
        if tracks(self._backend):
            note(self._noted, current, key, 0 if len(entries) == size else FRESH)

    def remove(self, key: object) -> None:
        """Remove a map key if it exists."""
        current = key_of(self._scope)
        entries = lookup(self._values, current)
        if entries is None or entries.pop(key, _ABSENT) is _ABSENT:
            return
        self.changes += 1
        if not entries:
            del self._values[current]
        if tracks(self._backend):
            note_removed(self._noted, current, key)


def stamp_of(time: int) -> int:
    """Return twice a time (ms), which leaves a bit for whether the change of an entry is noted."""
    return 2 * (LAST if time > LAST else max(time, -LAST))


class Dated:
    """A value of a map entry that expires, and the time of its last access."""

    __slots__ = ("stamp", "value")

    def __init__(self, value: object, time: int) -> None:
        self.value = value
        self.stamp = stamp_of(time)

    @property
    def time(self) -> int:
        """The time in ms."""
        return self.stamp >> 1

    @time.setter
    def time(self, time: int) -> None:
        self.stamp = stamp_of(time) | self.stamp & 1

    def __repr__(self) -> str:
        return repr((self.value, self.time))


class TtlMapAccess(MapAccess):
    """A map per key, whose entries expire."""

    def get(self, key: object) -> Any:
        """Return the value of a map key, or None if it is absent or has expired."""
        entries = lookup(self._values, key_of(self._scope))
        if entries is None:
            return None
        found = lookup(entries, key)
        if found is None:
            return None
        if self._on_read or (found.stamp >> 1) + self._ttl <= now_ms(self._clock):
            return self.read_entry(key)  # type: ignore[attr-defined]
        return found.value

    def put(self, key: object, value: object) -> None:
        """Set the value of a map key and its time."""
        time = now_ms(self._clock)
        self.changes += 1
        current = key_of(self._scope)
        entries = lookup(self._values, current)
        if entries is None:
            self._values[current] = entries = {}
        found = lookup(entries, key)
        fresh = found is None
        if fresh:
            entries[key] = found = Dated(value, time)
        else:
            found.value = value
            found.stamp = stamp_of(time) | found.stamp & 1
        if tracks(self._backend) and not found.stamp & 1:
            note(self._noted, current, key, FRESH if fresh else 0)
            found.stamp |= 1


def map_changes(
    values: dict[object, Any], noted: dict[object, Any], keys: list[object], found: list[object], deleted: list[object]
) -> None:
    """Sort changed entries into those that have a value and those that are gone."""
    for current, marks in noted.items():
        entries = values.get(current, _NOTHING)
        for key in marks if type(marks) is dict else marks[:1]:
            held = lookup_or(entries, key, _ABSENT)
            if held is _ABSENT:
                deleted.append((current, key))
            else:
                keys.append((current, key))
                found.append(held)


def forget_noted(values: dict[object, Any], noted: dict[object, Any]) -> None:
    """Forget which entries of a map state that expires have changed."""
    for current, marks in noted.items():
        entries = lookup(values, current)
        if entries is not None:
            for key in marks if type(marks) is dict else marks[:1]:
                found = lookup(entries, key)
                if found is not None:
                    found.stamp &= ~1
    noted.clear()
