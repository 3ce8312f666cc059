"""Totals of what the subtasks of a job report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flintstream.coordinator.job import Progress
from flintstream.coordinator.monitoring.curves import Curves
from flintstream.coordinator.monitoring.epochs import Epochs, parts_of
from flintstream.coordinator.monitoring.load import Load
from flintstream.coordinator.monitoring.losses import Losses
from flintstream.coordinator.monitoring.metrics import JobMetrics
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from flintstream.coordinator.engine import Way
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
        self.epochs = Epochs()
        self.losses = Losses(job.plan.job_name)
        self._added_ms = now_ms
        self._sources, self._sinks = job.sources.keys(), job.sinks.keys()
        self._listeners = list(listeners)
        self._warned: set[int] = set()
        """Nodes with a warning that was logged."""
        self._kept: tuple[int | None, int, int] = (None, 0, 0)
        """A checkpoint, and the records in and out that it contains."""

    def add(self, reports: Collection[Report], began_ms: int, now_ms: int, way: Way) -> None:
        """Add what all subtasks report of an epoch that counts, that began at ``began_ms`` and ran in this way."""
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
        parts = parts_of(self.load.plan, reports, now_ms - began_ms, way.slots)
        self.epochs.add(parts, way)
        if way.lost is not None:
            self.losses.add(way.lost, "the epoch ran again")
        pause_ms, self._added_ms = began_ms - self._added_ms, now_ms
        self.load.add(reports, began_ms, now_ms, engine_ms=parts.engine + max(0, pause_ms))
        self.curves.add(progress, self.load, now_ms, self.epochs.totals())
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
        self.keep(number)

    def keep(self, number: int) -> None:
        """Remember what to go back to with this checkpoint, or the savepoint with which the job stops."""
        self._kept = number, self.progress.records_in, self.progress.records_out
        self.metrics.keep(number)

    def go_back_to(self, checkpoint: int | None) -> None:
        """Reset counts and metrics to a checkpoint, or the beginning, as the work since then will be repeated."""
        number, records_in, records_out = self._kept
        known = checkpoint is not None and checkpoint == number
        self.progress.drop_since(*((records_in, records_out) if known else (0, 0)))
        self.metrics.go_back_to(checkpoint)
