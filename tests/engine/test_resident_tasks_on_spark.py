"""Resident tasks on Spark: they stay while epochs are short, and nothing that a job promises changes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from typing import NamedTuple

import pytest
from tests.engine.sources import PacedSource

from flintstream.channels.listener import Listener
from flintstream.common import Duration, Types, WatermarkStrategy
from flintstream.datastream.connectors.file_system import FileSource, StreamFormat
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.engine.spark.engine import SparkEngine
from flintstream.engine.spark.resident.resident_tasks import ResidentTasks
from flintstream.errors import JobCancelledError

pytestmark = pytest.mark.spark

KEYS = 5
RECORDS = 400
SETTINGS = {"flintstream.epoch.max-duration": "50", "flintstream.epoch.idle-duration": "50"}


class Sums(KeyedProcessFunction):
    """Emit (value, sum of its key so far); at one record, do something once."""

    def __init__(self, deed=None, once=None):
        self.deed = deed
        self.once = once

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        if self.deed is not None and value == RECORDS * 3 // 4:
            with contextlib.suppress(FileExistsError):
                self.once.touch(exist_ok=False)
                self.deed()
        yield value, self.sum.value()


def expected(records=RECORDS):
    return [(n, sum(range(n % KEYS, n + 1, KEYS))) for n in range(records)]


def stream(env, function=None, records=RECORDS):
    numbers = env.from_source(PacedSource(records, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    return numbers.key_by(lambda n: n % KEYS).process(function or Sums())


class Epochs(NamedTuple):
    """How many epochs ran in which way, and how often tasks became resident."""

    jobs: list[object]
    resident: list[object]
    starts: list[object]


@pytest.fixture
def epochs(monkeypatch):
    noted = Epochs([], [], [])
    for kind, method, calls in (
        (SparkEngine, "_run_job", noted.jobs),
        (ResidentTasks, "run_epoch", noted.resident),
        (ResidentTasks, "start", noted.starts),
    ):
        monkeypatch.setattr(kind, method, noting(getattr(kind, method), calls))
    return noted


def noting(method, calls):
    def noted(self, *arguments):
        calls.append(self)
        return method(self, *arguments)

    return noted


def active_jobs():
    from pyspark import SparkContext

    return SparkContext.getOrCreate().statusTracker().getActiveJobsIds()


@pytest.mark.parametrize("parallelism", [pytest.param(1, marks=pytest.mark.deep), 2, 9])
def test_most_epochs_are_no_spark_jobs(make_spark_env, epochs, parallelism):
    with stream(make_spark_env(parallelism, SETTINGS)).execute_and_collect() as results:
        assert sorted(results) == expected()
    assert 0 < len(epochs.jobs) < len(epochs.resident)


@pytest.mark.promise("S32")
def test_a_setting_encrypts_the_connections(make_spark_env, epochs, monkeypatch):
    certificates = []
    listening = Listener.endpoint

    def noted(listener, host=None):
        endpoint = listening(listener, host)
        certificates.append(endpoint.certificate)
        return endpoint

    monkeypatch.setattr(Listener, "endpoint", noted)
    env = make_spark_env(2, {**SETTINGS, "flintstream.resident-tasks.encrypt": "true"})
    with stream(env).execute_and_collect() as results:
        assert sorted(results) == expected()
    assert epochs.resident
    assert certificates
    assert all(certificates)


def test_a_setting_makes_every_epoch_a_spark_job(make_spark_env, epochs):
    env = make_spark_env(2, {**SETTINGS, "flintstream.resident-tasks": "false"})
    with stream(env, records=100).execute_and_collect() as results:
        assert sorted(results) == expected(100)
    assert len(epochs.jobs) > 3
    assert not epochs.resident


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def failed():
    raise ValueError("this record is bad")


@pytest.mark.parametrize("deed", [killed, pytest.param(failed, marks=pytest.mark.deep)])
@pytest.mark.parametrize("changelog", ["false", pytest.param("true", marks=pytest.mark.deep)])
@pytest.mark.parametrize("parallelism", [2, 9])
def test_each_record_counts_once_if_a_resident_task_is_lost(
    make_spark_env, epochs, tmp_path, parallelism, deed, changelog, caplog
):
    checkpoints = {
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": tmp_path.as_uri(),
        "state.changelog.enabled": changelog,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    env = make_spark_env(parallelism, {**SETTINGS, **checkpoints})
    with stream(env, Sums(deed, tmp_path / "once")).execute_and_collect() as results:
        assert sorted(results) == expected()
    assert len(epochs.starts) >= 2
    assert epochs.resident
    warned = [record.getMessage() for record in caplog.records if " has lost a worker " in record.getMessage()]
    if deed is killed and warned:  # else the epoch was a Spark job, whose loss restarts the job
        which = ", subtask [01]" if parallelism == 2 else ""  # with more, a task has several
        assert re.search(rf"\(process \d+{which}\): it was killed by signal 9 \(SIGKILL\); the epoch ran", warned[0])


@pytest.mark.deep
def test_an_error_of_a_function_is_the_same(make_spark_env, tmp_path):
    env = make_spark_env(2, SETTINGS)
    with (
        pytest.raises(ValueError, match="this record is bad") as caught,
        stream(env, Sums(failed, tmp_path / "once")).execute_and_collect() as results,
    ):
        list(results)
    assert "KEYED PROCESS" in str(caught.value.__notes__ if hasattr(caught.value, "__notes__") else caught.value.args)


def test_another_spark_job_of_the_session_gets_its_cores(make_spark_env, epochs):
    from pyspark import SparkContext

    client = endless(make_spark_env)
    try:
        until(lambda: epochs.resident)
        context = SparkContext.getOrCreate()
        assert context.parallelize(range(4), 4).map(lambda n: n + 1).sum() == 10
        before = len(epochs.resident)
        until(lambda: len(epochs.resident) > before)  # they are there again
    finally:
        client.cancel().result()


def endless(make_spark_env):
    env = make_spark_env(2, SETTINGS)
    stream(env, records=None).filter(lambda _: False).print()
    return env.execute_async("endless")


def test_two_jobs_whose_tasks_would_take_all_cores_both_go_on(make_spark_env):
    found = {}

    def run(name):
        with stream(make_spark_env(2, SETTINGS)).execute_and_collect() as results:
            found[name] = sorted(results)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert found == {0: expected(), 1: expected()}


def test_a_job_that_rests_holds_no_core(make_spark_env, epochs, tmp_path):
    (tmp_path / "input").mkdir()
    env = make_spark_env(2, SETTINGS)
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "input"))
    source = builder.monitor_continuously(Duration.of_millis(20)).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    with lines.key_by(lambda line: line).map(lambda line: line).execute_and_collect() as results:
        for number in range(30):
            hidden = tmp_path / "input" / f".{number}"
            hidden.write_text(f"{number}\n")
            hidden.rename(tmp_path / "input" / f"{number}")
            assert next(results) == str(number)
        assert epochs.resident
        until(lambda: not active_jobs())


def test_a_job_with_resident_tasks_can_be_cancelled(make_spark_env, epochs):
    client = endless(make_spark_env)
    until(lambda: epochs.resident)
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    until(lambda: not active_jobs())


def test_a_savepoint_of_a_job_with_resident_tasks_stops_it(make_spark_env, epochs, tmp_path):
    client = endless(make_spark_env)
    until(lambda: epochs.resident)
    assert client.stop_with_savepoint(False, str(tmp_path)).result()
    until(lambda: not active_jobs())


def test_a_process_that_a_function_forks_has_no_connection_to_the_driver(make_spark_env, tmp_path):
    def forks():
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        killed()

    settings = {
        **SETTINGS,
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": tmp_path.as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    began = time.monotonic()
    with stream(make_spark_env(1, settings), Sums(forks, tmp_path / "once")).execute_and_collect() as results:
        assert sorted(results) == expected()
    assert time.monotonic() - began < 20 + 0.005 * RECORDS, "the loss was noticed before the other process ended"


def until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
