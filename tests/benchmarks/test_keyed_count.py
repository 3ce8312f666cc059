from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def keyed_count(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks.keyed_count", "--records", "2000", "--min-seconds", "-10", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_benchmark_prints_records_per_second_of_a_right_result():
    done = keyed_count("--only", "bare", "--keys", "10")
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("bare Python")]
    assert "1,980 in" in row


def test_an_engine_that_cannot_run_gets_no_rate():
    done = keyed_count("--only", "bare,bytewax", "--keys", "10", "--bytewax-python", "/nonexistent/python")
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("Bytewax")]
    assert "FileNotFoundError" in row


def test_settings_that_count_nothing_are_refused():
    done = keyed_count("--only", "bare", "--keys", "1000")
    assert done.returncode == 2
    assert "no key is counted up to --every" in done.stderr
    assert "unknown engines: nonsense" in keyed_count("--only", "nonsense").stderr
