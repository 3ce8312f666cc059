"""A cluster replaces lost tasks of jobs without checkpoints and restarts, resident or not."""

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


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to find the executor in")
@pytest.mark.parametrize("victims", ["worker", "executor"])
def test_each_record_counts_once(victims, tmp_path):
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, victims, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
        check=False,
    )
    assert done.stdout.endswith("exact\n"), done.stderr
