"""Resident tasks: the driver's connections to them, without Spark."""

from __future__ import annotations

import os
import pickle
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from flintstream.channels import listener
from flintstream.channels.channel import StrangerError, connect, new_key
from flintstream.channels.listener import Listener
from flintstream.channels.tls import OwnCertificate
from flintstream.engine.spark.engine import SparkEngine
from flintstream.engine.spark.resident import residency
from flintstream.engine.spark.resident import resident_tasks as resident
from flintstream.engine.spark.resident.residency import Residency, fits, is_encrypted
from flintstream.engine.spark.resident.resident_tasks import Place, ResidentTask, ResidentTasks, TaskLostError
from flintstream.errors import MissingDependencyError
from flintstream.runtime.exchange.receiving import Item

HERE = ("127.0.0.1", 0)
LAST = 2
"""The level of results: there are two supersteps."""


def item(level, subtask, payload=b""):
    return Item(level, subtask, 0, 0, 0, 0, payload)


class Runtime:
    """Sends what it gets to the other subtask of the next level, and something for the last level past it."""

    def __init__(self):
        self.broken = 0
        self.closed = 0
        self.read = 0
        self.waited = []

    def close(self):
        self.closed += 1

    def run_stage(self, level, partition, items, *, waits):
        self.waited.append((level, partition, waits))
        for element in items:
            assert (element.level, element.subtask) == (level, partition)
            if element.payload == b"lost":
                raise SystemExit
            if element.payload == b"unreachable" and self.broken:
                self.broken -= 1
                raise OSError("the store is away")
            yield item(level + 1, partition ^ 1, element.payload + b".")
            if level == 0:
                yield item(LAST, 0, b"past")


JOB: Any = SimpleNamespace(job_id="a job")


class Spark:
    """Runs tasks in threads, and stands for a Spark context."""

    def __init__(self, parallelism=2, settings=None):
        self.defaultParallelism = parallelism
        self.settings = settings or {}
        self.running = 0
        self.other_jobs = 0
        self.starts = 0

    def run(self, task, count):
        self.running, self.starts, self.count = 1, self.starts + 1, count
        try:
            with ThreadPoolExecutor(count) as pool:
                done = [pool.submit(task, partition, iter(())) for partition in range(count)]
                for element in done:
                    element.result()
        finally:
            self.running = 0

    def statusTracker(self):  # noqa: N802 - as pyspark spells it
        return self

    def getActiveJobsIds(self):  # noqa: N802
        return [0] * (self.running + self.other_jobs)

    @property
    def _conf(self):
        return self.settings


@pytest.fixture
def runtime(monkeypatch):
    runtime = Runtime()
    monkeypatch.setattr(resident, "runtime_of", lambda job: runtime)
    return runtime


@pytest.fixture
def tasks(runtime):
    tasks = ResidentTasks([2, 2], 2)
    assert tasks.start(JOB, Place(HERE), Spark().run)
    yield tasks
    assert tasks.close()


def test_items_pass_all_supersteps_and_those_for_later_ones_pass_by(tasks):
    for _ in range(3):
        results = tasks.run_epoch([item(0, 0, b"a"), item(0, 1, b"b"), item(1, 1, b"c")])
        assert sorted(result.payload for result in results) == [b"a..", b"b..", b"c.", b"past", b"past"]


def test_a_task_tries_again_to_reach_its_files(tasks, runtime):
    runtime.broken = resident.RETRIES
    assert [element.payload for element in tasks.run_epoch([item(1, 0, b"unreachable")])] == [b"unreachable."]


def test_if_a_task_is_lost_all_forget_the_epoch(tasks, runtime):
    with pytest.raises(TaskLostError):
        tasks.run_epoch([item(0, 0, b"a"), item(0, 1, b"lost")])
    assert runtime.closed == 2


def test_a_task_whose_results_come_too_late_ends_and_forgets_the_epoch(runtime, monkeypatch):
    began, gone = threading.Event(), threading.Event()

    def slow(level, partition, items, *, waits):
        began.set()
        gone.wait(60)
        return [item(level + 1, partition, bytes(10_000_000))]

    monkeypatch.setattr(runtime, "run_stage", slow, raising=False)

    def give_up(channel):
        channel.send(pickle.dumps((0, {0: []})))
        assert began.wait(60)
        channel._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        channel.close()
        gone.set()

    driver = Listener(HERE, new_key(), give_up)
    assert list(ResidentTask(JOB, driver.endpoint(), LAST, 2)(0, iter(()))) == []
    driver.close()
    assert runtime.closed == 1


