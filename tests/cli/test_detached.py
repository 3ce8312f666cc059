"""Jobs in the background: ``flintstream run -d``, ``logs`` and ``attach``, in a terminal."""

from __future__ import annotations

import logging
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from tests.waiting import wait_for

import flintstream
from flintstream.cli import main
from flintstream.cli.run import _give_lines_their_time
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history, output_file

pytestmark = [pytest.mark.slow]

COMMAND = [sys.executable, "-m", "flintstream.cli"]
PACED = """
import sys
from flintstream.common import WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from tests.engine.sources import PacedSource

env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
numbers = env.from_source(PacedSource(int(sys.argv[1]), 0.02), WatermarkStrategy.no_watermarks(), "paced")
numbers.map(lambda n: f"number {100 // (int(sys.argv[2]) - n)}").name("divide").print()
env.execute("paced")
print("after the job")
"""
ENDLESS, NEVER_ZERO = "1000000000", "-1"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    places = {registry.DIRECTORY: "jobs", history.DIRECTORY: "history", output_file.DIRECTORY: "logs"}
    for name, directory in places.items():
        monkeypatch.setenv(name, str(tmp_path / directory))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(flintstream.__file__).parents[1]), str(Path(__file__).parents[2])])
    )
    monkeypatch.setenv("TERM", "xterm")
    yield tmp_path
    for entry in registry.entries():
        os.kill(entry.pid, signal.SIGKILL)


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "job.py"
        path.write_text(text)
        return str(path)

    return write


def run(*arguments):
    return subprocess.run([*COMMAND, "run", *arguments], capture_output=True, text=True, check=False)  # noqa: S603


def tell(*arguments):
    """Run another command in this process."""
    return CliRunner().invoke(main, arguments)


def terminal(*arguments):
    return pexpect.spawn(COMMAND[0], [*COMMAND[1:], *arguments], dimensions=(24, 120), encoding="utf-8", timeout=300)


def end_of(seen):
    seen.expect(pexpect.EOF)
    text = seen.before
    seen.close()
    return seen.exitstatus, text


def started(script, *arguments):
    """Start a job in a terminal that closes, and return its id."""
    code, text = end_of(terminal("run", "-d", script(PACED), *arguments))
    assert code == 0, text
    (job,) = re.findall(r"Job has been submitted with JobID ([0-9a-f]{32})\r\n", text)
    return job


