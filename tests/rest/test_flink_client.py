"""Flink's client lists, stops and cancels our jobs. ``PYFLINK_DIRECTORY`` names an installed package ``pyflink``."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.rest.test_rest import TOKEN, job, places, server  # noqa: F401 - fixtures

from flintstream.common import JobStatus

PYFLINK = os.environ.get("PYFLINK_DIRECTORY")

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(PYFLINK is None, reason="PYFLINK_DIRECTORY names no installation of PyFlink"),
]


def flink(server, command, *arguments):  # noqa: F811 - the fixture
    done = subprocess.run(  # noqa: S603 - Flink's client
        [
            *("java", "-cp", f"{PYFLINK}/lib/*", "org.apache.flink.client.cli.CliFrontend"),
            *(command, "-m", f"127.0.0.1:{server.port}", *arguments),
        ],
        env={
            **os.environ,
            "FLINK_CONF_DIR": f"{PYFLINK}/conf",
            "FLINK_REST_CLIENT_HEADERS": f"Authorization:Bearer {TOKEN}\n",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_flinks_client_lists_a_job_and_stops_it_with_a_savepoint(server, job, tmp_path):  # noqa: F811
    number = str(job.get_job_id())
    assert f" : {number} : recorded (RUNNING)" in flink(server, "list")
    told = flink(server, "stop", "-p", str(tmp_path / "savepoints"), number)
    path = told.rpartition("Savepoint completed. Path: ")[2].split()[0]
    assert Path(path, "_metadata").exists()
    assert job.get_job_status().result() is JobStatus.FINISHED
    assert f" : {number} : recorded (FINISHED)" in flink(server, "list", "-a")


def test_flinks_client_cancels_a_job(server, job):  # noqa: F811
    flink(server, "cancel", str(job.get_job_id()))
    assert job.get_job_status().result() is JobStatus.CANCELED


@pytest.mark.parametrize("kind", [[], ["-full"]])
def test_flinks_client_takes_a_checkpoint(server, job, kind):  # noqa: F811
    number = str(job.get_job_id())
    before = server.get(f"/jobs/{number}/checkpoints").json()["latest"]["completed"]["id"]
    told = flink(server, "checkpoint", *kind, number)
    assert int(re.findall(r"Checkpoint\S* (\d+) ", told)[0]) > before, told