def test_tasks_that_end_between_epochs_keep_their_subtasks(runtime):
    tasks = ResidentTasks([2, 2], 2)
    assert tasks.start(JOB, Place(HERE), Spark().run)
    tasks.run_epoch([item(0, 0, b"a")])
    assert tasks.close()
    assert runtime.closed == 0


def test_the_error_names_what_spark_says_of_a_lost_task(tasks, runtime):
    runtime.broken = resident.RETRIES + 1
    with pytest.raises(TaskLostError, match="the store is away"):
        tasks.run_epoch([item(1, 0, b"unreachable")])


def test_large_messages_arrive_whole(tasks):
    large = bytes(range(256)) * 20_000
    assert large + b".." in [element.payload for element in tasks.run_epoch([item(0, 0, large)])]
    assert tasks.moved > 2 * len(large)


@pytest.mark.promise("S12")
def test_a_stranger_does_not_become_a_task(runtime):
    refused = []

    def stranger(task, count):
        for key in (new_key(), b""):
            with pytest.raises(StrangerError):
                connect(replace(task.driver, key=key), 60)
            refused.append(key)

    assert not ResidentTasks([1, 1], 2).start(JOB, Place(HERE), stranger)
    assert len(refused) == 2


@pytest.mark.promise("S12")
def test_a_task_unpickles_nothing_from_a_stranger_in_the_place_of_its_driver(runtime):
    strangers = Listener(HERE, new_key(), lambda channel: channel.send(pickle.dumps((0, {0: []}))))
    task = ResidentTask(JOB, replace(strangers.endpoint(), key=new_key()), LAST, 2)
    runtime.run_stage = None  # a task that believed the stranger would call it
    assert list(task(0, iter(()))) == []
    strangers.close()


@pytest.mark.parametrize("again", [0, 1])
def test_a_task_that_spark_runs_again_finds_its_driver_and_ends_quietly(runtime, again):
    ended: list[list[Any]] = []

    def run(task, count):
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(Spark().run, task, count)
            assert started.wait(60)
            ended.append(list(task(again, iter(()))))
            gone_on.set()
            first.result()

    started, gone_on = threading.Event(), threading.Event()
    tasks = ResidentTasks([2, 2], 2)
    assert tasks.start(JOB, Place(HERE), run)
    started.set()
    assert gone_on.wait(60)
    assert ended == [[]]
    assert [element.payload for element in tasks.run_epoch([item(1, again, b"a")])] == [b"a."]
    assert tasks.close()


def test_the_driver_listens_until_spark_runs_no_task_any_more(runtime):
    addresses = []

    def run(task, count):
        addresses.append(task.driver.address)
        Spark().run(task, count)
        with pytest.raises(OSError, match="in use"):
            socket.create_server(task.driver.address)

    tasks = ResidentTasks([2], 2)
    assert tasks.start(JOB, Place(HERE), run)
    assert tasks.close()
    socket.create_server(addresses[0]).close()
    assert tasks._error is None


def test_silent_strangers_do_not_delay_the_start(runtime, monkeypatch):
    monkeypatch.setattr(resident, "START_SECONDS", 60)
    silent: list[socket.socket] = []

    def run(task, count):
        silent.extend(socket.create_connection(task.driver.address) for _ in range(200))
        Spark().run(task, count)

    tasks = ResidentTasks([2], 2)
    began = time.monotonic()
    assert tasks.start(JOB, Place(HERE), run)
    assert time.monotonic() - began < listener.HANDSHAKE_SECONDS
    assert tasks.close()
    for element in silent:
        element.close()


def test_a_start_whose_tasks_fail_at_once_is_given_up_at_once(monkeypatch):
    monkeypatch.setattr(resident, "START_SECONDS", 600)
    assert not ResidentTasks([2], 2).start(JOB, Place(HERE), lambda task, count: None)


@pytest.mark.parametrize("place", ["unix", "tcp", "tls"])
def test_tasks_run_over_each_kind_of_connection(runtime, tmp_path, place):
    places = {"unix": Place(str(tmp_path / "s")), "tcp": Place(HERE, "localhost")}
    tasks = ResidentTasks([2, 2], 2)
    assert tasks.start(JOB, places.get(place) or Place(HERE, "localhost", OwnCertificate()), Spark().run)
    large = bytes(range(256)) * 20_000
    assert [element.payload for element in tasks.run_epoch([item(1, 0, large)])] == [large + b"."]
    assert tasks.close()
    assert not list(tmp_path.iterdir())


def test_an_address_that_this_machine_lacks_is_no_error(runtime):
    assert not ResidentTasks([1], 2).start(JOB, Place(("192.0.2.1", 0)), Spark().run)


