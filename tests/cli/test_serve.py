"""``flintstream serve`` keeps a process ready, and ``flintstream run`` gives it its program."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from tests.cli.commands import ENVIRONMENT, start
from tests.waiting import SECONDS, wait_for

from flintstream.cli.handing_over import fits, hand_over, here, receive, send

COUNTS = """
import os, sys
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
words = env.from_collection(sys.argv[1:])
words.key_by(lambda w: w).map(lambda w: (w, os.getppid() > 0)).print()
env.execute("counts")
print("process", os.getpid(), sys.stdin.readline().strip(), __name__, file=sys.stderr)
sys.exit(3)
"""

ENDLESS = """
import os, sys
from pathlib import Path
from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
numbers = env.from_source(NumberSequenceSource(0, 1 << 40), WatermarkStrategy.no_watermarks(), "numbers")
numbers.filter(lambda _: Path(sys.argv[1]).touch() or False).print()
Path("process").write_text(str(os.getpid()))
env.execute("endless")
"""

OWN_SPARK = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").appName("mine").getOrCreate()
print(spark.sparkContext.appName, spark.sparkContext.master, spark.range(3).count())
"""


def test_processes_fit_if_all_but_the_terminal_is_the_same(monkeypatch):
    ours = here()
    monkeypatch.setenv("TERM", "another")
    assert fits(here(), ours) is None
    monkeypatch.setenv("FOO", "1")
    monkeypatch.setenv("HOME", "/elsewhere")
    assert fits(here(), ours) == "these environment variables differ: FOO, HOME"


def test_processes_in_other_directories_do_not_fit(monkeypatch, tmp_path):
    ours = here()
    monkeypatch.chdir(tmp_path)
    assert fits(here(), ours) == "its directory differs"


def test_messages_arrive_with_open_files(tmp_path):
    left, right = socket.socketpair()
    with left, right, (tmp_path / "file").open("w") as file:
        large = {"text": "ü" * 100_000, "name": os.fsdecode(b"\xff")}
        sending = threading.Thread(target=send, args=(left, large, [file.fileno()]))
        sending.start()
        message, [descriptor] = receive(right)
        sending.join()
        assert message == large
        os.write(descriptor, b"written")
        os.close(descriptor)
        left.close()
        assert receive(right) == (None, [])
    assert (tmp_path / "file").read_text() == "written"


@pytest.fixture
def jobs(monkeypatch):
    # Not below tmp_path, whose path is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="fs-") as directory:
        monkeypatch.setenv("FLINTSTREAM_JOBS_DIR", directory)
        yield Path(directory)


def test_without_a_server_a_program_runs_where_it_is(jobs):
    assert hand_over(["run", "job.py"]) is None


def test_what_a_killed_server_left_is_no_server(jobs):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(jobs / "server"))
    assert hand_over(["run", "job.py"]) is None


@pytest.mark.parametrize("reply", [b"", b"\0\0\0\2{}", b"\0\0\0\2[", b"\xff\xff\xff\xff"])
def test_a_server_that_says_something_else_is_no_server(jobs, reply):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(jobs / "server"))
        listener.listen()

        def answer():
            connection, _ = listener.accept()
            with connection:
                for descriptor in receive(connection)[1]:
                    os.close(descriptor)
                connection.sendall(reply)

        answering = threading.Thread(target=answer)
        answering.start()
        assert hand_over(["run", "job.py"]) is None
        answering.join()


def test_a_program_in_the_background_starts_its_own_process(jobs, monkeypatch):
    (jobs / "server").touch()
    monkeypatch.setattr("socket.socket", None)
    assert hand_over(["run", "-d", "job.py"]) is None


# -- with Spark -------------------------------------------------------------------------------------------------------


class Served:
    """A server, and commands that use it."""

    def __init__(self, directory, jobs):
        self.directory = directory
        self.environment = {**ENVIRONMENT, "FLINTSTREAM_JOBS_DIR": str(jobs)}
        self.log = directory / "log"
        with self.log.open("wb") as log:
            self.process = start(directory, self.environment, "serve", "--master", "local[2]", stderr=log)
        self.wait_for("ready for")

    def wait_for(self, text):
        wait_for(lambda: text in self.log.read_text(), processes=[self.process], log=self.log)

    def start(self, program, *arguments, **variables):
        (self.directory / "job.py").write_text(program)
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = ["run", "--master", "local[2]", "job.py", *arguments]
        return start(self.directory, {**self.environment, **variables}, *command, **streams)

    def run(self, program, *arguments, **variables):
        with self.start(program, *arguments, **variables) as process:
            out, err = process.communicate("typed\n", timeout=SECONDS)
        return out, err, process.returncode


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with tempfile.TemporaryDirectory(prefix="fs-") as jobs:
        served = Served(tmp_path_factory.mktemp("served"), jobs)
        yield served
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(SECONDS) == 0
        assert not Path(jobs, "server").exists()


@pytest.mark.spark
def test_a_program_has_its_streams_arguments_and_exit_code(served):
    out, err, code = served.run(COUNTS, "a", "b")
    assert code == 3
    assert {line[-11:] for line in out.splitlines()} == {"('a', True)", "('b', True)"}
    process = int(err.split("process ")[1].split()[0])
    assert "typed __main__" in err
    assert f"flintstream run --master local[2] job.py a b runs in process {process}" in served.log.read_text()


@pytest.mark.spark
def test_another_environment_gets_its_own_process(served):
    _, err, code = served.run(COUNTS, "a", FOO="1")
    assert code == 3
    process = int(err.split("process ")[1].split()[0])
    assert f"process {process} runs" not in served.log.read_text()
    served.wait_for("starts Spark itself: these environment variables differ: FOO")


@pytest.mark.spark
def test_ctrl_c_cancels_the_job(served):
    process = served.start(ENDLESS, "ctrl-c")
    wait_for((served.directory / "ctrl-c").exists, processes=[process])
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert "interrupted" in err


@pytest.mark.spark
@pytest.mark.deep
def test_a_program_ends_with_its_command(served):
    process = served.start(ENDLESS, "killed")
    wait_for((served.directory / "killed").exists, processes=[process])
    process.kill()
    process.communicate(timeout=SECONDS)
    running = int((served.directory / "process").read_text())
    wait_for(lambda: not alive(running))


@pytest.mark.spark
@pytest.mark.deep
def test_a_program_may_start_a_spark_of_its_own(served):
    out, err, code = served.run(OWN_SPARK)
    assert (out, code) == ("mine local[1] 3\n", 0), err


@pytest.mark.spark
@pytest.mark.deep
def test_other_settings_of_spark_count(served):
    show = "from pyspark import SparkContext; print(SparkContext.getOrCreate().getConf().get('spark.executor.memory'))"
    program = COUNTS.replace("environment()", "environment({'spark.executor.memory': '512m'})")
    out, err, code = served.run(program.replace("sys.exit(3)", show), "a")
    assert code == 0, err
    assert out.splitlines()[-1] == "512m"


@pytest.mark.spark
@pytest.mark.deep
def test_a_second_server_is_refused(served):
    second = start(served.directory, served.environment, "serve", stderr=subprocess.PIPE)
    _, err = second.communicate(timeout=SECONDS)
    assert second.returncode == 1
    assert "a server is already running" in err


def alive(process):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
