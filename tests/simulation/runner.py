"""Run of a seed: one job through all its failures, restarts, crashes and moves to its end."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tests.simulation.checks import (
    check_failure,
    check_files,
    check_left_over,
    check_orphans,
    check_output,
    check_restorable,
)
from tests.simulation.engine import SimEngine
from tests.simulation.program import PROGRAMS, External, Record, job_of
from tests.simulation.storage import Disk, SimStore, store_of
from tests.simulation.world import Crash, Violation, VirtualClock, World, enter, make_virtual

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator.attempt import Attempt
from flintstream.coordinator.checkpointing import recovery
from flintstream.coordinator.coordinator import Coordinator
from flintstream.coordinator.requests import RescaleRequest, SavepointRequest
from flintstream.coordinator.rescaling import plan_rescaled
from flintstream.coordinator.restart import FixedDelay, NoRestart
from flintstream.runtime.block_interrupter import BlockInterrupter
from flintstream.runtime.plan import JobSettings
from flintstream.runtime.state_log import pieces as log_pieces
from flintstream.state.settings import StateSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.runtime.plan import JobPlan


MOST_EPOCHS = 500
MOST_RUNS = 60

_HAS_ROCKSDB = find_spec("rocksdict") is not None and find_spec("flintstream.state.rocksdb.backend") is not None


class SimWorld(World):
    """A world with an input, a disk and an external system for the output."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        super().__init__(seed, trace)
        self.names = self.tokens()
        self.disk = Disk(self)
        self.external = External()
        rng = self.rng
        self.program = rng.choice(list(PROGRAMS))
        self.inputs = {"main": self._splits(0, rng.randint(1, 4)), "side": self._splits(1, rng.randint(1, 2))}

    def _splits(self, offset: int, count: int) -> list[list[Record]]:
        """Return records whose timestamps rise within each split."""
        rng, splits, number = self.rng, [], offset
        for _ in range(count):
            timestamp, split = rng.randrange(20), []
            for _ in range(rng.randrange(7)):
                split.append((number, rng.randrange(5), timestamp))
                number += 2
                timestamp += rng.randrange(20)
            splits.append(split)
        return splits

    def records(self, name: str) -> list[Record]:
        """Return the input of a source."""
        return [record for split in self.inputs[name] for record in split]


@dataclass
class Scenario:
    """The values that are drawn once for a seed."""

    world: SimWorld
    exactly_once: bool
    lazy: bool
    rocksdb: bool
    inline_below: int
    retained: int
    interval: int
    restarts: bool
    savepoint_at: int | None
    stop: bool
    cancel_at: int | None
    rescale_at: int | None = None
    saved: list[tuple[str, SimWorld]] = field(default_factory=list)
    """Savepoints, and the state of the world when they were complete."""
    stop_path: str | None = None

    @classmethod
    def draw(cls, world: SimWorld) -> Scenario:
        """Draw the parameters of a run."""
        rng, own = world.rng, random.Random(f"rescaling {world.seed}")
        return cls(
            world,
            exactly_once=rng.random() < 0.85,
            lazy=rng.random() < 0.3,
            rocksdb=_HAS_ROCKSDB and rng.random() < 0.004,
            inline_below=rng.choice((0, 0, 300, 20_480)),
            retained=rng.choice((1, 1, 2, 3)),
            interval=rng.choice((40, 80, 120, 200)),
            restarts=rng.random() < 0.8,
            savepoint_at=rng.randrange(12) if rng.random() < 0.25 else None,
            stop=rng.random() < 0.5,
            cancel_at=rng.randrange(8) if rng.random() < 0.1 else None,
            rescale_at=own.randrange(10) if own.random() < 0.3 else None,
        )

    def checkpoint_settings(self, path: str | None) -> CheckpointSettings:
        """Draw the settings for one run of the program."""
        rng = self.world.rng
        return CheckpointSettings(
            interval_ms=self.interval,
            min_pause_ms=rng.choice((0, 0, 10)),
            timeout_ms=rng.choice((60, 600_000)),
            tolerable_failures=rng.choice((0, 0, 1, 5)),
            retained=self.retained,
            exactly_once=self.exactly_once,
            keep_when_cancelled=True,
            keep_when_failed=True,
            storage=SimStore("checkpoints"),  # type: ignore[arg-type]
            inline_below=self.inline_below,
            incremental=rng.random() < 0.5,
            transfer_threads=1,
            materialize_interval_ms=rng.choice((20, 60, None)),
            materialize_failures=rng.choice((0, 3)),
            restore_path=path,
        )


