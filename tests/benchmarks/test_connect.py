"""The comparison of classic Spark and Spark Connect, and its part of the pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import pages

ROOT = Path(__file__).parents[2]


def compare(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks.connect", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_what_there_is_not_is_refused_and_a_part_is_not_kept():
    assert "unknown: nonsense" in compare("--only", "nonsense").stderr
    assert "--save needs a whole series" in compare("--only", "epoch", "--save").stderr


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_epochs_are_measured_in_turn():
    pytest.importorskip("grpc", reason="the extra 'connect' is not installed")
    done = compare("--only", "epoch", "--seconds", "3", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^epoch, (.+), round 1: epochs (\d+), ms [\d,]+$", done.stdout, re.MULTILINE)
    assert [name for name, _ in found] == ["classic", "without resident tasks", "Connect"]
    assert all(int(epochs) > 1 for _, epochs in found)


def test_the_page_has_the_figures_of_the_series(monkeypatch, tmp_path):
    series = {
        "machine": {"date": "2030-01-02", "cores": 2}, "rounds": 3, "seconds": 10, "load": 0.1,
        "outcomes": {
            "epoch": {"classic": {"ms": 4.4}, "without resident tasks": {"ms": 100.0}, "Connect": {"ms": 250.6}},
            "keyed-count-10k": {"classic": {"rate": 1e6}, "Connect": {"rate": 654_321.0}},
            "latency": {"classic": {"p50": 5.0, "p99": 40.0}, "Connect": {"p50": 200.0, "p99": 300.0}},
        },
    }  # fmt: skip
    (tmp_path / "connect.json").write_text(json.dumps(series))
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    text = pages.connect()
    assert "2030-01-02" in text
    assert "| empty epoch, ms | 4 | 100 | 251 |" in text
    assert "| count per key, 10,000 keys, records per second | 1,000,000 | - | 654,321 |" in text
    assert "| latency, p50 and p99, ms | 5, 40 | - | 200, 300 |" in text


def test_a_series_that_is_not_there_is_not_made_up(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    assert pages.connect().startswith("Not measured yet")
