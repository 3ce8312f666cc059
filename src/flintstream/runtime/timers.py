"""Timers: a heap by time beside an index of what is registered."""

from __future__ import annotations

import heapq
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.runtime.operator import MIN_TIMESTAMP
from flintstream.state.backend import PIECE, Change, TableInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Timer = tuple[int, Any, Any]
"""Timestamp (ms), key, namespace."""

EVENT_TIMERS = TableInfo("event-time timers", "timers")
PROCESSING_TIMERS = TableInfo("processing-time timers", "timers")

_FEW = 1000
"""Deleted timers that are not worth the work of making the heap anew."""


class TimerQueue:
    """The timers of one time domain: at most one per timestamp, key and namespace.

    A deleted timer stays in the heap and is skipped when its time comes; a heap of mostly such ones is made anew.
    """

    __slots__ = ("_count", "heap", "registered", "touched")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Any, Any]] = []
        self.registered: dict[Timer, int] = {}
        self.touched: set[Timer] = set()
        self._count = 0

    def add(self, timestamp: int, key: Any, namespace: Any) -> bool:
        """Register a timer; tell whether it is new."""
        timer = (timestamp, key, namespace)
        if timer in self.registered:
            return False
        self._count += 1
        self.registered[timer] = self._count
        heapq.heappush(self.heap, (timestamp, self._count, key, namespace))
        return True

    def remove(self, timestamp: int, key: Any, namespace: Any) -> bool:
        """Delete a timer; tell whether it was there."""
        if self.registered.pop((timestamp, key, namespace), None) is None:
            return False
        if len(self.heap) > 2 * len(self.registered) + _FEW:
            self._compact()
        return True

    def _compact(self) -> None:
        # In place: whoever iterates over due() at the moment holds this very list
        self.heap[:] = [(time, count, key, namespace) for (time, key, namespace), count in self.registered.items()]
        heapq.heapify(self.heap)

    def due(self, limit: int, *, tracking: bool) -> Iterator[Timer]:
        """Take out the timers up to ``limit`` in the order of their time, also those that are added meanwhile.

        This is what Flink promises. In PyFlink's process mode a timer that is added while others fire comes after all
        that were due before it, whatever its time: Java hears of it only when it has passed those on to Python.
        """
        heap, registered = self.heap, self.registered
        while heap and heap[0][0] <= limit:
            timestamp, count, key, namespace = heapq.heappop(heap)
            timer = (timestamp, key, namespace)
            if registered.get(timer) == count:
                del registered[timer]
                if tracking:
                    self.touched.add(timer)
                yield timer

    def next_time(self) -> int | None:
        """Return the time of the next timer."""
        heap = self.heap
        while heap and self.registered.get((heap[0][0], heap[0][2], heap[0][3])) != heap[0][1]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def clear(self) -> None:
        """Delete all timers."""
        self.heap.clear()
        self.registered.clear()
        self.touched.clear()


class InternalTimerService:
    """The timers of one operator in one subtask, and its view of time."""

    def __init__(self, clock: Callable[[], int] = wall_clock) -> None:
        self.clock = clock
        self.current_watermark = MIN_TIMESTAMP
        self.tracking = False
        self.closing = False
        self.event = TimerQueue()
        self.processing = TimerQueue()

    def register_event_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register an event-time timer (ms)."""
        if not self.closing:
            self.postpone(timestamp, key, namespace)

    def postpone(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register an event-time timer in the place of one that was due, which :meth:`last_call` does not stop."""
        if self.event.add(timestamp, key, namespace) and self.tracking:
            self.event.touched.add((timestamp, key, namespace))

    def delete_event_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Delete an event-time timer (ms)."""
        if self.event.remove(timestamp, key, namespace) and self.tracking:
            self.event.touched.add((timestamp, key, namespace))

    def register_processing_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a processing-time timer (ms since the epoch)."""
        if not self.closing and self.processing.add(timestamp, key, namespace) and self.tracking:
            self.processing.touched.add((timestamp, key, namespace))

    def delete_processing_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Delete a processing-time timer (ms since the epoch)."""
        if self.processing.remove(timestamp, key, namespace) and self.tracking:
            self.processing.touched.add((timestamp, key, namespace))

    def advance_watermark(self, timestamp: int) -> Iterator[Timer]:
        """Move event time on, and take out the timers that are due, in the order of their time."""
        self.current_watermark = timestamp
        return self.event.due(timestamp, tracking=self.tracking)

    def due_processing(self, now: int) -> Iterator[Timer]:
        """Take out the processing-time timers that are due, in the order of their time."""
        return self.processing.due(now, tracking=self.tracking)

    def next_processing_time(self) -> int | None:
        """Return when the next processing-time timer is due."""
        return self.processing.next_time()

    @contextmanager
    def last_call(self) -> Iterator[None]:
        """Fire what is left of a key in BATCH mode: timers registered meanwhile are ignored, as in Flink."""
        self.closing = True
        try:
            yield
        finally:
            self.closing = False
            self.current_watermark = MIN_TIMESTAMP
            self.clear_all()

    def take_delta(self) -> list[Change]:
        """Return the timers that came and went since the last call."""
        changes = []
        for table, queue in self._tables():
            touched, registered = queue.touched, queue.registered
            if touched:
                added = sorted((timer for timer in touched if timer in registered), key=registered.__getitem__)
                changes.append(Change(table, added, [], [timer for timer in touched if timer not in registered]))
                touched.clear()
        return changes

    def take_snapshot(self) -> Iterator[Change]:
        """Return all timers, piece by piece in the order of their registration; starts :meth:`take_delta` anew."""
        for _, queue in self._tables():
            queue.touched.clear()
        return self._snapshot()

    def _snapshot(self) -> Iterator[Change]:
        for table, queue in self._tables():
            timers = iter(queue.registered)
            while piece := list(islice(timers, PIECE)):
                yield Change(table, piece, [], [])

    def apply(self, changes: Iterable[Change]) -> None:
        """Take over a snapshot, or the changes since one; what is of no timers is left aside."""
        queues = dict(self._tables())
        for change in changes:
            queue = queues.get(change.table)
            if queue is not None:
                for timer in change.deleted:
                    queue.remove(*timer)
                for timer in change.keys:
                    queue.add(*timer)

    def _tables(self) -> tuple[tuple[TableInfo, TimerQueue], ...]:
        return (EVENT_TIMERS, self.event), (PROCESSING_TIMERS, self.processing)

    def clear_all(self) -> None:
        """Delete all timers; BATCH mode does so after each key."""
        self.event.clear()
        self.processing.clear()