class SimAttempt(Attempt):
    """An attempt that is checked, and that crashes, between its steps."""

    def __init__(self, scenario: Scenario, *arguments: Any) -> None:
        self.scenario = scenario
        self.job = arguments[0].job
        super().__init__(*arguments)

    def _run_epoch(self, splits: Any) -> None:
        world = self.scenario.world
        world.step("an epoch begins")
        if self.context.statistics.progress.epochs > MOST_EPOCHS:
            raise Violation(f"the job does not end within {MOST_EPOCHS} epochs")
        self._order()
        super()._run_epoch(splits)
        world.step("an epoch has ended")
        check_files(self.context.checkpoints, world)
        check_orphans(self, world)

    def _order(self) -> None:
        """Make a request that occurs once in a run."""
        scenario, epochs = self.scenario, self.context.statistics.progress.epochs
        if scenario.savepoint_at is not None and epochs >= scenario.savepoint_at:
            scenario.savepoint_at = None
            scenario.world.log(f"a savepoint is asked for{', to stop' if scenario.stop else ''}")
            self.context.requests.add_savepoint(SavepointRequest(SimStore("savepoints"), scenario.stop))  # type: ignore[arg-type]
        if scenario.rescale_at is not None and epochs >= scenario.rescale_at:
            parallelism = scenario.rescale_at % 4 + 1
            scenario.rescale_at = None
            scenario.world.log(f"parallelism {parallelism} is asked for")
            self.context.requests.add_rescaling(RescaleRequest(plan_rescaled(self.job, parallelism)))
        if scenario.cancel_at is not None and epochs >= scenario.cancel_at:
            scenario.cancel_at = None
            scenario.world.log("the job is cancelled")
            self.context.requests.cancel()

    def _complete_checkpoint(self, request: Any, reports: Any, *, optional: bool = False) -> None:
        before = self.context.statistics.progress.checkpoints
        super()._complete_checkpoint(request, reports, optional=optional)
        world = self.scenario.world
        if self.context.statistics.progress.checkpoints > before:
            world.log(f"checkpoint {request.number} is complete")
            check_files(self.context.checkpoints, world)
            if world.rng.random() < 0.1:
                check_restorable(self, world)

    def _complete_savepoint(self, savepoint: Any, request: Any, reports: Any) -> None:
        super()._complete_savepoint(savepoint, request, reports)
        self.scenario.world.log(f"savepoint {request.number} is complete")


class SimCoordinator(Coordinator):
    """Run such attempts, and record when a savepoint has become durable, whatever happens next."""

    def __init__(self, scenario: Scenario, *arguments: Any, **keywords: Any) -> None:
        self.scenario = scenario
        super().__init__(*arguments, **keywords)
        complete = self.checkpoints.complete_savepoint

        def noted(*given: Any) -> Any:
            done = complete(*given)
            if scenario.stop:
                scenario.stop_path = done.where
            else:
                scenario.saved.append((done.where, frozen(scenario.world)))
            return done

        self.checkpoints.complete_savepoint = noted  # type: ignore[assignment, method-assign]
        end = self.checkpoints.end

        def last_step(**keywords: Any) -> None:
            if keywords.get("finished"):  # all is committed and the result is known: a crash has no effect
                scenario.world.rates.pop("crash", None)
            end(**keywords)

        self.checkpoints.end = last_step  # type: ignore[method-assign]

    def _attempt(self, plan: JobPlan) -> Attempt:
        return SimAttempt(self.scenario, self.context, plan, self.statistics.progress.restarts)

    def _restart(self, error: Exception, delay_ms: int) -> None:
        self.scenario.world.log(f"the job restarts: {error!r}")
        check_failure(error, self.scenario.world)
        super()._restart(error, delay_ms)


def frozen(world: SimWorld) -> SimWorld:
    """Return a copy of the current world, without faults."""
    copy = SimWorld.__new__(SimWorld)
    vars(copy).update(vars(world))
    copy.calm, copy.rates = True, {}
    copy.external = world.external.copy()
    copy.disk = world.disk.copy()
    copy.disk.world = copy
    return copy


def simulate(seed: int, trace: Callable[[str], None] | None = None) -> SimWorld:
    """Run a seed.

    Raises:
        Violation: An invariant does not hold.
    """
    world = SimWorld(seed, trace)
    enter(world)
    scenario = Scenario.draw(world)
    world.log(f"{world.program}, faults {world.rates}, {scenario.exactly_once=}, {world.inputs}")
    zombies: list[Any] = []
    path, finished = None, False
    for _ in range(MOST_RUNS):
        finished, path, zombies = _run(scenario, path, zombies)
        if finished:
            break
    else:
        raise Violation(f"the job was started {MOST_RUNS} times and has not finished")
    rows = world.external.rows()
    check_output(world, rows, exactly_once=scenario.exactly_once)
    for where, past in scenario.saved:
        enter(past)
        past.log(f"-- from savepoint {where} --")
        again = Scenario.draw(past)
        again.savepoint_at = again.cancel_at = again.rescale_at = None
        again.exactly_once, again.lazy = scenario.exactly_once, scenario.lazy
        coordinator, _ = _start(again, where, [])
        coordinator.run()
        check_output(past, past.external.rows(), exactly_once=scenario.exactly_once)
        enter(world)
    return world


