"""Spark's own page and history server show a job in the words of its program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flintstream

JOB = """
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
env.from_collection([1, 2, 3]).map(lambda n: n).name("enrich").key_by(lambda n: n % 2).sum().name("total").print()
env.execute("orders")
"""


@pytest.mark.spark
def test_the_event_log_has_the_names_of_job_epochs_and_operators(tmp_path):
    script, events = tmp_path / "job.py", tmp_path / "events"
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
    files = [path for path in events.rglob("*") if path.is_file() and not path.name.startswith(("appstatus", "."))]
    found = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    named = {event["Event"].removeprefix("SparkListener"): event for event in found}
    assert named["ApplicationStart"]["App Name"] == "orders"
    jobs = [event["Properties"].get("spark.job.description") for event in found if event["Event"].endswith("JobStart")]
    assert "orders: epoch 0" in jobs
    stages = {event["Stage Info"]["Stage Name"] for event in found if event["Event"].endswith("StageCompleted")}
    assert {"Collection Source -> enrich", "total -> Print to Std. Out"} <= stages, stages
