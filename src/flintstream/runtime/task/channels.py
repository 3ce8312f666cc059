"""Connections between the operators of a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.block_interrupter import BlockInterrupter
from flintstream.runtime.copies import copied_block
from flintstream.runtime.exchange.blocks import unpack
from flintstream.runtime.exchange.receiving import ACTIVE, IDLE
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from flintstream.runtime.exchange.blocks import Block
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.operators.base import Operator, Output
    from flintstream.runtime.operators.watermarks import Valve


class NodeInput:
    """One input of a node, which receives the records of all its channels."""

    def __init__(self, operator: Operator, number: int, valve: Valve, *, keyed: bool) -> None:
        """Feed input ``number`` of ``operator``; ``valve`` combines the watermarks of all the node's channels."""
        self.operator = operator
        self.process = operator.process if number == 0 else operator.process_second
        self.valve = valve
        self.records = 0
        self.keyed = keyed
        self.interrupter = BlockInterrupter()
        """Watches the function that processes the blocks from exchanges."""

    def unpack(self, item: Item) -> Block:
        """Return the block in an item for this input."""
        try:
            return unpack(item.payload, as_columns=self.operator.takes_columns)
        except BaseException as error:
            own = self.operator.context
            raise OperatorFailure(own.name, own.subtask, error, None) from error

    def feed(self, channel: Any, block: Block) -> int:
        """Pass the records and the marks between them to the node, in order; return how many records it processed.

        A slow function may process only the first records. The caller must then feed the rest again, with their marks.
        """
        values, timestamps, marks, plain_keys = block
        if not plain_keys:
            self.operator.freeze_keys()
        self.records += len(values)
        start = 0
        for position, mark in marks:
            if position > start:
                self.process(values[start:position], None if timestamps is None else timestamps[start:position])
                if self.interrupter.rest:
                    return self._count_processed(position, len(values))
                start = position
            if mark > ACTIVE and mark != IDLE:
                self.valve.watermark(channel, mark)
            else:
                self.valve.idle(channel, idle=mark == IDLE)
        if not start and values:
            self.process(values, timestamps)
        elif start < len(values):
            self.process(values[start:], None if timestamps is None else timestamps[start:])
        return self._count_processed(len(values), len(values)) if self.interrupter.rest else len(values)

    def _count_processed(self, given: int, records: int) -> int:
        """Return how many records of a block were processed, of the first ``given`` that the node received."""
        done = given - self.interrupter.take_unprocessed()
        self.records -= records - done
        return done

    def channel(self, name: Any) -> Output:
        """Return the channel that a local edge writes to."""
        return LocalChannel(self, name)


class LocalChannel:
    """A local edge: a plain call into the next operator."""

    def __init__(self, target: NodeInput, name: Any) -> None:
        """Write to ``target`` as channel ``name``."""
        self.target = target
        self.name = name
        self.records = 0
        self.watermark = MIN_TIMESTAMP

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Pass a block on."""
        count = len(values)
        self.records += count
        self.target.records += count
        self.target.process(values, timestamps)

    def emit_watermark(self, timestamp: int) -> None:
        """Pass a watermark on."""
        self.watermark = timestamp
        self.target.valve.watermark(self.name, timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Pass an idleness change on."""
        self.target.valve.idle(self.name, idle=idle)


class NoOutput:
    """An output without consumers."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Drop a block."""

    def emit_watermark(self, timestamp: int) -> None:
        """Drop a watermark."""

    def emit_idle(self, idle: bool) -> None:
        """Drop an idleness change."""


class Fan:
    """An output with several consumers. Each gets separate records, because another consumer may change its own."""

    def __init__(self, records: list[Output], marks: list[Output]) -> None:
        """Send blocks to ``records``, and watermarks and idleness to ``marks`` (which includes side outputs)."""
        self.records = records
        self.marks = marks

    @staticmethod
    def of(records: list[Output], marks: list[Output]) -> Output:
        """Return the simplest output that serves all consumers."""
        if not marks:
            return NoOutput()
        if len(marks) == 1 and records == marks:
            return marks[0]
        return Fan(records, marks)

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block to every consumer."""
        last = len(self.records) - 1
        for i, output in enumerate(self.records):
            mine = values if i == last else list(copied_block(values))
            output.emit(mine, timestamps if i == last or timestamps is None else list(timestamps))

    def emit_watermark(self, timestamp: int) -> None:
        """Send a watermark to every consumer."""
        for output in self.marks:
            output.emit_watermark(timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Send an idleness change to every consumer."""
        for output in self.marks:
            output.emit_idle(idle)
