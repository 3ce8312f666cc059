"""Windows of so many records, one after the other, that fire when they are full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.window import CountTrigger, CountTumblingWindowAssigner, CountWindow
from flintstream.runtime.operators.operator import MIN_TIMESTAMP
from flintstream.runtime.windows.fast_path import FastPath
from flintstream.state.heap_states import HeapReducingState, HeapValueState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.windows.operator import WindowOperator

_MOST_WINDOWS = 4096


class CountWindows(FastPath):
    """Numbers of records and their counts are state of the assigner and of the trigger, as in the general way."""

    timeless = True
    event_time = False

    def __init__(self, operator: WindowOperator, size: int, numbers: HeapValueState, counts: HeapReducingState) -> None:
        """Serve ``operator``: windows of ``size`` records."""
        super().__init__(operator, shared=False)
        self.size = size
        self.numbers, self.numbers_dirty = numbers._values, numbers._dirty  # noqa: SLF001 - ours
        self.counts, self.counts_dirty = counts._values, counts._dirty  # noqa: SLF001
        self.windows: dict[int, CountWindow] = {}

    @staticmethod
    def of(operator: WindowOperator) -> FastPath | None:
        """Return the fast path of an operator if it can have this one."""
        assigner, trigger = operator.assigner, operator.trigger
        if not (
            type(assigner) is CountTumblingWindowAssigner
            and operator.purge_fired
            and FastPath.fits(operator, CountTrigger)
        ):
            return None
        numbers = operator.state.state(assigner._count_descriptor)  # noqa: SLF001
        counts = operator.trigger_ctx.get_partitioned_state(trigger._count_state_descriptor)  # type: ignore[attr-defined] # noqa: SLF001
        if type(numbers) is not HeapValueState or type(counts) is not HeapReducingState:
            return None
        return CountWindows(operator, assigner._window_size, numbers, counts)  # noqa: SLF001

    def add_all(self, key_of: Callable[[Any], Any], cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Put a block of records into their windows, and fire those that are full."""
        operator = self.operator
        values, dirty, first, more = self.values, self.dirty, self.first, self.more
        numbers, counts, size = self.numbers, self.counts, self.size
        state, stamps, at_once = operator.state, timestamps or (), operator.function is None
        tracking = state.tracking
        window_of = self.windows.get
        for position, value in enumerate(cursor):
            key = key_of(value)
            if value is None and more is not None:
                operator.add(key, value, stamps[position] if stamps else MIN_TIMESTAMP)
                continue
            state.key = key
            number = numbers.get(key, 0)
            numbers[key] = number + 1
            window = window_of(number // size) or self._window(number // size)
            pane = (key, window)
            contents = values.get(pane)
            if tracking:
                self.numbers_dirty[key] = self.counts_dirty[pane] = 0
                if more is not None or contents is None:
                    dirty[pane] = 0
                elif pane not in dirty:
                    dirty[pane] = len(contents)
            if contents is None:
                contents = values[pane] = value if first is None else first(value)
            elif more is not None:
                contents = values[pane] = more(contents, value)
            else:
                contents.append(value)
            count = counts.get(pane, 0) + 1
            if count < size:
                counts[pane] = count
                continue
            counts.pop(pane, None)
            timestamp = stamps[position] if stamps else MIN_TIMESTAMP
            if at_once:
                self.emit(key, contents, timestamp)
            else:
                operator.trigger_ctx.enter(key, window)
                operator.fire_window(timestamp)
            del values[pane]
            if tracking:
                dirty[pane] = 0

    def _window(self, number: int) -> CountWindow:
        if len(self.windows) >= _MOST_WINDOWS:
            self.windows.clear()
        window = self.windows[number] = CountWindow(number)
        return window
