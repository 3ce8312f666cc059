"""Engine that runs the supersteps of an epoch sequentially in this process, for tests and test harnesses."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from flintstream.coordinator.engine import Way
from flintstream.errors import JobCancelledError
from flintstream.runtime.state_log.log import MemoryStateLog
from flintstream.runtime.task.stage import JobRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.coordinator.engine import Materialization, Result
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle


class InlineEngine:
    """Runs every task of every superstep in the calling thread, without Spark."""

    way = Way("inline", 1)

    def __init__(self) -> None:
        """Create an engine for one job."""
        self._cancelled = threading.Event()

    def check(self, plan: JobPlan) -> None:
        """Accept every plan."""

    def start(self, plan: JobPlan) -> None:
        """Prepare to run ``plan``."""
        self.plan = plan
        self.log = MemoryStateLog()
        self.runtime = JobRuntime(plan, self.log)

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run one epoch: every superstep, task by task."""
        current = list(items)
        for level, step in enumerate(self.plan.supersteps):
            following: list[Item] = []
            for partition in range(step.partitions):
                mine = [i for i in current if i.level == level and i.subtask == partition]
                for item in self.runtime.run_stage(level, partition, mine):
                    if self._cancelled.is_set():
                        raise JobCancelledError(self.plan.job_name)
                    following.append(item)
            current = [i for i in current if i.level > level] + following
        return current

    def materialize(self, task: Materialization) -> Future[StateHandle]:
        """Materialize the changelog of a subtask immediately."""
        future: Future[StateHandle] = Future()
        try:
            future.set_result(self.runtime.materialize(task.chain, task.subtask, task.handles))
        except Exception as error:  # noqa: BLE001 - the coordinator handles it
            future.set_exception(error)
        return future

    def run_tasks(self, functions: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run functions one after the other."""
        return [function() for function in functions]

    def forget(self, names: Sequence[str]) -> None:
        """Delete state that later epochs do not need."""
        for name in names:
            self.runtime.log.delete(name)

    def cancel(self) -> None:
        """Stop the running epoch at the next block."""
        self._cancelled.set()

    def stop(self) -> None:
        """Remove remaining state and logs."""
        self.runtime.close()
        self.log.close()
