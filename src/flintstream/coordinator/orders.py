"""What other threads ask of a running job."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import TYPE_CHECKING

from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import Clock
    from flintstream.storage.file_store import FileStore


@dataclass
class SavepointRequest:
    """A request for a savepoint."""

    store: FileStore
    stop: bool = False
    """Whether the job ends with it."""
    drain: bool = False
    """Whether all event time passes before."""
    result: Future[str] = field(default_factory=Future)
    """Where the savepoint is, or why there is none."""


class Orders:
    """Takes orders from any thread: to cancel the job, or to take a savepoint. The job looks at them between epochs."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        """Begin without orders. Each one ends the sleep of ``clock``; a cancellation stops ``engine``, too."""
        self.cancelled = False
        self._engine = engine
        self._clock = clock
        self._savepoints: Queue[SavepointRequest] = Queue()

    def cancel(self) -> None:
        """Ask for the end of the job."""
        self.cancelled = True
        self._engine.cancel()
        self._clock.wake()

    def ask_for(self, savepoint: SavepointRequest) -> None:
        """Ask for a savepoint."""
        self._savepoints.put(savepoint)
        self._clock.wake()

    @property
    def waiting(self) -> bool:
        """Whether a savepoint is asked for."""
        return not self._savepoints.empty()

    def next_savepoint(self) -> SavepointRequest | None:
        """Return the oldest request for a savepoint, None when there is none."""
        try:
            return self._savepoints.get_nowait()
        except Empty:
            return None

    def refuse(self, error: Exception) -> None:
        """Fail all requests for a savepoint, and say why."""
        with contextlib.suppress(Empty):
            while True:
                request = self._savepoints.get_nowait()
                request.result.set_exception(CheckpointError(f"there will be no savepoint: {error}"))

    def wait(self, seconds: float) -> bool:
        """Wait; returns early, and False, when the job is cancelled."""
        until = self._clock.now_ms() + 1000 * seconds
        while not self.cancelled and (left := until - self._clock.now_ms()) > 0:
            self._clock.sleep(left / 1000)
        return not self.cancelled
