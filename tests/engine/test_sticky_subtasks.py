"""On Spark, a subtask stays in one process over its epochs; moving to another one changes no result."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.engine.spark.slots import acquire_namespace, release_namespace, slot_name

KEYS = 5
RECORDS = 150
SETTINGS = {"flintstream.epoch.max-duration": "100", "flintstream.epoch.idle-duration": "100"}


class Sums(KeyedProcessFunction):
    """Emit (value, sum of its key so far, subtask, process); at one record, kill a given process, once."""

    def __init__(self, victims=None, once=None):
        self.victims = victims
        self.once = once

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))
        self.subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        if value == RECORDS // 2 and self.victims is not None:
            with contextlib.suppress(FileExistsError):
                self.once.touch(exist_ok=False)
                for pid in self.victims():
                    os.kill(pid, signal.SIGKILL)
        yield value, self.sum.value(), self.subtask, os.getpid()


def this_process():
    return [os.getpid()]


def the_other_workers():
    """Among them the process to which Spark has given the task, and which passed it on to this one."""
    status = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat")]
    family = {int(text.split()[0]): int(text.rpartition(")")[2].split()[1]) for text in status}
    return [pid for pid, parent in family.items() if parent == os.getppid() and pid != os.getpid()]


def sums(function, settings=None):
    # In this process, the functions above would kill the tests
    settings = {"flintstream.engine": "spark", "flintstream.master": "local[2]", **SETTINGS, **(settings or {})}
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    numbers = env.from_source(PacedSource(RECORDS, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    with numbers.key_by(lambda n: n % KEYS).process(function).execute_and_collect() as results:
        return list(results)


def processes(rows):
    """Return the processes of each subtask, after checking that there is one correct sum per record."""
    expected = {n: sum(m for m in range(n + 1) if m % KEYS == n % KEYS) for n in range(RECORDS)}
    assert sorted((value, total) for value, total, _, _ in rows) == sorted(expected.items())
    found = defaultdict(set)
    for _, _, subtask, pid in rows:
        found[subtask].add(pid)
    return found


@pytest.mark.spark
def test_a_subtask_stays_in_its_process_over_all_epochs():
    found = processes(sums(Sums()))
    assert [len(pids) for pids in found.values()] == [1, 1]
    assert found[0] != found[1]
    assert processes(sums(Sums())) == found, "the next job finds the processes warm"


@pytest.mark.spark
def test_jobs_side_by_side_have_processes_of_their_own():
    results = {}

    def run(name):
        results[name] = processes(sums(Sums()))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pids = [pid for found in results.values() for several in found.values() for pid in several]
    assert len(pids) == len(set(pids)) == 4


@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.parametrize("victims", [this_process, the_other_workers])
def test_a_worker_that_is_killed_is_replaced(victims, tmp_path):
    if victims is the_other_workers and not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc to find the other workers in")
    once = tmp_path / "killed"
    found = processes(sums(Sums(victims, once)))
    assert once.exists()
    assert max(len(pids) for pids in found.values()) == 2
    assert [len(pids) for pids in processes(sums(Sums())).values()] == [1, 1]


IN_A_SESSION_OF_ITS_OWN = """
import sys
import cloudpickle
import tests.engine.sources, tests.engine.test_sticky_subtasks as tests
for module in (tests, sys.modules["tests.engine.sources"]):
    cloudpickle.register_pickle_by_value(module)
found = tests.processes(tests.sums(tests.Sums(), {SETTING}))
from pyspark import SparkContext
context = SparkContext.getOrCreate()
moves = max(len(pids) for pids in found.values()) > 1
print("ours" if "daemon" in context.getConf().get("spark.python.daemon.module", "") else "Spark's", moves)
five = context.broadcast(5)
print(context.parallelize([1, 2], 2).map(lambda n: n * five.value).collect())
"""


def in_a_session_of_its_own(setting):
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", IN_A_SESSION_OF_ITS_OWN.replace("{SETTING}", repr(setting))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.deep
@pytest.mark.spark
def test_over_tcp_a_subtask_stays_in_its_process_too():
    lines = in_a_session_of_its_own({"spark.python.unix.domain.socket.enabled": "false"})
    assert lines == ["ours False", "[5, 10]"]


@pytest.mark.spark
def test_stickiness_can_be_switched_off():
    first, last = in_a_session_of_its_own({"flintstream.sticky-subtasks": "false"})
    assert first.startswith("Spark's")
    assert last == "[5, 10]"


def test_a_lane_belongs_to_one_job_at_a_time():
    first, second = acquire_namespace(), acquire_namespace()
    release_namespace(first)
    third = acquire_namespace()
    assert (first, third) == (third, first)
    assert first != second
    release_namespace(second)
    release_namespace(third)


def test_many_partitions_share_slots():
    assert len({slot_name("0/8", partition) for partition in range(100)}) == 8
    assert {slot_name("0/8", partition) for partition in range(100)}.isdisjoint({slot_name("1/8", 0)})
