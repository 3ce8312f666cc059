"""Periodic materialization of the changelogs of all subtasks, in the background."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.coordinator.engine import Materialization
from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from flintstream.coordinator.engine import Engine
    from flintstream.coordinator.job import SubtaskProgress
    from flintstream.runtime.protocol import StateHandle

_log = logging.getLogger(__name__)


class Materializer:
    """Materializes one log after the other while epochs run."""

    def __init__(
        self,
        engine: Engine,
        interval_ms: int | None,
        tolerated: int,
        now_ms: int,
        is_lost: Callable[[Sequence[StateHandle]], bool],
    ) -> None:
        """Start a round every ``interval_ms``, or never if that is None. Tolerate ``tolerated`` failures in a row.

        ``is_lost`` tells whether files of a log are gone. A failure because of that does not count, as new logs start.
        """
        self.engine = engine
        self._is_lost = is_lost
        self.interval_ms = interval_ms
        self.tolerated = tolerated
        self.started_ms = now_ms
        self.failures = 0
        self.queue: list[tuple[int, int]] = []
        self.running: tuple[Materialization, Future[StateHandle]] | None = None
        self.completed = 0

    def poll(self, subtasks: Mapping[tuple[int, int], SubtaskProgress], now_ms: int) -> Iterator[str]:
        """Use finished materializations, start due ones, and return the names of blobs that the log no longer needs.

        Raises:
            CheckpointError: Materialization failed more often in a row than is tolerated.
        """
        if self.running is not None:
            if not self.running[1].done():
                return
            yield from self._take_over(subtasks)
        if self.interval_ms is None:
            return
        if not self.queue and now_ms - self.started_ms >= self.interval_ms:
            self.started_ms = now_ms
            self.queue = list(subtasks)
        while self.queue and self.running is None:
            place = self.queue.pop(0)
            report = subtasks[place].report
            if report is None or report.finished or len(report.handles) < 2:
                continue
            task = Materialization(*place, report.handles)
            self.running = task, self.engine.materialize(task)
            if self.running[1].done():
                yield from self._take_over(subtasks)

    def _take_over(self, subtasks: Mapping[tuple[int, int], SubtaskProgress]) -> Iterator[str]:
        assert self.running is not None  # noqa: S101
        task, future = self.running
        self.running = None
        progress = subtasks[task.chain, task.subtask]
        report, count = progress.report, len(task.handles)
        stale = report is None or report.finished or report.handles[:count] != task.handles
        error = future.exception()
        if error is not None:
            if stale or self._is_lost(task.handles):
                self.queue.clear()
                return
            self.failures += 1
            what = f"the changelog of subtask {task.subtask} of chain {task.chain} could not be materialized"
            if self.failures > self.tolerated:
                raise CheckpointError(f"{what}: {error}") from error
            _log.warning("%s: %s", what, error)
            return
        self.failures = 0
        self.completed += 1
        base = future.result()
        if report is None or stale:
            yield base.name  # a new log has started in the meantime
            return
        progress.report = replace(report, handles=(base, *report.handles[count:]))
        yield from (handle.name for handle in task.handles if handle.inline is None)

    def materializing(self, chain: int, subtask: int) -> int:
        """Return the number of handles of a subtask's log that are being materialized."""
        if self.running is None or (self.running[0].chain, self.running[0].subtask) != (chain, subtask):
            return 0
        return len(self.running[0].handles)

    def drop(self) -> None:
        """Forget the running materialization, as the job restarts with new logs."""
        self.queue.clear()
        self.running = None
