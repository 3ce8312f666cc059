"""What monitoring needs of a job that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from flintstream.common.job_status import JobStatus
    from flintstream.coordinator.coordinator import Coordinator
    from flintstream.coordinator.job import Job, Progress


class ObservedJob(Protocol):
    """A job with its coordinator, as :class:`flintstream.coordinator.client.RunningJob` is one."""

    @property
    def job(self) -> Job:
        """The job as it was planned."""

    @property
    def coordinator(self) -> Coordinator:
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
