"""Watermarks: combining them from several channels, and generating them from records."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import steady_clock, wall_clock
from flintstream.common._user_code.formulas import field_taken
from flintstream.common.watermark_strategy import BoundedOutOfOrdernessWatermarks, NoWatermarksGenerator
from flintstream.compiled import load
from flintstream.errors import is_interrupt
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.operators.block_times import BlockAssigner, BlockGenerator
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP, all_fit, whole_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from flintstream.common.watermark_strategy import WatermarkStrategy
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.base import OperatorContext, Output
    from flintstream.runtime.protocol import NodeReport


_compiled = load("exchange")


class Valve:
    """The combined watermark of several channels: the lowest of all channels that are not idle.

    A channel that has ended does not hold back event time, but event time ends only when all channels have ended: an
    idle channel may still send records. A channel that wakes up behind the others counts only after it has caught up.
    """

    def __init__(
        self,
        channels: list[Any],
        advance: Callable[[int], None],
        idle: Callable[[bool], None],
        restored: Callable[[int], None],
    ) -> None:
        """Watch ``channels``; call ``advance`` with each new watermark, ``idle`` when all are idle or one wakes.

        :meth:`restore` calls ``restored`` with the restored watermark.
        """
        self.watermarks: dict[Hashable, int] = dict.fromkeys(channels, MIN_TIMESTAMP)
        self.idle_channels: set[Hashable] = set()
        self.over: set[Hashable] = set()
        """The channels whose event time has ended since the state was restored."""
        self.combined = MIN_TIMESTAMP
        self.is_idle = False
        self._advance = advance
        self._idle = idle
        self._restored = restored

    def watermark(self, channel: Hashable, timestamp: int) -> None:
        """Take a channel's watermark (ms), which also wakes the channel up."""
        self.watermarks[channel] = max(self.watermarks[channel], timestamp)
        if timestamp == MAX_TIMESTAMP:
            self.over.add(channel)
        self.idle(channel, idle=False)
        self._combine()

    def idle(self, channel: Hashable, *, idle: bool) -> None:
        """Mark a channel idle or active."""
        if idle == (channel in self.idle_channels):
            return
        if idle:
            self.idle_channels.add(channel)
        else:
            self.idle_channels.discard(channel)
        self._combine()

    def remove(self, channel: Hashable) -> None:
        """Remove a channel, which then no longer holds back event time."""
        self.watermarks.pop(channel, None)
        self.idle_channels.discard(channel)
        self._combine()

    @property
    def ended(self) -> bool:
        """Whether all channels have ended."""
        return all(watermark == MAX_TIMESTAMP for watermark in self.watermarks.values())

    def _combine(self) -> None:
        if not self.idle_channels and not self.is_idle and self.watermarks:
            lowest = min(self.watermarks.values())  # with many channels, what follows would take most of an epoch
            if lowest >= self.combined:
                self._raise_to(lowest)
                return
        live = {channel: mark for channel, mark in self.watermarks.items() if mark != MAX_TIMESTAMP}
        active = [mark for channel, mark in live.items() if channel not in self.idle_channels]
        if active:
            self._raise_to(min((mark for mark in active if mark >= self.combined), default=MIN_TIMESTAMP))
        elif live:
            self._raise_to(max(live.values()))  # no active channel is left to wait for
        elif self.watermarks:
            self._raise_to(MAX_TIMESTAMP)
        idle = not active and bool(live)
        if idle != self.is_idle:
            self.is_idle = idle
            self._idle(idle)

    def _raise_to(self, timestamp: int) -> None:
        if timestamp > self.combined:
            self.combined = timestamp
            self._advance(timestamp)

    def snapshot(self) -> tuple[Any, ...]:
        """Return the state of all channels."""
        return (self.watermarks, self.idle_channels, self.combined, self.is_idle)

    def restore(self, state: Any) -> None:
        """Restore the state of all channels that still exist."""
        watermarks, idle_channels, self.combined, self.is_idle = state
        self.watermarks.update({c: w for c, w in watermarks.items() if c in self.watermarks})
        self.idle_channels = {c for c in idle_channels if c in self.watermarks}
        self.over.clear()
        self._restored(self.combined)


RECORDS_PER_MARK = 4096
"""Number of records after which a watermark comes early."""

TARGETS_PER_MARK = 16
"""Number of targets up to which that is so. With more targets, there are more records between watermarks."""


