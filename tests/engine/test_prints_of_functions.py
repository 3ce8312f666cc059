from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import flintstream

JOB = """
import sys
from pyflink.datastream import StreamExecutionEnvironment

def show(n):
    print("line", n, "x" * (n % 90), "end")
    print("line", n, "y" * (n % 90), "end", file=sys.stderr)
    if n == 3999:
        print("without a line end", end="")
    return n

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(4)
env.from_collection(list(range(4000))).rebalance().map(show).filter(lambda n: False).print()
env.execute()
"""


@pytest.mark.deep
@pytest.mark.spark
def test_lines_that_functions_print_in_several_workers_stay_whole(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(JOB)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", "--master", "local[4]", str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        timeout=300,
    )
    before, found, after = done.stderr.partition("without a line end")
    assert found
    expected = [f"line {n} {letter * (n % 90)} end" for n in range(4000) for letter in "xy"]
    assert sorted([*before.splitlines(), *after.splitlines()]) == sorted(expected)
