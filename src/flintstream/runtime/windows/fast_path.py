"""The common cases of the window operator, without calls of assigner and trigger for each record.

What they keep is what the general way keeps, so that a record can take either: those that are late, or otherwise out of
the ordinary, take the general one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import repeat
from typing import TYPE_CHECKING, Any

from flintstream.contracts.functions import ReduceFunctionWrapper
from flintstream.contracts.window import (
    EventTimeTrigger,
    ProcessingTimeTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from flintstream.runtime.copies import snapshot
from flintstream.runtime.operators.operator import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.heap_states import HeapAggregatingState, HeapListState, HeapReducingState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.runtime.windows.operator import WindowOperator

_MOST_WINDOWS = 4096

_HEAP_CONTENTS = (HeapListState, HeapReducingState, HeapAggregatingState)


class FastPath(ABC):
    """Adds records to the windows of one operator and fires them, without asking its assigner and its trigger."""

    timeless = False
    """Whether records without a timestamp can go this way, too."""
    event_time = True
    """Which of the two kinds of timers ``on_time`` is for."""

    def __init__(self, operator: WindowOperator, *, shared: bool) -> None:
        """Serve ``operator``; ``shared`` tells whether several windows may get one and the same record."""
        self.operator = operator
        self.shared = shared
        self.values: dict[Any, Any] = operator.contents._values  # noqa: SLF001 - ours
        self.dirty: dict[Any, int] = operator.contents._dirty  # noqa: SLF001
        self.first, self.more, self.result = self._steps()
        self.on_time: Callable[[int, Any, Any, bool], None] = operator.on_time
        """Called with each timer that is due."""

    @staticmethod
    def fits(operator: WindowOperator, *triggers: type) -> bool:
        """Tell whether trigger and contents are ones whose ways are known."""
        return type(operator.trigger) in triggers and type(operator.contents) in _HEAP_CONTENTS

    @abstractmethod
    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Put a block of records into their windows."""

    def _steps(
        self,
    ) -> tuple[Callable[[Any], Any] | None, Callable[[Any, Any], Any] | None, Callable[[Any], Any] | None]:
        """Return what makes contents of a first value, of contents and another value, and a result of contents.

        They are None where the value is the contents, the contents are a list, and the contents are the result.
        """
        function = self.operator.incremental
        kind = type(self.operator.contents)
        if kind is HeapListState:
            return lambda value: [value], None, None
        if kind is HeapReducingState:
            # One call less per record: the wrapper only calls the user's function
            plain = function._func if type(function) is ReduceFunctionWrapper else function.reduce  # noqa: SLF001
            # It may work in place on the first record of a window, which must not reach the other windows
            return (snapshot if self.shared else None), plain, None
        create, add = function.create_accumulator, function.add
        return (
            lambda value: add(value, create()),
            lambda accumulator, value: add(value, accumulator),
            function.get_result,
        )

    def emit(self, key: Any, contents: Any, timestamp: int) -> None:
        """Emit what was reduced or aggregated, for operators without a window function."""
        operator = self.operator
        if self.result is not None and contents is not None:
            operator.state.key = key
            contents = self.result(contents)
        if contents is None:
            return
        operator.results.append(contents if type(contents) in operator.frozen else snapshot(contents))
        operator.stamps.append(timestamp)

    def register(self, key: Any, window: TimeWindow) -> None:
        """Register the timers of a new window: the trigger's, and the one that drops it."""
        operator = self.operator
        if not self.event_time:
            operator.timers.register_processing_time(window[1] - 1, key, window)
            return
        operator.timers.register_event_time(window[1] - 1, key, window)
        if operator.lateness and (cleanup := operator.cleanup_time(window)) < MAX_TIMESTAMP:
            operator.timers.register_event_time(cleanup, key, window)


