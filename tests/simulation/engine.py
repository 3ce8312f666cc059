"""An engine whose workers are lost, are late, and run tasks twice."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from tests.simulation.world import ClusterFailure

from flintstream.coordinator.engine import Way
from flintstream.runtime.state_log.log import MemoryStateLog
from flintstream.runtime.task.stage import JobRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.simulation.world import World

    from flintstream.coordinator.engine import Materialization
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle

WORKERS = 2


class SimEngine:
    """Run supersteps task by task, like the inline engine, on workers whose caches are of any age."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.zombies: list[Callable[[], Any]] = []
        """Remaining work of abandoned attempts."""
        self.materializations: list[tuple[Materialization, Future[StateHandle]]] = []
        self.moving = world.rng.random() < 0.5

    way = Way("simulated", WORKERS)

    def check(self, plan: JobPlan) -> None:
        pass

    def start(self, plan: JobPlan) -> None:
        self.plan = plan
        self.log = MemoryStateLog()
        self.workers = [JobRuntime(plan, self.log) for _ in range(WORKERS)]

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        world = self.world
        current = list(items)
        if world.fault("engine"):
            raise ClusterFailure("the cluster lost the job")
        for level, step in enumerate(self.plan.supersteps):
            following: list[Item] = []
            for partition in range(step.partitions):
                mine = [i for i in current if i.level == level and i.subtask == partition]
                world.rng.shuffle(mine)
                following += self._task(level, partition, mine)
                self._others()
            current = [i for i in current if i.level > level] + following
        return current

    def _task(self, level: int, partition: int, items: list[Item]) -> list[Item]:
        world = self.world
        world.step("a task begins")
        place = world.rng.randrange(WORKERS) if self.moving else partition % WORKERS
        worker = self.workers[place]
        if world.fault("cache", f"worker {place}"):
            worker.close()
        if world.fault("zombie", f"level {level} subtask {partition}"):
            self._leave(worker.run_stage(level, partition, items))
            worker = self.workers[place - 1]
        elif world.fault("retry", f"level {level} subtask {partition}"):
            list(worker.run_stage(level, partition, items))
            if world.rng.random() < 0.5:
                worker = self.workers[place - 1]
        try:
            return list(worker.run_stage(level, partition, items))
        except OSError as error:
            world.log(f"a task failed: {error}")
            if world.rng.random() < 0.5:
                raise
        return list(self.workers[place - 1].run_stage(level, partition, items))

    def _leave(self, attempt: Iterator[Item]) -> None:
        """Run a part of an attempt; the rest runs some time later, when the driver no longer waits for it."""
        for _ in range(self.world.rng.randrange(3)):
            next(attempt, None)
        self.zombies.append(lambda: list(attempt))

    def _others(self) -> None:
        """Run some of the background work."""
        world = self.world
        if self.zombies and world.rng.random() < 0.1:
            self._run_elsewhere(self.zombies.pop(world.rng.randrange(len(self.zombies))))
        if self.materializations and world.rng.random() < 0.3:
            self._materialize(*self.materializations.pop())

    def _run_elsewhere(self, rest: Callable[[], Any]) -> None:
        world = self.world
        world.log("a zombie continues")
        world.elsewhere = True
        try:
            rest()
        except Exception as error:  # noqa: BLE001 - the driver no longer sees it
            world.log(f"a zombie failed: {error!r}")
        finally:
            world.elsewhere = False

    def run_tasks(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        world = self.world
        if world.fault("engine"):
            raise ClusterFailure("the cluster lost the tasks")
        results = []
        for number, function in enumerate(functions):
            if world.fault("zombie", f"function {number}"):
                self.zombies.append(function)
            elif world.fault("retry", f"function {number}"):
                function()
            results.append(function())
            self._others()
        return results

    def materialize(self, task: Materialization) -> Future[StateHandle]:
        future: Future[StateHandle] = Future()
        self.materializations.append((task, future))
        if self.world.rng.random() < 0.3:
            self._materialize(*self.materializations.pop())
        return future

    def _materialize(self, task: Materialization, future: Future[StateHandle]) -> None:
        world = self.world
        try:
            world.interrupt("fold")
            handle = self.workers[0].materialize(task.chain, task.subtask, task.handles)
        except Exception as error:  # noqa: BLE001 - it is the coordinator's to judge
            world.log(f"a fold failed: {error!r}")
            future.set_exception(error)
        else:
            world.log(f"folded {[handle.name for handle in task.handles]} to {handle.name}")
            future.set_result(handle)

    def _fold_late(self, task: Materialization, worker: JobRuntime) -> None:
        # The base may be there, without an answer too, and the job that would delete it has ended.
        self.world.happened.append("zombie")
        worker.materialize(task.chain, task.subtask, task.handles)

    def forget(self, names: Sequence[str]) -> None:
        for name in names:
            self.workers[0].log.delete(name)

    def cancel(self) -> None:
        """Do nothing: no work runs in the background."""

    def stop(self) -> None:
        for task, _ in self.materializations:
            worker = self.workers[0]
            self.zombies.append(lambda f=task, w=worker: self._fold_late(f, w))  # type: ignore[misc]
        self.materializations.clear()
        for worker in self.workers:
            worker.close()
        self.log.close()

    def haunt(self) -> None:
        """Run all zombies to their end."""
        while self.zombies:
            self._run_elsewhere(self.zombies.pop())
