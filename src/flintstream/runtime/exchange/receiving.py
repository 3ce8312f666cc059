"""Items that cross an exchange, and the receiving end, where blocks enter a chain in a fixed order.

The payload of an :class:`Item` is a block (:mod:`flintstream.runtime.exchange.blocks`): values, timestamps and, as
``(position, mark)`` pairs, the watermarks and idleness changes between the records. Spark only sees a few large items.
The sending end is in :mod:`flintstream.runtime.exchange.sending`.
"""

from __future__ import annotations

import heapq
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterator

IDLE = -(2**63) - 1
ACTIVE = -(2**63) - 2
"""Marks other than watermarks: the channel became idle, or active again."""

SPILL_BYTES = 256 << 20
"""Payload bytes that a gate holds in memory before it spills to a temporary file."""


class Item(NamedTuple):
    """A message from one subtask to another; only the receiver unpickles the payload."""

    level: int
    subtask: int
    edge: int
    channel: int
    sequence: int
    bucket: int
    payload: bytes


class InputGate:
    """The receiving end: holds a subtask's items and returns them in an order independent of their arrival.

    STREAMING: broadcast channels go first, so that every record sees the broadcasts of its epoch. Next is the channel
    with the lowest watermark, so that event time advances evenly whatever order the shuffle delivers in. Ties go to
    lower sequence numbers, then lower channels. BATCH: inputs by priority, buckets one after the other.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.items: list[Item | tuple[Item, int, int]] = []
        self.held = 0
        self.size = 0
        """Payload bytes of the items that have not been returned yet."""
        self.spill: Any = None

    def add(self, item: Item) -> None:
        """Add an item; its payload goes to a temporary file once memory is full."""
        self.size += len(item.payload)
        if self.held < SPILL_BYTES:
            self.held += len(item.payload)
            self.items.append(item)
            return
        if self.spill is None:
            self.spill = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the gate
        offset = self.spill.seek(0, 2)
        self.spill.write(item.payload)
        self.items.append((item._replace(payload=b""), offset, len(item.payload)))

    def _load(self, held: Item | tuple[Item, int, int]) -> Item:
        if isinstance(held, Item):
            return held
        item, offset, length = held
        self.spill.seek(offset)
        return item._replace(payload=self.spill.read(length))

    @staticmethod
    def _header(held: Item | tuple[Item, int, int]) -> Item:
        return held if isinstance(held, Item) else held[0]

    def streaming(
        self, watermarks: dict[tuple[int, int], int], broadcast: frozenset[int] = frozenset()
    ) -> Iterator[Item]:
        """Yield the items in their order.

        Args:
            watermarks: (edge, channel) -> current watermark; read before each choice.
            broadcast: the edges that go first.
        """
        channels: dict[tuple[int, int], list[Item | tuple[Item, int, int]]] = {}
        header = self._header
        for held in self.items:
            item = header(held)
            channels.setdefault((item.edge, item.channel), []).append(held)
        self.items = []
        for queue in channels.values():
            queue.sort(key=lambda held: -header(held).sequence)

        def turn(name: tuple[int, int]) -> tuple[bool, int, int, tuple[int, int]]:
            watermark, sequence = watermarks.get(name, MIN_TIMESTAMP), header(channels[name][-1]).sequence
            return name[0] not in broadcast, watermark, sequence, name

        heap = [turn(name) for name in channels]
        heapq.heapify(heap)
        while heap:
            name = heap[0][-1]
            queue = channels[name]
            item = self._load(queue.pop())
            self.size -= len(item.payload)
            yield item
            if queue:
                heapq.heapreplace(heap, turn(name))
            else:
                heapq.heappop(heap)

    def batch(self, priority: dict[int, int], *, by_bucket: bool = True) -> Iterator[Item]:
        """Yield the items by ``priority`` of their edge, bucket (if ``by_bucket``), edge, channel and sequence."""
        items = self.items
        self.items = []
        header = self._header
        items.sort(
            key=lambda held: (
                priority[header(held).edge], by_bucket and header(held).bucket, header(held).edge,
                header(held).channel, header(held).sequence,
            ),
        )  # fmt: skip
        for held in items:
            yield self._load(held)

    def close(self) -> None:
        """Drop the temporary file."""
        if self.spill is not None:
            self.spill.close()
            self.spill = None
