"""The operators that read input: the base class, and the one that runs a source's reader inside a task."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._types.conversion import convert_block
from flintstream.connectors.source import Boundedness, Fetch, SourceWatermark, Timestamped
from flintstream.errors import shorten
from flintstream.metrics.reported import Gauged
from flintstream.runtime.block_size import LONGEST_WAIT_MS, LOOK_MS, is_slow, next_size
from flintstream.runtime.copies import copied_block
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP, all_fit, whole_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from flintstream.connectors.source import Source
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator
    from flintstream.runtime.protocol import NodeReport

POLL_SECONDS = 0.005
PENDING_RECORDS = "pendingRecords"

UNBOUNDED_EPOCH_MS = 1_000
"""Longest epoch of an unbounded source, which bounds the latency of results."""

BUSY_SHARE = 0.2
"""Below this share of CPU time, a process counts as waiting."""

SINGLES = 128
"""Number of records for which connected sources take turns one record at a time, as in PyFlink."""


class InputOperator(Operator, ABC):
    """Base of operators without input, where records enter a job."""

    def __init__(self) -> None:
        """Start with nothing to read."""
        self.splits: list[Any] = []
        self.finished = False
        """Whether the end of the input was forwarded."""
        self.more = False
        """Whether the last epoch left some of the splits unread."""
        self.records = 0
        """Number of records in the last epoch."""
        self.waited = 0.0
        """Seconds that it waited for new records in the last epoch."""
        self.aligned: list[TimestampsAndWatermarksOperator] = []
        """Downstream watermark generators that may make splits wait."""

    def on_watermark_generator(self, generator: TimestampsAndWatermarksOperator) -> None:
        """Let ``generator`` make splits wait."""
        self.aligned.append(generator)

    def begin_epoch(self, epoch: Epoch, given: Sequence[Any]) -> None:
        """Take new splits."""
        self.epoch = epoch
        self.splits.extend(given)

    def reads(self) -> Iterator[int]:
        """Return an iterator that reads until there are no more records or the epoch is over."""
        if self.epoch.drain:
            self.drain()
        self.more, self.records, self.waited = False, 0, 0.0
        return self.read()

    def drain(self) -> None:
        """Stop reading."""
        self.splits.clear()

    @property
    def last(self) -> bool:
        """Whether no further splits will come."""
        return self.epoch.drain or self.context.node in self.epoch.no_more_splits

    @abstractmethod
    def read(self) -> Iterator[int]:
        """Emit records as in :meth:`reads`, and yield whenever something can be sent."""

    def progress(self) -> object | None:
        """Return a message for the enumerator, sent when a checkpoint contains the epoch that ends now."""
        return None

    def pending_records(self) -> int | None:
        """Return how many records it could read already; None if that is unknown."""
        return None

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Report the number of records read, and whether some are left."""
        pending = self.pending_records()
        return (
            super()
            .end_epoch(epoch)
            ._replace(
                records=self.records,
                more=self.more,
                unread=bool(self.splits),
                progress=self.progress(),
                waited_ms=self.waited * 1000,
                metrics={} if pending is None else {PENDING_RECORDS: Gauged([pending])},
            )
        )


