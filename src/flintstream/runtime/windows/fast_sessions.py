"""Fast path for event-time sessions with a fixed gap, for the common case of one open session per key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.window import EventTimeSessionWindows, EventTimeTrigger, TimeWindow
from flintstream.runtime.operators.base import MAX_TIMESTAMP
from flintstream.runtime.windows.fast_path import FastPath
from flintstream.runtime.windows.merging import IN_FLIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.runtime.windows.fast_path import Parts
    from flintstream.runtime.windows.rules import WindowRules
    from flintstream.state.backend import Cells, DirectAccess


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
    """Handles records that are not late and that start or extend the only session of their key.

    The timer of a growing session stays unchanged until it is due; :func:`follow_growth` then postpones it.
    """

    def __init__(self, parts: Parts, gap: int, in_flight: Cells, state: DirectAccess) -> None:
        """Handle sessions that end after ``gap`` ms without a record; ``state`` holds the cells ``in_flight``."""
        super().__init__(parts)
        self.gap = gap
        self.windows: dict[Any, dict[TimeWindow, TimeWindow]] = in_flight.values
        """Maps a key to its sessions, and each session to its state window."""
        self.windows_dirty = in_flight.dirty
        self.state = state
        if self.emitter.straight and not self.lateness:
            self.on_time = self._finish

    @staticmethod
    def of(parts: Parts, state: DirectAccess) -> FastPath | None:
        """Return this fast path if it supports the rules, else None."""
        if not are_sessions(parts.rules):
            return None
        in_flight = state.cells(IN_FLIGHT)
        assigner: Any = parts.rules.assigner
        return None if in_flight is None else Sessions(parts, assigner._session_gap, in_flight, state)  # noqa: SLF001

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their sessions."""
        assert timestamps is not None  # noqa: S101 - see `timeless`
        add, gap, lateness = self.panes.adder(), self.gap, self.lateness
        tracking = self.state.tracking
        windows_of, windows_dirty = self.windows.get, self.windows_dirty
        new = tuple.__new__
        late = self.timers.current_watermark - gap + 1  # up to here, the session of a lone record is over
        for value, timestamp in zip(cursor, timestamps, strict=False):
            key = key_of(value)
            if timestamp <= late:
                self.general(key, value, timestamp)
                continue
            end = timestamp + gap
            windows = windows_of(key)
            if not windows:
                window = home = TimeWindow(timestamp, end)
                self._open(key, window)
            elif len(windows) > 1:
                self.general(key, value, timestamp)
                continue
            else:
                [(window, home)] = windows.items()
                start, until = window
                if timestamp > until or start > end:
                    self.general(key, value, timestamp)
                    continue
                if end > until or timestamp < start:
                    # Equals min(), max() and TimeWindow(), but takes a third of the time
                    grown = new(
                        TimeWindow,
                        (start if start < timestamp else timestamp, end if end > until else until),  # noqa: FURB136
                    )
                    windows[grown] = windows.pop(window)
                    if tracking:
                        windows_dirty[key, window] = windows_dirty[key, grown] = 0
                    if lateness:
                        self._move_timers(key, window, grown)
            add(key, (home,), value)

    def _open(self, key: Any, window: TimeWindow) -> None:
        self.windows[key] = {window: window}
        if self.state.tracking:
            self.windows_dirty[key, window] = 0
        self._register(key, window)

    def _register(self, key: Any, window: TimeWindow) -> None:
        """Register the timers of a session: the trigger's, and the one that drops it."""
        self.timers.register_event_time(window[1] - 1, key, window)
        if self.lateness and (cleanup := self.rules.cleanup_time(window)) < MAX_TIMESTAMP:
            self.timers.register_event_time(cleanup, key, window)

    def _move_timers(self, key: Any, window: TimeWindow, grown: TimeWindow) -> None:
        self._register(key, grown)
        self.timers.delete_event_time(window[1] - 1, key, window)
        self.timers.delete_event_time(self.rules.cleanup_time(window), key, window)

    def _finish(self, timestamp: int, key: Any, window: TimeWindow) -> None:
        """Emit the reduced or aggregated value, and drop the session."""
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
        self.emitter.emit(self.panes.pop(key, home), timestamp)
