"""A job in a separate process is stopped, or its process is killed, and another process continues it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.tally import expected
from tests.waiting import wait_for

from flintstream.checkpoint.metadata import METADATA
from flintstream.coordinator import registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from tests.engine.tally import tally

limit, output = int(sys.argv[1]), sys.argv[2]
env = StreamExecutionEnvironment.get_execution_environment()
sink = FileSink.for_row_format(output, Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
tally(env, limit if limit >= 0 else None, 0.01, sink=sink)
if "async" in sys.argv:
    env.execute_async("counting").get_job_execution_result().result()
else:
    env.execute("counting")
"""


class Cluster:
    """The processes of one test."""

    def __init__(self, directory, engine):
        self.directory = directory
        self.output = directory / "output"
        self.checkpoints = directory / "checkpoints"
        self.script = directory / "counting.py"
        self.script.write_text(PROGRAM, encoding="utf-8")
        path = [str(ROOT / "src"), str(ROOT)]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONFAULTHANDLER": "1",  # a process that hangs prints its stack when it is aborted
            registry.DIRECTORY: str(directory / "jobs"),
        }
        self.settings = {
            "flintstream.engine": engine,
            "flintstream.epoch.idle-duration": "50",
            "execution.checkpointing.interval": "100 ms",
            "execution.checkpointing.dir": self.checkpoints.as_uri(),
        }
        self.processes = []
        self.wrapper = []
        """The command that runs the program."""

    def run(self, *options, limit=-1, arguments=()):
        """Start the program; without a limit it never ends."""
        settings = [f"-D{key}={value}" for key, value in self.settings.items()]
        command = [*self.wrapper, sys.executable, "-m", "flintstream.cli", "run", "--master", "local[2]", "-p", "2"]
        command += settings
        command += [*options, str(self.script), str(limit), str(self.output), *arguments]
        process = subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, text=True)  # noqa: S603
        self.processes.append(process)
        return process

    def cli(self, *arguments):
        """Run another command to its end."""
        command = [sys.executable, "-m", "flintstream.cli", *arguments]
        return subprocess.run(  # noqa: S603 - our own program
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )

    def lines(self):
        """Return the committed records."""
        found = []
        for path in self.output.rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):
                    found += path.read_text(encoding="utf-8").splitlines()
        return sorted(found)

    def wait_for_lines(self, count, process):
        def committed():
            assert process.poll() is None, process.communicate()
            return len(self.lines())

        wait_for(committed, until=count.__le__)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture(params=["inline", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.deep])])
def cluster(request, tmp_path):
    made = Cluster(tmp_path, request.param)
    yield made
    made.end()


def end_of(process):
    """Wait for the end and return the exit code and the error output."""
    try:
        _, errors = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(f"it does not end:\n{process.communicate()[1]}")
    return process.returncode, errors


def uninterrupted(limit):
    return sorted(map(str, expected(range(limit))))


def test_a_job_is_listed_saved_stopped_and_gone_on_with(cluster, tmp_path):
    first = cluster.run()
    cluster.wait_for_lines(40, first)
    listed = cluster.cli("list")
    assert " : counting (RUNNING)\n" in listed.stdout
    assert f"process {first.pid} " in listed.stdout

    saved = cluster.cli("savepoint", "counting", str(tmp_path / "savepoints"))
    assert saved.returncode == 0, saved.stderr
    assert (Path(saved.stdout.splitlines()[-1]) / METADATA).exists()

    stopped = cluster.cli("stop", "-p", str(tmp_path / "savepoints"), "counting")
    assert stopped.returncode == 0, stopped.stderr
    assert end_of(first) == (0, "")
    assert cluster.cli("list").stdout == "No running jobs.\n"
    before = cluster.lines()
    limit = len(before) + 30

    second = cluster.run("-s", stopped.stdout.splitlines()[-1], limit=limit)
    assert end_of(second) == (0, "")
    assert cluster.lines() == uninterrupted(limit)


@pytest.mark.kills
def test_a_job_whose_process_is_killed_is_resumed_exactly_once(cluster):
    first = cluster.run("--resume")
    cluster.wait_for_lines(40, first)
    first.send_signal(signal.SIGKILL)
    code, errors = end_of(first)
    assert code == -signal.SIGKILL
    assert "there is no checkpoint of 'counting' in " in errors
    assert "the job starts from the beginning" in errors
    assert cluster.cli("list").stdout == "No running jobs.\n"
    limit = len(cluster.lines()) + 60

    second = cluster.run("--resume", limit=limit)
    assert end_of(second) == (0, "")
    assert cluster.lines() == uninterrupted(limit)


@pytest.mark.spark
def test_a_job_on_spark_is_stopped_and_gone_on_with(tmp_path):
    cluster = Cluster(tmp_path, "spark")
    try:
        first = cluster.run()
        cluster.wait_for_lines(20, first)
        stopped = cluster.cli("stop", "-p", str(tmp_path / "savepoints"), "counting")
        assert stopped.returncode == 0, stopped.stderr
        assert end_of(first) == (0, "")
        limit = len(cluster.lines()) + 10
        assert end_of(cluster.run("-s", stopped.stdout.splitlines()[-1], limit=limit)) == (0, "")
        assert cluster.lines() == uninterrupted(limit)
    finally:
        cluster.end()


@pytest.mark.parametrize("arguments", [(), ("async",)])
def test_ctrl_c_cancels_the_job(cluster, arguments):
    first = cluster.run(arguments=arguments)
    cluster.wait_for_lines(10, first)
    first.send_signal(signal.SIGINT)
    code, errors = end_of(first)
    assert (code, errors.splitlines()[0]) == (130, "interrupted")  # Spark's workers may still print something
    left = [path for path in cluster.checkpoints.rglob("*") if path.is_file()]
    assert left == []
    assert not list((cluster.directory / "jobs").iterdir())


@pytest.mark.parametrize(
    ("number", "arguments"), [(signal.SIGTERM, ()), (signal.SIGHUP, ()), (signal.SIGTERM, ["async"])]
)
def test_a_job_ends_with_a_signal_and_is_resumed_exactly_once(cluster, number, arguments):
    first = cluster.run("--resume", arguments=arguments)
    cluster.wait_for_lines(40, first)
    first.send_signal(number)
    code, _ = end_of(first)
    assert code == 128 + number
    assert not list((cluster.directory / "jobs").iterdir())
    assert [path for path in cluster.checkpoints.rglob("*") if path.name == METADATA]
    before = cluster.lines()
    limit = len(before) + 60

    second = cluster.run("--resume", limit=limit)
    assert end_of(second) == (0, "")
    assert cluster.lines() == uninterrupted(limit)


def test_a_job_outlives_its_terminal_under_nohup(cluster):
    cluster.wrapper = ["nohup"]
    first = cluster.run()
    cluster.wait_for_lines(20, first)
    first.send_signal(signal.SIGHUP)
    cluster.wait_for_lines(len(cluster.lines()) + 20, first)
    first.send_signal(signal.SIGTERM)
    assert end_of(first)[0] == 128 + signal.SIGTERM


def test_a_job_that_is_cancelled_says_so(cluster):
    first = cluster.run()
    cluster.wait_for_lines(10, first)
    cancelled = cluster.cli("cancel", "counting")
    assert (cancelled.returncode, cancelled.stdout) == (0, "Cancelled counting.\n"), cancelled.stderr
    assert end_of(first) == (1, "Error: the job 'counting' was cancelled\n")
