"""Concurrent jobs share only Spark's session."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from flintstream.common import WatermarkStrategy
from flintstream.datastream.connectors import NumberSequenceSource

NO_WATERMARKS = WatermarkStrategy.no_watermarks()

BOTH_START_SPARK = """
from flintstream.datastream import StreamExecutionEnvironment

def job(n):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.master": "local[2]"})
    return env.from_collection(range(n)).map(lambda x: x + 1).execute_and_collect()

first, second = job(2), job(3)
print(sorted(first), sorted(second))
"""


def test_two_jobs_at_once_keep_their_state_apart(make_env):
    def sums(keys):
        numbers = make_env(2).from_source(NumberSequenceSource(1, 2000), NO_WATERMARKS, "numbers")
        return numbers.key_by(lambda n: n % keys).reduce(lambda a, b: a + b).execute_and_collect()

    running = {keys: sums(keys) for keys in (2, 3)}
    for keys, results in running.items():
        with results:
            expected = max(sum(n for n in range(1, 2001) if n % keys == key) for key in range(keys))
            assert max(results) == expected


@pytest.mark.spark
def test_two_jobs_that_start_together_start_spark_once():
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", BOTH_START_SPARK],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("[1, 2] [1, 2, 3]\n", 0), done.stderr
