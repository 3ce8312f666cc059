"""Sessions of one gap by event time, as most programs have them: a key's records extend the one session it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.window import EventTimeSessionWindows, EventTimeTrigger, TimeWindow
from flintstream.runtime.windows.fast_path import FastPath
from flintstream.state.heap_states import HeapMapState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.windows.operator import WindowOperator


class Sessions(FastPath):
    """Records that are not late, of keys with at most one session that these records are part of.

    The timer of a session that grows stays where it is: when it is due, the operator has it follow.
    """

    def __init__(self, operator: WindowOperator, gap: int, in_flight: HeapMapState) -> None:
        """Serve ``operator``: sessions that end after ``gap`` ms without a record."""
        super().__init__(operator, shared=False)
        self.gap = gap
        self.windows: dict[Any, dict[TimeWindow, TimeWindow]] = in_flight._values  # noqa: SLF001 - ours
        """By key, the sessions and where the contents of each lie."""
        self.windows_dirty: dict[Any, int] = in_flight._dirty  # noqa: SLF001
        if operator.function is None and not operator.lateness:
            self.on_time = self._finish

    @staticmethod
    def of(operator: WindowOperator) -> FastPath | None:
        """Return the fast path of an operator if it can have this one."""
        assigner = operator.assigner
        if type(assigner) is EventTimeSessionWindows and FastPath.fits(operator, EventTimeTrigger):
            in_flight = operator.in_flight.state
            if type(in_flight) is HeapMapState:
                return Sessions(operator, assigner._session_gap, in_flight)  # noqa: SLF001
        return None

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Put a block of records into their sessions."""
        assert timestamps is not None  # noqa: S101 - see `timeless`
        operator = self.operator
        values, dirty, first, more = self.values, self.dirty, self.first, self.more
        state, gap = operator.state, self.gap
        tracking = state.tracking
        windows_of, windows_dirty = self.windows.get, self.windows_dirty
        new, lateness = tuple.__new__, operator.lateness
        now = operator.timers.current_watermark
        for value, timestamp in zip(cursor, timestamps, strict=False):
            key = key_of(value)
            end = timestamp + gap
            windows = windows_of(key)
            if end - 1 <= now or (windows and len(windows) > 1) or (value is None and more is not None):
                operator.add(key, value, timestamp)
                continue
            state.key = key
            if windows:
                [(window, home)] = windows.items()
                start, until = window
                if timestamp > until or start > end:
                    operator.add(key, value, timestamp)
                    continue
                if end > until or timestamp < start:
                    # What min(), max() and TimeWindow() do, in a third of the time
                    reach = (start if start < timestamp else timestamp, end if end > until else until)  # noqa: FURB136
                    grown = new(TimeWindow, reach)
                    windows[grown] = windows.pop(window)
                    if tracking:
                        windows_dirty[key, window] = windows_dirty[key, grown] = 0
                    if lateness:
                        self._move_timers(key, window, grown)
                pane = (key, home)
                contents = values.get(pane)
            else:
                window = TimeWindow(timestamp, end)
                self._open(key, window)
                pane = (key, window)
                contents = None
            if contents is None:
                values[pane] = value if first is None else first(value)
            elif more is not None:
                values[pane] = more(contents, value)
            else:
                if tracking and pane not in dirty:
                    dirty[pane] = len(contents)
                contents.append(value)
                continue
            if tracking:
                dirty[pane] = 0

    def _open(self, key: Any, window: TimeWindow) -> None:
        self.windows[key] = {window: window}
        if self.operator.state.tracking:
            self.windows_dirty[key, window] = 0
        self.register(key, window)

    def _move_timers(self, key: Any, window: TimeWindow, grown: TimeWindow) -> None:
        operator = self.operator
        self.register(key, grown)
        operator.timers.delete_event_time(window[1] - 1, key, window)
        operator.timers.delete_event_time(operator.cleanup_time(window), key, window)

    def _finish(self, timestamp: int, key: Any, window: TimeWindow, event: bool) -> None:  # noqa: ARG002
        """Emit what was reduced or aggregated, and drop the session."""
        windows = self.windows.get(key)
        if windows is None:
            return
        home = windows.pop(window, None)
        if home is None:
            self.operator.follow_growth(key, window, windows)
            return
        if not windows:
            del self.windows[key]
        contents = self.values.pop((key, home), None)
        if self.operator.state.tracking:
            self.windows_dirty[key, window] = 0
            self.dirty[key, home] = 0
        self.emit(key, contents, timestamp)
