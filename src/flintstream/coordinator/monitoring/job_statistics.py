"""Totals of what the subtasks of a job report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flintstream.coordinator.job import Progress
from flintstream.coordinator.monitoring.curves import Curves
from flintstream.coordinator.monitoring.load import Load
from flintstream.coordinator.monitoring.metrics import JobMetrics
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from flintstream.coordinator.job import Job
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report

_log = logging.getLogger(__name__)


class JobStatistics:
    """The progress and the metrics of a job over all its attempts."""

    def __init__(self, job: Job, listeners: Sequence[Callable[[Progress], None]] = (), now_ms: int = 0) -> None:
        """Start from zero at ``now_ms``. Each of ``listeners`` is called after each epoch."""
        self.progress = Progress()
        self.metrics = JobMetrics.of(job.plan)
        self.load = Load(job.plan, now_ms)
        self.curves = Curves(now_ms)
        self._sources, self._sinks = job.sources.keys(), job.sinks.keys()
        self._listeners = list(listeners)
        self._warned: set[int] = set()
        """Nodes with a warning that was logged."""

    def add(self, reports: Collection[Report], began_ms: int, now_ms: int) -> None:
        """Add what all subtasks report of an epoch that counts, and that began at ``began_ms``."""
        progress = self.progress
        progress.epochs += 1
        watermarks = []
        for report in reports:
            progress.catch_ups += report.caught_up
            progress.records_in += sum(told.records for told in report.nodes if told.node in self._sources)
            progress.records_out += sum(told.records for told in report.nodes if told.node in self._sinks)
            if report.watermark not in (MIN_TIMESTAMP, MAX_TIMESTAMP):
                watermarks.append(report.watermark)
            self.metrics.add(report)
            for told in report.nodes:
                if told.warning is not None and told.node not in self._warned:
                    self._warned.add(told.node)
                    _log.warning("%s", told.warning)
        progress.watermark = min(watermarks, default=progress.watermark)
        self.load.add(reports, began_ms, now_ms)
        self.curves.add(progress, self.load, now_ms)
        for listener in self._listeners:
            listener(progress)

    def go_on_with(self, plan: JobPlan, now_ms: int) -> None:
        """Count for the subtasks of another plan of the program from ``now_ms`` on."""
        self.load = Load(plan, now_ms)
        self.metrics.go_on_with(plan)

    def listen(self, listener: Callable[[Progress], None]) -> None:
        """Call ``listener`` after each epoch, too."""
        self._listeners.append(listener)

    def checkpoint_completed(self, number: int) -> None:
        """Note that a checkpoint contains all epochs so far."""
        self.progress.checkpoints += 1
        self.metrics.keep(number)

    def go_back_to(self, checkpoint: int | None) -> None:
        """Reset the metrics to those of a checkpoint, or of the beginning, as the work since then will be repeated."""
        self.metrics.go_back_to(checkpoint)
