"""`flintstream serve`, a command or a program is killed, stopped, or says something wrong: a program runs once, and its
command learns how it ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.commands import ENVIRONMENT, start
from tests.second_user import TWO_USERS, as_second_user, two_users
from tests.waiting import SECONDS, wait_for

from flintstream.cli import handing_over
from flintstream.cli.handing_over import hand_over, here, receive, send

SETTINGS = ["-D", "flintstream.engine=inline"]
MARK = "s3cr3t-v4lue"

PROGRAM = """
import os, sys, time
from pathlib import Path

with open("starts", "a") as starts:
    starts.write(f"{os.getpid()}\\n")
while not Path("go").exists():
    time.sleep(0.01)
print("done")
sys.exit(3)
"""


class Server:
    """A server without Spark, and its commands."""

    def __init__(self, directory, jobs, *settings):
        self.directory = directory
        self.socket = jobs / "server"
        self.environment = {**ENVIRONMENT, "FLINTSTREAM_JOBS_DIR": str(jobs)}
        (directory / "job.py").write_text(PROGRAM)
        with (directory / "log").open("wb") as log:
            self.process = self.command("serve", *settings, stderr=log)
        self.wait_until_ready()

    def command(self, *arguments, **options):
        return start(self.directory, self.environment, *arguments, **options)

    def log(self):
        return (self.directory / "log").read_text()

    def wait_until_ready(self):
        wait_for(lambda: "ready for" in self.log(), processes=[self.process], log=self.directory / "log")

    def run(self, **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return self.command("run", *SETTINGS, "job.py", **streams)

    def starts(self):
        """Return the processes in which the program has started."""
        with suppress(FileNotFoundError):
            return [int(line) for line in (self.directory / "starts").read_text().splitlines()]
        return []

    def wait_for_start(self, run):
        wait_for(self.starts, processes=[run])

    def go(self):
        (self.directory / "go").touch()

    def close(self):
        self.go()
        for number in (signal.SIGCONT, signal.SIGTERM):
            self.process.send_signal(number)
        self.process.wait(SECONDS)


@pytest.fixture
def jobs(monkeypatch):
    # Not below tmp_path, whose path is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="fs-") as directory:
        monkeypatch.setenv("FLINTSTREAM_JOBS_DIR", directory)
        yield Path(directory)


@pytest.fixture
def serving(tmp_path, jobs):
    (tmp_path / "served").mkdir()
    server = Server(tmp_path / "served", jobs, *SETTINGS)
    yield server
    server.close()


def end_of(run):
    out, err = run.communicate(timeout=SECONDS)
    return run.returncode, out, err


def alive(process):
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.kills
def test_a_command_waits_for_its_program_when_the_server_is_killed(serving):
    run = serving.run()
    serving.wait_for_start(run)
    serving.process.kill()
    serving.process.wait()
    assert run.poll() is None
    serving.go()
    assert end_of(run) == (3, "done\n", "")
    assert len(serving.starts()) == 1


@pytest.mark.kills
def test_a_process_without_a_program_ends_when_the_server_is_killed(serving):
    supervisors = children(serving.process.pid)
    waiting = [*supervisors, *(process for supervisor in supervisors for process in children(supervisor))]
    assert len(waiting) == 2
    serving.process.kill()
    wait_for(lambda: not any(map(alive, waiting)))


def children(process):
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.kills
def test_a_command_whose_server_and_supervisor_are_killed_waits_for_the_program_and_says_so(serving):
    run = serving.run()
    serving.wait_for_start(run)
    (program,) = serving.starts()
    supervisor = parent(program)
    serving.process.kill()
    os.kill(supervisor, signal.SIGKILL)
    wait_for(lambda: parent(program) != supervisor)
    assert run.poll() is None
    serving.go()
    code, out, err = end_of(run)
    assert (code, out) == (1, "done\n")
    assert f"waiting for the program, process {program}" in err
    assert "its exit code is unknown" in err
    assert len(serving.starts()) == 1


@pytest.mark.kills
def test_the_exit_code_of_a_program_that_was_killed_is_that_of_a_shell(serving):
    run = serving.run()
    serving.wait_for_start(run)
    os.kill(serving.starts()[0], signal.SIGKILL)
    assert end_of(run)[0] == 137


@pytest.mark.kills
def test_a_program_whose_command_is_killed_ends(serving):
    run = serving.run()
    serving.wait_for_start(run)
    run.kill()
    run.communicate()
    wait_for(lambda: not alive(serving.starts()[0]))


@pytest.mark.kills
def test_programs_outlive_the_end_of_a_service_as_their_commands_do(serving):
    run = serving.run()
    serving.wait_for_start(run)
    os.kill(parent(serving.starts()[0]), signal.SIGTERM)  # systemd sends it to all processes
    serving.go()
    assert end_of(run) == (3, "done\n", "")


@pytest.mark.slow
@pytest.mark.kills
def test_a_stopped_server_does_not_keep_a_program_from_running_and_never_runs_it_later(serving):
    serving.process.send_signal(signal.SIGSTOP)
    run = serving.run()
    serving.wait_for_start(run)
    assert serving.starts() == [run.pid]
    serving.process.send_signal(signal.SIGCONT)
    serving.go()
    code, _, err = end_of(run)
    assert code == 3
    assert err == "note: 'flintstream serve' does not answer within 5 s, so the program starts Spark itself\n"
    assert end_of(serving.run())[0] == 3  # answered after the first one
    assert len(serving.starts()) == 2
    assert run.pid not in serving.starts()[1:]


def request():
    return {**here(), "arguments": ["run", *SETTINGS, "job.py"], "umask": 0o22, "environment": dict(os.environ)}


def served_request(server):
    variables = {name: value for name, value in server.environment.items() if name not in handing_over.INCIDENTAL}
    changes = {"directory": str(server.directory), "variables": variables, "environment": server.environment}
    return {**request(), **changes}


def connect(server):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(server.socket))
    return connection


def test_a_command_that_gives_up_before_it_accepts_does_not_start_its_program(serving):
    with connect(serving) as connection:
        send(connection, served_request(serving), [0, 1, 2])
        assert receive(connection)[0] == {"received": True}
        offer, _ = receive(connection)
        assert offer is not None
        process = offer["process"]
        assert alive(process)
    wait_for(lambda: not alive(process))
    assert not serving.starts()


def test_a_command_that_is_silent_keeps_no_other_one_from_being_answered(serving):
    serving.go()
    with connect(serving):
        assert end_of(serving.run()) == (3, "done\n", "")
    assert serving.starts()[0] != serving.process.pid


def files_of(process):
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def framed(data):
    return struct.pack("!I", len(data)) + data


WRONG = {
    "no JSON": framed(b"{"),
    "no object": framed(b"[]"),
    "no fields": framed(b"{}"),
    "other types": framed(b'{"arguments": 1, "environment": [], "variables": null, "umask": "x"}'),
    "no files": framed(json.dumps(request()).encode()),
    "nested": framed(b"[" * 100_000),
    "bytes": framed(b"\xff\xfe"),
    "huge": b"\xff\xff\xff\xff",
    "truncated length": b"\0\0",
    "truncated": b"\0\0\1\0{",
}


def test_a_wrong_message_ends_its_connection_alone(serving):
    files = files_of(serving.process)
    for message in WRONG.values():
        with connect(serving) as connection, suppress(OSError):
            connection.sendall(message)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
    with connect(serving) as connection:
        send(connection, {"what": "else"}, [0, 1, 2])
        assert receive(connection)[0] is None
    assert serving.log().count("ignored a client that sent") == len(WRONG) + 1
    wait_for(lambda: files_of(serving.process) == files, processes=[serving.process])
    serving.go()
    assert end_of(serving.run()) == (3, "done\n", "")
    assert "process" in serving.log()


@pytest.mark.kills
def test_a_program_runs_even_if_the_process_that_was_ready_has_been_killed(serving):
    (supervisor,) = children(serving.process.pid)
    (warm_process,) = children(supervisor)
    os.kill(warm_process, signal.SIGKILL)
    wait_for(lambda: not alive(warm_process))
    serving.go()
    assert end_of(serving.run())[:2] == (3, "done\n")
    assert len(serving.starts()) == 1
    assert end_of(serving.run())[:2] == (3, "done\n")


@pytest.mark.promise("S6")
@pytest.mark.parametrize("mode", [0o770, 0o777])
def test_no_environment_is_sent_to_a_socket_that_another_user_could_have_made(jobs, mode):
    jobs.chmod(mode)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(jobs / "server"))
        listener.listen()
        listener.setblocking(False)
        assert hand_over(["run", "job.py"]) is None
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_directory_that_others_may_write_to_gets_no_server(jobs, tmp_path):
    jobs.chmod(0o777)
    code, _, err = end_of(
        start(tmp_path, {**ENVIRONMENT, "FLINTSTREAM_JOBS_DIR": str(jobs)}, "serve", *SETTINGS, stderr=subprocess.PIPE)
    )
    assert code == 1
    assert f"other users may write to {jobs}" in err


# -- secrets ----------------------------------------------------------------------------------------------------------


def command_lines():
    """Return the command lines of all processes that this user can see."""
    from pathlib import Path

    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return lines


@pytest.fixture
def configured(tmp_path):
    """Return a configuration with a secret that only its owner can read."""
    path = tmp_path / "config.yaml"
    path.touch(0o600)
    path.write_text(f"flintstream.engine: inline\nspark.hadoop.fs.s3a.secret.key: {MARK}\n")
    return ["--config", str(path)]


@pytest.fixture
def serving_with_secret(tmp_path, jobs, configured):
    (tmp_path / "served").mkdir()
    server = Server(tmp_path / "served", jobs, *configured)
    yield server
    server.close()


@pytest.mark.promise("S23")
def test_no_process_of_serve_has_a_secret_on_its_command_line(serving_with_secret):
    run = serving_with_secret.run()
    serving_with_secret.wait_for_start(run)
    lines = command_lines()
    assert any("flintstream.cli.warm_process" in line for line in lines)
    assert not [line for line in lines if MARK in line]
    serving_with_secret.go()
    assert end_of(run)[0] == 3


def look_as_second_user():
    return as_second_user(command_lines)


@pytest.mark.promise("S23")
@two_users
def test_a_second_user_sees_no_secret_of_serve(serving_with_secret):
    lines = look_as_second_user()
    assert any("flintstream.cli.warm_process" in line for line in lines)
    assert not [line for line in lines if MARK in line]


@pytest.mark.promise("S23")
@pytest.mark.parametrize(
    ("detached", "look"),
    [
        pytest.param([], command_lines, id="run"),
        pytest.param(["-d"], command_lines, id="detached"),
        pytest.param([], look_as_second_user, id="second user", marks=TWO_USERS),
    ],
)
@pytest.mark.spark
def test_no_process_of_a_job_on_spark_has_a_secret_on_its_command_line(tmp_path, jobs, detached, look):
    config = tmp_path / "config.yaml"
    config.touch(0o600)
    # A setting that is none of the context alone: Spark prepares the program, with the settings of a file.
    config.write_text(
        f"flintstream.master: local[1]\nspark.hadoop.fs.s3a.secret.key: {MARK}\nspark.jars.ivy: /nowhere\n"
    )
    (tmp_path / "job.py").write_text(JOB)
    places = {"FLINTSTREAM_LOGS_DIR": str(tmp_path / "logs"), "FLINTSTREAM_JOBS_DIR": str(jobs)}
    run = start(tmp_path, {**ENVIRONMENT, **places}, "run", *detached, "--config", str(config), "job.py")
    wait_for((tmp_path / "running").exists, processes=[] if detached else [run])
    lines = look()
    (tmp_path / "go").touch()
    assert run.wait(SECONDS) == 0
    wait_for((tmp_path / "ended").exists)
    assert any("spark" in line for line in lines)
    assert not [line for line in lines if MARK in line]


JOB = """
import time
from pathlib import Path
from pyflink.datastream import StreamExecutionEnvironment

def wait(value):
    Path("running").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    return value

here = Path.cwd()
env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
env.from_collection([1]).map(wait).print()
try:
    env.execute("waits")
finally:
    Path("ended").touch()
"""
