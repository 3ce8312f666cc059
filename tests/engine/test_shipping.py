"""How a plan reaches the workers, and when they drop the jobs that have ended."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from flintstream.engine.spark import worker
from flintstream.engine.spark.shipping import LARGEST_IN_TASK, ship
from flintstream.runtime.logs import LogSetup
from flintstream.runtime.process_setup import ProcessSetup

SMALL, LARGE = b"plan", b"x" * (LARGEST_IN_TASK + 1)


class Variable:
    def __init__(self, value):
        self.value = value
        self.destroyed = False

    def destroy(self):
        self.destroyed = True


class Context:
    def __init__(self):
        self.variables = []

    def broadcast(self, value):
        self.variables.append(Variable(value))
        return self.variables[-1]


@pytest.mark.parametrize("one_machine", [True, False])
@pytest.mark.parametrize("sticky", [True, False])
@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_every_way_brings_the_plan_and_leaves_nothing(data, sticky, one_machine, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    context = Context()
    shipment = ship(context, "job", data, sticky=sticky, one_machine=one_machine)
    assert shipment.job.plan.load() == data
    assert not shipment.job.plan.gone()
    assert bool(context.variables) == (data is LARGE and not sticky)
    assert bool(list(tmp_path.iterdir())) == (sticky and one_machine)
    shipment.close()
    assert all(variable.destroyed for variable in context.variables)
    assert not list(tmp_path.iterdir())
    assert shipment.job.plan.gone() == (sticky and one_machine)


def test_a_plan_is_not_in_a_file_unless_keepers_of_this_machine_read_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shipment = ship(Context(), "job", SMALL, sticky=True, one_machine=False)
    assert pickle.loads(pickle.dumps(shipment.job)).plan.load() == SMALL
    assert not list(tmp_path.iterdir())
    shipment.close()


@dataclass
class Runtime:
    plan: str
    log: None
    closed: bool = False

    def close(self):
        self.closed = True


@pytest.fixture
def runtimes(monkeypatch):
    """Return the jobs of a worker that has only just started."""
    found: OrderedDict[str, Any] = OrderedDict()
    monkeypatch.setattr(worker, "_runtimes", found)
    monkeypatch.setattr(worker, "JobRuntime", Runtime)
    monkeypatch.setattr(worker, "_write_whole_lines", lambda _: None)
    monkeypatch.setattr(LogSetup, "enter", lambda _: None)
    monkeypatch.setattr(worker, "expect_no_interrupt", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    return found


def runtime_of(job) -> Any:
    return worker.runtime_of(job)


def shipped(name):
    data = pickle.dumps(ProcessSetup()) + pickle.dumps((name, None))
    return ship(Context(), name, data, sticky=False, one_machine=False)


def test_a_worker_reads_a_plan_once_for_each_start_of_a_job(runtimes):
    first = shipped("job")
    runtime = runtime_of(first.job)
    assert runtime_of(pickle.loads(pickle.dumps(first.job))) is runtime
    first.close()
    second = shipped("job")
    assert runtime_of(second.job) is not runtime
    assert runtime.closed
    second.close()


def test_a_worker_drops_the_jobs_that_had_ended_when_another_one_started(runtimes):
    ended, running = shipped("ended"), shipped("running")
    kept = runtime_of(running.job)
    dropped = runtime_of(ended.job)
    ended.close()
    new = shipped("new")
    runtime_of(new.job)
    assert dropped.closed
    assert not kept.closed
    assert set(runtimes) == {"running", "new"}
    running.close()
    new.close()


class Circle(Runtime):
    """Refers to itself, as operators and their functions do to each other."""

    alive: ClassVar[list[weakref.ref[Circle]]] = []

    def __init__(self, plan, log):
        super().__init__(plan, log)
        self.own = self
        self.alive.append(weakref.ref(self))


@pytest.fixture
def circles(runtimes, monkeypatch):
    monkeypatch.setattr(worker, "JobRuntime", Circle)
    monkeypatch.setattr(Circle, "alive", [])
    gc.disable()  # as good as a threshold that is not reached
    yield lambda: [item for item in Circle.alive if item() is not None]
    gc.enable()


def test_the_memory_of_a_start_is_free_before_the_next_start_of_the_job_needs_it(circles, monkeypatch):
    before: list[int] = []
    monkeypatch.setattr(ProcessSetup, "enter", lambda _: before.append(len(circles())))
    for _ in range(5):
        start = shipped("job")
        runtime_of(start.job)
        start.close()
    assert before == [0] * 5
    assert len(circles()) == 1


def test_a_worker_frees_the_memory_of_the_oldest_job_if_there_are_too_many(circles, runtimes):
    starts = [shipped(f"job {number}") for number in range(worker.JOBS_KEPT + 2)]
    for start in starts:
        runtime_of(start.job)
    assert list(runtimes) == [f"job {number}" for number in range(2, worker.JOBS_KEPT + 2)]
    assert len(circles()) == worker.JOBS_KEPT
    for start in starts:
        start.close()


def test_a_keeper_frees_the_memory_of_a_job_soon_after_its_end(circles, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = pickle.dumps(ProcessSetup()) + pickle.dumps(("plan", None))
    shipment: Any = ship(Context(), "job", data, sticky=True, one_machine=True)
    runtime_of(shipment.job)
    worker.close_ended_jobs()
    assert len(circles()) == 1
    shipment.close()
    worker.close_ended_jobs()
    assert circles() == []


def test_a_keeper_drops_a_job_soon_after_its_end(runtimes, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = pickle.dumps(ProcessSetup()) + pickle.dumps(("plan", None))
    shipment: Any = ship(Context(), "job", data, sticky=True, one_machine=True)
    runtime = runtime_of(shipment.job)
    worker.close_ended_jobs()
    assert not runtime.closed
    assert Path(shipment.job.plan.path).exists()
    shipment.close()
    worker.close_ended_jobs()
    assert runtime.closed
    assert not runtimes
