"""Timers: a heap by time beside an index of what is registered."""

from __future__ import annotations

from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.runtime.operators.base import MIN_TIMESTAMP
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

    __slots__ = ("_count", "closing", "heap", "registered", "touched", "tracking")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Timer]] = []
        self.registered: dict[Timer, int] = {}
        self.touched: set[Timer] = set()
        """What came or went since the last delta, while ``tracking``."""
        self.tracking = False
        self.closing = False
        """Whether no timer is taken any more."""
        self._count = 0

    def register(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a timer (ms), if it is not there."""
        timer = (timestamp, key, namespace)
        registered = self.registered
        if timer in registered or self.closing:
            return
        self._count = registered[timer] = count = self._count + 1
        heappush(self.heap, (timestamp, count, timer))
        if self.tracking:
            self.touched.add(timer)

    def delete(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Delete a timer (ms), if it is there."""
        timer = (timestamp, key, namespace)
        registered, heap = self.registered, self.heap
        if registered.pop(timer, None) is None:
            return
        if self.tracking:
            self.touched.add(timer)
        if len(heap) > 2 * len(registered) + _FEW:
            self._compact()

    def _compact(self) -> None:
        # In place: whoever iterates over due() at the moment holds this very list
        self.heap[:] = [(timer[0], count, timer) for timer, count in self.registered.items()]
        heapify(self.heap)

    def due(self, limit: int) -> Iterator[Timer]:
        """Take out the timers up to ``limit`` in the order of their time, also those that are added meanwhile.

        This is what Flink promises. In PyFlink's process mode a timer that is added while others fire comes after all
        that were due before it, whatever its time: Java hears of it only when it has passed those on to Python.
        """
        heap, registered = self.heap, self.registered
        while heap and heap[0][0] <= limit:
            _, count, timer = heappop(heap)
            if registered.get(timer) == count:
                del registered[timer]
                if self.tracking:
                    self.touched.add(timer)
                yield timer

    def next_time(self) -> int | None:
        """Return the time of the next timer."""
        heap = self.heap
        while heap and self.registered.get(heap[0][2]) != heap[0][1]:
            heappop(heap)
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
        self.event = TimerQueue()
        self.processing = TimerQueue()
        # Timestamp (ms), key and namespace; the queues' own methods, as timers come and go with every record
        self.register_event_time = self.event.register
        self.delete_event_time = self.event.delete
        self.register_processing_time = self.processing.register
        self.delete_processing_time = self.processing.delete

    @property
    def tracking(self) -> bool:
        """Whether :meth:`take_delta` is going to be called."""
        return self.event.tracking

    @tracking.setter
    def tracking(self, tracking: bool) -> None:
        self.event.tracking = self.processing.tracking = tracking

    def postpone_event_time(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        """Register a timer in the place of one that was due, which :meth:`last_call` does not stop."""
        queue = self.event
        closing, queue.closing = queue.closing, False
        queue.register(timestamp, key, namespace)
        queue.closing = closing

    def advance_watermark(self, timestamp: int) -> Iterator[Timer]:
        """Move event time on, and take out the timers that are due, in the order of their time."""
        self.current_watermark = timestamp
        return self.event.due(timestamp)

    def due_processing(self, now: int) -> Iterator[Timer]:
        """Take out the processing-time timers that are due, in the order of their time."""
        return self.processing.due(now)

    def next_processing_time(self) -> int | None:
        """Return when the next processing-time timer is due."""
        return self.processing.next_time()

    @contextmanager
    def last_call(self) -> Iterator[None]:
        """Fire what is left of a key in BATCH mode: timers registered meanwhile are ignored, as in Flink."""
        self.event.closing = self.processing.closing = True
        try:
            yield
        finally:
            self.event.closing = self.processing.closing = False
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
                    queue.delete(*timer)
                for timer in change.keys:
                    queue.register(*timer)
                queue.touched.clear()

    def _tables(self) -> tuple[tuple[TableInfo, TimerQueue], ...]:
        return (EVENT_TIMERS, self.event), (PROCESSING_TIMERS, self.processing)

    def clear_all(self) -> None:
        """Delete all timers; BATCH mode does so after each key."""
        self.event.clear()
        self.processing.clear()
