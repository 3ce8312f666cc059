"""The time of rows, and the watermarks that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from flintstream.table._expressions.codegen import compiled
from flintstream.table._expressions.time_helpers import millis

if TYPE_CHECKING:
    from datetime import datetime

    from flintstream.table._expressions.codegen import Source


def _millis(moment: datetime | None) -> int:
    if moment is None:
        raise ValueError("RowTime field should not be null, please convert it to a non-null long value.")
    return millis(moment)


class TimeOf(TimestampAssigner[object]):
    """The time in a column."""

    def __init__(self, position: int) -> None:
        self.position = position

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return ms since the epoch."""
        return _millis(value[self.position])


class ComputedTime(TimestampAssigner[object]):
    """The time that an expression computes from the columns of a source."""

    def __init__(self, code: Source) -> None:
        """Take the code that projects a record to its time."""
        self.code = code
        self._run: Any = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_run": None}

    def extract_timestamp(self, value: object, record_timestamp: int) -> int:
        """Return ms since the epoch."""
        if self._run is None:
            self._run = compiled(self.code)
        found: list[tuple[Any]] = []
        self._run((value,), found.append)
        return _millis(found[0][0])


class TimeColumn(WatermarkGenerator[object]):
    """Watermarks of a column: its largest value less a delay.

    As in Flink's tables, one follows a record at once if it is further on than the interval of watermarks.
    """

    def __init__(self, delay_ms: int, interval_ms: int) -> None:
        """Take the delay, and the interval of watermarks."""
        self.delay_ms, self.interval_ms = delay_ms, interval_ms
        self.highest: int | None = None
        self.emitted: int | None = None

    def on_event(self, value: object, timestamp: int, output: object) -> None:
        """Keep the largest timestamp."""
        if self.highest is None or timestamp > self.highest:
            self.highest = timestamp
            if self.emitted is None or timestamp - self.delay_ms - self.emitted > self.interval_ms:
                self.on_periodic_emit(output)

    def on_periodic_emit(self, output: Any) -> None:
        """Emit the watermark."""
        if self.highest is not None:
            self.emitted = self.highest - self.delay_ms
            output.emit_watermark(self.emitted)