class SourceOperator(InputOperator):
    """Reads splits and emits their records."""

    keeps_state = True
    gives_blocks = True

    def __init__(self, source: Source, converter: Callable[[Any], Any] | None = None) -> None:
        """Take the source and, for a typed stream, the function that converts a record to its type."""
        super().__init__()
        self.source = source
        self.converter = converter
        self.size = 1
        """Number of records in the next block."""
        self.fetch = Fetch(size=1)
        self.pending: list[tuple[str, list[Any], list[int] | None]] = []
        """Batches read but not emitted before the epoch ended: split, values, timestamps."""
        self.readings: Sequence[tuple[object, Generator[object, None, bool]]] = ()
        self.drained = self.closed = False
        self.reading = ""
        """The split whose records are being emitted."""
        self.watermarks: dict[str, int] = {}
        """Watermarks that the reader provided, by split."""
        self.watermark = MIN_TIMESTAMP
        self.singles = 0
        """Number of records left to emit one by one while sources take turns."""

    def open(self) -> None:
        """Create and open the reader."""
        self.singles = SINGLES if self.context.alternates else 0
        try:
            self.reader = self.source.create_reader()
            self.reader.open(self.context.runtime_context)
        except BaseException as error:
            raise self._failure(error) from error

    def progress(self) -> object | None:
        """Return the reader's message about its splits."""
        try:
            return self.reader.progress(self.splits)
        except BaseException as error:
            raise self._failure(error) from error

    def pending_records(self) -> int | None:
        """Return what the reader knows, and the records that it has read and not emitted."""
        try:
            pending = self.reader.pending_records(self.splits)
        except Exception:  # noqa: BLE001 - a metric does not fail a job
            return None
        return None if pending is None else pending + sum(len(values) for _, values, _ in self.pending)

    def close(self) -> None:
        """Close the reader."""
        self.closed = True
        try:
            self.reader.close()
        except BaseException as error:
            raise self._failure(error) from error

    def release(self) -> None:
        """Close the reader after a failure, whose error that of closing must not hide."""
        with contextlib.suppress(Exception):
            for _, reading in self.readings:
                reading.close()
            if not self.closed:
                self.reader.close()

    def _failure(self, error: BaseException, record: str | None = None) -> OperatorFailure:
        return OperatorFailure(self.context.name, self.context.subtask, error, record)

    def drain(self) -> None:
        """Emit only records already read, however long that takes."""
        super().drain()
        self.drained = True

    def read(self) -> Iterator[int]:
        """Read until the splits or the epoch end, and yield after each block."""
        # All broadcast records of an epoch must arrive before its events.
        most = self.epoch.max_records
        if most and self.context.broadcasts:
            most = None
        over = self._end_of_epoch(most)
        pending, self.pending = self.pending, []
        for batch in pending:
            if self.pending:
                self.pending.append(batch)
            else:
                yield from self._emit(*batch, over, most)
        if self.pending or (most == 0 and self.splits and not self.drained):
            self.more = True
        else:
            yield from self._read_splits(over, most)
        if self.last and not self.splits and not self.pending and not self.finished:
            self.finished = True
            self.output.emit_watermark(MAX_TIMESTAMP)
            yield self.records

    def _read_splits(self, over: Callable[[], bool], most: int | None) -> Iterator[int]:
        started, idle_ms = time.monotonic(), self.epoch.idle_epoch_ms
        bounded = self.source.get_boundedness() is Boundedness.BOUNDED
        readings = [(split, self.reader.read(split, self.fetch)) for split in self.splits]
        self.readings = readings
        turn = 0
        idle_round = True
        caught_up: set[str] = set()
        while readings:
            turn %= len(readings)
            if turn == 0:
                idle_round = True
            split, reading = readings[turn]
            if not self.context.batch and self._is_ahead(split.split_id):
                self._pause(*readings.pop(turn))
                continue
            self.fetch.size = self._room(most)
            records = self._next(reading)
            if records is True:
                readings.pop(turn)
                self.splits.remove(split)
                continue
            if records is False:
                readings[turn] = (split, self.reader.read(split, self.fetch))
                turn += 1
                caught_up.add(split.split_id)
                if turn == len(readings):
                    # Emitted records do not wait while no split has new ones. In BATCH mode, there is no later epoch.
                    done = self.records > 0 and all(other.split_id in caught_up for other, _ in readings)
                    waited = not self.epoch.waits or (time.monotonic() - started) * 1000 >= idle_ms
                    if not self.context.batch and (done or (idle_round and waited)):
                        break
                    if idle_round:
                        began = time.monotonic()
                        time.sleep(POLL_SECONDS)
                        self.waited += time.monotonic() - began
                continue
            idle_round = False
            if isinstance(records, SourceWatermark):
                self._advance(split.split_id, self._watermark_of(records))
            else:
                yield from self._emit(split.split_id, *self._convert(records), over, most)
            if over():
                self.more = True
                break
            if not bounded:
                turn += 1
        for _, reading in readings:
            reading.close()

    def _is_ahead(self, split: str) -> bool:
        """Return whether a split must wait for others until the epoch ends."""
        return any(generator.is_ahead(self.epoch.slowest, split) for generator in self.aligned)

    def _pause(self, split: Any, reading: Generator[Any, None, bool]) -> None:
        """Set a split aside for later epochs."""
        self.more = True
        reading.close()
        self.reader.set_aside(split)

    def _watermark_of(self, given: SourceWatermark) -> int:
        try:
            return whole_ms(given.timestamp, "a watermark")
        except (TypeError, OverflowError) as error:
            raise self._failure(error) from error

    def _advance(self, name: str, timestamp: int) -> None:
        """Emit the watermark that all splits have reached."""
        self.watermarks[name] = timestamp
        reached = min(self.watermarks.get(split.split_id, MIN_TIMESTAMP) for split in self.splits)
        if reached > self.watermark:
            self.watermark = reached
            self.output.emit_watermark(reached)

    def _next(self, reading: Generator[Any, None, bool]) -> Any:
        try:
            return next(reading)
        except StopIteration as stop:
            return bool(stop.value)
        except BaseException as error:
            raise self._failure(error) from error

    def _convert(self, records: list[Any] | Timestamped) -> tuple[list[Any], list[int] | None]:
        """Return the reader's records, converted to the declared type, and their timestamps."""
        values: list[Any]
        timestamps: list[int] | None
        if isinstance(records, Timestamped):
            values, timestamps = records.values, records.timestamps
            try:
                if not all_fit(timestamps):
                    timestamps = self._whole(values, timestamps)
            except TypeError:  # some are not numbers
                timestamps = self._whole(values, timestamps)
        else:
            values, timestamps = records, None
        if self.converter is not None:
            cursor = iter(values)
            try:
                values = convert_block(self.converter, values, cursor)
            except BaseException as error:
                raise self._failure(error, current_record(values, cursor)) from error
        return values, timestamps

    def _whole(self, values: list[Any], timestamps: list[Any]) -> list[int]:
        """Return timestamps as whole numbers. An error names the record of the first invalid one."""
        whole = []
        for value, timestamp in zip(values, timestamps, strict=True):
            try:
                whole.append(whole_ms(timestamp, "the timestamp of a record"))
            except (TypeError, OverflowError) as error:
                raise self._failure(error, shorten(value)) from error
        return whole

    def _emit(
        self, name: str, values: list[Any], timestamps: list[int] | None, over: Callable[[], bool], most: int | None
    ) -> Iterator[int]:
        """Emit a batch in blocks of the size that suits the downstream operators."""
        self.reading = name
        start = 0
        while start < len(values):
            end = start + self._room(most)
            block = values[start:end] if self.reader.gives_away else copied_block(values[start:end])
            began = time.monotonic()
            self.output.emit(block, None if timestamps is None else timestamps[start:end])
            done = len(block) - self.interrupter.take_unprocessed()
            self.records += done
            yield self.records
            if self.singles > 0:
                self.singles -= 1
            else:
                self.size = next_size(self.size, done, time.monotonic() - began, self.context.block)
            start += done
            if start < len(values) and over():
                rest = values[start:] if self.reader.gives_away else copied_block(values[start:])
                self.pending.append((name, rest, None if timestamps is None else timestamps[start:]))
                return

    def _room(self, most: int | None) -> int:
        """Return the maximum number of records in the next block."""
        return self.size if most is None else max(1, min(self.size, most - self.records))

    def _end_of_epoch(self, most: int | None) -> Callable[[], bool]:
        """Return a function that tells whether to end the epoch.

        While there is work, longer epochs cost less. While this process waits for the source or in a user's function,
        or while a function is slow, a short epoch keeps finished records from waiting. A process that gets no CPU looks
        like one that waits: its epochs end early, which costs time, and programs may see records of different sources
        in another order, but only in one that Flink allows, too.
        """
        started, cpu_started = time.monotonic(), time.process_time()
        bounded = self.source.get_boundedness() is Boundedness.BOUNDED
        # Other sources can wait for this source only if it reports its watermark often enough.
        intervals = [alignment.update_interval_ms for item in self.aligned if (alignment := item.strategy.alignment)]
        longest = min([self.epoch.max_epoch_ms, *intervals, *([] if bounded else [UNBOUNDED_EPOCH_MS])])
        next_look: float = self.epoch.idle_epoch_ms

        def over() -> bool:
            nonlocal next_look
            if self.context.batch or self.drained:
                return False
            if most is not None and self.records >= most:
                return True
            elapsed = time.monotonic() - started
            if elapsed * 1000 >= longest:
                return True
            if elapsed * 1000 >= LONGEST_WAIT_MS and is_slow(self.records, elapsed):
                return True
            if elapsed * 1000 < next_look:
                return False
            next_look = elapsed * 1000 + LOOK_MS  # the clock of the process is a call of the system
            return time.process_time() - cpu_started < elapsed * BUSY_SHARE

        return over

    def snapshot(self) -> object | None:
        """Return the splits with their positions, and records read but not yet emitted."""
        return (self.splits, self.finished, self.pending) if self.pending else (self.splits, self.finished)

    def restore(self, state: Any) -> None:
        """Restore the state that :meth:`snapshot` returned."""
        self.splits, self.finished, *rest = state
        self.pending = [(name, values, timestamps) for name, values, timestamps in rest[0]] if rest else []

    def recover(self, states: Sequence[Any], subtask: int, parallelism: int, *, same: bool) -> None:
        """Restore the splits. A source that had ended ends again, because downstream operators wait for that."""
        super().recover(states, subtask, parallelism, same=same)
        self.finished = False

    def redistribute(self, states: Sequence[Any], subtask: int, parallelism: int) -> object:
        """Redistribute the splits and the records not yet emitted."""
        splits = [split for own, *_ in states for split in own]
        pending = [batch for _, _, *rest in states for batches in rest for batch in batches]
        return (splits[subtask::parallelism], False, pending[subtask::parallelism])
