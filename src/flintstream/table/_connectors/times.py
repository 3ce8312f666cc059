"""The time of rows, and the watermarks that follow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common.time import Duration
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.options.units import parse_nanos
from flintstream.runtime.operators.block_times import BlockAssigner, BlockGenerator
from flintstream.table._errors import SqlError
from flintstream.table._expressions.codegen import compile_source
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.field_rows import FieldLoop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from flintstream.common.watermark_strategy import WatermarkOutput
    from flintstream.table._expressions.codegen import Source


_NULL_TIME = "RowTime field should not be null, please convert it to a non-null long value."


def _millis(moment: datetime | None) -> int:
    if moment is None:
        raise ValueError(_NULL_TIME)
    return millis(moment)


class TimeOf(BlockAssigner["Sequence[datetime]"]):
    """The time in a column."""

    def __init__(self, position: int) -> None:
        self.position = position

    def extract_timestamp(self, value: Sequence[datetime], record_timestamp: int) -> int:
        """Return ms since the epoch."""
        return _millis(value[self.position])

    def extract_timestamps(self, values: Sequence[Sequence[datetime]]) -> list[int]:
        """Return ms since the epoch for each row of a block."""
        position = self.position
        return [millis(value[position]) for value in values]


class _Computed:
    """A time in ms that an expression computes from the columns of a row."""

    def __init__(self, code: Source) -> None:
        """Take the code that projects a row to its time in ms."""
        self.code = code
        self._run: Any = None
        self._loop: FieldLoop | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_run": None, "_loop": None}

    def __call__(self, values: Sequence[object]) -> list[int | None]:
        """Return the time of each row."""
        if self._loop is None:
            self._loop = FieldLoop(self.code)
        made = self._loop.run(values, None) if isinstance(values, list) else None
        if made is not None:
            return made[0]  # type: ignore[return-value]
        if self._run is None:
            self._run = compile_source(self.code)
        found: list[int | None] = []
        self._run(values, found.append)
        return found


class ComputedTime(BlockAssigner[object]):
    """The time that an expression computes from the columns of a source."""

    def __init__(self, code: Source) -> None:
        """Take the code that projects a record to its time in ms."""
        self.times = _Computed(code)

    def extract_timestamp(self, value: object, record_timestamp: int) -> int:
        """Return ms since the epoch."""
        return self.extract_timestamps([value])[0]

    def extract_timestamps(self, values: Sequence[object]) -> list[int]:
        """Return ms since the epoch for each row of a block."""
        found = self.times(values)
        if None in found:
            raise ValueError(_NULL_TIME)
        return found  # type: ignore[return-value]


class TimeColumn(BlockGenerator[object]):
    """Watermarks of a column: its largest value less a delay.

    As in Flink's tables, one follows a record at once if it is further on than the interval of watermarks.
    """

    def __init__(self, delay_ms: int, interval_ms: int) -> None:
        """Take the delay, and the interval of watermarks."""
        self.delay_ms, self.interval_ms = delay_ms, interval_ms
        self.highest: int | None = None
        self.emitted: int | None = None

    def on_event(self, value: object, timestamp: int, output: WatermarkOutput) -> None:
        """Keep the largest timestamp."""
        self.on_block([value], [timestamp], 0, output)

    def on_block(self, values: Sequence[object], timestamps: Sequence[int], start: int, output: WatermarkOutput) -> int:
        """Keep the largest timestamp, up to the record that a watermark follows."""
        found = self._find(timestamps[start:] if start else timestamps, output)
        return len(timestamps) if found is None else start + found + 1

    def _find(self, timestamps: Sequence[int], output: WatermarkOutput) -> int | None:
        """Return the position of the first timestamp that a watermark follows."""
        highest = max(timestamps)
        if self.highest is not None and highest <= self.highest:
            return None
        limit = None if self.emitted is None else self.emitted + self.delay_ms + self.interval_ms
        if limit is not None and highest <= limit:
            self.highest = highest
            return None
        found = next(i for i, ms in enumerate(timestamps) if limit is None or ms > limit)
        self.highest = timestamps[found]
        self.on_periodic_emit(output)
        return found

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark."""
        if self.highest is not None:
            self.emitted = self.highest - self.delay_ms
            output.emit_watermark(self.emitted)


class ComputedWatermarks(TimeColumn):
    """Watermarks that an expression computes from a row: the largest one so far. NULL changes nothing."""

    def __init__(self, code: Source, interval_ms: int) -> None:
        """Take the code that projects a row to its watermark in ms, and the interval of watermarks."""
        super().__init__(0, interval_ms)
        self.times = _Computed(code)

    def on_block(self, values: Sequence[object], timestamps: Sequence[int], start: int, output: WatermarkOutput) -> int:
        """Keep the largest watermark, up to the record that one follows."""
        marks = [(i, ms) for i, ms in enumerate(self.times(values[start:]), start) if ms is not None]
        found = self._find([ms for _, ms in marks], output) if marks else None
        return len(values) if found is None else marks[found][0] + 1


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
