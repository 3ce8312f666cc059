"""On several executors, subtasks stay where their state is, and find a new place when an executor is killed."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.faults.processes import below, kill, victims, wait_for_end
from tests.faults.rounds import PYTHON
from tests.standalone import Standalone

LIMIT_SECONDS = 300
EPOCHS = 10
"""How many epochs in a row to look at."""
TOLERATED = 0.05
"""The share of the subtasks in these epochs that may read their state again."""

PROGRAM = """
import sys, time
from tests.engine.sources import PacedSource
from tests.faults.counting import Count
from flintstream.common import WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment

master, parallelism, directory = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment({
    "flintstream.master": master,
    "flintstream.epoch.max-duration": "20",
    "execution.checkpointing.interval": "2 s",
    "execution.checkpointing.dir": directory,
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "100",
    "restart-strategy.fixed-delay.delay": "100 ms",
})
env.set_parallelism(int(parallelism))
numbers = env.from_source(PacedSource(None, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
numbers.key_by(lambda n: n % 50).process(Count()).filter(lambda line: False).print()
client = env.execute_async("catching up")
while True:
    time.sleep(0.2)
    values = client.get_accumulators().result()
    print("numbers", values["numEpochs"], values["numCatchUps"], values["numRestarts"], flush=True)
"""


class Numbers(NamedTuple):
    """The counters of the job at some time."""

    epochs: int
    catch_ups: int
    restarts: int


class Job:
    """The program in a separate process."""

    def __init__(self, process, parallelism):
        self.process = process
        self.subtasks = 2 * parallelism

    def wait_until_settled(self, since=None):
        """Wait for some epochs in which nearly all subtasks stay, after some have moved or the job has restarted."""
        seen = []
        limit = threading.Timer(LIMIT_SECONDS, lambda: [kill(item) for item in below(self.process.pid)])
        limit.start()
        try:
            for line in self.process.stdout:
                if line.startswith("numbers "):
                    seen.append(Numbers(*map(int, line.split()[1:])))
                    now = seen[-1]
                    if since is not None and now[1:] == since[1:]:
                        continue
                    if any(self.stayed(first, now) for first in seen if since is None or first[1:] != since[1:]):
                        return now
            raise AssertionError(f"the subtasks have not settled: {seen[-50:]}")
        finally:
            limit.cancel()

    def stayed(self, first, last):
        epochs, catch_ups, restarts = (after - before for before, after in zip(first, last, strict=True))
        return epochs >= EPOCHS and not restarts and catch_ups < TOLERATED * epochs * self.subtasks


@contextlib.contextmanager
def running(master, parallelism, directory):
    command = [sys.executable, "-c", PROGRAM, master, str(parallelism), directory.as_uri()]
    environment = {**os.environ, **PYTHON}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603 - ours
        try:
            yield Job(process, parallelism)
        finally:
            family = set(below(process.pid))
            process.kill()
            wait_for_end(family, 30)


pytestmark = [pytest.mark.spark, pytest.mark.timeout(2 * LIMIT_SECONDS)]


@pytest.mark.deep
@pytest.mark.kills
def test_subtasks_settle_and_settle_again_when_an_executor_is_killed(tmp_path):
    with running("local-cluster[2,1,1024]", 2, tmp_path) as job:
        settled = job.wait_until_settled()
        [executor] = victims(job.process.pid, "executor", random.Random(1))
        assert kill(executor)
        job.wait_until_settled(settled)


@pytest.mark.nightly
def test_subtasks_settle_if_there_are_more_than_cores(tmp_path):
    with running("local-cluster[2,1,1024]", 4, tmp_path) as job:
        job.wait_until_settled()


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [2, 4])
def test_subtasks_settle_on_a_standalone_cluster(workers, tmp_path):
    with (
        Standalone(Path(tmp_path, "cluster"), workers=workers, memory="1g", environment=PYTHON) as cluster,
        running(cluster.url, workers, tmp_path / "checkpoints") as job,
    ):
        job.wait_until_settled()
