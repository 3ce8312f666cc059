"""A cluster replaces lost tasks of jobs without checkpoints and restarts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.kills, pytest.mark.deep]

PROGRAM = """
import os
import sys
from pathlib import Path

import cloudpickle
import tests.engine.sources
import tests.engine.test_sticky_subtasks as tests

for module in (tests, sys.modules["tests.engine.sources"]):
    cloudpickle.register_pickle_by_value(module)


def executor():
    pid = os.getpid()
    while pid > 1:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
        if name == "java":
            return [pid]
        pid = int(rest.split()[1])
    raise AssertionError("no executor has started this worker")


victims, directory = sys.argv[1:]
once = Path(directory, "killed")
settings = {
    "flintstream.master": "local-cluster[3,1,1024]",
    "flintstream.state.dir": Path(directory, "state").as_uri(),
    "restart-strategy.type": "none",
}
found = tests.sums(tests.Sums({"worker": tests.this_process, "executor": executor}[victims], once), settings)
tests.processes(found)
assert once.exists()
print("exact")
"""


def run_job(victims, directory):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, victims, directory],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
        check=False,
    )


def test_each_record_counts_once_after_the_loss_of_a_worker(tmp_path):
    done = run_job("worker", tmp_path)
    assert done.stdout.endswith("exact\n"), done.stderr


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to find the executor in")
def test_each_record_counts_once_after_the_loss_of_an_executor_or_the_error_names_the_loss(tmp_path):
    """Resident tasks run the epoch again. A Spark job may need records that were on the executor: the job fails."""
    done = run_job("executor", tmp_path)
    assert Path(tmp_path, "killed").exists()
    lost = "could not fetch the records of another executor" in done.stderr or "executor was lost" in done.stderr
    assert done.stdout.endswith("exact\n") or (done.returncode != 0 and lost), done.stderr
