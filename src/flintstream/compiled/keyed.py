# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""Timers, contexts, and the loop that calls a function for each record; ``_keyed.pxd`` has the types of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.compiled.base import (
    Formula,
    Heap,
    Settled,
    apply_binary,
    is_long,
    key_of,
    lookup,
    select,
    set_key,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.compiled.base import Function, Scope

    Timer = tuple[int, object, object]
    """Timestamp (ms), key, namespace."""

FEW = 1000
"""Number of deleted timers below which rebuilding the heap is not worthwhile."""


class TimerQueue:
    """The timers of one time domain: at most one per timestamp, key and namespace.

    A deleted timer stays in the heap and is skipped when its time comes. A heap of mostly deleted timers is rebuilt.

    Changes are those since the last :meth:`mark`: a timer that comes and goes in between is none. The numbers of
    registered timers increase, so that the last :attr:`fresh` ones of them are new.
    """

    def __init__(self, whole_time: Callable[[Any, Any], int]) -> None:
        """``whole_time(timestamp, namespace)`` returns the time of a timer as a number of 64 bits, or raises."""
        self.whole_time = whole_time
        self.heap = Heap()
        self.registered: dict[Timer, int] = {}
        self.removed: set[Timer] = set()
        """Timers of the mark that fired or were deleted."""
        self.last = 0
        """The number of the last timer."""
        self.marked = 0
        """The number of the last timer before the mark."""
        self.fresh = 0
        """How many of the registered timers are new."""
        self.closing = False
        """Whether new timers are ignored."""

    def __len__(self) -> int:
        """Return the size of the heap."""
        return self.heap.size

    def register(self, timestamp: Any, key: object, namespace: object = None) -> None:
        """Register a timer (ms) unless it exists.

        Raises:
            TypeError: The time is not a number.
            OverflowError: The time does not fit in 64 bits.
        """
        if self.closing:
            return
        if not is_long(timestamp):
            if (timestamp, key, namespace) in self.registered:
                return
            timestamp = self.whole_time(timestamp, namespace)
        self.add(timestamp, key, namespace)

    def add(self, timestamp: int, key: object, namespace: object = None) -> None:
        """Register a timer (ms) unless it exists, without a check of its time."""
        if self.closing:
            return
        timer = (timestamp, key, namespace)
        number = self.last + 1
        if self.registered.setdefault(timer, number) is not number:
            return
        self.last = number
        self.fresh += 1
        self.heap.push(number, timer)

    def delete(self, timestamp: Any, key: object, namespace: object = None) -> None:
        """Delete a timer (ms) if it exists."""
        timer = (timestamp, key, namespace)
        number = self.registered.pop(timer, None)
        if number is None:
            if type(timestamp) is not int:  # equal numbers of other types have been found
                self.delete(self.whole_time(timestamp, namespace), key, namespace)
            return
        self.note_gone(timer, number)
        if self.heap.size > 2 * len(self.registered) + FEW:
            heap = Heap()
            for timer, number in self.registered.items():
                heap.push(number, timer)
            self.heap = heap  # what it frees may run code of a user's key

    def note_gone(self, timer: Timer, number: int) -> None:
        """Note that a timer is not registered any more."""
        if number > self.marked:
            self.fresh -= 1
        else:
            self.removed.add(timer)

    def has(self, timer: Timer, number: int) -> bool:
        """Return whether the timer with this number is still registered."""
        known = self.registered.get(timer)
        if known is None:
            return False
        found = known
        return found == number

    def due(self, limit: int) -> Iterator[Timer]:
        """Remove and yield the timers up to ``limit`` (ms) in time order, including timers added during the iteration.

        Flink guarantees this order. In PyFlink's process mode, a timer added while others fire comes after all timers
        that were already due, whatever its time: Java learns of it only after it has sent those to Python.
        """
        while self.heap.is_due(limit):
            number = self.heap.first_number()
            timer = self.heap.pop()
            if self.has(timer, number):
                del self.registered[timer]
                self.note_gone(timer, number)
                yield timer

    def next_time(self) -> int | None:
        """Return the time of the next timer (ms), or None if there is no timer."""
        while self.heap.size:
            timer = self.heap.first()
            if self.has(timer, self.heap.first_number()):
                return timer[0]
            self.heap.pop()
        return None

    def mark(self) -> None:
        """Count changes from here."""
        self.marked = self.last
        self.fresh = 0
        self.removed.clear()

    def clear(self) -> None:
        """Delete all timers."""
        self.heap = Heap()
        self.registered.clear()
        self.fresh = 0
        self.removed.clear()


class TimerAccess:
    """Registers timers for the current key."""

    def __init__(self, state: Any, timers: Any) -> None:
        """Take the state and the timers of the operator."""
        self._state = state
        self._timers = timers
        self.event = timers.event
        self.processing = timers.processing

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer on the worker's clock (ms since the epoch)."""
        self.processing.register(timestamp, key_of(self._state))

    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer that fires when the watermark reaches ``timestamp`` (ms)."""
        self.event.register(timestamp, key_of(self._state))

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a processing-time timer."""
        self.processing.delete(timestamp, key_of(self._state))

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete an event-time timer."""
        self.event.delete(timestamp, key_of(self._state))


class Stamped:
    """A context with the timestamp of a record."""

    _timestamp: int

    def timestamp(self) -> int:
        """Return the record's timestamp in ms, or Long.MIN_VALUE if it has none."""
        return self._timestamp


class KeyedStamped(Stamped):
    """A context with the current key and a timer service."""

    _state: Any
    _service: Any

    def get_current_key(self) -> Any:
        """Return the record's key."""
        key = key_of(self._state)
        return key if type(key) is int or type(key) is str else self.thawed(key)  # type: ignore[attr-defined]

    def timer_service(self) -> Any:
        """Return the timer service."""
        return self._service


def call_each(
    call: Function,
    ctx: Stamped,
    state: Scope,
    selector: Function | None,
    field: int,
    cursor: Iterator[object],
    timestamps: list[int] | None,
    frozen: frozenset[type],
    copied: Function,
    results: list[object],
    stamps: list[int],
) -> None:
    """Call a function with each record and its context, and gather copies of the results and their timestamps.

    With a ``selector``, the key of each record becomes the current key of ``state``.
    """
    position = 0
    stamped = 0 if timestamps is None else len(timestamps)
    settled = Settled(frozen, copied)
    timestamp: Any = None
    for value in cursor:
        if timestamps is not None and position >= stamped:
            break
        if selector is not None:
            set_key(state, select(selector, field, value))
        if timestamps is not None:
            timestamp = ctx._timestamp = timestamps[position]
            position += 1
        produced = call(value, ctx)
        if produced is not None and produced:
            for result in produced:
                results.append(settle(settled, result))
                if timestamps is not None:
                    stamps.append(timestamp)


def reduce_each(
    call: Function,
    formula: object,
    state: Any,
    selector: Function,
    field: int,
    cursor: Iterator[object],
    running: Any,
    dirty: dict[object, int],
    tracking: bool,
    frozen: frozenset[type],
    copied: Function,
    results: list[object],
) -> None:
    """Reduce each record into the value of its key, and gather copies of the values."""
    settled = Settled(frozen, copied)
    formed = Formula(formula)
    for value in cursor:
        key = select(selector, field, value)
        set_key(state, key)
        before = lookup(running, key)
        after = value if before is None else apply_binary(formed, call, before, value)
        if after is None:
            running.pop(key, None)
        else:
            running[key] = after
        if tracking:
            dirty[key] = 0
        results.append(settle(settled, after))
