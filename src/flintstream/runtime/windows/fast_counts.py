"""Fast path for tumbling count windows that fire when they are full."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from flintstream.contracts.window import CountTrigger, CountTumblingWindowAssigner, CountWindow
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.runtime.windows.fast_path import FastPath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.runtime.windows.fast_path import Parts
    from flintstream.state.backend import Cells, DirectAccess, Scope

_MOST_WINDOWS = 4096


class CountWindows(FastPath):
    """Keeps record numbers in the assigner's state and counts in the trigger's state, as the general path does."""

    timeless = True
    event_time = False

    def __init__(self, parts: Parts, size: int, numbers: Cells, counts: Cells, state: DirectAccess) -> None:
        """Handle windows of ``size`` records.

        Args:
            parts: the parts of the window operator.
            size: the number of records in a window.
            numbers: how many records each key has had.
            counts: how many records each window has that is not full.
            state: the backend that holds both.
        """
        super().__init__(parts)
        self.size = size
        self.numbers = numbers
        self.counts = counts
        self.state = state
        self.windows: dict[int, CountWindow] = {}

    @staticmethod
    def of(parts: Parts, state: DirectAccess, scope: Scope) -> FastPath | None:
        """Return this fast path if it supports the rules, else None; ``scope`` is that of the trigger's state."""
        assigner, trigger = parts.rules.assigner, parts.rules.trigger
        if (
            type(assigner) is not CountTumblingWindowAssigner
            or type(trigger) is not CountTrigger
            or not parts.rules.purely_counting
        ):
            return None
        numbers = state.cells(assigner._count_descriptor)
        counts = state.cells(trigger._count_state_descriptor, scope)
        if numbers is None or counts is None:
            return None
        return CountWindows(parts, assigner._window_size, numbers, counts, state)

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their windows, and fire the windows that are full."""
        add, size, fire = self.panes.adder(), self.size, self.emitter.fire
        numbers, numbers_dirty = self.numbers.values, self.numbers.dirty
        counts, counts_dirty = self.counts.values, self.counts.dirty
        number_of, window_of, tracking = numbers.get, self.windows.get, self.state.tracking
        times: Iterable[int] = repeat(MIN_TIMESTAMP) if timestamps is None else timestamps
        for value, timestamp in zip(cursor, times, strict=False):
            key = key_of(value)
            number = number_of(key, 0)
            numbers[key] = number + 1
            window = window_of(number // size) or self._window(number // size)
            add(key, (window,), (value,))
            pane = (key, window)
            if tracking:
                numbers_dirty[key] = counts_dirty[pane] = 0
            count = number % size + 1  # the trigger's count follows from the assigner's number
            if count < size:
                counts[pane] = count
                continue
            counts.pop(pane, None)
            fire(key, window, self.panes.pop(key, window), timestamp)

    def _window(self, number: int) -> CountWindow:
        if len(self.windows) >= _MOST_WINDOWS:
            self.windows.clear()
        window = self.windows[number] = CountWindow(number)
        return window
