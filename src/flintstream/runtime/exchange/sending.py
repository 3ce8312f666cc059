"""The sending end of an exchange: blocks leave a chain, sorted by target subtask."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from flintstream.runtime.exchange.keyed_output import KeyedOutput
from flintstream.runtime.exchange.output import Buffer, ExchangeOutput
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.frozen import thaw_function
from flintstream.runtime.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    GlobalPartitioner,
    KeyGroupPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)

if TYPE_CHECKING:
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import ExchangeEdge


class _OneTarget(ExchangeOutput):
    target = 0

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.buffers[self.target].extend(values, timestamps)


class ForwardOutput(_OneTarget):
    """To the subtask of the same index, both records and marks."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str) -> None:
        """See :class:`ExchangeOutput`."""
        super().__init__(edge, channel, outbox, name)
        self.buffers = [Buffer(channel)]


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
        self.partition = thaw_function(edge.partitioner.partition)
        self.selector = thaw_function(edge.partitioner.selector)

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
