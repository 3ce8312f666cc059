"""The time of rows, and the watermarks that follow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common.time import Duration
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkStrategy
from flintstream.options.units import parse_nanos
from flintstream.table._errors import SqlError
from flintstream.table._expressions.codegen import compile_source
from flintstream.table._expressions.times.helpers import millis

if TYPE_CHECKING:
    from collections.abc import Mapping
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

    def moment(self, value: object) -> datetime | None:
        """Return the time."""
        if self._run is None:
            self._run = compile_source(self.code)
        found: list[tuple[Any]] = []
        self._run((value,), found.append)
        return found[0][0]  # type: ignore[no-any-return]

    def extract_timestamp(self, value: object, record_timestamp: int) -> int:
        """Return ms since the epoch."""
        return _millis(self.moment(value))


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


class ComputedWatermarks(TimeColumn):
    """Watermarks that an expression computes from a row: the largest one so far. NULL changes nothing."""

    def __init__(self, code: Source, interval_ms: int) -> None:
        """Take the code that projects a row to its watermark, and the interval of watermarks."""
        super().__init__(0, interval_ms)
        self.time = ComputedTime(code)

    def on_event(self, value: object, timestamp: int, output: object) -> None:
        """Keep the largest watermark."""
        moment = self.time.moment(value)
        if moment is not None:
            super().on_event(value, millis(moment), output)


@dataclass(frozen=True)
class Watermarks:
    """The watermarks of a table: those of its time column less a delay, or what ``code`` computes from its rows."""

    delay_ms: int = 0
    code: Source | None = None
    idle_ms: int = 0
    """After this time without a row, a split or subtask no longer holds back the watermark; 0 for never."""
    alignment: tuple[str, int, int] | None = None
    """The group of sources that wait for each other, how far one may be ahead and how often they compare, in ms."""

    def strategy(self, interval_ms: int) -> WatermarkStrategy[tuple[object, ...]]:
        """Return the strategy; the caller sets how to find the time."""
        generator = (
            partial(TimeColumn, self.delay_ms, interval_ms)
            if self.code is None
            else partial(ComputedWatermarks, self.code, interval_ms)
        )
        made: WatermarkStrategy[tuple[object, ...]] = WatermarkStrategy.for_generator(generator)
        if self.idle_ms:
            made = made.with_idleness(Duration.of_millis(self.idle_ms))
        if self.alignment is not None:
            group, drift, update = self.alignment
            made = made.with_watermark_alignment(group, Duration.of_millis(drift), Duration.of_millis(update))
        return made


ALIGNMENT = tuple(f"scan.watermark.alignment.{key}" for key in ("group", "max-drift", "update-interval"))


def alignment_of(table: str, options: Mapping[str, str]) -> tuple[str, int, int] | None:
    """Return the alignment that the options of a table ask for.

    Raises:
        SqlError: There is a group without a drift, or the other way around.
    """
    group, drift, update = map(options.get, ALIGNMENT)
    if (group is None) != (drift is None):
        raise SqlError(f"table '{table}': '{ALIGNMENT[0]}' and '{ALIGNMENT[1]}' belong together; set both or none")
    if group is None or drift is None:
        return None
    return group, parse_nanos(drift) // 1_000_000, parse_nanos(update or "1 s") // 1_000_000
