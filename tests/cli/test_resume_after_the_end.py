"""A process that is killed after the end of its job, but before its own end, does not run the job again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flintstream.coordinator import registry

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys
from pathlib import Path
from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy

directory, first, second, end = Path(sys.argv[1]), *sys.argv[2:]
env = StreamExecutionEnvironment.get_execution_environment()

def job(name):
    sink = FileSink.for_row_format(str(directory / "output"), Encoder.simple_string_encoder())
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    env.from_collection([f"{name} {n}" for n in range(3)], Types.STRING()).sink_to(sink)
    env.execute(name)

job(first)
if second:
    job(second)
if end == "kill" and not (directory / "killed").exists():
    (directory / "killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)
if end == "exit":
    sys.exit(7)
"""


@pytest.fixture
def run(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(PROGRAM, encoding="utf-8")
    settings = {
        "flintstream.engine": "inline",
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), registry.DIRECTORY: str(tmp_path / "jobs")}

    def start(first="one", second="", end=""):
        command = [sys.executable, "-m", "flintstream.cli", "run", "--resume"]
        command += [*(f"-D{k}={v}" for k, v in settings.items()), str(script), str(tmp_path), first, second, end]
        return subprocess.run(  # noqa: S603 - a program of this test
            command, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    return start


def lines(tmp_path):
    files = [path for path in (tmp_path / "output").rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(line for path in files for line in path.read_text(encoding="utf-8").splitlines())


def left(tmp_path):
    return [path for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]


@pytest.mark.kills
def test_a_process_killed_after_its_job_does_not_run_it_again(run, tmp_path):
    assert run(end="kill").returncode == -signal.SIGKILL
    again = run(end="kill")
    assert again.returncode == 0, again.stderr
    assert "'one' has already ended according to " in again.stderr
    assert lines(tmp_path) == ["one 0", "one 1", "one 2"]
    assert left(tmp_path) == []


def test_after_a_good_end_the_program_starts_anew(run, tmp_path):
    for _ in range(2):
        assert run().returncode == 0
        assert left(tmp_path) == []
    assert lines(tmp_path) == ["one 0", "one 0", "one 1", "one 1", "one 2", "one 2"]


def test_of_several_jobs_those_that_are_over_are_not_run_again(run, tmp_path):
    assert run("one", "two", "exit").returncode == 7
    again = run("one", "two")
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("has already ended according to") == 2
    assert lines(tmp_path) == ["one 0", "one 1", "one 2", "two 0", "two 1", "two 2"]
    assert left(tmp_path) == []


def test_jobs_of_one_program_have_names_of_their_own(run, tmp_path):
    twice = run("one", "one")
    assert twice.returncode == 1
    assert "the program runs a second job named 'one': give each job a different name, as in env.exec" in twice.stderr
    assert lines(tmp_path) == ["one 0", "one 1", "one 2"]
