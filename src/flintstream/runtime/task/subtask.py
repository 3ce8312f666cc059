"""One subtask of one chain: its operators, wired up, and how they run an epoch."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.errors import CorruptCheckpointError, is_interrupt
from flintstream.runtime.block_size import LONGEST_WAIT_MS, is_slow, next_size
from flintstream.runtime.exchange.blocks import pack, unpack
from flintstream.runtime.exchange.partitioners import KeyGroupPartitioner
from flintstream.runtime.exchange.receiving import ACTIVE, IDLE
from flintstream.runtime.exchange.sending import exchange_output
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.frozen import thaw_operator, thawed
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.operators.connected import CoProcessOperator
from flintstream.runtime.operators.operator import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.runtime.operators.source import InputOperator, SourceOperator
from flintstream.runtime.operators.split_watermarks import SplitWatermarksOperator
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator, Valve
from flintstream.runtime.plan import RECORDS_PER_BLOCK
from flintstream.runtime.protocol import Report
from flintstream.runtime.state_log.subtask_state import SubtaskState
from flintstream.runtime.task.fused import fuse
from flintstream.runtime.task.key_order import SORTED_BYTES, merged, sorted_keys
from flintstream.runtime.task.operator_metrics import Flow
from flintstream.runtime.task.result_types import typed_outputs
from flintstream.runtime.task.wiring import Fan, NodeInput, create_context, watch_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.checkpoint.metadata import StatePiece
    from flintstream.runtime.exchange.blocks import Block
    from flintstream.runtime.exchange.receiving import InputGate, Item
    from flintstream.runtime.exchange.sending import ExchangeOutput
    from flintstream.runtime.operators.operator import Operator, Output
    from flintstream.runtime.plan import ChainPlan, JobPlan, NodePlan
    from flintstream.runtime.protocol import Instruction, StateHandle
    from flintstream.runtime.state_log.log import StateLog

TURN_SECONDS = 0.1
"""So long one source of a chain is read before the next one, if it does not give a full block earlier."""

SINGLES = 128
"""So many records of connected sources come in turn, one by one, as they do in PyFlink."""

MOST_LEFT_BYTES = 8 << 20
"""What a subtask leaves for the next epoch has to go through the driver."""

SLOW_EPOCH_SECONDS = 0.1
"""Whether functions are slow cannot be told from less time: it may have gone into something else."""


class Subtask:
    """A chain's operators in one task. Lives on in the worker between epochs as a cache of itself."""

    def __init__(self, job: JobPlan, chain: ChainPlan, index: int, log: StateLog) -> None:
        """Unpickle the operators and wire them up."""
        self.job = job
        self.chain = chain
        self.index = index
        self.log = log
        self.version: str | None = None
        self.opened = False
        self.finished = False
        self.operators: dict[int, Operator] = {}
        self.outbox: list[Item] = []
        self.exchanges: list[ExchangeOutput] = []
        self.inputs: dict[tuple[int, int], NodeInput] = {}
        self.flows: dict[int, Flow] = {}
        self.block_size = 1
        """Records of an exchange that go through the chain before there is a look at the time."""
        self.fed = 0
        """Records that came through exchanges in this epoch."""
        self.spent = 0.0
        """Seconds that this epoch took, without recovery and reports."""
        self.left: list[Item] = []
        """What of them has to wait for the next epoch."""
        self.broadcasts = job.sources_of_broadcasts()
        self.last_input: int | None = None
        """In BATCH mode, the keyed input whose turn was the last one."""
        self._wire()
        self.selectors: dict[int, Callable[[Any], Any]] = {}
        self._join_splits()
        connects = any(type(operator) is CoProcessOperator for operator in self.operators.values())
        self.alternates = connects and not job.batch
        """Whether sources of this chain are read record by record at first, for a function that connects them."""
        for operator in self.operators.values():
            if self.alternates and isinstance(operator, SourceOperator):
                operator.singles = SINGLES
        self.state = SubtaskState(self)

    # -- construction ------------------------------------------------------------------------------------------------

    def _wire(self) -> None:
        chain = self.chain
        for node in chain.nodes:
            self.operators[node.id] = self._loaded(node)
        for node in chain.nodes:
            channels: dict[int, list[Any]] = {}
            for edge in chain.local_edges:
                if edge.target == node.id:
                    channels.setdefault(edge.input, []).append(("local", edge.source, edge.side_tag))
            for exchange in chain.inputs:
                if exchange.target == node.id:
                    channels.setdefault(exchange.input, []).extend(
                        (exchange.id, sender) for sender in self._senders(exchange)
                    )
            operator = self.operators[node.id]
            everything = [channel for several in channels.values() for channel in several]
            valve = Valve(everything, operator.process_watermark, operator.process_idle, operator.restore_watermark)
            for number in channels:
                self.inputs[node.id, number] = NodeInput(operator, number, valve, keyed=node.keyed)
        for node in reversed(chain.nodes):
            operator = self.operators[node.id]
            context = create_context(self.job, chain, node, self.index)
            outputs: dict[str | None, list[Output]] = {None: []}
            for tag in node.side_tags:
                outputs[tag] = []
            for edge in chain.local_edges:
                if edge.source == node.id:
                    channel = ("local", edge.source, edge.side_tag)
                    outputs[edge.side_tag].append(self.inputs[edge.target, edge.input].channel(channel))
            for exchange in chain.outputs:
                if exchange.source == node.id:
                    end = exchange_output(exchange, self.index, self.outbox, node.name, batch=self.job.batch)
                    self.exchanges.append(end)
                    outputs[exchange.side_tag].append(end)
            everywhere = [output for several in outputs.values() for output in several]
            node_input = self.inputs.get((node.id, 0))
            # Each consumer of an output gets all of it, so that one of them shows how much it was.
            ends: Any = [several[0] for several in outputs.values() if several]
            self.flows[node.id] = Flow(ends, None if node_input is None else node_input.valve)
            main = Fan.of(outputs.pop(None), everywhere)
            sides = {str(tag): Fan.of(several, several) for tag, several in outputs.items()}
            operator.setup(context, *typed_outputs(node, context, main, sides))
        fuse(chain, self.operators, self.inputs)
        if not self.job.batch:
            self._watch_blocks()

    def _watch_blocks(self) -> None:
        """Have the functions watched that exchanges and sources give blocks to."""
        local = [self.operators[edge.target] for edge in self.chain.local_edges]
        exchanged = [self.operators[edge.target] for edge in self.chain.inputs]
        for exchange in self.chain.inputs:
            target = self.inputs[exchange.target, exchange.input]
            watch_block(target, target, [], local)
        for operator in self.operators.values():
            if isinstance(operator, SourceOperator):
                watch_block(operator, operator.output, [], local + exchanged)

    def _loaded(self, node: NodePlan) -> Operator:
        try:
            operator: Operator = thaw_operator(node.operator)
        except BaseException as error:
            raise OperatorFailure(node.name, self.index, error, None) from error
        operator.declared_type = node.output_type
        return operator

    def _join_splits(self) -> None:
        """Let those that generate watermarks per split know the source."""
        for edge in self.chain.local_edges:
            source, target = self.operators[edge.source], self.operators[edge.target]
            if isinstance(source, SourceOperator) and isinstance(target, SplitWatermarksOperator):
                target.source = source

    def _senders(self, edge: Any) -> list[int]:
        from flintstream.runtime.exchange.partitioners import ForwardPartitioner  # noqa: PLC0415

        if isinstance(edge.partitioner, ForwardPartitioner):
            return [self.index]
        return list(range(edge.source_parallelism))

    # -- one epoch ---------------------------------------------------------------------------------------------------

    def run(self, instruction: Instruction, gate: InputGate) -> Iterator[Item | Report]:
        """Run one epoch: yield the items for later supersteps, and at last the report."""
        attempt = f"{instruction.epoch}-{instruction.attempt}-{uuid.uuid4().hex[:8]}"
        self._recover(instruction)
        for operator in self.operators.values():
            if isinstance(operator, SinkOperator):
                operator.attempt = attempt
                operator.run = instruction.run
                operator.staging = self.job.settings.staging
                operator.saving = instruction.snapshot is not None
                operator.savepoint = instruction.savepoint
                operator.with_checkpoints = self.job.settings.commit_with_checkpoint
            if operator.context.state is not None:
                # A full piece does not depend on what changed.
                tracking = not self.state.writes_all(instruction)
                operator.context.state.tracking = tracking
                operator.context.timers.tracking = tracking  # type: ignore[union-attr]
        self.version = None  # whatever happens now, what is in memory belongs to no version until the end
        for node_input in self.inputs.values():
            node_input.records = 0
        if not self.opened:
            self.opened = True
            for operator in reversed(self.operators.values()):
                operator.context.runtime_context.begin_attempt(instruction.attempt)
                operator.open()
        for node, splits in instruction.new_splits.items():
            source = self.operators[node]
            assert isinstance(source, InputOperator)  # noqa: S101
            source.splits.extend(splits)
        self.fed, self.left, began = 0, [], time.monotonic()
        for _ in self._consume(instruction, gate):
            yield from self.outbox
            self.outbox.clear()
        if not self.finished:
            self._tick()
        committables = self._end_epoch(commit=instruction.commit)
        self.spent = time.monotonic() - began
        for end in self.exchanges:
            end.flush()
        yield from self.outbox
        self.outbox.clear()
        yield self._report(instruction, attempt, committables)

    def _consume(self, instruction: Instruction, gate: InputGate) -> Iterator[None]:
        if self.job.batch:
            yield from self._consume_batch(gate)
        else:
            self._tick()  # what has become due since the last epoch comes before the records of this one
            yield from self._consume_streaming(gate, instruction)
        sources = [(n, o) for n, o in self.operators.items() if isinstance(o, InputOperator)]
        runs = [(source, self._read(number, source, instruction)) for number, source in sources]
        while runs:
            for source, run in list(runs):
                enough, until = source.records + RECORDS_PER_BLOCK, time.monotonic() + TURN_SECONDS
                for _ in run:
                    self._tick()
                    yield
                    if self.alternates or source.records >= enough or time.monotonic() >= until:
                        break
                else:
                    runs.remove((source, run))

    def _read(self, number: int, source: InputOperator, instruction: Instruction) -> Iterator[None]:
        """Run one source; one that others must be able to wait for does not go unobserved for long."""
        reached = {number}
        for edge in self.chain.local_edges:
            if edge.source in reached:
                reached.add(edge.target)
        aligned = [o for n, o in self._aligned() if n in reached]
        settings = self.job.settings
        intervals = [o.strategy.alignment.update_interval_ms for o in aligned if o.strategy.alignment is not None]
        if instruction.max_epoch_ms is not None:
            intervals.append(instruction.max_epoch_ms)
        if instruction.drain:
            source.drain()
        source.records = 0
        return source.run(
            replace(settings, max_epoch_ms=min([settings.max_epoch_ms, *intervals])),
            last=instruction.drain or number in instruction.no_more_splits,
            ahead=lambda split: any(operator.is_ahead(instruction.slowest, split) for operator in aligned),
            # What is broadcast in an epoch has to be there before its events.
            most=None if number in self.broadcasts and instruction.max_records else instruction.max_records,
        )

    def _aligned(self) -> list[tuple[int, TimestampsAndWatermarksOperator]]:
        return [
            (number, operator)
            for number, operator in self.operators.items()
            if isinstance(operator, TimestampsAndWatermarksOperator) and operator.strategy.alignment is not None
        ]

    def _aligned_watermarks(self) -> dict[str, int]:
        """Return the lowest watermark per alignment group of the sources that still read and are not idle."""
        watermarks: dict[str, int] = {}
        for _, operator in self._aligned():
            alignment = operator.strategy.alignment
            if alignment is not None and not operator.idle and not operator.ended:
                own = operator.own_watermark()
                watermarks[alignment.group] = min(own, watermarks.get(alignment.group, own))
        return watermarks

    def _consume_streaming(self, gate: InputGate, instruction: Instruction) -> Iterator[None]:
        """Feed what crossed exchanges; what would keep results of slow functions for too long is left.

        A checkpoint has nothing that is in flight, so that an epoch with one consumes all.
        """
        longest = min(LONGEST_WAIT_MS, self.job.settings.max_epoch_ms) / 1000
        may_leave = instruction.snapshot is None and not instruction.drain
        started = time.monotonic()
        watermarks: dict[tuple[int, int], int] = {}
        targets = {edge.id: self.inputs[edge.target, edge.input] for edge in self.chain.inputs}
        for edge in self.chain.inputs:
            valve = targets[edge.id].valve
            watermarks.update({c: w for c, w in valve.watermarks.items() if isinstance(c, tuple) and c[0] == edge.id})
        broadcast = frozenset(edge.id for edge in self.chain.inputs if edge.priority == 0)
        items = gate.streaming(watermarks, broadcast)
        for item in items:
            whole: Block | None = self._unpacked(item, targets[item.edge])
            channel = (item.edge, item.channel)
            while whole is not None:
                block, rest = whole.cut(self.block_size)
                began = time.monotonic()
                done = self._feed(targets[item.edge], channel, block)
                whole = rest if done == len(block.values) else whole.cut(done)[1]
                watermarks[channel] = targets[item.edge].valve.watermarks[channel]
                self._tick()
                ended = time.monotonic()
                self.fed += done
                self.block_size = next_size(self.block_size, done, ended - began)
                yield
                elapsed = ended - started
                if may_leave and elapsed >= longest and is_slow(self.fed, elapsed) and gate.size <= MOST_LEFT_BYTES:
                    self._leave(item, whole, items)
                    return

    def _leave(self, item: Item, rest: Block | None, items: Iterator[Item]) -> None:
        """Keep the rest of an item and all that follow for the next epoch, before whatever comes then."""
        left = [*items]
        if rest is not None:
            payload = pack(rest.values, rest.timestamps, rest.marks, plain_keys=rest.plain_keys)
            left.insert(0, item._replace(payload=payload))
        self.left = [one._replace(sequence=number - len(left)) for number, one in enumerate(left)]

    def _unpacked(self, item: Item, target: NodeInput) -> Block:
        try:
            return unpack(item.payload)
        except BaseException as error:
            raise OperatorFailure(target.operator.context.name, self.index, error, None) from error

    @staticmethod
    def _feed(target: NodeInput, channel: Any, block: Block) -> int:
        """Give the records and the marks between them to a node, in order; return how many it has processed.

        That may be fewer when it takes its time: then the others, and the marks after them, are to come again.
        """
        values, timestamps, marks, plain_keys = block
        if not plain_keys:
            target.freeze_keys()
        target.records += len(values)
        start = 0
        for position, mark in marks:
            if position > start:
                target.process(values[start:position], None if timestamps is None else timestamps[start:position])
                if target.watch.rest:
                    return _processed(target, position, len(values))
                start = position
            if mark > ACTIVE and mark != IDLE:
                target.valve.watermark(channel, mark)
            else:
                target.valve.idle(channel, idle=mark == IDLE)
        if not start and values:
            target.process(values, timestamps)
        elif start < len(values):
            target.process(values[start:], None if timestamps is None else timestamps[start:])
        return _processed(target, len(values), len(values)) if target.watch.rest else len(values)

    def _consume_batch(self, gate: InputGate) -> Iterator[None]:
        edges = {edge.id: edge for edge in self.chain.inputs}
        keyed: dict[Any, tuple[list[int], list[Any], list[int]]] = {}
        bucket: tuple[int, int] | None = None
        few = gate.held <= SORTED_BYTES
        priority = {edge.id: edge.priority for edge in self.chain.inputs}
        for item in gate.batch(priority, by_bucket=not few):
            edge = edges[item.edge]
            target = self.inputs[edge.target, edge.input]
            block = self._unpacked(item, target)
            target.records += len(block.values)
            if not block.plain_keys:
                target.freeze_keys()
            if not isinstance(edge.partitioner, KeyGroupPartitioner) or not target.keyed:
                if block.values:
                    target.process(block.values, block.timestamps)
                yield
                continue
            if bucket is not None and bucket != (edge.target, few or item.bucket):
                yield from self._run_keys(bucket[0], keyed, few=few)
            bucket = (edge.target, few or item.bucket)
            self._sort_in(keyed, edge, block)
        if bucket is not None:
            yield from self._run_keys(bucket[0], keyed, few=few)
        self._end_batch()
        yield

    def _sort_in(self, keyed: dict[Any, tuple[list[int], list[Any], list[int]]], edge: Any, block: Block) -> None:
        selector = self.selectors.get(edge.id)
        if selector is None:
            selector = self.selectors[edge.id] = thawed(edge.partitioner.selector)
        stamps = block.timestamps or [MIN_TIMESTAMP] * len(block.values)
        for value, timestamp in zip(block.values, stamps, strict=True):
            key = selector(value) if block.plain_keys else freeze_key(selector(value))
            entry = keyed.get(key)
            if entry is None:
                entry = keyed[key] = ([], [], [])
            entry[0].append(timestamp)
            entry[1].append(value)
            entry[2].append(edge.input)

    def _run_keys(
        self, node: int, keyed: dict[Any, tuple[list[int], list[Any], list[int]]], *, few: bool
    ) -> Iterator[None]:
        """Run the keys of one bucket one after the other, the records of each in the order of their timestamps."""
        operator: Any = self.operators[node]
        typed = any(getattr(e.partitioner, "key_converter", None) for e in self.chain.inputs if e.target == node)
        if self.last_input is None:  # the input that has less begins: it is the first to be sorted in PyFlink, too
            numbers = [number for entry in keyed.values() for number in entry[2]]
            self.last_input = int(2 * sum(numbers) >= len(numbers))
        for key in sorted_keys(keyed, typed=typed) if few else keyed:
            stamps, values, numbers = keyed[key]
            if any(number != numbers[0] for number in numbers) or stamps != sorted(stamps):
                order = merged(stamps, numbers, self.last_input)
                stamps = [stamps[i] for i in order]
                values = [values[i] for i in order]
                numbers = [numbers[i] for i in order]
            self.last_input = numbers[-1]
            timestamps = None if stamps[-1] == MIN_TIMESTAMP else stamps
            start = 0
            while start < len(values):
                end = start + 1
                while end < len(values) and numbers[end] == numbers[start]:
                    end += 1
                self.inputs[node, numbers[start]].process(
                    values[start:end], None if timestamps is None else timestamps[start:end]
                )
                start = end
            operator.context.state.key = key
            operator.end_key()
            if len(self.outbox) > 16:
                yield
        keyed.clear()
        yield

    def _end_batch(self) -> None:
        """The input of every exchange has ended; what the sources of this chain end is told by themselves."""
        for edge in self.chain.inputs:
            target = self.inputs[edge.target, edge.input]
            for sender in self._senders(edge):
                target.valve.watermark((edge.id, sender), MAX_TIMESTAMP)

    def _tick(self) -> None:
        """Between blocks: fire the processing-time work that is due."""
        now = None
        for operator in self.operators.values():
            due = operator.next_processing_time()
            if due is not None:
                if now is None:
                    now = wall_clock()
                if due <= now:
                    operator.on_processing_time(now)

    def _end_epoch(self, *, commit: bool) -> dict[int, list[Any]]:
        ended = not self.finished and self._inputs_ended()
        for operator in self.operators.values():
            operator.end_epoch()
            if operator.context.state is not None and not ended:
                operator.context.state.cleanup(wall_clock())
        if ended:
            self.finished = True
            for operator in self.operators.values():
                operator.end_input()
        committables: dict[int, list[Any]] = {}
        for number, operator in self.operators.items():
            if isinstance(operator, SinkOperator):
                prepared = list(operator.prepare_commit(end_of_input=self.finished, checkpoint=commit))
                if prepared:
                    committables[number] = prepared
        if ended:
            for operator in self.operators.values():
                operator.close()
        return committables

    def _inputs_ended(self) -> bool:
        for node in self.chain.nodes:
            operator = self.operators[node.id]
            if isinstance(operator, InputOperator) and not operator.finished:
                return False
        return all(node_input.valve.ended for node_input in self.inputs.values())

    def release(self) -> None:
        """Let go of what backends and sinks hold outside of memory; this object is not used any more."""
        for operator in self.operators.values():
            if isinstance(operator, SinkOperator):
                try:
                    operator.close()
                except OperatorFailure as failure:  # whatever made the epoch fail has been told already
                    if is_interrupt(failure.error):
                        raise failure.error from None
            if operator.context.state is not None:
                operator.context.state.close()

    # -- state between epochs ----------------------------------------------------------------------------------------

    def _recover(self, instruction: Instruction) -> None:
        """Bring what is in memory to what the epoch starts from."""
        if instruction.version is None:
            if instruction.restore is not None:
                try:
                    self.state.restore(instruction.restore)
                except CorruptCheckpointError as error:  # trying again would not help
                    raise OperatorFailure(self.chain.name, self.index, error, None) from error
        elif instruction.version != self.version:
            self.state.catch_up(instruction)

    def _report(self, instruction: Instruction, attempt: str, committables: dict[int, list[Any]]) -> Report:
        handles, memo = instruction.handles, None
        started = time.monotonic()
        if instruction.keep_state and not self.finished:
            handles = self.state.log(instruction, attempt)
            memo = self.state.memo()
        elif instruction.snapshot is not None and instruction.snapshot.kind == "log":
            handles = self.state.log(instruction, attempt)  # the last time: the checkpoint refers to it
        pieces, snapshot_error = self._snapshot(instruction, handles, attempt)
        state_ms = int((time.monotonic() - started) * 1000)
        sources = [o for o in self.operators.values() if isinstance(o, InputOperator)]
        now = wall_clock()
        running = () if self.finished else self.operators.values()
        times = [t for o in running for t in (o.next_processing_time(), o.context.next_cleanup(now))]
        self.version = attempt
        records: dict[int, int] = {}
        for (node, _), node_input in self.inputs.items():
            if node_input.records:
                records[node] = records.get(node, 0) + node_input.records
        records.update((n, o.records) for n, o in self.operators.items() if isinstance(o, InputOperator))
        watermarks = [i.valve.combined for i in self.inputs.values()]
        return Report(
            chain=self.chain.id,
            subtask=self.index,
            version=attempt,
            memo=memo,
            handles=handles,
            finished=self.finished,
            more=any(s.more for s in sources),
            unread=frozenset(n for n, o in self.operators.items() if isinstance(o, InputOperator) and o.splits),
            next_processing_time=min((t for t in times if t is not None), default=None),
            watermark=min(watermarks, default=MIN_TIMESTAMP),
            aligned=self._aligned_watermarks(),
            committables=committables,
            progress={
                n: told
                for n, o in self.operators.items()
                if isinstance(o, InputOperator) and (told := o.progress()) is not None
            },
            records=records,
            metrics={
                n: self.flows[n].take(records.get(n, 0)) | o.context.take_metrics() for n, o in self.operators.items()
            },
            warnings={n: told for n, o in self.operators.items() if (told := o.context.take_warning()) is not None},
            pieces=pieces,
            state_ms=state_ms,
            left=tuple(self.left),
            spent_ms=self.spent * 1000 if self.chain.inputs else 0,
            slow=self.spent > SLOW_EPOCH_SECONDS and self.fed > 0 and is_slow(self.fed, self.spent),
            snapshot_error=snapshot_error,
        )

    def _snapshot(
        self, instruction: Instruction, handles: tuple[StateHandle, ...], attempt: str
    ) -> tuple[tuple[StatePiece, ...] | None, str]:
        """Write the state for a checkpoint; that it cannot be written fails the checkpoint, not the epoch."""
        if instruction.snapshot is None:
            return None, ""
        pieces: list[StatePiece] = []
        name = f"{self.chain.id}-{self.index}-{attempt}"
        try:
            pieces.extend(self.state.snapshot(instruction.snapshot, handles, name))
        except Exception as error:  # noqa: BLE001 - whatever a storage raises
            # What was written comes back all the same, to be deleted.
            return tuple(pieces), f"subtask {self.index} of '{self.chain.name}': {type(error).__name__}: {error}"
        return tuple(pieces), ""


def _processed(target: NodeInput, given: int, records: int) -> int:
    """Return how many records of a block were processed when a node was given some of them, and left a few."""
    done = given - target.watch.taken()
    target.records -= records - done
    return done
