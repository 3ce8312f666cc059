"""What stands between the operators of a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.copies import snapshot_block
from flintstream.runtime.keys import key_group
from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.runtime.operators.operator import OperatorContext
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from flintstream.runtime.task.fused import FusedLoop
from flintstream.runtime.task.result_types import ConvertingOutput
from flintstream.runtime.watch import Watch

if TYPE_CHECKING:
    from flintstream.runtime.operators.operator import Operator, Output
    from flintstream.runtime.operators.watermarks import Valve
    from flintstream.runtime.plan import ChainPlan, JobPlan, NodePlan


class NodeInput:
    """One input of a node: where the records of all its channels arrive."""

    def __init__(self, operator: Operator, number: int, valve: Valve, *, keyed: bool) -> None:
        """Feed input ``number`` of ``operator``; ``valve`` combines the watermarks of all the node's channels."""
        self.operator = operator
        self.process = operator.process if number == 0 else operator.process_second
        self.valve = valve
        self.records = 0
        self.keyed = keyed
        self.watch = Watch()
        """Of what takes blocks that come through an exchange."""

    def freeze_keys(self) -> None:
        """From now on, keys are not hashable as they are."""
        if hasattr(self.operator, "freeze"):
            self.operator.freeze = True

    def channel(self, name: Any) -> Output:
        """Return the end that a local edge writes into."""
        return LocalChannel(self, name)


class LocalChannel:
    """A local edge: a plain call into the next operator."""

    def __init__(self, target: NodeInput, name: Any) -> None:
        """Write into ``target`` as channel ``name``."""
        self.target = target
        self.name = name
        self.records = 0

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Hand a block on."""
        count = len(values)
        self.records += count
        self.target.records += count
        self.target.process(values, timestamps)

    def emit_watermark(self, timestamp: int) -> None:
        """Hand a watermark on."""
        self.target.valve.watermark(self.name, timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Hand an idleness change on."""
        self.target.valve.idle(self.name, idle=idle)


class NoOutput:
    """Nobody listens."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Drop a block."""

    def emit_watermark(self, timestamp: int) -> None:
        """Drop a watermark."""

    def emit_idle(self, idle: bool) -> None:
        """Drop an idleness change."""


class Fan:
    """Several consumers: each gets records of its own, as one may change what another still looks at."""

    def __init__(self, records: list[Output], marks: list[Output]) -> None:
        """Send blocks to ``records``, watermarks and idleness to ``marks`` (side outputs see those too)."""
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
            mine = values if i == last else list(snapshot_block(values))
            output.emit(mine, timestamps if i == last or timestamps is None else list(timestamps))

    def emit_watermark(self, timestamp: int) -> None:
        """Send a watermark to every consumer."""
        for output in self.marks:
            output.emit_watermark(timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Send an idleness change to every consumer."""
        for output in self.marks:
            output.emit_idle(idle)


def watch_block(entry: Any, output: Any, path: list[LocalChannel], feeders: list[Operator]) -> None:
    """Have the function watched that blocks from ``entry`` come to first; ``entry`` takes back what it leaves.

    Before it there may be an operator that generates watermarks, which is fast. What gets blocks from elsewhere, too,
    is left alone: ``feeders`` has an operator once for each edge that leads to it, but for exchanges to the first.

    Args:
        entry: What has blocks: a source, or the input behind an exchange.
        output: Where it puts them.
        path: The edges on the way there.
        feeders: See above.
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
    if isinstance(processor, TimestampsAndWatermarksOperator):
        if processor.may_be_cut():
            watch_block(entry, processor.output, path, feeders)
            processor.watch = entry.watch
    elif isinstance(processor, FunctionOperator | FusedLoop) and entry.watch is not processor.watch:
        entry.watch = processor.watch
        entry.watch.path = path
        entry.watch.begin()


def create_context(job: JobPlan, chain: ChainPlan, node: NodePlan, subtask: int) -> OperatorContext:
    """Create what an operator sees of its surroundings."""
    from flintstream.runtime.operators.contexts import create_runtime_context  # noqa: PLC0415
    from flintstream.runtime.operators.timers import InternalTimerService  # noqa: PLC0415
    from flintstream.state.factory import create_backend  # noqa: PLC0415

    state = None
    if node.keyed:
        settings = job.settings.state.of("hashmap") if job.batch else job.settings.state
        state = create_backend(settings, node.name, lambda key: key_group(key, chain.max_parallelism))
    timers = InternalTimerService() if node.keyed else None
    return OperatorContext(
        name=node.name,
        subtask=subtask,
        parallelism=chain.parallelism,
        max_parallelism=chain.max_parallelism,
        batch=job.batch,
        runtime_context=create_runtime_context(job, chain, node, subtask, state),
        state=state,
        timers=timers,
        side_tags=node.side_tags,
        identity=f"{job.job_id}/{node.uid}",
        auto_watermark_interval_ms=job.settings.auto_watermark_interval_ms,
    )
