"""The sending end of an exchange: blocks leave a chain, sorted by target subtask."""

from __future__ import annotations

import operator
import random
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from flintstream.common._pickling import dumps
from flintstream.runtime.exchange.blocks import pack
from flintstream.runtime.exchange.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    GlobalPartitioner,
    KeyGroupPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from flintstream.runtime.exchange.receiving import ACTIVE, IDLE, Item
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.frozen import thawed
from flintstream.runtime.keys import freeze_key, is_plain, stable_hash, subtask_of_key_group, thaw_key
from flintstream.runtime.operators.base import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.plan import RECORDS_PER_BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.plan import ExchangeEdge

ROUTES_KEPT = 1 << 18
"""The most distinct keys whose target is remembered."""

BATCH_BUCKETS = 128
"""Key ranges per subtask into which BATCH input is sorted, so that only one range is in memory at a time."""


class _Buffer:
    __slots__ = ("bucket", "marks", "sequence", "target", "timestamps", "values")

    def __init__(self, target: int, bucket: int = 0) -> None:
        self.target = target
        self.bucket = bucket
        self.values: list[Any] = []
        self.timestamps: list[int] | None = None
        self.marks: list[tuple[int, int]] = []
        self.sequence = 0

    def extend(self, values: list[Any], timestamps: list[int] | None) -> None:
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
        self.records = 0
        self.watermark = MIN_TIMESTAMP
        self.plain_keys = True
        self.buffers = [_Buffer(target) for target in range(edge.target_parallelism)]

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records."""
        self.records += len(values)
        self.route(values, timestamps)
        for buffer in self.buffers:
            if len(buffer.values) >= RECORDS_PER_BLOCK:
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

    def flush_buffer(self, buffer: _Buffer) -> None:
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


class _OneTarget(ExchangeOutput):
    target = 0

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.buffers[self.target].extend(values, timestamps)


class ForwardOutput(_OneTarget):
    """To the subtask of the same index, both records and marks."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """See :class:`ExchangeOutput`."""
        super().__init__(edge, channel, outbox, name)
        self.buffers = [_Buffer(channel)]


class BroadcastOutput(ExchangeOutput):
    """To every subtask."""

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Append the block to every buffer."""
        for buffer in self.buffers:
            buffer.extend(values, timestamps)


class RoundRobinOutput(ExchangeOutput):
    """Round robin, record by record, over ``targets``."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """See :class:`ExchangeOutput`."""
        super().__init__(edge, channel, outbox, name)
        targets = list(range(edge.target_parallelism))
        if isinstance(edge.partitioner, RescalePartitioner):
            senders, receivers = edge.source_parallelism, edge.target_parallelism
            if receivers >= senders:
                targets = [t for t in targets if t * senders // receivers == channel]
            else:
                targets = [channel * receivers // senders]
        self.targets = targets
        self.next = channel % len(targets)

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Distribute the records in turn."""
        targets = self.targets
        n = len(targets)
        for offset in range(min(n, len(values))):
            target = targets[(self.next + offset) % n]
            self.buffers[target].extend(values[offset::n], None if timestamps is None else timestamps[offset::n])
        self.next = (self.next + len(values)) % n


class ShuffleOutput(ExchangeOutput):
    """To random subtasks, in runs of a few records per block."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """See :class:`ExchangeOutput`."""
        super().__init__(edge, channel, outbox, name)
        self.choice = random.Random(f"{edge.id}/{channel}")  # noqa: S311 - repeatable on purpose

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Append the records to random buffers."""
        picks = self.choice.choices(range(len(self.buffers)), k=len(values))
        for target, buffer in enumerate(self.buffers):
            mine = [i for i, pick in enumerate(picks) if pick == target]
            if mine:
                buffer.extend(
                    [values[i] for i in mine],
                    None if timestamps is None else [timestamps[i] for i in mine],
                )


class CustomOutput(ExchangeOutput):
    """To the subtask that the user's partitioner returns."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """See :class:`ExchangeOutput`."""
        super().__init__(edge, channel, outbox, name)
        assert isinstance(edge.partitioner, CustomPartitioner)  # noqa: S101
        self.partition = thawed(edge.partitioner.partition)
        self.selector = thawed(edge.partitioner.selector)

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Call the partitioner for each record."""
        n = len(self.buffers)
        cursor = iter(values)
        try:
            for i, value in enumerate(cursor):
                target = self.partition(self.selector(value), n)
                if not 0 <= target < n:
                    raise ValueError(  # noqa: TRY301 - reported like an error of the partitioner itself
                        f"the partitioner must return a subtask from 0 to {n - 1}, but returned {target}",
                    )
                self.buffers[target].extend([value], None if timestamps is None else timestamps[i : i + 1])
        except BaseException as error:
            raise OperatorFailure(self.name, self.channel, error, current_record(values, cursor)) from error


