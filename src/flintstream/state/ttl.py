"""State with a time-to-live: every value, list element and map entry carries the time of its last access.

Expiry is checked on reads, in processing time: a value has expired if ``last access + ttl <= now``. A read removes an
expired value; with ``ReturnExpiredIfNotCleanedUp`` it returns the value once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.contracts.state import StateTtlConfig
from flintstream.state.changed_entries import FRESH, note
from flintstream.state.heap_states import (
    Dated,
    HeapAggregatingState,
    HeapListState,
    HeapMapState,
    HeapReducingState,
    HeapValueState,
    flatten,
    pairs_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


CLEANUP_STEP_MS = 1_000
"""The shortest time between two clean-ups of an idle stream."""

CLEANUP_REST_MS = 3_600_000
"""The longest time until the next round of clean-ups of an idle stream."""


class _Ttl:
    """Common part of all kinds, mixed in before the kind itself."""

    # No __slots__ here: a class cannot have two bases with slots.
    _ttl: int
    _on_read: bool
    _return_expired: bool
    strategies: Any  # CleanupStrategies
    """How expired state is removed. Each backend uses a different one of these strategies."""

    _values: dict[Any, Any]
    _dirty: dict[Any, int]
    _scope: Any
    _backend: Any

    clock = staticmethod(wall_clock)

    def _configure(self, descriptor: Any) -> None:
        super()._configure(descriptor)  # type: ignore[misc]
        config = descriptor.ttl_config
        self._ttl = config.get_ttl().to_milliseconds()
        self._on_read = config.get_update_type() == StateTtlConfig.UpdateType.OnReadAndWrite
        self.strategies = config.get_cleanup_strategies()
        visibility = config.get_state_visibility()
        self._return_expired = visibility == StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp

    def _touch(self, key: Any) -> None:
        if self._backend.tracking:
            self._dirty[key] = 0

    def _live(self, key: Any) -> Any:
        """Return the single value of a key if it is visible."""
        entry = self._values.get(key)
        if entry is None:
            return None
        value, stamp = entry
        now = self.clock()
        if stamp + self._ttl <= now:
            del self._values[key]
            self._touch(key)
            return value if self._return_expired else None
        if self._on_read:
            self._values[key] = (value, now)
            self._touch(key)
        return value

    def _store(self, key: Any, value: Any) -> None:
        self._values[key] = (value, self.clock())
        self._touch(key)

    def next_cleanup(self, now: int, *, begun: bool, period: int = CLEANUP_REST_MS) -> int:
        """Return the time (ms) of the next clean-up of an idle stream, after a clean-up at ``now``.

        A round in progress continues soon. After a whole round, all current state will have expired when the
        time-to-live has passed, so the next round waits that long, but at most ``period`` (ms).
        """
        return now + (CLEANUP_STEP_MS if begun else max(min(self._ttl, period, CLEANUP_REST_MS), CLEANUP_STEP_MS))

    def expire(self, key: Any, now: int) -> None:
        """Drop the entry of a key if it has expired."""
        entry = self._values.get(key)
        if entry is not None and entry[1] + self._ttl <= now:
            del self._values[key]
            self._touch(key)


class TtlValueState(_Ttl, HeapValueState):
    """A value that expires."""

    def value(self) -> Any:
        """Return the value, or None if it is absent or has expired."""
        return self._live(self._scope.key)

    def update(self, value: Any) -> None:
        """Set the value and its time; None removes it."""
        if value is None:
            self.clear()
        else:
            self._store(self._scope.key, value)


class TtlReducingState(_Ttl, HeapReducingState):
    """A reduced value that expires."""

    def get(self) -> Any:
        """Return the reduced value, or None if it is absent or has expired."""
        return self._live(self._scope.key)

    def add(self, value: Any) -> None:
        """Reduce a value into the current one, unless that has expired."""
        if value is None:
            self.clear()
            return
        key = self._scope.key
        current = self._live(key)
        self._store(key, value if current is None else self._reduce(current, value))

    def _merge_values(self, one: Any, other: Any) -> Any:
        return (self._reduce(one[0], other[0]), max(one[1], other[1]))


class TtlAggregatingState(_Ttl, HeapAggregatingState):
    """An accumulator that expires."""

    def get(self) -> Any:
        """Return the result, or None if the accumulator is absent or has expired."""
        accumulator = self._live(self._scope.key)
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        """Add a value to the accumulator, or to a new one if it has expired."""
        if value is None:
            self.clear()
            return
        key = self._scope.key
        accumulator = self._live(key)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._store(key, self._function.add(value, accumulator))

    def _merge_values(self, one: Any, other: Any) -> Any:
        return (self._function.merge(one[0], other[0]), max(one[1], other[1]))


class TtlListState(_Ttl, HeapListState):
    """A list whose elements expire one by one."""

    def get(self) -> Iterable[Any]:
        """Return the elements that have not expired."""
        key = self._scope.key
        entries = self._entries(key)
        now = self.clock()
        limit = now - self._ttl
        live = [entry for entry in entries if entry[1] > limit]
        seen = entries if self._return_expired else live
        if entries and (self._on_read or len(live) < len(entries)):
            self._replace(key, [(value, now) for value, _ in live] if self._on_read else live)
        return [value for value, _ in seen]

    def _entries(self, key: Any) -> list[tuple[Any, int]]:
        """Return the elements of a key with their times."""
        return pairs_of(self._values.get(key, []))

    def _to_stored(self, entries: list[tuple[Any, int]]) -> list[Any]:
        """Return elements with their times in the form that the backend keeps."""
        return flatten(entries)

    def _replace(self, key: Any, entries: list[tuple[Any, int]]) -> None:
        if entries:
            self._values[key] = self._to_stored(entries)
        else:
            self._values.pop(key, None)
        self._touch(key)

    def add(self, value: Any) -> None:
        """Append an element."""
        self._extend(self._scope.key, [value, self.clock()])

    def add_all(self, values: list[Any]) -> None:
        """Append several elements."""
        now = self.clock()
        self._extend(self._scope.key, self._to_stored([(value, now) for value in values]))

    def update(self, values: list[Any]) -> None:
        """Replace all elements."""
        now = self.clock()
        super().update(self._to_stored([(value, now) for value in values or ()]))

    def expire(self, key: Any, now: int) -> None:
        """Drop the elements of a key that have expired."""
        entries = self._entries(key)
        live = [entry for entry in entries if entry[1] + self._ttl > now]
        if len(live) < len(entries):
            self._replace(key, live)


class TtlMapState(_Ttl, HeapMapState):
    """A map whose entries expire one by one.

    Changes due to expiry or reading do not count as changes of the map, as they may happen during an iteration.
    """

    def get(self, key: Any) -> Any:
        """Return the value of a map key, or None if it is absent or has expired."""
        current = self._scope.key
        entries = self._values.get(current)
        if entries is None or key not in entries:
            return None
        entry = entries[key]
        now = self.clock()
        if entry.time + self._ttl <= now:
            self._drop(current, [key])
            return entry.value if self._return_expired else None
        if self._on_read:
            entry.time = now
            self._touch((current, key))
        return entry.value

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key and its time."""
        now = self.clock()
        self.changes += 1
        current = self._scope.key
        entries = self._values.get(current)
        if entries is None:
            self._values[current] = entries = {}
        entry = entries.get(key)
        if entry is None:
            entries[key] = Dated(value, now)
        else:
            entry.value = value
            entry.time = now
        if self._backend.tracking:
            note(self._noted, current, key, FRESH if entry is None else 0)

    def is_empty(self) -> bool:
        """Return whether the map has no visible keys."""
        entries = self._values.get(self._scope.key)
        if not entries:
            return True
        limit = self.clock() - self._ttl
        return not self._return_expired and all(entry.time <= limit for entry in entries.values())

    def entries(self) -> dict[Any, Any]:
        """Return the visible entries of the current key."""
        current = self._scope.key
        entries = self._values.get(current)
        if not entries:
            return {}
        now = self.clock()
        limit = now - self._ttl
        expired = [key for key, entry in entries.items() if entry.time <= limit]
        seen = {key: entry.value for key, entry in entries.items() if self._return_expired or entry.time > limit}
        if expired:
            self._drop(current, expired)
        if self._on_read and entries:
            for key, entry in entries.items():
                entry.time = now
                self._touch((current, key))
        return seen

    def _drop(self, current: Any, keys: Iterable[Any]) -> None:
        entries = self._values[current]
        for key in keys:
            del entries[key]
            self._touch((current, key))
        if not entries:
            del self._values[current]

    def expire(self, key: Any, now: int) -> None:
        """Drop the map entries of a key that have expired."""
        limit = now - self._ttl
        expired = [item for item, entry in self._values.get(key, {}).items() if entry.time <= limit]
        if expired:
            self._drop(key, expired)
