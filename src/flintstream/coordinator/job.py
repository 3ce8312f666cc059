"""A job as the coordinator holds it: the plan, and the parts of sources and sinks that stay in the driver."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.runtime.sink_operator import SinkOperator
from flintstream.runtime.source_operator import SourceOperator

if TYPE_CHECKING:
    from flintstream.connectors.sink import Sink
    from flintstream.connectors.source import Source
    from flintstream.graph.stream_graph import StreamGraph
    from flintstream.runtime.plan import JobPlan


@dataclass
class Job:
    """A program, planned, together with its sources and sinks."""

    plan: JobPlan
    sources: dict[int, Source]
    sinks: dict[int, Sink]

    @classmethod
    def of(cls, plan: JobPlan, graph: StreamGraph) -> Job:
        """Pick the sources and sinks out of the graph that ``plan`` was made from."""
        sources = {n.id: n.operator.source for n in graph.nodes if isinstance(n.operator, SourceOperator)}
        sinks = {n.id: n.operator.sink for n in graph.nodes if isinstance(n.operator, SinkOperator)}
        return cls(plan, sources, sinks)


@dataclass
class Progress:
    """How far a job is; what listeners are shown after each epoch."""

    epochs: int = 0
    records_in: int = 0
    """Records that sources emitted."""
    records_out: int = 0
    """Records that reached sinks."""
    watermark: int = -(2**63)
    """The lowest watermark of all chains that have one (ms)."""
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Operator name -> metric -> value over all subtasks; of a gauge, a list of what it shows in each."""


class Wakeup:
    """Lets another thread end the coordinator's sleep."""

    def __init__(self) -> None:
        """Create it, not set."""
        self._event = threading.Event()

    def sleep(self, seconds: float) -> None:
        """Sleep until the time is over or :meth:`wake` is called."""
        self._event.wait(seconds)

    def wake(self) -> None:
        """End the sleep, now and from now on."""
        self._event.set()


def now_ms() -> int:
    """Return the time in ms since the epoch."""
    return time.time_ns() // 1_000_000
