"""OperatorChain of a chain's operators, to each other and to the exchanges."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.runtime.exchange.sending import exchange_output
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.frozen import thaw_operator
from flintstream.runtime.keys import KeyGroups
from flintstream.runtime.operators.base import Operator, OperatorContext
from flintstream.runtime.operators.contexts import create_runtime_context
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.operators.watermarks import Valve
from flintstream.runtime.partitioners import ForwardPartitioner
from flintstream.runtime.plan import RECORDS_PER_BLOCK
from flintstream.runtime.task.channels import Fan, LocalChannel, NodeInput
from flintstream.runtime.task.fused import fuse
from flintstream.runtime.task.operator_metrics import OperatorMetrics
from flintstream.runtime.task.result_types import ConvertingOutput, converting_outputs
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.state.factory import create_backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.runtime.exchange.output import ExchangeOutput
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.operators.base import Output
    from flintstream.runtime.plan import ChainPlan, ExchangeEdge, JobPlan, LocalEdge, NodePlan
    from flintstream.runtime.protocol import NodeReport


class OperatorChain:
    """The operators of a chain in one subtask, and the connections between them."""

    def __init__(self, job: JobPlan, chain: ChainPlan, index: int) -> None:
        """Unpickle the operators and connect them.

        Raises:
            OperatorFailure: An operator cannot be unpickled.
        """
        self.chain = chain
        self.index = index
        self.operators: dict[int, Operator] = {node.id: self._load(node) for node in chain.nodes}
        """Operators by node, in the order in which records go through them."""
        self.inputs: dict[tuple[int, int], NodeInput] = {}
        """Inputs by node and input number."""
        self.outbox: list[Item] = []
        """Items that are ready to be sent to later supersteps."""
        self.exchanges: list[ExchangeOutput] = []
        """The exchange outputs that fill the outbox."""
        self.alternates = not job.batch and any(operator.alternates for operator in self.operators.values())
        """Whether the chain's sources are read record by record at first, because a function connects them."""
        self._metrics: dict[int, OperatorMetrics] = {}
        self._timed = [item for item in self.operators.values() if _may_have_timers(item)]
        self._following: defaultdict[int, list[LocalEdge]] = defaultdict(list)
        for edge in chain.local_edges:
            self._following[edge.source].append(edge)
        self._add_inputs()
        self._set_up(job)
        fuse(chain, self.operators, self.inputs)
        if not job.batch:
            self._attach_interrupters()
        self._connect_upstreams()

    def _load(self, node: NodePlan) -> Operator:
        try:
            operator: Operator = thaw_operator(node.operator)
        except BaseException as error:
            raise OperatorFailure(node.name, self.index, error, None) from error
        operator.declared_type = node.output_type
        return operator

    def _add_inputs(self) -> None:
        channels: defaultdict[int, defaultdict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for edge in self.chain.local_edges:
            channels[edge.target][edge.input].append(("local", edge.source, edge.side_tag))
        for exchange in self.chain.inputs:
            channels[exchange.target][exchange.input] += self.channels(exchange)
        for node in self.chain.nodes:
            by_input, operator = channels[node.id], self.operators[node.id]
            everything = [channel for several in by_input.values() for channel in several]
            valve = Valve(everything, operator.process_watermark, operator.process_idle, operator.restore_watermark)
            for number in by_input:
                self.inputs[node.id, number] = NodeInput(operator, number, valve, keyed=node.keyed)
            operator.on_inputs(partial(_is_over, {number: frozenset(own) for number, own in by_input.items()}, valve))

    def _set_up(self, job: JobPlan) -> None:
        chain = self.chain
        chain_name, broadcasts = chain.name, job.sources_of_broadcasts()
        exchanges: defaultdict[int, list[ExchangeEdge]] = defaultdict(list)
        for exchange in chain.outputs:
            exchanges[exchange.source].append(exchange)
        for node in reversed(chain.nodes):
            operator = self.operators[node.id]
            context = _context(job, chain, node, self.index, chain_name, broadcasts, alternates=self.alternates)
            outputs: dict[str | None, list[Output]] = {None: []}
            for tag in node.side_tags:
                outputs[tag] = []
            for edge in self._following[node.id]:
                channel = ("local", edge.source, edge.side_tag)
                outputs[edge.side_tag].append(self.inputs[edge.target, edge.input].channel(channel))
            for exchange in exchanges[node.id]:
                end = exchange_output(exchange, self.index, self.outbox, node.name, batch=job.batch)
                self.exchanges.append(end)
                outputs[exchange.side_tag].append(end)
            everywhere = [output for several in outputs.values() for output in several]
            node_input = self.inputs.get((node.id, 0))
            # Every consumer of an output gets all its records, so one consumer is enough to count them.
            ends: Any = [several[0] for several in outputs.values() if several]
            self._metrics[node.id] = OperatorMetrics(ends, None if node_input is None else node_input.valve)
            main = Fan.of(outputs.pop(None), everywhere)
            sides = {str(tag): Fan.of(several, several) for tag, several in outputs.items()}
            operator.setup(context, *converting_outputs(node, context, main, sides))

    def _attach_interrupters(self) -> None:
        """Watch the functions that receive blocks from exchanges and sources."""
        local = [self.operators[edge.target] for edge in self.chain.local_edges]
        exchanged = [self.operators[edge.target] for edge in self.chain.inputs]
        for exchange in self.chain.inputs:
            target = self.inputs[exchange.target, exchange.input]
            attach_interrupter(target, target, [], local)
        for operator in self.operators.values():
            if operator.gives_blocks:
                attach_interrupter(operator, operator.output, [], local + exchanged)

    def _connect_upstreams(self) -> None:
        """Tell each operator which operators are upstream of it."""
        for number, operator in self.operators.items():
            direct = {edge.target for edge in self._following[number]}
            reached: dict[int, None] = dict.fromkeys(direct)
            waiting = list(direct)
            while waiting:
                further = [edge.target for edge in self._following[waiting.pop()] if edge.target not in reached]
                reached.update(dict.fromkeys(further))
                waiting += further
            for target in reached:
                self.operators[target].on_upstream(operator, directly=target in direct)

    # -- an epoch ----------------------------------------------------------------------------------------------------

    def channels(self, edge: ExchangeEdge) -> list[tuple[int, int]]:
        """Return the channels of an exchange: one per subtask that sends items here."""
        if isinstance(edge.partitioner, ForwardPartitioner):
            return [(edge.id, self.index)]
        return [(edge.id, sender) for sender in range(edge.source_parallelism)]

    def tick(self) -> None:
        """Run the processing-time work that is due; called between blocks."""
        now = None
        for operator in self._timed:
            due = operator.next_processing_time()
            if due is not None:
                if now is None:
                    now = wall_clock()
                if due <= now:
                    operator.on_processing_time(now)

    @property
    def ended(self) -> bool:
        """Whether all input from sources and exchanges has ended."""
        return all(operator.finished for operator in self.operators.values()) and all(
            node_input.valve.ended for node_input in self.inputs.values()
        )

    @property
    def watermark(self) -> int:
        """The lowest event time (ms) of all inputs."""
        return min((node_input.valve.combined for node_input in self.inputs.values()), default=MIN_TIMESTAMP)

    def begin_epoch(self) -> None:
        """Reset the record counts."""
        for node_input in self.inputs.values():
            node_input.records = 0

    def complete_reports(self, reports: Iterable[NodeReport]) -> tuple[NodeReport, ...]:
        """Add record counts, metrics and warnings to the reports of operators."""
        received = dict.fromkeys(self.operators, 0)
        for (node, _), node_input in self.inputs.items():
            received[node] += node_input.records
        completed = []
        for report in reports:
            node, context = report.node, self.operators[report.node].context
            records = report.records + received[node]
            metrics = {**self._metrics[node].take(records), **report.metrics, **context.take_metrics()}
            completed.append(report._replace(records=records, metrics=metrics, warning=context.take_warning()))
        return tuple(completed)


def attach_interrupter(entry: Any, output: Any, path: list[LocalChannel], feeders: list[Operator]) -> None:
    """Watch the first function that receives blocks from ``entry``; ``entry`` takes back the records it leaves.

    Operators that pass blocks on, such as watermark generators, are fast and are skipped. Functions that also receive
    blocks from elsewhere are not watched.

    Args:
        entry: The origin of the blocks: a source, or the input behind an exchange.
        output: The output that ``entry`` writes blocks to.
        path: The edges from ``entry`` to ``output``.
        feeders: Each operator once per edge that leads to it, without exchanges if ``entry`` is behind one.
    """
    while isinstance(output, ConvertingOutput):
        output = output.output
    if isinstance(output, LocalChannel):
        path, target = [*path, output], output.target
    elif isinstance(output, NodeInput):
        target = output
    else:
        return
    processor: Any = target.process.__self__  # type: ignore[attr-defined]
    if sum(operator is target.operator for operator in feeders) > (1 if path else 0):
        return
    if processor.passes_blocks():
        attach_interrupter(entry, processor.output, path, feeders)
        processor.interrupter = entry.interrupter
    elif processor.can_be_cut and entry.interrupter is not processor.interrupter:
        entry.interrupter = processor.interrupter
        entry.interrupter.path = path
        entry.interrupter.begin()


def _is_over(channels: Mapping[int, frozenset[object]], valve: Valve, number: int) -> bool:
    return channels.get(number, frozenset()) <= valve.over


def _may_have_timers(operator: Operator) -> bool:
    return type(operator).next_processing_time is not Operator.next_processing_time


def _context(
    job: JobPlan,
    chain: ChainPlan,
    node: NodePlan,
    subtask: int,
    chain_name: str,
    broadcasts: frozenset[int],
    *,
    alternates: bool,
) -> OperatorContext:
    """Create the context of an operator."""
    state = None
    if node.keyed:
        settings = job.settings.state.of("hashmap") if job.batch else job.settings.state
        state = create_backend(settings, node.name, KeyGroups(chain.max_parallelism))
    timers = InternalTimerService() if node.keyed else None
    return OperatorContext(
        name=node.name,
        subtask=subtask,
        parallelism=chain.parallelism,
        max_parallelism=chain.max_parallelism,
        batch=job.batch,
        runtime_context=create_runtime_context(job, chain, node, subtask, state, chain_name),
        state=state,
        timers=timers,
        side_tags=node.side_tags,
        identity=f"{job.job_id}/{node.uid}",
        auto_watermark_interval_ms=job.settings.auto_watermark_interval_ms,
        node=node.id,
        alternates=alternates,
        broadcasts=node.id in broadcasts,
        staging=job.settings.staging,
        commit_with_checkpoint=job.settings.commit_with_checkpoint,
        block=max((edge.block for edge in chain.outputs), default=RECORDS_PER_BLOCK),
    )
