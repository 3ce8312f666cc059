"""Input of a subtask in STREAMING mode: items as they arrive, in the order of their watermarks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from flintstream.runtime.block_size import LONGEST_WAIT_MS, is_slow, next_size
from flintstream.runtime.exchange.blocks import pack
from flintstream.runtime.plan import RECORDS_PER_LARGE_BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.exchange.blocks import Block
    from flintstream.runtime.exchange.receiving import InputGate, Item
    from flintstream.runtime.task.operator_chain import OperatorChain

MOST_LEFT_BYTES = 8 << 20
"""Most bytes that a subtask leaves for the next epoch, because they go through the driver."""


class StreamingInput:
    """Feeds a chain with the items from exchanges."""

    def __init__(self, operator_chain: OperatorChain, max_epoch_ms: int) -> None:
        """Feed the operators of ``operator_chain`` in epochs that should take at most ``max_epoch_ms``."""
        self._operator_chain = operator_chain
        self._edges = operator_chain.chain.inputs
        self._longest = min(LONGEST_WAIT_MS, max_epoch_ms) / 1000
        self.block_size = 1
        """Records that go through the chain between two looks at the clock."""
        self.fed = 0
        """Records fed in this epoch."""
        self.left: list[Item] = []
        """Items that wait for the next epoch."""

    def feed(self, epoch: Epoch, gate: InputGate) -> Iterator[None]:
        """Feed the items from exchanges; leave some for the next epoch if slow functions would delay results too long.

        An epoch with a checkpoint consumes everything, because checkpoints do not contain records in flight.
        """
        self.fed, self.left = 0, []
        operator_chain, tick, longest = self._operator_chain, self._operator_chain.tick, self._longest
        tick()  # timers that became due since the last epoch fire before the records of this one
        may_leave = not epoch.checkpoint and not epoch.drain
        started = time.monotonic()
        watermarks: dict[tuple[int, int], int] = {}
        targets = {edge.id: operator_chain.inputs[edge.target, edge.input] for edge in self._edges}
        for edge in self._edges:
            valve = targets[edge.id].valve
            watermarks.update({c: w for c, w in valve.watermarks.items() if isinstance(c, tuple) and c[0] == edge.id})
        broadcast = frozenset(edge.id for edge in self._edges if edge.priority == 0)
        items = gate.streaming(watermarks, broadcast)
        for item in items:
            whole: Block | None = targets[item.edge].unpack(item)
            channel = (item.edge, item.channel)
            while whole is not None:
                block, rest = whole.cut(self.block_size)
                began = time.monotonic()
                done = targets[item.edge].feed(channel, block)
                whole = rest if done == len(block.values) else whole.cut(done)[1]
                watermarks[channel] = targets[item.edge].valve.watermarks[channel]
                tick()
                ended = time.monotonic()
                self.fed += done
                self.block_size = next_size(self.block_size, done, ended - began, RECORDS_PER_LARGE_BLOCK)
                yield
                elapsed = ended - started
                if may_leave and elapsed >= longest and is_slow(self.fed, elapsed) and gate.size <= MOST_LEFT_BYTES:
                    self._leave(item, whole, items)
                    return

    def _leave(self, item: Item, rest: Block | None, items: Iterator[Item]) -> None:
        """Keep the rest of an item and all following items; the next epoch feeds them before its own items."""
        left = [*items]
        if rest is not None:
            stamps = None if rest.timestamps is None else list(rest.timestamps)
            payload = pack(list(rest.values), stamps, rest.marks, plain_keys=rest.plain_keys)
            left.insert(0, item._replace(payload=payload))
        self.left = [one._replace(sequence=number - len(left)) for number, one in enumerate(left)]
