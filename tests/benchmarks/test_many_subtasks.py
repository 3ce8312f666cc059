from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_the_counts_are_right_and_all_subtasks_on_both_sides_of_the_exchange_are_connected():
    command = [sys.executable, "-m", "benchmarks.many_subtasks", "--subtasks", "3", "--records", "200000"]
    done = subprocess.run(  # noqa: S603 - our own program
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    figures = dict(re.findall(r"([\w, /]+) ([\d,.]+)(?:  |$)", line.partition(": ")[2]))
    assert figures["right"] == "1.00"
    assert 1 <= float(figures["fetches"]) <= 9  # blocks without records are not fetched
    assert float(figures["shuffled, kB"]) > 0
