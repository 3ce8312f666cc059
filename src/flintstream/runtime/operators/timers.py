"""Timers, kept in a heap by time and an index of registered timers."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from functools import partial
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.compiled import load
from flintstream.runtime.operators.base import MIN_TIMESTAMP, whole_ms
from flintstream.state.backend import PIECE, Change, TableInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Timer = tuple[int, Any, Any]
"""Timestamp (ms), key, namespace."""

EVENT_TIMERS = TableInfo("event-time timers", "timers")
PROCESSING_TIMERS = TableInfo("processing-time timers", "timers")

_FEW = 1000
"""Number of deleted timers below which rebuilding the heap is not worthwhile."""


class TimerQueue:
    """The timers of one time domain: at most one per timestamp, key and namespace.

    A deleted timer stays in the heap and is skipped when its time comes. A heap of mostly deleted timers is rebuilt.

    Changes are those since the last :meth:`mark`: a timer that comes and goes in between is none. The numbers of
    registered timers increase, so that the last :attr:`fresh` ones of them are new.
    """

    __slots__ = ("_heap", "_marked", "_next", "closing", "fresh", "registered", "removed")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._next = itertools.count(1).__next__
        self._marked = 0
        """The number of the last timer before the mark."""
        self.registered: dict[Timer, int] = {}
        self.fresh = 0
        """How many of the registered timers are new."""
        self.removed: set[Timer] = set()
        """Timers of the mark that fired or were deleted."""
        self.closing = False
        """Whether new timers are ignored."""

    def __len__(self) -> int:
        """Return the size of the heap."""
        return len(self._heap)

    def register(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a timer (ms) unless it exists.

        Raises:
            TypeError: The time is not a number.
            OverflowError: The time does not fit in 64 bits.
        """
        timer = (timestamp, key, namespace)
        registered = self.registered
        if timer in registered or self.closing:
            return
        if timestamp.__class__ is not int or timestamp >> 63 not in {0, -1}:  # not a long of Java
            timestamp = whole_time(timestamp, namespace)
            timer = (timestamp, key, namespace)
            if timer in registered:
                return
        registered[timer] = number = self._next()
        self.fresh += 1
        heappush(self._heap, (timestamp, number, timer))

    def add(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a timer (ms) unless it exists, without a check of its time."""
        timer = (timestamp, key, namespace)
        registered = self.registered
        if timer in registered or self.closing:
            return
        registered[timer] = number = self._next()
        self.fresh += 1
        heappush(self._heap, (timestamp, number, timer))

    def delete(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Delete a timer (ms) if it exists."""
        timer = (timestamp, key, namespace)
        registered, heap = self.registered, self._heap
        number = registered.pop(timer, None)
        if number is None:
            if type(timestamp) is not int:  # equal numbers of other types have been found
                self.delete(whole_time(timestamp, namespace), key, namespace)
            return
        if number > self._marked:
            self.fresh -= 1
        else:
            self.removed.add(timer)
        if len(heap) > 2 * len(registered) + _FEW:
            self._compact()

    def _compact(self) -> None:
        # In place, because running due() iterators hold this list
        self._heap[:] = [(timer[0], count, timer) for timer, count in self.registered.items()]
        heapify(self._heap)

    def due(self, limit: int) -> Iterator[Timer]:
        """Remove and yield the timers up to ``limit`` (ms) in time order, including timers added during the iteration.

        Flink guarantees this order. In PyFlink's process mode, a timer added while others fire comes after all timers
        that were already due, whatever its time: Java learns of it only after it has sent those to Python.
        """
        heap, registered = self._heap, self.registered
        while heap and heap[0][0] <= limit:
            _, number, timer = heappop(heap)
            if registered.get(timer) == number:
                del registered[timer]
                if number > self._marked:
                    self.fresh -= 1
                else:
                    self.removed.add(timer)
                yield timer

    def next_time(self) -> int | None:
        """Return the time of the next timer (ms), or None if there is no timer."""
        heap = self._heap
        while heap and self.registered.get(heap[0][2]) != heap[0][1]:
            heappop(heap)
        return heap[0][0] if heap else None

    def mark(self) -> None:
        """Count changes from here."""
        self._marked = self._next()
        self.fresh = 0
        self.removed.clear()

    def clear(self) -> None:
        """Delete all timers."""
        self._heap.clear()
        self.registered.clear()
        self.fresh = 0
        self.removed.clear()


def whole_time(timestamp: Any, namespace: Any) -> int:
    """Return the time (ms) of a timer as a whole number."""
    what = "the time of a timer" if namespace is None else f"the time of a timer of the window {namespace!r}"
    return whole_ms(timestamp, what)


_compiled = load("keyed")
_queue: Callable[[], Any] = TimerQueue if _compiled is None else partial(_compiled.TimerQueue, whole_time)


class InternalTimerService:
    """The timers of one operator in one subtask, and its view of time."""

    def __init__(self, clock: Callable[[], int] = wall_clock) -> None:
        self.clock = clock
        self.current_watermark = MIN_TIMESTAMP
        self.event: TimerQueue = _queue()
        self.processing: TimerQueue = _queue()
        # Bound methods of the queues save a call, because every record may add or delete timers
        self.register_event_time, self.add_event_time = self.event.register, self.event.add
        self.delete_event_time = self.event.delete
        self.register_processing_time, self.add_processing_time = self.processing.register, self.processing.add
        self.delete_processing_time = self.processing.delete

    def postpone_event_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a timer (ms) that replaces a due one, even during :meth:`last_call`."""
        queue = self.event
        closing, queue.closing = queue.closing, False
        queue.register(timestamp, key, namespace)
        queue.closing = closing

    def advance_watermark(self, timestamp: int) -> Iterator[Timer]:
        """Advance event time, and remove and yield the timers that are due, in time order."""
        self.current_watermark = timestamp
        return self.event.due(timestamp)

    def due_processing(self, now: int) -> Iterator[Timer]:
        """Remove and yield the processing-time timers that are due, in time order."""
        return self.processing.due(now)

    def next_processing_time(self) -> int | None:
        """Return the time of the next processing-time timer (ms), or None if there is no timer."""
        return self.processing.next_time()

    @contextmanager
    def last_call(self) -> Iterator[None]:
        """Fire the remaining timers of a key in BATCH mode. Timers registered by these are ignored, as in Flink."""
        self.event.closing = self.processing.closing = True
        try:
            yield
        finally:
            self.event.closing = self.processing.closing = False
            self.current_watermark = MIN_TIMESTAMP
            self.clear_all()

    def take_delta(self) -> list[Change]:
        """Return the timers added and removed since the last call, a snapshot or a restore."""
        changes = []
        for table, queue in self._tables():
            if queue.fresh or queue.removed:
                added = [*itertools.islice(reversed(queue.registered), queue.fresh)]
                added.reverse()
                changes.append(Change(table, added, [], [*queue.removed]))
                queue.mark()
        return changes

    def take_snapshot(self) -> Iterator[Change]:
        """Return all timers in pieces, in registration order. The next :meth:`take_delta` starts from here."""
        for _, queue in self._tables():
            queue.mark()
        return self._snapshot()

    def _snapshot(self) -> Iterator[Change]:
        for table, queue in self._tables():
            timers = iter(queue.registered)
            while piece := list(itertools.islice(timers, PIECE)):
                yield Change(table, piece, [], [])

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply a snapshot, or the changes since one. Changes of other tables are ignored."""
        queues = dict(self._tables())
        for change in changes:
            queue = queues.get(change.table)
            if queue is not None:
                for timer in change.deleted:
                    queue.delete(*timer)
                for timer in change.keys:
                    queue.add(*timer)  # earlier releases accepted any time
                queue.mark()

    def _tables(self) -> tuple[tuple[TableInfo, TimerQueue], ...]:
        return (EVENT_TIMERS, self.event), (PROCESSING_TIMERS, self.processing)

    def clear_all(self) -> None:
        """Delete all timers, as BATCH mode does after each key."""
        self.event.clear()
        self.processing.clear()