class AlignedWindows(FastPath):
    """Windows of one length, end to end or overlapping by whole slides, that fire at their end, in either time.

    Windows are made once and shared by all keys, and a window's timers are registered with its first record only.
    """

    def __init__(self, operator: WindowOperator, size: int, slide: int, offset: int) -> None:
        """Serve ``operator``: windows ``size`` ms long that start ``offset`` ms after multiples of ``slide``."""
        super().__init__(operator, shared=slide < size)
        self.event_time = operator.event_time
        self.timeless = not operator.event_time
        self.size = size
        self.slide = slide
        self.offset = offset
        self.windows: dict[int, tuple[TimeWindow, ...]] = {}
        """The windows of a record by the start of the newest, the newest first."""
        at_once = operator.function is None and not operator.lateness
        self.on_time = self._finish if at_once else self._fire_or_drop

    @staticmethod
    def of(operator: WindowOperator) -> FastPath | None:
        """Return the fast path of an operator if it can have this one."""
        assigner: Any = operator.assigner
        if not FastPath.fits(operator, EventTimeTrigger if operator.event_time else ProcessingTimeTrigger):
            return None
        if type(assigner) in {TumblingEventTimeWindows, TumblingProcessingTimeWindows}:
            return AlignedWindows(operator, assigner._size, assigner._size, assigner._offset)  # noqa: SLF001
        if type(assigner) in {SlidingEventTimeWindows, SlidingProcessingTimeWindows}:
            size, slide = assigner._size, assigner._slide  # noqa: SLF001
            if size % slide == 0:
                return AlignedWindows(operator, size, slide, assigner._offset)  # noqa: SLF001
        return None

    def _windows_from(self, newest: int) -> tuple[TimeWindow, ...]:
        size = self.size
        if len(self.windows) >= _MOST_WINDOWS:
            self.windows.clear()
        found = tuple([TimeWindow(start, start + size) for start in range(newest, newest - size, -self.slide)])
        self.windows[newest] = found
        return found

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Put a block of records into their windows."""
        operator = self.operator
        values, dirty, first, more = self.values, self.dirty, self.first, self.more
        size, slide, offset = self.size, self.slide, self.offset
        state = operator.state
        tracking = state.tracking
        windows_of = self.windows.get
        # The oldest window of a record ends `slide` after the start of the newest; once that is over, some window is
        # late or fires at once. The least timestamps go the general way, too, for the sake of its error message.
        first_open = max(operator.timers.current_watermark - slide + 1, MIN_TIMESTAMP + 2 * size)
        times: Iterable[int] = timestamps or ()
        if not self.event_time:
            first_open, times = MIN_TIMESTAMP, repeat(operator.timers.clock())
        for value, timestamp in zip(cursor, times, strict=False):
            key = key_of(value)
            newest = timestamp - (timestamp - offset) % slide
            if newest <= first_open or (value is None and more is not None):
                operator.add(key, value, timestamp)
                continue
            state.key = key
            for window in windows_of(newest) or self._windows_from(newest):
                pane = (key, window)
                contents = values.get(pane)
                if contents is None:
                    values[pane] = value if first is None else first(value)
                    self.register(key, window)
                elif more is not None:
                    values[pane] = more(contents, value)
                else:
                    if tracking and pane not in dirty:
                        dirty[pane] = len(contents)
                    contents.append(value)
                    continue
                if tracking:
                    dirty[pane] = 0

    def _finish(self, timestamp: int, key: Any, window: TimeWindow, event: bool) -> None:  # noqa: ARG002
        """Emit what was reduced or aggregated, and drop the window."""
        operator = self.operator
        pane = (key, window)
        contents = self.values.pop(pane, None)
        if operator.state.tracking:
            self.dirty[pane] = 0
        self.emit(key, contents, timestamp)

    def _fire_or_drop(self, timestamp: int, key: Any, window: TimeWindow, event: bool) -> None:  # noqa: ARG002
        """Fire a window at its end, and drop it when its lateness is over."""
        operator = self.operator
        operator.state.key = key
        operator.trigger_ctx.enter(key, window)
        if timestamp == window[1] - 1:
            operator.fire_window(timestamp)
            if operator.lateness:
                return
        operator.contents.clear()
        if operator.clear_function is not None:
            operator.clear_function(operator.window_ctx)
