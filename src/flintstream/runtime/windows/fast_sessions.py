"""Fast path for event-time sessions with a fixed gap, except for records that merge sessions."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.contracts.window import EventTimeSessionWindows, EventTimeTrigger, TimeWindow
from flintstream.runtime.selectors import field_of
from flintstream.runtime.times import MAX_TIMESTAMP
from flintstream.runtime.windows.fast_path import FastPath, compiled_for
from flintstream.runtime.windows.merging import IN_FLIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.runtime.windows.fast_path import Parts
    from flintstream.runtime.windows.rules import WindowRules
    from flintstream.state.backend import Add, Cells, DirectAccess

_Run = tuple[int, Any, "Sequence[int]", "Sequence[Any]", int, int]
"""The position of the first record in the block, the key, timestamps, values, and the time from start to end."""

_FIRST = itemgetter(0)


def are_sessions(rules: WindowRules) -> bool:
    """Return whether windows are event-time sessions with a fixed gap that fire at their end."""
    return type(rules.assigner) is EventTimeSessionWindows and type(rules.trigger) is EventTimeTrigger


def follow_growth(timers: InternalTimerService, key: Any, window: Any, in_flight: Iterable[Any]) -> None:
    """Postpone the timer of a session that has grown from ``window`` to the session's end, see :class:`Sessions`."""
    for grown in in_flight:
        if grown[0] <= window[0] and window[1] <= grown[1]:
            timers.postpone_event_time(grown[1] - 1, key, grown)
            return


