from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.nexmark import expected, report
from benchmarks.nexmark.cpu import cpu_of_family
from benchmarks.nexmark.measure import Measured

REPOSITORY = Path(__file__).parents[2]


def nexmark(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks.nexmark", *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_query_is_checked_and_measured(tmp_path):
    file = tmp_path / "results.json"
    where = ("--data", tmp_path / "data", "--output", file)
    # With so few events, the larger run may be faster than the smaller one
    few = ("--events", 10_000, "--min-seconds", -1000, "--check-events", 2_000)
    done = nexmark("--queries", "q18", *few, *where)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(file.read_text())
    assert results["versions"]["pyspark"].startswith("4.")
    assert results["queries"]["q18"]["checked"] == "equal"
    assert results["queries"]["q18"]["events"] == 8_000


def test_a_query_that_fails_is_reported_and_the_next_one_follows(tmp_path):
    where = ("--data", tmp_path / "data", "--output", tmp_path / "results.json")
    few = ("--events", 200, "--check-events", 100)
    done = nexmark("--engine", "pyflink", "--flink-python", sys.executable, "--queries", "q0,q1", *few, *where)
    assert done.returncode == 1
    failed = [row.split("  ")[0] for row in done.stdout.splitlines() if "exit code 1" in row]
    assert failed == ["q0", "q1"], done.stdout + done.stderr


@pytest.mark.parametrize("module", [expected, report])
def test_examples_of_docstrings_are_right(module):
    done = doctest.testmod(module)
    assert done.attempted
    assert not done.failed


def test_the_processor_time_of_children_counts_while_they_run_and_when_they_have_ended():
    burn = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\nsys.stdin.read()"
    before = cpu_of_family()
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603 - our own program
        assert child.stdout is not None
        child.stdout.readline()
        assert cpu_of_family() - before >= 0.28  # the system counts in hundredths of a second
    assert cpu_of_family() - before >= 0.28


def test_unknown_queries_are_refused():
    assert "unknown queries: q23" in nexmark("--queries", "q0,q23").stderr


def test_queries_that_sql_does_not_have_are_refused():
    assert "unknown queries: q6" in nexmark("--sql", "--queries", "q0,q6").stderr


def test_fewer_events_than_start_up_has_are_refused():
    assert "must be more than the 20000" in nexmark("--events", "20000").stderr


def test_the_page_gets_the_table_of_the_results_that_are_there(tmp_path, monkeypatch):
    page = tmp_path / "nexmark.md"
    page.write_text("before\n<!-- begin of the table -->\nold\n<!-- end of the table -->\nafter\n")
    monkeypatch.setattr(report, "PAGE", page)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    about = {"machine": {"cores": 2}, "load": 0.1, "versions": {}, "events": 100_000, "checked_on": 2_000}
    measured = Measured("q10", checked="equal", events=99_000, seconds=2.0, cpu=3.96, start_up=5.0)
    wrong = Measured("q2", checked="q2: 1 rows instead of 2", events=99_000, seconds=2.0, cpu=3.96)
    report.keep(report.path_of("flintstream"), about, [measured, wrong, Measured("q3", problem="exit code 1: a|b")])
    report.fill_page()
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    rows = [line for line in text.splitlines() if line.startswith("| q")]
    assert rows[1:] == [
        "| q2 | q2: 1 rows instead of 2 | | | | | |",
        "| q3 | exit code 1: a/b | | | | | |",
        "| q10 | 49,500 | 40.0 | | | | |",
    ]