class _Collected:
    """The output passed to a user's generator."""

    __slots__ = ("idle", "last", "watermark")

    def __init__(self) -> None:
        self.last = MIN_TIMESTAMP
        self.watermark: int | None = None
        self.idle: bool | None = None
        """Idleness that the generator reported since the last flush; None if unchanged."""

    def emit_watermark(self, timestamp: Any) -> None:
        timestamp = getattr(timestamp, "timestamp", timestamp)
        self.idle = None
        if type(timestamp) is not int or timestamp.bit_length() > 63:  # not a long of Java
            timestamp = whole_ms(timestamp, "a watermark")
        if timestamp > self.last:
            self.last = self.watermark = timestamp

    def mark_idle(self) -> None:
        self.idle = True

    def mark_active(self) -> None:
        self.idle = False


class TimestampsAndWatermarksOperator(Operator):
    """Assigns timestamps and generates watermarks according to a :class:`WatermarkStrategy`.

    Upstream watermarks are ignored except the last one. In BATCH mode, only timestamps are assigned.
    """

    one_for_one = passes_records = True

    def __init__(self, strategy: WatermarkStrategy, source: str | None = None) -> None:
        """Take the strategy, and the name of the source if the strategy came from ``from_source``.

        PyFlink ignores the assigner of a source's strategy, so a failing one is dropped there with a warning.
        """
        self.strategy = strategy
        self.source_name = source

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the generator."""
        super().setup(context, output, side_outputs)
        self.generator: Any = self.strategy.create_generator()
        self.bounded_delay: int | None = None
        if type(self.generator) is BoundedOutOfOrdernessWatermarks:
            self.bounded_delay = self.generator.delay_ms
        assigner: Any = self.strategy.timestamp_assigner
        self.assign: Callable[[Any, int], int] | None = assigner.extract_timestamp if assigner is not None else None
        self.assign_block = assigner.extract_timestamps if isinstance(assigner, BlockAssigner) else None
        self.dropped_assigner = False
        self.interval = context.auto_watermark_interval_ms
        self.silent = type(self.generator) is NoWatermarksGenerator
        self.max_timestamp = MIN_TIMESTAMP
        self.collected = _Collected()
        self.idle = False
        self.ended = False
        self.idle_timeout: int | None = self.strategy.idle_timeout_ms
        self.next_emit = steady_clock() + self.interval
        """When the next periodic watermark is due, on the steady clock, as is :attr:`last_record`."""
        self.unmarked = 0
        """Number of records since the last watermark, for built-in strategies."""
        self.most_unmarked = RECORDS_PER_MARK * max(1, context.parallelism // TARGETS_PER_MARK)
        """Number of records after which a watermark comes early, so that finished windows do not pile up."""
        self.last_record = steady_clock()

    def on_upstream(self, upstream: Operator, *, directly: bool) -> None:
        """Make the upstream source wait for others in its alignment group."""
        if self.strategy.alignment is not None:
            upstream.on_watermark_generator(self)

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Assign timestamps, update the watermark, and forward the block."""
        highest = MIN_TIMESTAMP
        if self.assign is not None:
            timestamps, highest = self._assign(self.assign, values, timestamps)
        elif timestamps is not None:
            highest = max(timestamps)
        if self.context.batch:
            self.output.emit(values, timestamps)
            return
        if self.idle_timeout is not None:
            self.last_record = steady_clock()
            self._set_idle(idle=False)
        if self.silent:
            self.output.emit(values, timestamps)
        elif self.bounded_delay is None:
            self._process_custom(values, timestamps)
        else:
            self.output.emit(values, timestamps)
            passed = len(values) - len(self.interrupter.rest)
            if passed < len(values):
                highest = MIN_TIMESTAMP if timestamps is None else max(timestamps[:passed], default=MIN_TIMESTAMP)
            self.max_timestamp = max(self.max_timestamp, highest)
            self.unmarked += passed
        if self.unmarked >= self.most_unmarked:
            self.next_emit = min(self.next_emit, steady_clock())
        self._emit_if_due()

    def passes_blocks(self) -> bool:
        """Return whether the next function may leave the rest of a block: a user's generator has seen all of it."""
        return self.silent or self.bounded_delay is not None

    def _assign(
        self, assign: Callable[[Any, int], int], values: list[Any], timestamps: list[int] | None
    ) -> tuple[list[int] | None, int]:
        """Return the assigner's timestamps and the highest of them."""
        if _compiled is not None and (field := field_taken(assign, 2)) is not None:
            found = _compiled.stamps_of(values, field)
            if found is not None:
                return found  # type: ignore[no-any-return]
        if self.assign_block is not None:
            with suppress(Exception):  # raised again at the record that fails
                assigned = self.assign_block(values)
                return assigned, max(assigned)
        cursor, assigned = iter(values), list[Any]()
        try:
            if timestamps is None:
                assigned = [assign(value, MIN_TIMESTAMP) for value in cursor]
            else:
                assigned = [assign(value, known) for value, known in zip(cursor, timestamps, strict=True)]
            if all_fit(assigned):
                return assigned, max(assigned)
        except BaseException as error:
            if len(assigned) < len(values):  # otherwise all were assigned, but some are not numbers
                if self.source_name is None:
                    raise self._failure(error, current_record(values, cursor)) from error
                return self._drop_assigner(error, timestamps)
        return self._whole(values, assigned, timestamps)

    def _whole(
        self, values: list[Any], assigned: list[Any], timestamps: list[int] | None
    ) -> tuple[list[int] | None, int]:
        """Return timestamps as whole numbers. An error names the record of the first invalid one."""
        whole = []
        for value, timestamp in zip(values, assigned, strict=True):
            try:
                whole.append(whole_ms(timestamp, "the result of a TimestampAssigner"))
            except BaseException as error:
                if self.source_name is None:
                    raise self._failure(error, current_record([value], iter(()))) from error
                return self._drop_assigner(error, timestamps)
        return whole, max(whole)

    def _failure(self, error: BaseException, record: str | None) -> OperatorFailure:
        return OperatorFailure(self.context.name, self.context.subtask, error, record)

    def _drop_assigner(self, error: BaseException, timestamps: list[int] | None) -> tuple[list[int] | None, int]:
        """Use the timestamps of the source for this block and all later ones."""
        if is_interrupt(error):
            raise error
        self.assign, self.dropped_assigner = None, True
        self.context.warning = (
            f"the TimestampAssigner of source '{self.source_name}' is ignored, as in PyFlink, because it fails: "
            f"{type(error).__name__}: {error}. Records keep the timestamps of the source. "
            "Pass the strategy to assign_timestamps_and_watermarks() to see where it fails"
        )
        return timestamps, MIN_TIMESTAMP if timestamps is None else max(timestamps)

    def _process_custom(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Split the block wherever the user's generator emits a watermark."""
        stamps = timestamps if timestamps is not None else [MIN_TIMESTAMP] * len(values)
        start = 0
        while start < len(values):
            end = self._next_mark(values, stamps, start)
            if start == 0 and end == len(values):
                self.output.emit(values, timestamps)
            else:
                self.output.emit(values[start:end], None if timestamps is None else timestamps[start:end])
            start = end
            if self.collected.watermark is not None:
                self._flush_collected()

    def _next_mark(self, values: Sequence[object], stamps: list[int], start: int) -> int:
        """Pass records to the generator until it emits a watermark. Return the position after the last one."""
        collected = self.collected
        if isinstance(self.generator, BlockGenerator):
            with suppress(Exception):  # raised again for the record that fails
                return self.generator.on_block(values, stamps, start, collected)
        on_event = self.generator.on_event
        for i in range(start, len(values)):
            try:
                on_event(values[i], stamps[i], collected)
            except BaseException as error:
                raise self._failure(error, current_record([values[i]], iter(()))) from error
            if collected.watermark is not None:
                return i + 1
        return len(values)

    def _flush_collected(self) -> None:
        if self.collected.watermark is not None:
            timestamp, self.collected.watermark = self.collected.watermark, None
            self._set_idle(idle=False)
            self.output.emit_watermark(timestamp)
        if self.collected.idle is not None:
            self._set_idle(idle=self.collected.idle)
            self.collected.idle = None

    def on_processing_time(self, now: int) -> None:
        """Emit the periodic watermark if it is due."""
        self._emit_if_due()

    def _emit_if_due(self) -> None:
        now = steady_clock()
        if self.context.batch or self.interval <= 0 or now < self.next_emit or self.ended:
            return
        self.next_emit = now + self.interval
        self.unmarked = 0
        if self.bounded_delay is not None:
            lowest = MIN_TIMESTAMP + self.bounded_delay + 1
            if self.max_timestamp > lowest:  # as in Flink, the watermark of the lowest timestamps would not fit
                self.collected.emit_watermark(self.max_timestamp - self.bounded_delay - 1)
        else:
            try:
                self.generator.on_periodic_emit(self.collected)
            except BaseException as error:
                raise self._failure(error, None) from error
        self._flush_collected()
        if self.idle_timeout is not None and now - self.last_record >= self.idle_timeout:
            self._set_idle(idle=True)

    def next_processing_time(self) -> int | None:
        """Return when to emit a pending watermark or to check for idleness (ms)."""
        due = self._due()
        return None if due is None else wall_clock() + due - steady_clock()

    def _due(self) -> int | None:
        """Return the same time on the steady clock."""
        if self.context.batch or self.interval <= 0 or self.ended:
            return None
        pending = self.bounded_delay is not None and self.max_timestamp - self.bounded_delay - 1 > self.collected.last
        if pending and self.max_timestamp > MIN_TIMESTAMP:
            return self.next_emit
        if self.idle_timeout is not None and not self.idle:
            return max(self.next_emit, self.last_record + self.idle_timeout)
        return self.next_emit if self.bounded_delay is None and not self.silent else None

    def _set_idle(self, *, idle: bool) -> None:
        if idle != self.idle:
            self.idle = idle
            self.output.emit_idle(idle)

    def process_watermark(self, timestamp: int) -> None:
        """Ignore upstream watermarks except the end of the input."""
        if timestamp == MAX_TIMESTAMP:
            self.ended = True
            self.output.emit_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Do nothing: the strategy decides about idleness."""

    def own_watermark(self) -> int:
        """Return the watermark that the records so far allow, emitted or not."""
        if self.bounded_delay is None or self.max_timestamp == MIN_TIMESTAMP:
            return self.collected.last
        return self.max_timestamp - self.bounded_delay - 1

    def is_ahead(self, slowest: Mapping[str, int], split: str) -> bool:
        """Return whether a split of this source should wait for the slowest of its alignment group."""
        alignment = self.strategy.alignment
        if alignment is None or alignment.group not in slowest:
            return False
        return self.split_watermark(split) > slowest[alignment.group] + alignment.max_drift_ms

    def split_watermark(self, split: str) -> int:
        """Return :meth:`own_watermark`: this class keeps no watermark per split."""
        return self.own_watermark()

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Report the watermark to the other sources of the alignment group."""
        report = super().end_epoch(epoch)
        alignment = self.strategy.alignment
        if alignment is None or self.idle or self.ended:
            return report
        return report._replace(aligned=(alignment.group, self.own_watermark()))

    def snapshot(self) -> object | None:
        """Return the state of the generator and its timing."""
        generator = None if self.bounded_delay is not None else self.generator
        seen = (self.max_timestamp, self.collected.last, self.idle, self.ended)
        dropped = (True,) if self.dropped_assigner else ()
        # The steady clock of another process, or of another machine, starts elsewhere.
        shift = wall_clock() - steady_clock()
        return (*seen, self.next_emit + shift, self.last_record + shift, generator, *dropped)

    def restore(self, state: Any) -> None:
        """Continue where the previous epoch ended."""
        self.max_timestamp, self.collected.last, self.idle, self.ended, *rest = state
        next_emit, last_record, generator, *dropped = rest
        # The wall clock may have been set since then: no watermark comes later than it would otherwise.
        now, shift = steady_clock(), wall_clock() - steady_clock()
        self.next_emit = min(next_emit - shift, now + self.interval)
        self.last_record = min(last_record - shift, now)
        if generator is not None:
            self.generator = generator
        if dropped:
            self.assign, self.dropped_assigner = None, True

    def recover(self, states: Sequence[Any], subtask: int, parallelism: int, *, same: bool) -> None:
        """Continue from a checkpoint. An input that had ended ends again."""
        super().recover(states, subtask, parallelism, same=same)
        self.ended = False

    def redistribute(self, states: Sequence[Any], subtask: int, parallelism: int) -> object:
        """Continue from the lowest state of all subtasks, because any records may come here next."""
        seen, emitted, _, _, next_emits, last_records, generators = zip(*(state[:7] for state in states), strict=True)
        dropped = (True,) if any(state[7:] for state in states) else ()
        return (min(seen), min(emitted), False, False, min(next_emits), min(last_records), generators[0], *dropped)