class Sessions(FastPath):
    """Handles records that are not late and that start or extend a session, but do not merge sessions.

    Records of a key that follow each other within the gap are a *run*, which changes its session once. The timer of a
    growing session stays unchanged until it is due; :func:`follow_growth` then postpones it. Timers of the same time
    fire in the order in which their sessions started.
    """

    def __init__(self, parts: Parts, gap: int, in_flight: Cells, state: DirectAccess) -> None:
        """Handle sessions that end after ``gap`` ms without a record; ``state`` holds the cells ``in_flight``."""
        super().__init__(parts)
        self.gap = gap
        self.compiled = compiled_for(gap)
        self.windows: dict[Any, dict[TimeWindow, TimeWindow]] = in_flight.values
        """Maps a key to its sessions, and each session to its state window."""
        self.windows_dirty = in_flight.dirty
        self.state = state
        if not self.lateness:
            self.on_time = self._finish

    @staticmethod
    def of(parts: Parts, state: DirectAccess) -> FastPath | None:
        """Return this fast path if it supports the rules, else None."""
        if not are_sessions(parts.rules):
            return None
        in_flight = state.cells(IN_FLIGHT)
        assigner: Any = parts.rules.assigner
        return None if in_flight is None else Sessions(parts, assigner._session_gap, in_flight, state)

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their sessions."""
        assert timestamps is not None  # noqa: S101 - see `timeless`
        late = self.timers.current_watermark - self.gap + 1  # up to here, the session of a lone record is over
        if self.compiled is not None:
            runs = self.compiled.session_runs(key_of, field_of(key_of), cursor, timestamps, self.gap, late, self._runs)
        else:
            groups = defaultdict[Any, list[tuple[int, Any, int]]](list)
            for value, timestamp, position in zip(cursor, timestamps, count(), strict=False):
                groups[key_of(value)].append((timestamp, value, position))
            runs = []
            for key, records in groups.items():
                stamps, contents, positions = (list(part) for part in zip(*records, strict=True))
                runs += self._runs(key, stamps, contents, positions, late)
        runs.sort(key=_FIRST)
        add = self.panes.adder()
        if self.compiled is not None:
            self.compiled.add_runs(self, runs, add, TimeWindow, self.state.tracking, self.timers.current_watermark)
        else:
            for _, key, stamps, values, low, until in runs:
                self.add_run(key, stamps, values, low, until, add)
        self.group = ()

    def _runs(
        self, key: Any, stamps: Sequence[int], values: Sequence[Any], positions: Sequence[int], late: int
    ) -> list[_Run]:
        """Return the runs of the records of a key. A record up to the time ``late`` is a run of its own."""
        gap, low, high = self.gap, min(stamps), max(stamps)
        if high - low <= gap and low > late:
            return [(positions[0], key, stamps, values, low, high + gap)]
        runs: list[_Run] = []
        begin, low, until = 0, stamps[0], stamps[0]
        for end, timestamp in enumerate(stamps):
            if end and until > late and timestamp > late and low - gap <= timestamp <= until + gap:
                low, until = min(low, timestamp), max(until, timestamp)
                continue
            if end:
                runs.append((positions[begin], key, stamps[begin:end], values[begin:end], low, until + gap))
            begin, low, until = end, timestamp, timestamp
        runs.append((positions[begin], key, stamps[begin:], values[begin:], low, until + gap))
        return runs

    def add_run(self, key: Any, stamps: Sequence[int], values: Sequence[Any], low: int, until: int, add: Add) -> None:
        """Add the records of a run to the session that it starts or extends."""
        self.begin(values)
        if stamps[0] + self.gap - 1 <= self.timers.current_watermark:
            self.general(key, values[0], stamps[0])  # late, unless it extends a session
            return
        met = [window for window in self.windows.get(key, ()) if low <= window[1] and window[0] <= until]
        if not met:
            window = self._open(key, stamps[0])
        elif len(met) == 1 and met[0][0] - self.gap <= stamps[0] <= met[0][1]:
            window = met[0]
        elif len(values) == 1:
            self.general(key, values[0], stamps[0])  # merges sessions
            return
        else:
            for timestamp, value in zip(stamps, values, strict=True):
                self.add_run(key, (timestamp,), (value,), timestamp, timestamp + self.gap, add)
            return
        add(key, (self._grow(key, window, low, until),), values)

    def begin(self, values: Sequence[Any]) -> None:
        """Until records are added, an error is that of the first one."""
        self.group, self.panes.cursor = values, iter(values)
        next(self.panes.cursor)

    def _grow(self, key: Any, window: TimeWindow, low: int, until: int) -> TimeWindow:
        """Extend a session by the time from ``low`` to ``until``, and return its state window."""
        windows = self.windows[key]
        start, end = window
        if start <= low and until <= end:
            return windows[window]
        grown = TimeWindow(min(start, low), max(end, until))
        home = windows[grown] = windows.pop(window)
        if self.state.tracking:
            self.windows_dirty[key, window] = self.windows_dirty[key, grown] = 0
        if self.lateness:
            self._move_timers(key, window, grown)
        return home

    def _open(self, key: Any, first: int) -> TimeWindow:
        """Open the session of a record, whose timestamp is ``first``, and return it."""
        window = TimeWindow(first, first + self.gap)
        self.windows.setdefault(key, {})[window] = window
        if self.state.tracking:
            self.windows_dirty[key, window] = 0
        self.register(key, window)
        return window

    def register(self, key: Any, window: TimeWindow) -> None:
        """Register the timers of a session: the trigger's, and the one that drops it."""
        self.timers.register_event_time(window[1] - 1, key, window)
        if self.lateness and (cleanup := self.rules.cleanup_time(window)) < MAX_TIMESTAMP:
            self.timers.register_event_time(cleanup, key, window)

    def move_timers(self, key: Any, values: Sequence[Any], window: TimeWindow, grown: TimeWindow) -> None:
        """Move the timers of a session that grows by ``values``, none of which has been added yet."""
        self.begin(values)
        self._move_timers(key, window, grown)

    def _move_timers(self, key: Any, window: TimeWindow, grown: TimeWindow) -> None:
        self.register(key, grown)
        self.timers.delete_event_time(window[1] - 1, key, window)
        self.timers.delete_event_time(self.rules.cleanup_time(window), key, window)

    def _finish(self, timestamp: int, key: Any, window: TimeWindow) -> None:
        """Fire a session at its end and drop it, or postpone this if it has grown."""
        windows = self.windows.get(key)
        if windows is None:
            return
        home = windows.pop(window, None)
        if home is None:
            follow_growth(self.timers, key, window, windows)
            return
        if not windows:
            del self.windows[key]
        if self.state.tracking:
            self.windows_dirty[key, window] = 0
        self.emitter.finish(key, window, self.panes.pop(key, home), timestamp)
