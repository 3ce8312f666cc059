"""Job listeners, attached to the jobs of an environment."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.datastream._environment.job import client_of, progress_of, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.coordinator.client import RunningJob
    from flintstream.coordinator.job import Progress

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """The methods of a ``JobListener``."""

    def on_job_submitted(self, job_client: Any, error: BaseException | None) -> None:
        """React to the start of a job."""

    def on_progress(self, progress: Any) -> None:
        """React to the end of an epoch."""

    def on_job_executed(self, progress: Any, result: Any, error: BaseException | None) -> None:
        """React to the end of a job."""


@contextmanager
def told_of_failure(listeners: Sequence[Listener]) -> Iterator[None]:
    """Tell listeners of an error in the block, in which a job is planned and started."""
    try:
        yield
    except BaseException as error:
        for listener in listeners:
            _notify(listener.on_job_submitted, None, error)
        raise


def begin(listener: Listener, job: RunningJob) -> Callable[[], None]:
    """Tell a listener that a job starts, and of its progress; return what to call at the end of the job."""
    job.listen(partial(_tell_progress, listener, job))
    _notify(listener.on_job_submitted, client_of(job), None)
    return partial(_tell_end, listener, job)


def _tell_progress(listener: Listener, job: RunningJob, _progress: Progress) -> None:
    _notify(listener.on_progress, progress_of(job))


def _tell_end(listener: Listener, job: RunningJob) -> None:
    error = job.result.exception()
    _notify(listener.on_job_executed, progress_of(job), result_of(job) if error is None else None, error)


def _notify(method: Callable[..., None], *arguments: Any) -> None:
    try:
        method(*arguments)
    except Exception:  # noqa: BLE001 - a listener may raise anything
        _log.exception("a job listener failed")
