"""The web page and the REST interface, which listen where every user of the machine can connect."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.rest.test_rest import job, places  # noqa: F401 - fixtures
from tests.second_user import as_second_user, two_users
from tests.waiting import wait_for

from flintstream.common import JobStatus

pytest.importorskip("uvicorn")

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]

PROGRAM = """
from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from tests.engine.sources import PacedSource
from flintstream.testing import CollectSink

env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
env.from_source(PacedSource(10**9, 0.01), WatermarkStrategy.no_watermarks(), "numbers").sink_to(CollectSink())
env.execute("watched")
"""


def start(log, *arguments):
    """Start a command; return its process, its address and its token."""
    log.touch(0o600)
    with log.open("wb") as err:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "flintstream.cli", *arguments]
        process = subprocess.Popen(command, stderr=err, env=os.environ | {"PYTHONPATH": paths})  # noqa: S603
    told = wait_for(
        lambda: process.poll() is None and re.search(r"Jobs at (http://\S+/)\?token=([^\s,]+)", log.read_text())
    )
    return process, told[1], told[2]


def attack(address, job_id, directory, secret_file, pid):
    """Try what any user of the machine can: every request, the file with the token, the command line."""
    import json
    import urllib.error
    import urllib.request
    from pathlib import Path

    def ask(method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(address + path, data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def read(path):
        try:
            return Path(path).read_text()
        except PermissionError:
            return "refused"

    place = f"v1/jobs/{job_id}"
    statuses = [
        ask("GET", path) for path in ("", "docs", "v1/jobs", "v1/flintstream/jobs", place, f"{place}/exceptions")
    ]
    statuses += [
        ask("POST", f"{place}/savepoints", {"target-directory": directory}),
        ask("POST", f"{place}/stop", {"targetDirectory": directory}),
        ask("POST", f"v1/flintstream/jobs/{job_id}/rescale", {"parallelism": 2}),
        ask("PATCH", f"{place}?mode=cancel"),
    ]
    return statuses, read(secret_file), read(f"/proc/{pid}/environ"), read(f"/proc/{pid}/cmdline")


@pytest.fixture
def open_directory(tmp_path):
    directory = tmp_path / "of-the-second-user"
    directory.mkdir()
    directory.chmod(0o777)
    return directory


def check(told, token, directory):
    statuses, secret, environment, command = told
    assert set(statuses) == {401}
    assert (secret, environment) == ("refused", "refused")
    assert token not in command
    assert list(directory.iterdir()) == []


@pytest.mark.promise("S7")
@two_users
@pytest.mark.parametrize("command", ["ui", "rest"])
def test_a_second_user_neither_reads_nor_controls_jobs_through_a_server(tmp_path, command, job, open_directory):  # noqa: F811
    process, address, token = start(tmp_path / "log", command, "--port", "0")
    try:
        (header,) = (tmp_path / "jobs").glob("rest-*")
        told = as_second_user(attack, address, str(job.get_job_id()), str(open_directory), str(header), process.pid)
        check(told, token, open_directory)
        assert header.read_text() == f"Authorization:Bearer {token}\n"
        assert job.get_job_status().result() is JobStatus.RUNNING
    finally:
        process.terminate()
        process.wait()


@pytest.mark.promise("S7")
@two_users
def test_a_second_user_neither_reads_nor_controls_a_job_through_its_page(tmp_path, open_directory):
    script = tmp_path / "job.py"
    script.write_text(PROGRAM)
    process, address, token = start(tmp_path / "log", "run", "--ui", str(script))
    try:

        def running():
            assert process.poll() is None
            asked = urllib.request.Request(f"{address}v1/jobs", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
            with urllib.request.urlopen(asked, timeout=30) as reply:  # noqa: S310
                return [known for known in json.loads(reply.read())["jobs"] if known["status"] == "RUNNING"]

        (known,) = wait_for(running)
        (header,) = (tmp_path / "jobs").glob("rest-*")
        told = as_second_user(attack, address, known["id"], str(open_directory), str(header), process.pid)
        check(told, token, open_directory)
        assert running() == [known]
    finally:
        process.kill()
        process.wait()
