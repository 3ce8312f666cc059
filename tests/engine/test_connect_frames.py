"""DataFrames as streams, streams as DataFrames, and state as DataFrames: the tests of these on Spark Connect."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="the extra 'connect' is not installed")

ROOT = Path(__file__).parents[2]
FILES = ("tests/savepoint_api/test_frames.py", "tests/engine/test_data_frames.py")
FEW = "exact_values or structs_become or made_from_a_frame or taken_over_exactly_once"


@pytest.mark.parametrize(
    ("choice", "least"),
    [pytest.param(FEW, 6, marks=pytest.mark.deep), pytest.param("", 50, marks=pytest.mark.nightly)],
)
@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_frames_are_on_connect_what_they_are_on_a_classic_session(choice, least):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYSPARK_", "SPARK_"))}
    python = [sys.executable, "-m"]
    tests = [*python, "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *(("-k", choice) if choice else ()), *FILES]
    done = subprocess.run(  # noqa: S603 - tests of this project
        [*python, "tests.connect_server", *tests], cwd=ROOT, env=kept, capture_output=True, text=True, check=False
    )
    if "NoServerError" in done.stderr:
        pytest.skip(done.stderr[-300:])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= least
