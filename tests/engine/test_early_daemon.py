"""The daemon of Spark's workers that starts with the context (:mod:`flintstream.engine.spark.early_daemon`)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from flintstream.common import Configuration
from flintstream.datastream import StreamExecutionEnvironment

settings = Configuration()
for key, value in json.loads(sys.argv[1]).items():
    settings.set_string(key, value)
env = StreamExecutionEnvironment.get_execution_environment(settings)
env.set_parallelism(1)

def seen(number):
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    command = Path(f"/proc/{os.getppid()}/cmdline").read_text()
    return os.getppid(), *map(int, status.rpartition(")")[2].split()[1:3]), command, hash("text")

def run():
    with env.from_collection([1]).map(seen).execute_and_collect() as results:
        return list(results)[0]

first = run()
os.kill(first[0], signal.SIGKILL)
print(json.dumps([os.getpid(), first, run()]))
"""


class Daemon(NamedTuple):
    """The process above a worker, and what the worker sees."""

    pid: int
    parent: int
    group: int
    command: str
    hash: int


def run(settings: dict[str, str]) -> tuple[int, Daemon, Daemon]:
    """Return the driver's id, and what two jobs see of their daemon, which is killed after the first one."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, json.dumps({"spark.master": "local[2]", **settings})],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    driver, first, second = json.loads(done.stdout)
    return driver, Daemon(*first), Daemon(*second)


def ended(pid: int) -> bool:
    """Tell whether a process ends within some seconds."""
    until = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which process runs workers")
def test_workers_run_below_the_early_daemon_which_may_be_killed():
    driver, first, second = run({})
    assert "early_daemon" in first.command
    assert first.parent == driver
    assert first.group == first.pid, "a signal to the group of the driver is not for workers"
    assert first.hash == second.hash, "workers have the same hash values in each process"
    assert ended(first.pid)


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which process runs workers")
def test_a_daemon_whose_environment_differs_goes_on_by_itself():
    _, first, _ = run({"spark.executorEnv.COLOUR": "blue"})
    assert "spark.daemon" in first.command
