"""Timers: a heap by time beside an index of what is registered."""

from __future__ import annotations

import heapq
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flintstream.runtime.operator import MIN_TIMESTAMP
from flintstream.runtime.watermarks import wall_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Timer = tuple[int, Any, Any]
"""Timestamp (ms), key, namespace."""

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
        if not self.closing and self.event.add(timestamp, key, namespace) and self.tracking:
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

    def take_delta(self) -> object:
        """Return the timers that came and went since the last call, as (added, removed) per domain."""
        delta: list[tuple[list[Timer], list[Timer]]] = []
        for queue in (self.event, self.processing):
            added = sorted((t for t in queue.touched if t in queue.registered), key=queue.registered.__getitem__)
            delta.append((added, [timer for timer in queue.touched if timer not in queue.registered]))
            queue.touched.clear()
        return delta

    def take_snapshot(self) -> object:
        """Return all timers, in the form of a delta."""
        snapshot: list[tuple[list[Timer], list[Timer]]] = []
        for queue in (self.event, self.processing):
            queue.touched.clear()
            snapshot.append((list(queue.registered), []))
        return snapshot

    def restore(self, snapshot: object | None, deltas: Sequence[object]) -> None:
        """Replace everything by ``snapshot`` if there is one, then apply ``deltas`` in order."""
        if snapshot is not None:
            self.event.clear()
            self.processing.clear()
        pieces: list[Any] = ([snapshot] if snapshot is not None else []) + list(deltas)
        for piece in pieces:
            for queue, (added, removed) in zip((self.event, self.processing), piece, strict=True):
                for timer in removed:
                    queue.remove(*timer)
                for timer in added:
                    queue.add(*timer)

    def clear_all(self) -> None:
        """Delete all timers; BATCH mode does so after each key."""
        self.event.clear()
        self.processing.clear()