def test_a_job_in_the_background_outlives_its_terminal_and_its_log_is_private(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    assert f"{job} : paced (RUNNING)" in tell("list").stdout
    (log,) = (environment / "logs").iterdir()
    assert f"    log {log}\n" in tell("list", "-v").stdout
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    wait_for(lambda: "1> number" in tell("logs", job).stdout)
    assert tell("cancel", "paced").exit_code == 0
    assert tell("attach", job).exit_code == 1


def test_its_log_is_followed_to_the_end_and_is_there_afterwards(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    followed = terminal("logs", "-f", job)
    followed.expect("1> number ")
    assert tell("stop", "-p", str(environment / "savepoints"), job).exit_code == 0
    code, text = end_of(followed)
    assert (code, "number" in text) == (0, True)
    wait_for(lambda: tell("logs", "paced").stdout.endswith("after the job\n"))


def test_lines_in_the_background_have_their_time_and_level(monkeypatch, capsys):
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    _give_lines_their_time()
    record = {"name": "alone", "levelno": 30, "levelname": "WARNING", "msg": "a worker was lost"}
    assert logging.lastResort is not None
    logging.lastResort.handle(logging.makeLogRecord(record))
    assert re.fullmatch(r"[\d-]{10} [\d:,]{12} WARNING alone a worker was lost\n", capsys.readouterr().err)


def test_attach_shows_the_progress_and_ends_as_the_job_does(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    attached = terminal("attach", job)
    attached.expect(r"epoch \d+  in \d+  out \d+  watermark")
    assert tell("stop", "-p", str(environment / "savepoints"), job).exit_code == 0
    code, text = end_of(attached)
    assert code == 0
    assert text.endswith(f"The job '{job}' is FINISHED.\r\n")
    assert tell("attach", "paced").stdout == "The job 'paced' is FINISHED.\n"


def test_attach_tells_why_a_job_has_failed(environment, script):
    job = started(script, "1000", "150")
    attached = tell("attach", job)
    assert attached.exit_code == 1
    assert attached.stderr.startswith(f"Error: the job '{job}' is FAILED: ZeroDivisionError: ")
    assert "divide" in attached.stderr
    wait_for(lambda: "ZeroDivisionError" in tell("logs", job).stdout)


def test_ctrl_c_detaches_again_and_the_job_goes_on(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    attached = terminal("attach", job)
    attached.expect(r"epoch \d+")
    attached.sendintr()
    code, text = end_of(attached)
    assert code == 130
    assert f"detached: the job keeps running; 'flintstream cancel {job}' ends it" in text
    assert f"{job} : paced (RUNNING)" in tell("list").stdout


def test_attach_tells_of_a_process_that_was_killed(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    attached = terminal("attach", job)
    attached.expect(r"epoch \d+")
    os.kill(registry.find(job).pid, signal.SIGKILL)
    code, text = end_of(attached)
    assert (code, "ended without reporting a result" in text) == (1, True)


@pytest.mark.parametrize(
    ("program", "code", "text"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, ""),
        ("print('nothing')", 0, "nothing\nnote: the program ended without starting a job\n"),
    ],
)
def test_a_start_that_fails_shows_the_error_and_has_its_exit_code(environment, script, program, code, text):
    done = run("--detached", script(program))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.endswith(text)


def test_a_job_that_is_over_at_once_has_been_submitted(environment, script):
    done = run("-d", script(PACED), "0", NEVER_ZERO)
    assert done.returncode == 0
    assert "Job has been submitted with JobID " in done.stdout


def test_ctrl_c_during_the_start_ends_the_program(environment, script, tmp_path):
    text = f"import pathlib, time; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(__import__('os').getpid()))\n"
    seen = terminal("run", "-d", script(f"{text}time.sleep(1000)"))
    wait_for((tmp_path / "pid").exists)
    seen.sendintr()
    code, text = end_of(seen)
    assert (code, "interrupted" in text) == (130, True)
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_the_output_goes_to_the_given_file(environment, script, tmp_path):
    done = run("-d", "--log-file", str(tmp_path / "own"), "--log-level", "INFO", script(PACED), "3", NEVER_ZERO)
    assert f"Its log is {tmp_path / 'own'}\n" in done.stderr
    wait_for(lambda: (tmp_path / "own").read_text().endswith("after the job\n"))
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o600
    assert not (environment / "logs").exists()


def test_a_file_that_cannot_be_written_is_one_line(environment, script, tmp_path):
    done = run("-d", "--log-file", str(tmp_path / "none" / "own"), script(PACED), "3", NEVER_ZERO)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("Error: the log file cannot be opened: ")


def test_a_job_whose_errors_go_to_a_pipe_shows_the_last_lines_that_were_logged(environment, script):
    with subprocess.Popen(  # noqa: S603 - our own program
        [*COMMAND, "run", script(f"import logging; logging.warning('so it begins'){PACED}"), ENDLESS, NEVER_ZERO],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        wait_for(lambda: "paced (RUNNING)" in tell("list").stdout)
        shown = tell("logs", "paced")
        process.terminate()
        process.communicate()
    assert shown.exit_code == 0
    assert shown.stderr.startswith("note: its standard error is not a file")


@pytest.mark.parametrize("command", ["logs", "attach"])
def test_a_job_that_is_unknown_is_one_line(environment, command):
    done = tell(command, "none")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: no job has the id or name 'none'; 'flintstream list -a' shows them\n",
    )


def test_files_that_are_old_are_deleted_unless_a_job_writes_to_them(environment):
    old, descriptor = output_file.open_for_output(None)
    closed = Path(old).with_name("closed.log")
    closed.write_text("")
    new = Path(old).with_name("new.log")
    new.write_text("")
    for path in (old, closed):
        os.utime(path, (time.time() - 100, time.time() - 100))
    output_file.delete_older(50_000)
    assert {path.name for path in (environment / "logs").iterdir()} == {Path(old).name, "new.log"}
    os.close(descriptor)
    output_file.delete_older(50_000)
    assert {path.name for path in (environment / "logs").iterdir()} == {"new.log"}


def test_shells_complete_the_names_and_ids_of_running_jobs(environment, script):
    job = started(script, ENDLESS, NEVER_ZERO)
    completion = BashComplete(main, {}, "flintstream", "_FLINTSTREAM_COMPLETE")
    for command in ("attach", "logs", "cancel", "metrics", "savepoint", "stop"):
        for begun, whole in (("", "paced"), ("pa", "paced"), (job[:3], job)):
            assert [item.value for item in completion.get_completions([command], begun)] == [whole]


ON_SPARK = """
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.from_collection(list(range(20))).key_by(lambda n: n % 2).sum().print()
env.execute("on Spark")
"""


@pytest.mark.spark
def test_a_job_on_spark_runs_in_the_background(environment, script):
    code, text = end_of(terminal("run", "-d", script(ON_SPARK)))
    assert code == 0, text
    assert "starting Spark ..." in text
    assert tell("attach", "on Spark").exit_code == 0
    assert "> 90" in tell("logs", "on Spark").stdout


@pytest.mark.spark
def test_a_spark_that_does_not_start_is_an_error_of_the_start(environment, script):
    done = run("-d", "--master", "nonsense", script(ON_SPARK))
    assert (done.returncode, done.stdout) == (1, "")
    assert "nonsense" in done.stderr
