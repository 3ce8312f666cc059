"""Fast paths for the common cases of the window operator, which call no assigner or trigger for each record.

They keep the same state as the general path, so that each record can take either. Late and other unusual records take
the general path.

The records of a block are grouped by key first, so that a group looks up its state once. Groups are in the order of
their first records, and panes keep the order of their records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.compiled import load
from flintstream.contracts.window import (
    EventTimeTrigger,
    ProcessingTimeTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.selectors import field_of
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.runtime.windows.emitter import Emitter
    from flintstream.runtime.windows.rules import WindowRules
    from flintstream.state.backend import Add, Panes

_compiled = load("windows")

_MOST_WINDOWS = 4096
_FAR = 1 << 61
"""From this size on, the compiled loops could meet times that 64 bits do not hold."""


def compiled_for(*sizes: object) -> Any:
    """Return the compiled loops if they can compute with these numbers of ms, else None."""
    return _compiled if all(type(size) is int and -_FAR < size < _FAR for size in sizes) else None


class Parts(NamedTuple):
    """The parts of the window operator that a fast path uses."""

    rules: WindowRules
    panes: Panes
    timers: InternalTimerService
    emitter: Emitter
    general: Callable[[Any, Any, int], None]
    """Adds one record to its windows on the general path. Called with key, value and timestamp (ms)."""


class FastPath(ABC):
    """Adds records to windows and fires them, without calling assigner and trigger."""

    timeless = False
    """Whether records without a timestamp can take this path."""
    event_time = True
    """Whether :attr:`on_time` handles event-time timers; otherwise it handles processing-time timers."""
    on_time: Callable[[int, Any, Any], None] | None = None
    """Called with the time (ms), key and window of each due timer. None if only the general path handles timers."""
    compiled: Any = None
    """The compiled loops, if they can compute with these windows."""
    group: Sequence[Any] = ()
    """The records that are being added to panes, whose :attr:`Panes.cursor` is at one of them. Empty between groups."""

    def __init__(self, parts: Parts) -> None:
        """Work on ``parts`` of the window operator."""
        self.rules, self.panes, self.timers, self.emitter, self.general = parts
        self.lateness = self.rules.lateness

    def takes_columns(self, key_of: Callable[[Any], Any]) -> bool:
        """Return whether records with these keys may come as columns."""
        return self.compiled is not None and self.panes.folds and field_of(key_of) >= 0

    @abstractmethod
    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their windows."""


class AlignedWindows(FastPath):
    """Tumbling windows, or sliding windows whose size is a multiple of the slide, that fire at their end.

    They work in event time and in processing time. Windows are created once and shared by all keys. Only a window's
    first record registers its timers.
    """

    def __init__(self, parts: Parts, size: int, slide: int, offset: int) -> None:
        """Handle windows of ``size`` ms that start ``offset`` ms after multiples of ``slide`` ms."""
        super().__init__(parts)
        self.event_time = self.rules.event_time
        self.timeless = not self.event_time
        self.size = size
        self.slide = slide
        self.offset = offset
        self.compiled = compiled_for(size, slide, offset)
        self.copied = copy_mutable if slide < size else None
        """Copies a record for each of its windows, because a reduce function may change a window's first record."""
        self.windows: dict[int, tuple[TimeWindow, ...]] = {}
        """Maps the start of a record's newest window to all its windows, newest first."""
        self.window_at: dict[int, TimeWindow] = {}
        """The windows by their start. The same object in all look-ups of a pane spares a comparison in Python."""
        self.on_time = self._fire_or_drop if self.lateness else self._finish

    @staticmethod
    def of(parts: Parts) -> FastPath | None:
        """Return this fast path if it supports the rules, else None."""
        assigner: Any = parts.rules.assigner
        if type(parts.rules.trigger) is not (EventTimeTrigger if parts.rules.event_time else ProcessingTimeTrigger):
            return None
        tumbling = type(assigner) in {TumblingEventTimeWindows, TumblingProcessingTimeWindows}
        if not tumbling and type(assigner) not in {SlidingEventTimeWindows, SlidingProcessingTimeWindows}:
            return None
        size, offset = assigner._size, assigner._offset
        slide = size if tumbling else assigner._slide
        return None if size % slide else AlignedWindows(parts, size, slide, offset)

    def _windows_from(self, newest: int) -> tuple[TimeWindow, ...]:
        size = self.size
        if len(self.windows) >= _MOST_WINDOWS:
            self.windows.clear()
            self.window_at.clear()
        starts = range(newest, newest - size, -self.slide)
        found = tuple([self.window_at.setdefault(start, TimeWindow(start, start + size)) for start in starts])
        self.windows[newest] = found
        return found

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their windows."""
        add = self.panes.adder(self._register, self.copied)
        slide, offset = self.slide, self.offset
        # The oldest window of a record ends `slide` after the start of the newest. Once it is over, some window is late
        # or fires at once. Times near both ends also take the general path, which raises an error for them.
        first_open = max(self.timers.current_watermark - slide + 1, MIN_TIMESTAMP + 2 * self.size)
        last = MAX_TIMESTAMP - self.size
        given: Any = timestamps or []
        if not self.event_time:
            first_open, given = MIN_TIMESTAMP, self.timers.clock()
        overlapping, latest = slide < self.size, MIN_TIMESTAMP
        groups = defaultdict[tuple[Any, int], list[Any]](list)
        if self.compiled is not None:
            self.compiled.group_aligned(
                key_of, field_of(key_of), cursor, given, slide, offset, first_open, last, overlapping, groups,
                lambda: self._add_groups(groups, add), self.general,
            )  # fmt: skip
            self._add_groups(groups, add)
            return
        times: Iterable[int] = given if self.event_time else repeat(given)
        for value, timestamp in zip(cursor, times, strict=False):
            key = key_of(value)
            newest = timestamp - (timestamp - offset) % slide
            if newest < latest and overlapping:  # panes keep the order of their records
                self._add_groups(groups, add)
            latest = newest
            if first_open < newest <= last:
                groups[key, newest].append(value)
            else:
                self.general(key, value, timestamp)
        self._add_groups(groups, add)

    def _add_groups(self, groups: dict[tuple[Any, int], list[Any]], add: Add) -> None:
        """Add groups of records that have key and newest window in common, and forget them."""
        for (key, newest), self.group in groups.items():
            add(key, self.windows.get(newest) or self._windows_from(newest), self.group)
        self.group = ()
        groups.clear()

    def _register(self, key: Any, window: TimeWindow) -> None:
        """Register the timers of a new window. :meth:`add_all` has checked its time."""
        if not self.event_time:
            self.timers.add_processing_time(window[1] - 1, key, window)
            return
        self.timers.add_event_time(window[1] - 1, key, window)
        if self.lateness and (cleanup := self.rules.cleanup_time(window)) < MAX_TIMESTAMP:
            self.timers.add_event_time(cleanup, key, window)

    def _finish(self, timestamp: int, key: Any, window: TimeWindow) -> None:
        """Emit the result of a window at its end, and drop the window."""
        contents = self.panes.pop(key, window)
        if timestamp == window[1] - 1:
            self.emitter.finish(key, window, contents, timestamp)
        else:  # it has fired before a savepoint, when late records were still allowed
            self.emitter.drop(key, window)

    def _fire_or_drop(self, timestamp: int, key: Any, window: TimeWindow) -> None:
        """Fire a window at its end, and drop it when its lateness is over."""
        if timestamp == window[1] - 1:
            self.emitter.fire(key, window, self.panes.get(key, window), timestamp)
        else:
            self.panes.clear(key, window)
            self.emitter.drop(key, window)
