"""Watermarks of a source whose splits have separate event times, such as the partitions of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.operators.base import Operator
from flintstream.runtime.operators.source import SourceOperator
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator, Valve
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common.watermark_strategy import WatermarkStrategy
    from flintstream.runtime.operators.base import OperatorContext, Output

NO_SPLIT = ""
"""The name of the generator that runs while there is no split. It becomes idle if the strategy handles idleness."""


class SplitWatermarksOperator(TimestampsAndWatermarksOperator):
    """Generates watermarks for every split of the source right before it, and forwards the lowest.

    So event time waits for splits that lag behind or were not read yet, so none of their records are late.
    """

    def __init__(self, strategy: WatermarkStrategy, source: str | None = None) -> None:
        """Take the strategy, which creates a generator per split, and the name of the source."""
        super().__init__(strategy, source)
        self.source: SourceOperator | None = None
        """None if another operator is in between."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Start without splits."""
        Operator.setup(self, context, output, side_outputs)
        self.valve = Valve([], output.emit_watermark, self._pass_idle, lambda _: None)
        self.generators: dict[str, TimestampsAndWatermarksOperator] = {}
        self.idle = False
        self.ended = False

    def on_upstream(self, upstream: Operator, *, directly: bool) -> None:
        """Remember the source if it is right before this operator."""
        super().on_upstream(upstream, directly=directly)
        if directly and isinstance(upstream, SourceOperator):
            self.source = upstream

    def _pass_idle(self, idle: bool) -> None:
        self.idle = idle
        self.output.emit_idle(idle)

    def _names(self) -> list[str]:
        names = [] if self.source is None else [split.split_id for split in self.source.splits]
        return names or [NO_SPLIT]

    def _follow(self) -> None:
        """Add generators for new splits and remove those of ended splits."""
        names = self._names()
        if self.generators.keys() == set(names):
            return
        for name in names:
            if name not in self.generators:
                self._add(name)
        for name in self.generators.keys() - names:
            del self.generators[name]
            self.valve.remove(name)

    def _add(self, name: str) -> TimestampsAndWatermarksOperator:
        generator = self.generators[name] = TimestampsAndWatermarksOperator(self.strategy, self.source_name)
        self.valve.watermarks[name] = MIN_TIMESTAMP
        generator.setup(self.context, _SplitOutput(self.output, self.valve, name), {})
        generator.interrupter = self.interrupter
        return generator

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Pass a block to the generator of the split being read."""
        self._follow()
        name = NO_SPLIT if self.source is None else self.source.reading
        # A split may have ended with this block.
        (self.generators.get(name) or self._add(name)).process(values, timestamps)

    def passes_blocks(self) -> bool:
        """Return whether the next function may leave the rest of a block."""
        generator = TimestampsAndWatermarksOperator(self.strategy)
        generator.setup(self.context, self.output, {})
        return generator.passes_blocks()

    def on_processing_time(self, now: int) -> None:
        """Emit the periodic watermarks that are due."""
        if self.ended:
            return
        self._follow()
        for generator in self.generators.values():
            generator.on_processing_time(now)

    def next_processing_time(self) -> int | None:
        """Return when a generator wants the next call (ms), or 0 (at once) if the splits have changed."""
        if self.ended or self.context.batch:
            return None
        if self.generators.keys() != set(self._names()):
            return 0
        times = [generator.next_processing_time() for generator in self.generators.values()]
        return min((time for time in times if time is not None), default=None)

    def own_watermark(self) -> int:
        """Return the watermark that the records so far allow: the lowest of all splits that are not idle."""
        busy = (generator.own_watermark() for generator in self.generators.values() if not generator.idle)
        return min(busy, default=MIN_TIMESTAMP)

    def split_watermark(self, split: str) -> int:
        """Return the watermark that the records of one split so far allow."""
        generator = self.generators.get(split)
        return MIN_TIMESTAMP if generator is None else generator.own_watermark()

    def snapshot(self) -> object | None:
        """Return the state of the generators."""
        seen = {name: generator.snapshot() for name, generator in self.generators.items()}
        return (seen, self.valve.snapshot(), self.ended)

    def restore(self, state: Any) -> None:
        """Continue where the previous epoch ended."""
        seen, valve, self.ended = state
        self.generators.clear()
        self.valve.watermarks.clear()
        for name, own in seen.items():
            self._add(name).restore(own)
        self.valve.restore(valve)
        self.idle = self.valve.is_idle

    def redistribute(self, states: Sequence[Any], subtask: int, parallelism: int) -> object:
        """Continue with any splits this subtask gets, from the lowest watermark of all subtasks."""
        seen = {name: own for generators, _, _ in states for name, own in generators.items()}
        watermarks = {name: mark for _, valve, _ in states for name, mark in valve[0].items()}
        reached = min(valve[2] for _, valve, _ in states)
        return (seen, (watermarks, set(), reached, False), False)


class _SplitOutput:
    """The output of one split's generator: forwards records, and passes watermarks to the valve."""

    def __init__(self, output: Output, valve: Valve, name: str) -> None:
        self.emit = output.emit
        self._valve = valve
        self._name = name

    def emit_watermark(self, timestamp: int) -> None:
        if self._name in self._valve.watermarks:
            self._valve.watermark(self._name, timestamp)

    def emit_idle(self, idle: bool) -> None:
        if self._name in self._valve.watermarks:
            self._valve.idle(self._name, idle=idle)