class _Routes(dict[Any, Any]):
    """Key -> route of its records. Adds missing keys itself, so that a known key costs a single look-up."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self.find = find

    def __missing__(self, key: Any) -> Any:
        if len(self) >= ROUTES_KEPT:
            self.clear()
        route = self[key] = self.find(key)
        return route


class KeyedOutput(ExchangeOutput):
    """To the subtask that owns the key's group. The route of a key is the bound ``append`` of its buffer."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str, *, batch: bool) -> None:
        """See :class:`ExchangeOutput`; in BATCH mode every subtask has several buckets."""
        super().__init__(edge, channel, outbox, name)
        assert isinstance(edge.partitioner, KeyGroupPartitioner)  # noqa: S101
        self.selector = thawed(edge.partitioner.selector)
        self.convert = edge.partitioner.key_converter
        self.buckets = BATCH_BUCKETS if batch else 1
        self.buffers = [_Buffer(t, b) for t in range(edge.target_parallelism) for b in range(self.buckets)]
        groups, targets = edge.max_parallelism, edge.target_parallelism
        self.first_buffer = [subtask_of_key_group(g, targets, groups) * self.buckets for g in range(groups)]
        """The index of the first buffer of the subtask that owns each key group."""
        self.routes = _Routes(self._find_append)
        self.stamped_routes = _Routes(self._find_stamped)

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records."""
        super().emit(values, timestamps)
        if self.buckets > 1 and sum(len(b.values) for b in self.buffers) >= RECORDS_PER_BLOCK * 16:
            self.flush()

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Select each record's key and append the record to the buffer of the key's subtask."""
        cursor = iter(values)
        key = self.selector
        try:
            if not self.plain_keys:
                self._route_frozen(cursor, timestamps)
            elif timestamps is None:
                routes = self.routes
                for value in cursor:
                    routes[key(value)](value)
                self._pad_timestamps()
            else:
                self._start_timestamps()
                stamped = self.stamped_routes
                for value, timestamp in zip(cursor, timestamps, strict=False):
                    append, append_timestamp = stamped[key(value)]
                    append(value)
                    append_timestamp(timestamp)
        except (_NotPlain, TypeError) as error:
            position = len(values) - operator.length_hint(cursor) - 1
            if not self.plain_keys or not (isinstance(error, _NotPlain) or self._is_unhashable(values[position])):
                raise self._selector_failed(error, values, cursor) from error
            self._pad_timestamps()
            self.flush()  # later items say that their keys need freezing
            self.plain_keys = False
            self.routes.clear()
            self.stamped_routes.clear()
            self.route(values[position:], None if timestamps is None else timestamps[position:])
        except BaseException as error:
            raise self._selector_failed(error, values, cursor) from error

    def _selector_failed(self, error: BaseException, values: list[Any], cursor: Iterator[Any]) -> OperatorFailure:
        return OperatorFailure(f"{self.name} -> key_by", self.channel, error, current_record(values, cursor))

    def _is_unhashable(self, value: Any) -> bool:
        try:
            key = self.selector(value)
        except BaseException:  # noqa: BLE001 - the selector is to blame
            return False
        try:
            hash(key)
        except TypeError:
            return True
        return False

    def _route_frozen(self, cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        if timestamps is None:
            for value in cursor:
                self.routes[freeze_key(self.selector(value))](value)
            self._pad_timestamps()
            return
        self._start_timestamps()
        for value, timestamp in zip(cursor, timestamps, strict=False):
            append, append_timestamp = self.stamped_routes[freeze_key(self.selector(value))]
            append(value)
            append_timestamp(timestamp)

    def _find(self, key: Any) -> _Buffer:
        if self.plain_keys:
            if not is_plain(key):
                raise _NotPlain
            if self.convert is not None:
                self.convert(key)
        elif self.convert is not None:
            self.convert(thaw_key(key))
        hashed = stable_hash(key)
        first = self.first_buffer[hashed % len(self.first_buffer)]
        return self.buffers[first + (hashed >> 7) % self.buckets] if self.buckets > 1 else self.buffers[first]

    def _find_append(self, key: Any) -> Callable[[Any], None]:
        return self._find(key).values.append

    def _find_stamped(self, key: Any) -> tuple[Callable[[Any], None], Callable[[int], None]]:
        buffer = self._find(key)
        assert buffer.timestamps is not None  # noqa: S101 - created before any record is routed
        return buffer.values.append, buffer.timestamps.append

    def _start_timestamps(self) -> None:
        for buffer in self.buffers:
            if buffer.timestamps is None:
                buffer.timestamps = [MIN_TIMESTAMP] * len(buffer.values)

    def _pad_timestamps(self) -> None:
        for buffer in self.buffers:
            stamps = buffer.timestamps
            if stamps is not None and len(stamps) < len(buffer.values):
                stamps += [MIN_TIMESTAMP] * (len(buffer.values) - len(stamps))


class _NotPlain(Exception):  # noqa: N818 - control flow, never an error
    pass


def exchange_output(edge: ExchangeEdge, channel: int, outbox: list[Item], name: str, *, batch: bool) -> ExchangeOutput:
    """Create the sending end for the edge's partitioner.

    Raises:
        OperatorFailure: The user's function cannot be unpickled.
    """
    partitioner = edge.partitioner
    try:
        if isinstance(partitioner, KeyGroupPartitioner):
            return KeyedOutput(edge, channel, outbox, name, batch=batch)
        if isinstance(partitioner, CustomPartitioner):
            return CustomOutput(edge, channel, outbox, name)
    except BaseException as error:
        where = f"{name} -> key_by" if isinstance(partitioner, KeyGroupPartitioner) else name
        raise OperatorFailure(where, channel, error, None) from error
    ends: dict[type, type[ExchangeOutput]] = {
        ForwardPartitioner: ForwardOutput,
        RebalancePartitioner: RoundRobinOutput,
        RescalePartitioner: RoundRobinOutput,
        ShufflePartitioner: ShuffleOutput,
        BroadcastPartitioner: BroadcastOutput,
        GlobalPartitioner: _OneTarget,
    }
    return ends[type(partitioner)](edge, channel, outbox, name)
