"""Windows in local time: the time of records as the clocks of a zone show it, and back.

Local time is ms as if the clocks showed UTC. When clocks go back, two moments have the same local time.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from flintstream.datastream.window import ProcessingTimeTrigger, TimeWindow, WindowAssigner
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.times import MAX_TIMESTAMP
from flintstream.table._expressions.helpers import EPOCH, zone_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from flintstream.datastream.window import Trigger

_QUARTER = 900_000
"""Offsets of zones change only at multiples of these ms."""
_LONGEST = 12
"""The quarters of an hour by which clocks go back at most."""
_RANGE = 250_000_000_000_000
"""The ms before and after 1970 that datetime can hold."""


class Zone:
    """A time zone.

    >>> zone = Zone("America/New_York")
    >>> first, second = 1_730_610_000_000, 1_730_613_600_000  # 05:00 and 06:00 UTC of the day when clocks go back
    >>> zone.local(first) == zone.local(second)
    True
    >>> zone.epoch(zone.local(second)) == first
    True
    """

    def __init__(self, name: str) -> None:
        """Take the name of the zone, as in ``table.local-time-zone``."""
        self.name = name
        self._zone = zone_of(name)
        self._offsets: dict[int, int] = {}

    def __reduce__(self) -> tuple[type[Zone], tuple[str]]:
        """Leave out what was found so far."""
        return Zone, (self.name,)

    def _offset(self, quarter: int) -> int:
        found = self._offsets.get(quarter)
        if found is None:
            moment = datetime.fromtimestamp(quarter * _QUARTER / 1000, timezone.utc).astimezone(self._zone)
            found = self._offsets[quarter] = (moment.utcoffset() or timedelta()) // timedelta(milliseconds=1)
        return found

    def local(self, timestamp: int) -> int:
        """Return the local time of a moment."""
        return timestamp + self._offset(timestamp // _QUARTER) if -_RANGE < timestamp < _RANGE else timestamp

    def epoch(self, local: int) -> int:
        """Return the first moment with a local time; of one that clocks skip, by the offset until then."""
        return self._epoch(local, 0)

    def _epoch(self, local: int, fold: int) -> int:
        if not -_RANGE < local < _RANGE:
            return local
        moment = (EPOCH + timedelta(milliseconds=local)).replace(tzinfo=self._zone, fold=fold)
        return local - (moment.utcoffset() or timedelta()) // timedelta(milliseconds=1)

    def over(self, local: int) -> int:
        """Return the moment from which no record comes whose local time is as early as this."""
        first, second = self._epoch(local, 0), self._epoch(local, 1)
        if first > second:  # clocks leave this time out
            return first - first % 3_600_000
        return second

    def local_watermark(self, watermark: int) -> int:
        """Return the local time up to which no record comes after a watermark."""
        if not -_RANGE < watermark < _RANGE:
            return watermark
        after = watermark + 1
        begins = ((after // _QUARTER + i) * _QUARTER for i in range(1, _LONGEST + 1))
        return min(self.local(after), *map(self.local, begins)) - 1

    def watermark(self, local: int) -> int:
        """Return the watermark of a local time, at the latest."""
        return min(self._epoch(local, 0), self._epoch(local, 1))


class ToLocal(Operator):
    """Gives records and watermarks local time."""

    one_for_one = True

    def __init__(self, zone: Zone) -> None:
        """Take the zone."""
        self.zone = zone

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Change the timestamps of a block."""
        self.output.emit(values, None if timestamps is None else list(map(self.zone.local, timestamps)))

    def process_watermark(self, timestamp: int) -> None:
        """Change a watermark."""
        self.output.emit_watermark(self.zone.local_watermark(timestamp))


class ToEpoch(Operator):
    """Gives records and watermarks of local time that of UTC."""

    one_for_one = True

    def __init__(self, zone: Zone) -> None:
        """Take the zone."""
        self.zone = zone

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Change the timestamps of a block."""
        self.output.emit(values, None if timestamps is None else list(map(self.zone.epoch, timestamps)))

    def process_watermark(self, timestamp: int) -> None:
        """Change a watermark."""
        self.output.emit_watermark(timestamp if timestamp == MAX_TIMESTAMP else self.zone.watermark(timestamp))


class LocalProcessingTime(WindowAssigner[object, TimeWindow]):
    """Windows of processing time that begin and end at local times of a zone. Their bounds are in UTC."""

    def __init__(self, assigner: Any, zone: Zone) -> None:
        """Take the assigner of windows in local time."""
        self.assigner, self.zone = assigner, zone

    def assign_windows(
        self, element: object, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows of a record."""
        clock = LocalClock(context.get_current_processing_time(), self.zone)
        found = self.assigner.assign_windows(element, timestamp, clock)
        return [TimeWindow(self.zone.epoch(item.start), self.zone.over(item.max_timestamp()) + 1) for item in found]

    def get_default_trigger(self, env: object) -> Trigger[object, TimeWindow]:
        """Return the trigger of the end of a window."""
        return ProcessingTimeTrigger.create()

    def get_window_serializer(self) -> Any:
        """Return None: flintstream needs no serializer."""
        return None

    def is_event_time(self) -> bool:
        """Return whether windows are of event time."""
        return False


class LocalClock:
    """A clock that shows local time, for assigners of windows."""

    def __init__(self, now: int, zone: Zone) -> None:
        """Take the time, in ms since the epoch."""
        self.now = zone.local(now)

    def get_current_processing_time(self) -> int:
        """Return the local time."""
        return self.now
