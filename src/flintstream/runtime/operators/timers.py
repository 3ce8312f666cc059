"""Timers, kept in a heap by time and an index of registered timers."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.compiled.keyed import TimerQueue
from flintstream.runtime.times import MIN_TIMESTAMP, whole_ms
from flintstream.state.backend import PIECE, Change, TableInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Timer = tuple[int, Any, Any]
"""Timestamp (ms), key, namespace."""

EVENT_TIMERS = TableInfo("event-time timers", "timers")
PROCESSING_TIMERS = TableInfo("processing-time timers", "timers")


def whole_time(timestamp: Any, namespace: Any) -> int:
    """Return the time (ms) of a timer as a whole number."""
    what = "the time of a timer" if namespace is None else f"the time of a timer of the window {namespace!r}"
    return whole_ms(timestamp, what)


class InternalTimerService:
    """The timers of one operator in one subtask, and its view of time."""

    def __init__(self, clock: Callable[[], int] = wall_clock) -> None:
        self.clock = clock
        self.current_watermark = MIN_TIMESTAMP
        self.event = TimerQueue(whole_time)
        self.processing = TimerQueue(whole_time)
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
