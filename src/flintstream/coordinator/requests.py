"""Requests of other threads to a running job."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import TYPE_CHECKING, TypeVar

from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Clock
    from flintstream.runtime.plan import JobPlan
    from flintstream.storage.file_store import FileStore

T = TypeVar("T")


@dataclass
class SavepointRequest:
    """A request for a savepoint."""

    store: FileStore
    stop: bool = False
    """Whether the job ends with the savepoint."""
    drain: bool = False
    """Whether all event time passes before the savepoint."""
    result: Future[str] = field(default_factory=Future)
    """The path of the savepoint, or the reason why it failed."""


@dataclass
class CheckpointRequest:
    """A request for a checkpoint before it is due."""

    full: bool = False
    """Whether it must not share files with other checkpoints."""
    result: Future[Completed] = field(default_factory=Future)
    """The checkpoint, or the reason why it failed."""


@dataclass
class RescaleRequest:
    """A request to go on with another plan of the same program."""

    plan: JobPlan
    result: Future[None] = field(default_factory=Future)
    """Done when the first epoch with the plan has ended; or the reason why the job continues without it."""


class JobRequests:
    """Accepts orders from any thread: cancel the job, take a savepoint or checkpoint, or change the parallelism.

    The job checks them between epochs.
    """

    def __init__(self, engine: Engine, clock: Clock) -> None:
        """Start without orders. Each order ends the sleep of ``clock``; a cancellation also stops ``engine``."""
        self.cancelled = False
        self.keeps_checkpoints = False
        """Whether the checkpoints of a cancelled job are kept for another start of the program."""
        self._engine = engine
        self._clock = clock
        self._savepoints: Queue[SavepointRequest] = Queue()
        self._checkpoints: Queue[CheckpointRequest] = Queue()
        self._rescaling: RescaleRequest | None = None
        self._changing = threading.Lock()

    def cancel(self, *, keep_checkpoints: bool = False) -> None:
        """Ask the job to end."""
        self.keeps_checkpoints |= keep_checkpoints and not self.cancelled
        self.cancelled = True
        self._engine.cancel()
        self._clock.wake()

    def add_savepoint(self, savepoint: SavepointRequest) -> None:
        """Ask for a savepoint."""
        self._savepoints.put(savepoint)
        self._clock.wake()

    def add_checkpoint(self, checkpoint: CheckpointRequest) -> None:
        """Ask for a checkpoint."""
        self._checkpoints.put(checkpoint)
        self._clock.wake()

    def add_rescaling(self, rescaling: RescaleRequest) -> None:
        """Ask the job to go on with another plan, instead of one that was asked for before."""
        with self._changing:
            before, self._rescaling = self._rescaling, rescaling
        if before is not None:
            before.result.set_exception(CheckpointError("a later request asked for another parallelism"))
        self._clock.wake()

    @property
    def waiting(self) -> bool:
        """Whether a request is pending for which an epoch must run."""
        return not self._savepoints.empty() or not self._checkpoints.empty() or self.rescales

    @property
    def rescales(self) -> bool:
        """Whether the job is to go on with another plan."""
        return self._rescaling is not None

    def next_plan(self) -> RescaleRequest | None:
        """Return the pending request for another plan, or None."""
        with self._changing:
            found, self._rescaling = self._rescaling, None
        return found

    def refuse_plan(self, error: Exception) -> None:
        """Fail the pending request for another plan with the reason ``error``."""
        request = self.next_plan()
        if request is not None:
            request.result.set_exception(CheckpointError(f"the job continues unchanged: {error}"))

    def next_savepoint(self) -> SavepointRequest | None:
        """Return the oldest pending request for a savepoint, or None."""
        return _next(self._savepoints)

    def next_checkpoint(self) -> CheckpointRequest | None:
        """Return the oldest pending request for a checkpoint, or None."""
        return _next(self._checkpoints)

    def refuse(self, error: Exception) -> None:
        """Fail all pending requests for a savepoint or checkpoint with the reason ``error``."""
        while (savepoint := self.next_savepoint()) is not None:
            savepoint.result.set_exception(CheckpointError(f"cannot take a savepoint: {error}"))
        while (checkpoint := self.next_checkpoint()) is not None:
            checkpoint.result.set_exception(CheckpointError(f"cannot take a checkpoint: {error}"))

    def wait(self, seconds: float) -> bool:
        """Wait, and return True. If the job is cancelled, return False early."""
        until = self._clock.now_ms() + 1000 * seconds
        while not self.cancelled and (left := until - self._clock.now_ms()) > 0:
            self._clock.sleep(left / 1000)
        return not self.cancelled


def _next(requests: Queue[T]) -> T | None:
    try:
        return requests.get_nowait()
    except Empty:
        return None
