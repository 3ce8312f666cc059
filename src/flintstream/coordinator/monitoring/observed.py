"""What monitoring needs of a job that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Future

    from flintstream.common.job_status import JobStatus
    from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
    from flintstream.coordinator.job import Clock, Job, Progress
    from flintstream.coordinator.monitoring.job_statistics import JobStatistics
    from flintstream.coordinator.monitoring.phases import Phases


class ObservedCoordinator(Protocol):
    """What monitoring reads of a coordinator."""

    @property
    def statistics(self) -> JobStatistics:
        """Its progress, load and metrics."""

    @property
    def checkpoints(self) -> Checkpoints:
        """Its checkpoints."""

    @property
    def failures(self) -> Iterable[Mapping[str, object]]:
        """Its last failures, as JSON."""

    @property
    def phases(self) -> Phases:
        """Since when it is in its state."""

    @property
    def clock(self) -> Clock:
        """The time."""


class ObservedJob(Protocol):
    """A job with its coordinator, as :class:`flintstream.coordinator.client.RunningJob` is one."""

    @property
    def job(self) -> Job:
        """The job as it was planned."""

    @property
    def coordinator(self) -> ObservedCoordinator:
        """What runs it."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """Its settings, without secrets."""

    @property
    def result(self) -> Future[Progress]:
        """How it has ended."""

    @property
    def uptime_ms(self) -> int:
        """Time since it started (ms), until its end."""

    def status(self) -> JobStatus:
        """Return its status."""

    def listen(self, listener: Callable[[Progress], None]) -> None:
        """Call ``listener`` after each epoch."""
