from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.engines import ENGINES
from benchmarks.measure import Limits, Outcome, measure
from benchmarks.process import RunError, timed
from benchmarks.report import Record, table
from benchmarks.workloads import WORKLOADS
from tests.waiting import wait_for

from benchmarks import report

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
STARTS = "import subprocess, sys, time; subprocess.Popen"


def benchmarks(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def test_the_command_prints_records_per_second_and_goes_on_after_an_engine_that_cannot_run():
    done = benchmarks(
        "stateless", "--engines", "bytewax,bare", "--records", "400000", "--bytewax-python", "/nonexistent/python"
    )
    assert done.returncode == 0, done.stderr
    assert "stateless, bare Python, 2 processes, no exchange: " in done.stderr
    assert "398,000 in" in done.stderr
    assert "| workload | bare | bytewax |" in done.stdout
    assert "* stateless on bytewax: FileNotFoundError" in done.stdout


def test_what_there_is_not_is_refused():
    assert "unknown engines: nonsense" in benchmarks("--engines", "nonsense").stderr
    assert "unknown workloads: nonsense" in benchmarks("nonsense").stderr
    assert "multiple of 20" in benchmarks("--records", "10001").stderr


def test_a_command_that_takes_too_long_is_ended_with_all_it_has_started(tmp_path):
    mark = tmp_path / "mark"
    endless = f"import time; time.sleep(1000)  # {mark}"
    program = f"{STARTS}([sys.executable, '-c', {endless!r}], start_new_session=True); time.sleep(1000)  # {mark}"
    with pytest.raises(RunError, match="not finished after 1 s"):
        timed([sys.executable, "-c", program], {}, str(tmp_path), 1)

    def running():
        found = []
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                found += [command.parent.name] if str(mark) in command.read_text() else []
        return found

    wait_for(running, until=[].__eq__)


def test_the_cpu_of_processes_that_outlive_their_parent_counts(tmp_path):
    burnt = tmp_path / "burnt"
    burn = f"import time, pathlib\nwhile time.process_time() < 0.7: pass\npathlib.Path({str(burnt)!r}).touch()"
    wait = f"import pathlib\nwhile not pathlib.Path({str(burnt)!r}).exists(): time.sleep(0.1)"
    program = f"{STARTS}([sys.executable, '-c', {burn!r}], start_new_session=True)\n{wait}"
    assert timed([sys.executable, "-c", program], {}, str(tmp_path), 300).cpu > 0.6


def test_a_wrong_result_has_no_rate(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.expected_results", lambda *_: (3, "hash"))
    workload = WORKLOADS["stateless"]
    impostor = ENGINES["bare"].__class__("impostor", "impostor", "bare", 20_000)
    outcome = measure(workload, impostor, sys.executable, Limits(0.0, 60.0))
    assert outcome.problem.startswith("RunError: wrong results:")
    assert not outcome.rate


def outcomes():
    return [
        Outcome("stateless", "flintstream", 100, 1.0, 2.0, 3.0),
        Outcome("stateless", "bare", 400, 1.0, 2.0, 0.1),
        Outcome("stateless", "flink-thread", problem="RunError: not finished after 3 s"),
    ]


def test_the_table_has_rates_ratios_and_what_went_wrong():
    text = table(outcomes())
    assert "| stateless | 400 | 100 | - |" in text
    assert "| stateless | 0.25 x | - |" in text
    assert "| stateless | 5000.00 | 20000.00 | - |" in text
    assert "* stateless on flink-thread: RunError: not finished after 3 s" in text


def test_what_is_measured_is_kept_and_continued(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "machine", lambda: {"cpu": "a fast one"})
    path = tmp_path / "series.json"
    first, *rest = outcomes()
    Record(path, {"flintstream": sys.executable}).add(first)
    record = Record(path, {})
    for outcome in rest:
        record.add(outcome)
    content = json.loads(path.read_text())
    assert [o["engine"] for o in content["outcomes"]] == ["flintstream", "bare", "flink-thread"]
    assert content["machine"] == {"cpu": "a fast one"}
    assert "pyspark" in content["versions"]["flintstream"]
    assert "| stateless | 400 | 100 | - |" in path.with_suffix(".md").read_text()
