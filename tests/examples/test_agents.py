"""The example of Flink Agents, if that package is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import flintstream

JOB = Path(__file__).parents[2] / "examples" / "agents" / "job.py"


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["inline", "spark"])
@pytest.mark.skipif(find_spec("flink_agents") is None, reason="needs the package flink-agents")
def test_an_agent_gets_the_records_of_each_key_in_order(engine):
    source = str(Path(flintstream.__file__).parents[1])
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", "-p", "1", "-D", f"flintstream.engine={engine}", JOB],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert sorted(answers) == ["ann: pear is order 1", "ann: plum is order 2", "bob: fig is order 1"]
    assert answers.index("ann: pear is order 1") < answers.index("ann: plum is order 2")