# -- when they stay ---------------------------------------------------------------------------------------------------


def residency_of(spark, partitions=(2, 2)):
    return Residency(spark, partitions, JOB, spark.run, one_machine=True, encrypted=False)


def run_spark_jobs(of, count=residency.EPOCHS_BEFORE, moved=1000, seconds=1.0):
    for _ in range(count):
        assert of.run_epoch([]) is None
        of.job_ran(moved, seconds)


@pytest.fixture
def spark(runtime):
    return Spark()


@pytest.fixture
def resides(spark):
    resides = residency_of(spark)
    yield resides
    resides.close()
    deadline = time.monotonic() + 5
    while spark.running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not spark.running


@pytest.mark.parametrize(("moved", "seconds"), [(1000, 1.0), (1000, 60.0), (1 << 30, 0.4)])
def test_tasks_stay_after_an_epoch_that_moves_little_or_is_short(resides, spark, moved, seconds):
    run_spark_jobs(resides, moved=moved, seconds=seconds)
    for _ in range(5):
        assert resides.run_epoch([item(1, 0, b"a")]) == [item(2, 1, b"a.")]
    assert spark.starts == 1


def test_epochs_that_move_much_are_spark_jobs(resides, spark):
    run_spark_jobs(resides, 10, moved=residency.MOST_MOVED + 1)
    assert spark.starts == 0
    run_spark_jobs(resides, residency.EPOCHS_BETWEEN)
    assert resides.run_epoch([]) == []


def test_tasks_stay_after_an_epoch_that_was_long(resides, spark, monkeypatch):
    monkeypatch.setattr(residency, "LOOK_SECONDS", 1.0)
    run_spark_jobs(resides)
    assert resides.run_epoch([]) == []
    run_epoch = resides._tasks.run_epoch

    def run_slowly(items):
        time.sleep(1.5)
        return run_epoch(items)

    monkeypatch.setattr(resides._tasks, "run_epoch", run_slowly)
    assert resides.run_epoch([]) == []
    time.sleep(0.2)
    assert spark.running


def test_tasks_end_after_an_epoch_that_moved_much(resides, spark, monkeypatch):
    monkeypatch.setattr(residency, "MOST_MOVED", 100_000)
    run_spark_jobs(resides)
    assert resides.run_epoch([item(1, 0, bytes(200_000))]) is not None
    run_spark_jobs(resides, residency.EPOCHS_BETWEEN)
    assert resides.run_epoch([]) == []
    assert spark.starts == 2


def test_tasks_end_when_there_is_another_job_and_start_when_it_has_ended(resides, spark, monkeypatch):
    monkeypatch.setattr(residency, "LOOK_SECONDS", 0.02)
    run_spark_jobs(resides)
    assert resides.run_epoch([]) == []
    spark.other_jobs = 1
    wait_until(lambda: not spark.running)
    run_spark_jobs(resides, 12)
    spark.other_jobs = 0
    while resides.run_epoch([]) is None:
        resides.job_ran(1000, 1.0)
    assert resides.run_epoch([]) == []


def test_an_epoch_whose_task_is_lost_is_a_spark_job(resides, spark):
    run_spark_jobs(resides)
    assert resides.run_epoch([item(0, 0, b"lost")]) is None
    assert not spark.running
    lost = resides.take_lost()
    assert (lost.subtask, lost.process) == (0, os.getpid())
    assert lost.how.startswith("ended (")
    assert resides.take_lost() is None
    run_spark_jobs(resides, residency.EPOCHS_BETWEEN)
    assert resides.run_epoch([item(1, 0, b"a")]) == [item(2, 1, b"a.")]
    assert spark.starts == 2


def test_tasks_without_work_give_up_their_cores(resides, spark, monkeypatch):
    monkeypatch.setattr(residency, "LOOK_SECONDS", 0.02)
    run_spark_jobs(resides)
    assert resides.run_epoch([]) == []
    wait_until(lambda: not spark.running)


def test_tasks_come_back_at_once_after_making_room(resides, spark):
    run_spark_jobs(resides)
    assert resides.run_epoch([]) == []
    resides.make_room()
    assert not spark.running
    assert resides.run_epoch([]) == []


@pytest.mark.parametrize("cores", [1, 2, 3, 7])
def test_subtasks_share_tasks_if_there_are_fewer_cores(runtime, cores):
    spark = Spark(parallelism=cores)
    resides = residency_of(spark, (7, 7))
    run_spark_jobs(resides)
    for _ in range(3):
        results = resides.run_epoch([item(0, 6, b"a"), item(0, 1, b"b"), item(1, 3, b"c")])
        assert sorted(result.payload for result in results) == [b"a..", b"b..", b"c.", b"past", b"past"]
    resides.close()
    assert spark.count == cores


