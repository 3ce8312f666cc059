"""Windows of tables that streams do not have: those that grow by steps, and rows with their windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream.functions import ProcessFunction, ProcessWindowFunction
from flintstream.datastream.window import EventTimeTrigger, ProcessingTimeTrigger, TimeWindow, WindowAssigner
from flintstream.runtime.operators.base import Operator
from flintstream.table._expressions.times.helpers import from_millis, millis
from flintstream.table._operators.zones import LocalClock

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable

    from flintstream.datastream.window import Trigger
    from flintstream.table._operators.rows import Change, Row
    from flintstream.table._operators.zones import Zone


class Cumulating(WindowAssigner[object, TimeWindow]):
    """Windows with the same start, whose ends are ``step`` ms apart, up to ``size``."""

    def __init__(self, size: int, step: int, offset: int, is_event_time_: bool) -> None:
        """Take all in ms."""
        self.size, self.step, self.offset, self.event_time = size, step, offset, is_event_time_

    def assign_windows(
        self, element: object, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows of a record."""
        time = timestamp if self.event_time else context.get_current_processing_time()
        start = time - (time - self.offset) % self.size
        first = start + ((time - start) // self.step + 1) * self.step
        return [TimeWindow(start, end) for end in range(first, start + self.size + 1, self.step)]

    def get_default_trigger(self, env: object) -> Trigger[object, TimeWindow]:
        """Return the trigger of the end of a window."""
        return EventTimeTrigger.create() if self.event_time else ProcessingTimeTrigger.create()

    def get_window_serializer(self) -> Any:
        """Return None: flintstream needs no serializer."""
        return None

    def is_event_time(self) -> bool:
        """Return whether windows are of event time."""
        return self.event_time


class _Now:
    def __init__(self, ctx: ProcessFunction.Context) -> None:
        self.ctx = ctx

    def get_current_processing_time(self) -> int:
        """Return ms since the epoch."""
        return int(self.ctx.timer_service().current_processing_time())


class WindowsOf(ProcessFunction):
    """Emits each row once for each of its windows, with the start, end and time of the window."""

    def __init__(
        self, assigner: WindowAssigner[object, TimeWindow], *, changelog: bool, zone: Zone | None = None
    ) -> None:
        """Take the assigner, whether records end with a kind of change, and the zone of local times."""
        self.assigner, self.changelog, self.zone = assigner, changelog, zone

    def process_element(self, value: Change, ctx: ProcessFunction.Context) -> Generator[Row]:
        """Emit the rows."""
        row, kind = (value[:-1], value[-1:]) if self.changelog else (value, ())
        zone, timestamp = self.zone, ctx.timestamp()
        clock: Any = _Now(ctx)
        if zone is not None:
            timestamp = None if timestamp is None else zone.local(timestamp)
            clock = LocalClock(clock.get_current_processing_time(), zone)
        for window in self.assigner.assign_windows(value, timestamp, clock):
            last = window.max_timestamp()
            times = (window.start, window.end, last if zone is None else zone.epoch(last))
            yield (*row, *map(from_millis, times), *kind)


class ToEnds(Operator):
    """Gives rows of windows the times of the windows' ends. With a zone, these and watermarks are in local time."""

    one_for_one = True

    def __init__(self, end: int, zone: Zone | None) -> None:
        """Take the position of the end in a row, and the zone of local times."""
        self.end, self.zone = end, zone

    def process(self, values: list[Row], timestamps: list[int] | None) -> None:
        """Change the timestamps of a block."""
        end = self.end
        self.output.emit(values, [millis(value[end]) - 1 for value in values])

    def process_watermark(self, timestamp: int) -> None:
        """Change a watermark."""
        zone = self.zone
        self.output.emit_watermark(timestamp if zone is None else zone.local_watermark(timestamp))


class RowsOfSession(ProcessWindowFunction):
    """Emits the rows of a session when it ends, each with the start, end and time of the session."""

    def __init__(self, zone: Zone | None = None, *, changelog: bool, event_time: bool) -> None:
        """Take the zone of local times and whether records end with a kind of change."""
        self.zone, self.changelog, self.event_time = zone, changelog, event_time

    def process(
        self, key: Row, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Change]
    ) -> Generator[Row]:
        """Emit the rows."""
        times = times_of(context.window(), self.zone, event_time=self.event_time)
        for value in elements:
            row, kind = (value[:-1], value[-1:]) if self.changelog else (value, ())
            yield (*row, *times, *kind)


def times_of(window: TimeWindow, zone: Zone | None, *, event_time: bool) -> Row:
    """Return start, end and time of a window. Windows of event time have the times of a zone, others those of UTC."""
    bounds = (window.start, window.end, window.max_timestamp())
    if zone is not None and event_time:
        bounds = (*bounds[:2], zone.epoch(bounds[2]))
    elif zone is not None:
        last = zone.local(bounds[2])
        bounds = (zone.local(bounds[0]), last + 1, last)
    return tuple(map(from_millis, bounds))
