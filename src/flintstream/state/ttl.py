"""State with a time-to-live: every value, list element and map entry carries the time of its last access.

Expiry is checked on reads, in processing time: a value has expired if ``last access + ttl <= now``. A read removes an
expired value; with ``ReturnExpiredIfNotCleanedUp`` it returns the value once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.compiled.state import FAR, TtlMapAccess
from flintstream.contracts.state import StateTtlConfig
from flintstream.state.heap_states import (
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
    _clock: Any

    clock = staticmethod(wall_clock)

    def _configure(self, descriptor: Any) -> None:
        super()._configure(descriptor)  # type: ignore[misc]
        config = descriptor.ttl_config
        self._ttl = min(config.get_ttl().to_milliseconds(), FAR)
        self._clock = self.clock
        self._on_read = config.get_update_type() == StateTtlConfig.UpdateType.OnReadAndWrite
        self.strategies = config.get_cleanup_strategies()
        visibility = config.get_state_visibility()
        self._return_expired = visibility == StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp

    def _touch(self, key: Any) -> None:
        if self._backend.tracking:
            self._dirty[key] = 0

    def live(self, key: Any) -> Any:
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


class TtlReducingState(_Ttl, HeapReducingState):
    """A reduced value that expires."""

    def _merge_values(self, one: Any, other: Any) -> Any:
        return (self._reduce(one[0], other[0]), max(one[1], other[1]))


class TtlAggregatingState(_Ttl, HeapAggregatingState):
    """An accumulator that expires."""

    def _merge_values(self, one: Any, other: Any) -> Any:
        return (self._function.merge(one[0], other[0]), max(one[1], other[1]))


class TtlListState(_Ttl, HeapListState):
    """A list whose elements expire one by one."""

    def remove_expired(self) -> Iterable[Any]:
        """Return the elements that have not expired, and remove the others."""
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


class TtlMapState(TtlMapAccess, _Ttl, HeapMapState):
    """A map whose entries expire one by one.

    Changes due to expiry or reading do not count as changes of the map, as they may happen during an iteration.
    """

    def read_entry(self, key: Any) -> Any:
        """Return the value of a map key, remove it if it has expired, and renew its time if reading does that."""
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