def _start(scenario: Scenario, path: str | None, zombies: list[Any]) -> tuple[SimCoordinator, SimEngine]:
    world = scenario.world
    rng = world.rng
    checkpoints = scenario.checkpoint_settings(path)
    job_id = f"{rng.getrandbits(64):016x}"
    if path is not None and path.startswith("sim:/checkpoints/") and rng.random() < 0.6:
        job_id = path.split("/")[2]
        checkpoints = replace(checkpoints, resumed_job=job_id)
    rocksdb = scenario.rocksdb and rng.random() < 0.7
    settings = JobSettings(
        auto_watermark_interval_ms=rng.choice((10, 40)),
        max_epoch_ms=rng.choice((20, 60)),
        idle_epoch_ms=10,
        state=StateSettings("rocksdb" if rocksdb else "hashmap"),
        changelog=SimStore(f"checkpoints/{job_id}") if rng.random() < 0.4 else None,  # type: ignore[arg-type]
        commit_with_checkpoint=scenario.exactly_once,
    )
    parallelism, sources = rng.choice(((1, 1), (2, 1), (2, 2), (3, 2), (1, 2), (2, 3)))
    job = job_of(world.program, parallelism, sources, lazy=scenario.lazy, job_id=job_id, settings=settings)
    job.checkpoints = checkpoints
    job.restart = FixedDelay(10**6, rng.choice((10, 50))) if scenario.restarts else NoRestart()
    pieces = vars(log_pieces)
    pieces["MERGED"] = (2, 3, 16)[world.seed % 3]
    pieces["INLINE_BYTES"], pieces["INLINE_TOTAL"] = ((0, 0), (300, 600), (4096, 16384))[world.seed // 3 % 3]
    engine = SimEngine(world)
    engine.zombies = zombies
    world.log(f"START parallelism {parallelism}, {sources} from {path}: {settings} {checkpoints}")
    return SimCoordinator(scenario, job, engine, clock=VirtualClock()), engine


def _run(scenario: Scenario, path: str | None, zombies: list[Any]) -> tuple[bool, str | None, list[Any]]:
    """Run the program until it ends in any way; return whether it finished, and where to continue from."""
    world = scenario.world
    coordinator, engine = _start(scenario, path, zombies)
    scenario.stop_path = None
    try:
        coordinator.run()
        if not coordinator.stopped:
            if world.rng.random() < 0.5:
                engine.haunt()
            check_left_over(coordinator.checkpoints, world)
            return True, None, []
    except Crash:
        world.dead = False
        world.log("the driver has crashed")
        world.disk.crash()
    except Exception as error:  # noqa: BLE001 - judged by the check
        world.log(f"the job failed: {error!r}")
        check_failure(error, world)
    world.now += world.rng.choice((1, 50))
    return False, _newest(scenario, path), engine.zombies


def _newest(scenario: Scenario, path: str | None) -> str | None:
    """Return the usual starting point: the newest checkpoint, or the savepoint with which the job was stopped."""
    world = scenario.world
    if scenario.stop_path is not None:
        return scenario.stop_path
    for _ in range(50):
        try:
            found = recovery.newest(SimStore("checkpoints"), "simulated")  # type: ignore[arg-type]
            # A resumed job replaces its earlier checkpoints.
            own = path is None or found is None or found.where.rpartition("/")[0] == path.rpartition("/")[0]
            before = None if own or path is None else recovery.load(path)
        except OSError:
            world.now += 50
        except Crash:
            world.dead = False
        else:
            if found is None or (before is not None and _age(before) > _age(found)):
                return path
            return found.where
    raise Violation("the storage can never be read")


def _age(completed: Completed) -> tuple[int, int]:
    return completed.metadata.created_ms, completed.metadata.number


def prepare() -> None:
    """Turn this process into a simulating one, irreversibly."""
    # Otherwise it would be loaded later, with the time of this machine
    import_module("flintstream.runtime.state_log.materialize")
    make_virtual()
    watch: Any = BlockInterrupter
    watch.begin = lambda _: None  # the time of its thread is that of the machine
    vars(recovery)["file_store"] = store_of
    logging.getLogger("flintstream").setLevel(logging.CRITICAL)
