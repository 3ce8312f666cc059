"""Input of a subtask in BATCH mode: one key after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.frozen import thaw_function
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.partitioners import KeyGroupPartitioner
from flintstream.runtime.task.key_order import SORTED_BYTES, merge_positions, sorted_keys
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.exchange.blocks import Block
    from flintstream.runtime.exchange.receiving import InputGate, Item
    from flintstream.runtime.plan import ExchangeEdge
    from flintstream.runtime.task.operator_chain import OperatorChain

BYTES_IN_ORDER = 1 << 16
"""With more bytes of records than this, a step whose results have no order gets them by block."""

Keyed = dict[Any, tuple[list[int], list[Any], list[int]]]
"""Maps a key to the timestamps, values and input numbers of its records."""


class BatchInput:
    """Feeds all items to a chain in a single epoch."""

    fed = 0
    """Always 0: BATCH mode does not time the blocks that it feeds."""

    def __init__(self, operator_chain: OperatorChain) -> None:
        """Feed the operators of ``operator_chain``."""
        self._operator_chain = operator_chain
        self._edges = operator_chain.chain.inputs
        self._inputs = operator_chain.inputs
        self._selectors: dict[int, Callable[[Any], Any]] = {}
        self._by_block = False
        """Whether the operator of the bucket has taken blocks, and no key has ended."""
        self._last_input: int | None = None
        """The keyed input that was read last."""
        self.left: list[Item] = []
        """Always empty: nothing waits, because there is only one epoch."""

    def feed(self, epoch: Epoch, gate: InputGate) -> Iterator[None]:
        """Feed the items from exchanges: inputs in the order of their priority, and keyed inputs key by key."""
        edges = {edge.id: edge for edge in self._edges}
        keyed: Keyed = {}
        bucket: tuple[int, int] | None = None
        few, many = gate.held <= SORTED_BYTES, gate.held > BYTES_IN_ORDER
        priority = {edge.id: edge.priority for edge in self._edges}
        ends = {edge.target: edge.id for edge in sorted(self._edges, key=lambda edge: edge.id)}
        for item in gate.batch(priority, by_bucket=not few):
            edge = edges[item.edge]
            target = self._inputs[edge.target, edge.input]
            block = target.unpack(item)
            target.records += len(block.values)
            if not block.plain_keys:
                target.operator.freeze_keys()
            if not isinstance(edge.partitioner, KeyGroupPartitioner) or not target.keyed:
                if block.values:
                    target.process(block.values, block.timestamps)
                yield
                continue
            if bucket is not None and bucket != (edge.target, few or item.bucket):
                yield from self._run_keys(bucket[0], keyed, few=few)
            bucket = (edge.target, few or item.bucket)
            if many and target.operator.takes_any_order:
                self._by_block = True
                target.operator.begin_block(edge.input, last=ends[edge.target] == edge.id)
                target.process(block.values, block.timestamps)
                yield
                continue
            self._sort_in(keyed, edge, block)
        if bucket is not None:
            yield from self._run_keys(bucket[0], keyed, few=few)
        self._end_batch()
        yield

    def _sort_in(self, keyed: Keyed, edge: ExchangeEdge, block: Block) -> None:
        selector = self._selectors.get(edge.id)
        if selector is None:
            assert isinstance(edge.partitioner, KeyGroupPartitioner)  # noqa: S101
            selector = self._selectors[edge.id] = thaw_function(edge.partitioner.selector)
        stamps = block.timestamps or [MIN_TIMESTAMP] * len(block.values)
        for value, timestamp in zip(block.values, stamps, strict=True):
            key = selector(value) if block.plain_keys else freeze_key(selector(value))
            entry = keyed.get(key)
            if entry is None:
                entry = keyed[key] = ([], [], [])
            entry[0].append(timestamp)
            entry[1].append(value)
            entry[2].append(edge.input)

    def _run_keys(self, node: int, keyed: Keyed, *, few: bool) -> Iterator[None]:
        """Run the keys of one bucket one after the other, the records of each in the order of their timestamps."""
        operator, outbox = self._operator_chain.operators[node], self._operator_chain.outbox
        if self._by_block:
            self._by_block = False
            operator.end_key(None)
            yield
            return
        typed = any(getattr(e.partitioner, "key_converter", None) for e in self._edges if e.target == node)
        if self._last_input is None:  # the input with fewer records starts, since PyFlink finishes sorting it first
            numbers = [number for entry in keyed.values() for number in entry[2]]
            self._last_input = int(2 * sum(numbers) >= len(numbers))
        for key in sorted_keys(keyed, typed=typed) if few else keyed:
            stamps, values, numbers = keyed[key]
            several = numbers.count(numbers[0]) < len(numbers)
            if several or stamps != sorted(stamps):
                order = merge_positions(stamps, numbers, self._last_input)
                stamps = [stamps[i] for i in order]
                values = [values[i] for i in order]
                numbers = [numbers[i] for i in order]
            self._last_input = numbers[-1]
            timestamps = None if stamps[-1] == MIN_TIMESTAMP else stamps
            start = 0
            if not several:
                self._inputs[node, numbers[0]].process(values, timestamps)
                start = len(values)
            while start < len(values):
                end = start + 1
                while end < len(values) and numbers[end] == numbers[start]:
                    end += 1
                self._inputs[node, numbers[start]].process(
                    values[start:end], None if timestamps is None else timestamps[start:end]
                )
                start = end
            operator.end_key(key)
            if len(outbox) > 16:
                yield
        keyed.clear()
        yield

    def _end_batch(self) -> None:
        """Mark the input of every exchange as ended; the sources of this chain announce their own end."""
        for edge in self._edges:
            target = self._inputs[edge.target, edge.input]
            for channel in self._operator_chain.channels(edge):
                target.valve.watermark(channel, MAX_TIMESTAMP)
