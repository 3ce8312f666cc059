"""A job as the coordinator sees it: the plan, and the parts of sources and sinks that stay in the driver."""

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
    """The plan of a program, together with its sources and sinks."""

    plan: JobPlan
    sources: dict[int, Source]
    sinks: dict[int, Sink]
    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    restart: RestartStrategy = field(default_factory=NoRestart)
    program: StreamGraph | None = None
    """The graph before the rewrites, from which the job can be planned again; None if it cannot."""

    @classmethod
    def of(
        cls,
        plan: JobPlan,
        graph: StreamGraph,
        checkpoints: CheckpointSettings | None = None,
        restart: RestartStrategy | None = None,
        program: StreamGraph | None = None,
    ) -> Job:
        """Create a job with the sources and sinks of the graph from which ``plan`` was made."""
        sources = {n.id: n.operator.source for n in graph.nodes if isinstance(n.operator, SourceOperator)}
        sinks = {n.id: n.operator.sink for n in graph.nodes if isinstance(n.operator, SinkOperator)}
        return cls(plan, sources, sinks, checkpoints or CheckpointSettings(), restart or NoRestart(), program)


@dataclass
class Progress:
    """The progress of a job. Listeners receive it after each epoch."""

    epochs: int = 0
    restarts: int = 0
    checkpoints: int = 0
    """Completed checkpoints."""
    rescales: int = 0
    """How often the job has continued with a different parallelism."""
    records_in: int = 0
    """Records that sources emitted, those of work that a restart repeats only once."""
    records_out: int = 0
    """Records that reached sinks, counted in the same way."""
    repeated_in: int = 0
    """Records that sources emitted in work that a restart has dropped."""
    repeated_out: int = 0
    catch_ups: int = 0
    """How often a subtask had to read its state again because it ran in another process than before."""
    watermark: int = -(2**63)
    """The lowest watermark of all chains that have one (ms)."""

    @property
    def worked_in(self) -> int:
        """All records that sources emitted; never falls."""
        return self.records_in + self.repeated_in

    @property
    def worked_out(self) -> int:
        """All records that reached sinks; never falls."""
        return self.records_out + self.repeated_out

    def drop_since(self, records_in: int, records_out: int) -> None:
        """Go back to these totals, as the work since then is done again.

        >>> progress = Progress(records_in=9, records_out=7)
        >>> progress.drop_since(5, 4)
        >>> progress.records_in, progress.repeated_in, progress.worked_out
        (5, 4, 7)
        """
        self.repeated_in += self.records_in - records_in
        self.repeated_out += self.records_out - records_out
        self.records_in, self.records_out = records_in, records_out


@dataclass
class SubtaskProgress:
    """The last report of a subtask, from which its next epoch starts."""

    report: Report | None = None

    @property
    def finished(self) -> bool:
        """Whether the subtask has ended."""
        return self.report is not None and self.report.finished


class Clock:
    """The clocks of the coordinator, with a sleep that another thread can end."""

    def __init__(self) -> None:
        """Use the clocks of the machine."""
        self._event = threading.Event()

    def now_ms(self) -> int:
        """Return ms since some moment, for durations: no administrator can set this clock."""
        return time.monotonic_ns() // 1_000_000

    def wall_ms(self) -> int:
        """Return the time in ms since the epoch: processing time."""
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        """Sleep until the time has passed or :meth:`wake` is called. A call since the last sleep counts as well."""
        self._event.wait(seconds)
        self._event.clear()

    def wake(self) -> None:
        """End the coordinator's sleep."""
        self._event.set()
