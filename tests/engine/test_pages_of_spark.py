"""Spark's own page and history server show a job in the words of its program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pyspark
import pytest
from tests.standalone import free_port
from tests.waiting import wait_for

import flintstream
from flintstream.engine.spark.jvm.java_release import find_java
from flintstream.engine.spark.jvm.start import OPENED_PACKAGES

JOB = """
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
env.from_collection([1, 2, 3]).map(lambda n: n).name("enrich").key_by(lambda n: n % 2).sum().name("total").print()
env.execute("orders")
"""


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """A directory with the event log of a job."""
    directory = tmp_path_factory.mktemp("spark")
    script, events = directory / "job.py", directory / "events"
    script.write_text(JOB)
    events.mkdir()
    subprocess.run(  # noqa: S603 - our own program
        [
            *(sys.executable, "-m", "flintstream.cli", "run"),
            *("-D", "spark.eventLog.enabled=true", "-D", f"spark.eventLog.dir=file://{events}"),
            *("-D", "spark.eventLog.compress=false", str(script)),
        ],
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        timeout=300,
    )
    return events


@pytest.mark.spark
def test_the_event_log_has_the_names_of_job_epochs_and_operators(events):
    files = [path for path in events.rglob("*") if path.is_file() and not path.name.startswith(("appstatus", "."))]
    found = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    named = {event["Event"].removeprefix("SparkListener"): event for event in found}
    assert named["ApplicationStart"]["App Name"] == "orders"
    jobs = [event["Properties"].get("spark.job.description") for event in found if event["Event"].endswith("JobStart")]
    assert "orders: epoch 0" in jobs
    stages = {event["Stage Info"]["Stage Name"] for event in found if event["Event"].endswith("StageCompleted")}
    assert {"Collection Source -> enrich", "total -> Print to Std. Out"} <= stages, stages


@pytest.fixture
def history_server(events, tmp_path):
    """Start Spark's own history server over the event log; return the address of its REST interface."""
    port = free_port()
    settings = {
        "spark.history.fs.logDirectory": events.as_uri(),
        "spark.history.ui.port": str(port),
        "spark.history.store.path": str(tmp_path),
    }
    jars = Path(pyspark.__file__).parent / "jars"
    opened = [f"--add-opens={item}=ALL-UNNAMED" for item in OPENED_PACKAGES]
    given = [f"-D{key}={value}" for key, value in settings.items()]
    command = [find_java(), "-cp", f"{jars}{os.sep}*", "-Xmx512m", *opened, *given]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            [*command, "org.apache.spark.deploy.history.HistoryServer"],
            stdout=log,
            stderr=log,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        )
    try:
        address = f"http://127.0.0.1:{port}/api/v1/applications"
        wait_for(lambda: asked(address), processes=[process], log=tmp_path / "log")
        yield address
    finally:
        process.kill()
        process.wait()


def asked(address):
    try:
        with urllib.request.urlopen(address, timeout=60) as reply:  # noqa: S310 - our own
            return json.loads(reply.read())
    except (OSError, json.JSONDecodeError):
        return None  # it has not started yet: at first it answers nothing, or everything with its page


@pytest.mark.spark
@pytest.mark.server
def test_the_history_server_of_spark_replays_the_event_log(history_server):
    (application,) = asked(history_server)
    assert application["name"] == "orders"
    assert application["attempts"][0]["completed"]
    place = f"{history_server}/{application['id']}"
    jobs = wait_for(lambda: asked(f"{place}/jobs"))
    assert "orders: epoch 0" in {job["description"] for job in jobs}
    assert {job["status"] for job in jobs} == {"SUCCEEDED"}
    assert {"Collection Source -> enrich", "total -> Print to Std. Out"} <= {
        stage["name"] for stage in asked(f"{place}/stages")
    }