def test_items_between_subtasks_of_a_task_do_not_pass_through_the_driver(runtime):
    tasks = ResidentTasks([4, 4], 1)
    assert tasks.start(JOB, Place(HERE), Spark().run)
    large = bytes(range(256)) * 20_000
    assert large + b".." in [element.payload for element in tasks.run_epoch([item(0, 0, large)])]
    assert tasks.moved < 2 * len(large)
    assert tasks.close()


@pytest.mark.parametrize(("found", "last_waits"), [(0, True), (5, False)])
def test_only_the_last_subtask_of_a_task_waits_for_input_and_only_if_none_has_found_any(runtime, found, last_waits):
    tasks = ResidentTasks([3, 3], 1)
    assert tasks.start(JOB, Place(HERE), Spark().run)
    run_stage = runtime.run_stage

    def counted(level, partition, items, *, waits):
        yield from run_stage(level, partition, items, waits=waits)
        runtime.read += found

    runtime.run_stage = counted
    tasks.run_epoch([item(0, partition) for partition in range(3)])
    assert runtime.waited[:3] == [(0, 0, False), (0, 1, False), (0, 2, last_waits)]
    assert tasks.close()


def test_a_lost_task_with_several_subtasks_names_none_of_them(runtime):
    tasks = ResidentTasks([4, 4], 2)
    assert tasks.start(JOB, Place(HERE), Spark().run)
    with pytest.raises(TaskLostError) as error:
        tasks.run_epoch([item(0, 3, b"lost")])
    assert (error.value.loss.process, error.value.loss.subtask) == (os.getpid(), None)


def test_tasks_that_cannot_connect_are_not_tried_again(spark, resides, monkeypatch):
    monkeypatch.setattr(resident, "START_SECONDS", 0.05)
    tried = []
    monkeypatch.setattr(resides, "_run", lambda task, count: tried.append(count))
    run_spark_jobs(resides, 2000)
    assert tried == [2] * residency.MOST_STARTS


@pytest.mark.promise("S32")
@pytest.mark.parametrize(
    ("settings", "stays"),
    [
        ({}, True),
        ({"spark.speculation": "true"}, False),
        ({"spark.decommission.enabled": "true"}, False),
        ({"spark.network.crypto.enabled": "true"}, True),
    ],
)
def test_what_spark_is_configured_for_decides_whether_tasks_may_stay(settings, stays):
    assert fits(Spark(settings=settings)) is stays


@pytest.mark.promise("S32")
@pytest.mark.parametrize(
    ("settings", "wanted", "one_machine", "encrypted"),
    [
        ({}, None, False, False),
        ({}, True, False, True),
        ({}, True, True, True),
        ({"spark.network.crypto.enabled": "true"}, None, False, True),
        ({"spark.ssl.rpc.enabled": "TRUE"}, None, False, True),
        ({"spark.network.crypto.enabled": "true"}, None, True, False),
        ({"spark.network.crypto.enabled": "true"}, False, False, False),
    ],
)
def test_connections_are_encrypted_between_machines_if_those_of_spark_are(settings, wanted, one_machine, encrypted):
    assert is_encrypted(Spark(settings=settings), wanted=wanted, one_machine=one_machine) is encrypted


class TestWithoutThePackageForCertificates:
    @pytest.fixture(autouse=True)
    def no_package(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cryptography", None)

    def engine(self, settings, of_spark):
        engine = SparkEngine(settings)
        engine.context, engine.partitions = Spark(settings=of_spark), [2]
        return engine

    def test_an_option_that_needs_it_is_refused_when_the_job_starts(self):
        with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[tls\]'"):
            self.engine({"flintstream.resident-tasks.encrypt": "true"}, {}).check(SimpleNamespace())

    @pytest.mark.promise("S32")
    def test_no_task_stays_where_spark_encrypts_its_connections(self, caplog):
        engine = self.engine({}, {"spark.network.crypto.enabled": "true"})
        assert engine._residency(JOB, one_machine=False) is None
        assert "pip install 'flintstream[tls]'" in caplog.text
        assert engine._residency(JOB, one_machine=True) is not None


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_thread_is_left(runtime):
    spark = Spark()
    before = threading.active_count()
    resides = residency_of(spark)
    run_spark_jobs(resides)
    assert resides.run_epoch([]) == []
    resides.close()
    wait_until(lambda: threading.active_count() == before)
