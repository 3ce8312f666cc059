"""Connections of callers who send nothing, or send it slowly, take neither the files nor the time of a job."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.rest.test_rest import TOKEN, Caller, job, places  # noqa: F401 - fixtures
from tests.waiting import wait_for

pytest.importorskip("uvicorn")

from flintstream.rest import app, connections
from flintstream.rest.serving import Place, beside

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place():
    with beside(Place(token=TOKEN)) as found:
        yield found


def connect(place, stack):
    return stack.enter_context(socket.create_connection((place.host, place.port), timeout=30))


def is_closed(connection):
    """Wait until the other end has closed the connection, whatever it sends before."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.promise("S9")
def test_one_connection_more_than_allowed_ends_the_one_that_has_waited_longest(place, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 4)
    with ExitStack() as stack:
        opened = [connect(place, stack) for _ in range(7)]
        assert all(is_closed(connection) for connection in opened[:3])
        assert Caller(place.port).get("/jobs").status_code == 200  # takes the place of another one
        assert is_closed(opened[3])
        opened[-1].sendall(f"GET /jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        assert opened[-1].recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nX: ",
        f"GET /jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\nGET ".encode(),
    ],
    ids=["nothing", "head", "second-head"],
)
def test_a_head_that_does_not_arrive_in_time_ends_the_connection(place, monkeypatch, beginning):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(connections, "IDLE_SECONDS", 600)
    with ExitStack() as stack:
        connection = connect(place, stack)
        connection.sendall(beginning)

        def send_a_byte():
            try:
                connection.sendall(b"x")
            except OSError:
                return True
            return False

        wait_for(send_a_byte)  # each byte in time does not help


@pytest.mark.promise("S9")
def test_content_that_does_not_arrive_in_time_is_refused(place, monkeypatch):
    monkeypatch.setattr(app, "BODY_SECONDS", 0.2)
    with ExitStack() as stack:
        connection = connect(place, stack)
        head = f"POST /jobs/{'0' * 32}/stop HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{".encode())
        assert connection.recv(12) == b"HTTP/1.1 408"


def test_requests_that_make_no_sense_are_not_logged(place, caplog):
    caplog.set_level(logging.INFO)
    with ExitStack() as stack:
        connection = connect(place, stack)
        connection.sendall(b"\x16\x03\x01\r\n\r\n")
        assert is_closed(connection)
        assert Caller(place.port, token=None).get("/jobs").status_code == 401
    assert caplog.records == []


def test_errors_of_accepting_connections_are_logged_now_and_then(caplog):
    handle, loop = connections.AcceptErrors(), asyncio.new_event_loop()
    for _ in range(1000):
        handle(loop, {"message": "", "exception": OSError(24, "Too many open files"), "socket": None})
    loop.close()
    assert [record.getMessage() for record in caplog.records] == [
        "the web page cannot accept connections: [Errno 24] Too many open files"
    ]


PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from tests.engine.sources import PacedSource
from flintstream.testing import CollectSink

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
env.enable_checkpointing(100)
numbers = env.from_source(PacedSource(10**9, 0.01), WatermarkStrategy.no_watermarks(), "numbers")
numbers.key_by(lambda n: n % 3).reduce(max).sink_to(CollectSink())
env.execute("besieged")
"""


def besiege(tmp_path, *options):
    """Run a job with a page that has 1,024 descriptors, and open 1,100 connections that send nothing."""
    script, log = tmp_path / "job.py", tmp_path / "log"
    script.write_text(PROGRAM)
    log.touch(0o600)
    with ExitStack() as stack:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "flintstream.cli", "run", "--ui", *options]
        command += ["-D", f"execution.checkpointing.dir=file://{tmp_path}/checkpoints", str(script)]
        variables = os.environ | {"PYTHONPATH": paths, "FLINTSTREAM_REST_TOKEN": TOKEN}
        with log.open("wb") as err:
            process = subprocess.Popen(command, stderr=err, env=variables)  # noqa: S603
        stack.callback(process.wait)
        stack.callback(process.kill)

        def known():
            assert process.poll() is None, log.read_text()
            headers = list((tmp_path / "jobs").glob("rest-*"))
            return headers and int(headers[0].name.rpartition("-")[2])

        port = wait_for(known)

        def ask(path):
            assert process.poll() is None, log.read_text()
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with urllib.request.urlopen(
                urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers),
                timeout=60,
            ) as reply:
                return json.loads(reply.read())

        def checkpoints():
            jobs = ask("/jobs")["jobs"]
            return ask(f"/jobs/{jobs[0]['id']}/checkpoints")["counts"] if jobs else {"completed": 0}

        wait_for(lambda: checkpoints()["completed"] > 1)
        descriptors = Path(f"/proc/{process.pid}/fd")
        before, most = len(list(descriptors.iterdir())), 0
        for _ in range(1100):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            most = max(most, len(list(descriptors.iterdir())))
        done = checkpoints()["completed"]
        wait_for(lambda: checkpoints()["completed"] > done + 3)
        assert checkpoints()["failed"] == 0
        (number,) = (known["id"] for known in ask("/jobs")["jobs"])
        assert ask(f"/jobs/{number}/metrics?get=numRestarts") == [{"id": "numRestarts", "value": "0"}]
        assert most - before < 400
        assert len(log.read_bytes()) < 10_000
        return most - before


@pytest.mark.promise("S9")
@pytest.mark.server
@pytest.mark.slow
def test_a_thousand_silent_connections_cost_a_job_nothing(tmp_path):
    besiege(tmp_path, "-D", "flintstream.engine=inline")


@pytest.mark.spark
@pytest.mark.slow
def test_a_thousand_silent_connections_cost_a_job_on_spark_nothing(tmp_path):
    besiege(tmp_path, "--master", "local[2]")
