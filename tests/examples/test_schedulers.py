"""The examples for Airflow and Dagster: how they run a program, and the DAG and the asset themselves.

AIRFLOW_PYTHON and DAGSTER_PYTHON name the interpreters of environments that have them: neither is installed with this
project, because each pins half of what there is.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "examples" / "schedulers"
INLINE = {"flintstream.engine": "inline"}

pytestmark = pytest.mark.slow

FAILING = """
from flintstream.datastream import StreamExecutionEnvironment
print("before the job")
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 0]).map(lambda n: 1 // n).name("divide").print()
env.execute("division")
"""
ENDLESS = """
from flintstream.common import WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from tests.engine.sources import PacedSource
env = StreamExecutionEnvironment.get_execution_environment()
env.from_source(PacedSource(10**9, 0.01), WatermarkStrategy.no_watermarks(), "paced").print()
env.execute("endless")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory, with ``flintstream`` as a scheduler finds it: a command of another environment."""
    command = tmp_path / "flintstream"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "src"}:{ROOT} exec {sys.executable} -m flintstream.cli "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("FLINTSTREAM", str(command))
    return tmp_path


def job(program, arguments=(), **settings):
    return load_job().Job(str(program), arguments, {**INLINE, **settings})


def checkpoints(place):
    return {"execution.checkpointing.interval": "100ms", "execution.checkpointing.dir": f"file://{place}/c"}


def load_job():
    spec = importlib.util.spec_from_file_location("example_flintstream_job", PLACE / "flintstream_job.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_program_runs_to_its_end_and_its_totals_are_the_result(place):
    lines: list[str] = []
    totals = job(ROOT / "examples" / "word_count.py", ["--output", str(place / "words")]).run(lines.append)
    assert (totals["job_name"], totals["records_in"]) == ("word count", 3)
    assert f"job {totals['job_id']}" in lines
    assert any("stream" in path.read_text() for path in (place / "words").glob("*.txt"))


def test_a_program_that_fails_fails_the_task_with_its_error(place):
    (place / "job.py").write_text(FAILING)
    lines: list[str] = []
    with pytest.raises(RuntimeError, match="exit code 1: ZeroDivisionError"):
        job(place / "job.py", **checkpoints(place), **{"restart-strategy.type": "none"}).run(lines.append)
    assert "before the job" in lines
    assert any("operator 'divide'" in line for line in lines)


def test_a_job_that_is_refused_fails_the_task_with_the_reason(place):
    (place / "job.py").write_text(FAILING)
    with pytest.raises(RuntimeError, match=r"exit code 1: CheckpointError.*no directory to look for checkpoints"):
        job(place / "job.py").run(lambda _: None)


def test_a_stopped_program_goes_on_from_its_checkpoint(place):
    (place / "job.py").write_text(ENDLESS)
    numbers = []

    def end(task, lines):
        with pytest.raises(RuntimeError):
            task.run(lines.append)

    for _ in range(2):
        task = job(place / "job.py", **checkpoints(place))
        lines: list[str] = []
        thread = threading.Thread(target=end, args=(task, lines))
        thread.start()
        wait_for(lambda lines=lines: len(lines) > 50 and any((place / "c").glob("*/chk-*/_metadata")))
        task.stop()
        thread.join()
        numbers.append([int(line.rpartition(" ")[2]) for line in lines if line.rpartition("> ")[2].isdigit()])
    assert numbers[0][0] == 0
    assert numbers[1][0] > 0


def scheduled(variable, place, *commands, **variables):
    """Run commands of a scheduler; return what they print."""
    python = os.environ.get(variable)
    if python is None:
        pytest.skip(f"{variable} names no interpreter that has it; it is not installed with this project")
    settings = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PROGRAM": str(ROOT / "examples" / "word_count.py"),
        "CHECKPOINTS": f"file://{place}/checkpoints",
        "OUTPUT": str(place / "words"),
        "FLINK_CONF_DIR": str(place),
        **variables,
    }
    (place / "config.yaml").write_text("flintstream.engine: inline\n")
    told = ""
    for command in commands:
        done = subprocess.run([python, *command], env=settings, capture_output=True, text=True, check=False)  # noqa: S603
        told += done.stdout + done.stderr
        assert done.returncode == 0, told
    assert any("stream" in path.read_text() for path in (place / "words").rglob("*.txt"))
    return told


def test_the_dag_of_airflow_runs(place):
    airflow = ["-m", "airflow"]
    commands = (["db", "migrate"], ["dags", "reserialize"], ["dags", "test", "nightly_counts"])
    settings = {
        "AIRFLOW_HOME": str(place / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PLACE),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
    }
    told = scheduled("AIRFLOW_PYTHON", place, *([*airflow, *command] for command in commands), **settings)
    assert "state=success" in told


def test_the_asset_of_dagster_is_made(place):
    told = scheduled("DAGSTER_PYTHON", place, [str(PLACE / "dagster_assets.py")], DAGSTER_HOME=str(place))
    assert "word_counts" in told
