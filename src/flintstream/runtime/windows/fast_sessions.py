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
    from flintstream.state.backend import Cells, DirectAccess

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
        if in_flight is None or type(in_flight.values) is not dict:
            return None
        return Sessions(parts, assigner._session_gap, in_flight, state)

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
        if self.compiled is not None:
            add, now = self.panes.adder(), self.timers.current_watermark
            self.compiled.add_runs(self, runs, add, TimeWindow, self.state.tracking, now)
        else:
            for _, key, stamps, values, _, _ in runs:
                self.add_each(key, stamps, values)
        self.group = ()

    def _runs(
        self, key: Any, stamps: Sequence[int], values: Sequence[Any], positions: Sequence[int], late: int
    ) -> list[_Run]:
        """Return the runs of the records of a key. A record up to the time ``late`` is a run of its own."""
        runs: list[_Run] = []
        gap, begin, low, until = self.gap, 0, stamps[0], stamps[0]
        for end, timestamp in enumerate([*stamps[1:], None], 1):  # None ends the last run
            if timestamp is not None and until > late < timestamp and low - gap <= timestamp <= until + gap:
                low, until = min(low, timestamp), max(until, timestamp)
                continue
            runs.append((positions[begin], key, stamps[begin:end], values[begin:end], low, until + gap))
            if timestamp is not None:
                begin, low, until = end, timestamp, timestamp
        return runs

    def add_each(self, key: Any, stamps: Sequence[int], values: Sequence[Any]) -> None:
        """Add the records of a run on the general path: they may be late, or merge sessions."""
        self.group, self.panes.cursor = values, iter(values)
        for value, timestamp in zip(self.panes.cursor, stamps, strict=False):
            self.general(key, value, timestamp)

    def register(self, key: Any, window: TimeWindow) -> None:
        """Register the timers of a session: the trigger's, and the one that drops it."""
        self.timers.register_event_time(window[1] - 1, key, window)
        if self.lateness and (cleanup := self.rules.cleanup_time(window)) < MAX_TIMESTAMP:
            self.timers.register_event_time(cleanup, key, window)

    def move_timers(self, key: Any, values: Sequence[Any], window: TimeWindow, grown: TimeWindow) -> None:
        """Move the timers of a session that grows by ``values``, none of which has been added yet."""
        self.group, self.panes.cursor = values, iter(values[1:])  # an error is that of the first one
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
        contents = self.panes.pop(key, home)
        if self.emitter.straight:
            self.emitter.emit(contents, timestamp)
        else:
            self.emitter.fire(key, window, contents, timestamp)
            self.emitter.drop(key, window)
