"""The sending end of an edge, without the choice of a record's target."""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.pickling import dumps
from flintstream.runtime.exchange.blocks import pack
from flintstream.runtime.exchange.receiving import ACTIVE, IDLE, Item
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from flintstream.runtime.plan import ExchangeEdge


class Buffer:
    """The records on their way to one target, or to one bucket of it."""

    __slots__ = ("bucket", "marks", "sequence", "target", "timestamps", "values")

    def __init__(self, target: int, bucket: int = 0) -> None:
        self.target = target
        self.bucket = bucket
        self.values: list[Any] = []
        self.timestamps: list[int] | None = None
        self.marks: list[tuple[int, int]] = []
        self.sequence = 0

    def extend(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Append records."""
        if timestamps is not None:
            if self.timestamps is None:
                self.timestamps = [MIN_TIMESTAMP] * len(self.values)
            self.timestamps += timestamps
        elif self.timestamps is not None:
            self.timestamps += [MIN_TIMESTAMP] * len(values)
        self.values += values


class ExchangeOutput:
    """The sending end of an edge: partitions blocks into buffers and turns full ones into items."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """Send the output of subtask ``channel`` over ``edge`` to ``outbox``; ``name`` is the sending operator's."""
        self.edge = edge
        self.channel = channel
        self.outbox = outbox
        self.name = name
        self.block = edge.block
        self.records = 0
        self.watermark = MIN_TIMESTAMP
        self.plain_keys = True
        self.buffers = [Buffer(target) for target in range(edge.target_parallelism)]

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records."""
        self.records += len(values)
        self.route(values, timestamps)
        self.flush_full()

    def flush_full(self) -> None:
        """Turn buffers that are full into items."""
        for buffer in self.buffers:
            if len(buffer.values) >= self.block:
                self.flush_buffer(buffer)

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Append each record to the buffer of its target."""
        raise NotImplementedError

    def emit_watermark(self, timestamp: int) -> None:
        """Send a watermark to every target, behind the records before it."""
        self.watermark = timestamp
        self._mark(timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Send an idleness change to every target."""
        self._mark(IDLE if idle else ACTIVE)

    def _mark(self, mark: int) -> None:
        for buffer in self.buffers:
            position = len(buffer.values)
            marks = buffer.marks
            if marks and marks[-1][0] == position and marks[-1][1] > IDLE and IDLE < mark < MAX_TIMESTAMP:
                # With no record between two watermarks, the later one suffices. The end of the input still gets its own
                # mark, because timers that fire before the end must not see the end.
                marks[-1] = (position, mark)
            else:
                marks.append((position, mark))

    def flush(self) -> None:
        """Send everything that is buffered."""
        for buffer in self.buffers:
            if buffer.values or buffer.marks:
                self.flush_buffer(buffer)

    def flush_buffer(self, buffer: Buffer) -> None:
        """Turn one buffer into an item. Its lists are emptied in place, because routes hold their ``append``."""
        try:
            payload = pack(buffer.values, buffer.timestamps, buffer.marks, plain_keys=self.plain_keys)
        except BaseException as error:
            self._blame(buffer.values, error)
            raise
        edge = self.edge
        self.outbox.append(
            Item(edge.target_level, buffer.target, edge.id, self.channel, buffer.sequence, buffer.bucket, payload),
        )
        buffer.sequence += 1
        buffer.values.clear()
        buffer.marks.clear()
        if buffer.timestamps is not None:
            buffer.timestamps.clear()

    def _blame(self, values: list[Any], error: BaseException) -> None:
        """Raise an error that names the record that cannot be pickled."""
        for value in values:
            try:
                dumps(value)
            except BaseException as failed:  # noqa: BLE001
                culprit = failed
                if isinstance(value, GeneratorType):
                    culprit = TypeError(f"{failed}: use a function that yields with flat_map() or process()")
                raise OperatorFailure(self.name, self.channel, culprit, current_record([value], iter(()))) from error
