"""``flintstream run --ui``: a page beside a program, for as long as the program runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.waiting import wait_for

from flintstream.cli import main
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history

pytest.importorskip("uvicorn")

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


@pytest.fixture
def start(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))
    script, log = tmp_path / "job.py", tmp_path / "stderr"
    script.write_text(PROGRAM)
    started = []

    def run(*options):
        log.touch(0o600)  # a file that others can read gets no token
        with log.open("wb") as err:
            command = [sys.executable, "-m", "flintstream.cli", "run", *options, str(script)]
            places = os.pathsep.join(
                [str(ROOT), os.environ.get("PYTHONPATH", "")]
            )  # the program imports a source of tests
            process = subprocess.Popen(command, stderr=err, env=os.environ | {"PYTHONPATH": places})  # noqa: S603
        started.append(process)
        told = wait_for(
            lambda: re.search(r"Jobs at (http://\S+/)\?token=(\S+)\n", log.read_text()), processes=[process], log=log
        )
        return process, told.group(1), told.group(2)

    yield run
    for process in started:
        process.kill()
        process.wait()


def get(address, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as reply:  # noqa: S310
        return reply.read()


@pytest.mark.slow
def test_the_page_is_there_while_the_program_runs(start):
    process, address, token = start("--ui")
    assert address.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(address)
    assert b"<title>flintstream</title>" in get(address, token)
    jobs = wait_for(lambda: json.loads(get(f"{address}v1/jobs/overview", token))["jobs"])
    assert [job["name"] for job in jobs] == ["watched"]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    with pytest.raises(urllib.error.URLError):
        get(address)


@pytest.mark.slow
def test_the_token_is_needed_at_another_address_too(start):
    _, address, token = start("--ui-address", "0.0.0.0:0")
    address = address.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(f"{address}v1/jobs")
    assert "jobs" in json.loads(get(f"{address}v1/jobs", token))


@pytest.mark.parametrize("place", ["host:x", "127.0.0.1:70000"])
def test_an_address_that_makes_no_sense_is_refused(place, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("")
    told = CliRunner().invoke(main, ["run", "--ui-address", place, str(script)])
    assert told.exit_code == 2
    assert f"must be HOST or HOST:PORT, but got '{place}'" in told.stderr
