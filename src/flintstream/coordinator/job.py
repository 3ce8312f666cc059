"""A job as the coordinator holds it: the plan, and the parts of sources and sinks that stay in the driver."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator.restart import NoRestart
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.runtime.operators.source import SourceOperator

if TYPE_CHECKING:
    from flintstream.connectors.sink import Sink
    from flintstream.connectors.source import Source
    from flintstream.coordinator.restart import RestartStrategy
    from flintstream.graph.stream_graph import StreamGraph
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report


@dataclass
class Job:
    """A program, planned, together with its sources and sinks."""

    plan: JobPlan
    sources: dict[int, Source]
    sinks: dict[int, Sink]
    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    restart: RestartStrategy = field(default_factory=NoRestart)

    @classmethod
    def of(
        cls,
        plan: JobPlan,
        graph: StreamGraph,
        checkpoints: CheckpointSettings | None = None,
        restart: RestartStrategy | None = None,
    ) -> Job:
        """Pick the sources and sinks out of the graph that ``plan`` was made from."""
        sources = {n.id: n.operator.source for n in graph.nodes if isinstance(n.operator, SourceOperator)}
        sinks = {n.id: n.operator.sink for n in graph.nodes if isinstance(n.operator, SinkOperator)}
        return cls(plan, sources, sinks, checkpoints or CheckpointSettings(), restart or NoRestart())


@dataclass
class Progress:
    """How far a job is; what listeners are shown after each epoch."""

    epochs: int = 0
    restarts: int = 0
    checkpoints: int = 0
    """Checkpoints that were completed."""
    records_in: int = 0
    """Records that sources emitted."""
    records_out: int = 0
    """Records that reached sinks."""
    watermark: int = -(2**63)
    """The lowest watermark of all chains that have one (ms)."""


@dataclass
class SubtaskProgress:
    """Where one subtask stands: what its next epoch starts from."""

    report: Report | None = None

    @property
    def finished(self) -> bool:
        """Whether it has nothing more to do."""
        return self.report is not None and self.report.finished


class Clock:
    """Time as the coordinator sees it, and its sleep, which another thread can end."""

    def __init__(self) -> None:
        """Use the clock of the machine."""
        self._event = threading.Event()

    def now_ms(self) -> int:
        """Return the time in ms since the epoch."""
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        """Sleep until the time is over or :meth:`wake` is called; at once if it was since the last sleep."""
        self._event.wait(seconds)
        self._event.clear()

    def wake(self) -> None:
        """End the coordinator's sleep."""
        self._event.set()
