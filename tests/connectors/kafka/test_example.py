"""The example of the documentation, run as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.connectors.kafka.broker import committed, send

import flintstream

EXAMPLE = Path(__file__).parents[3] / "examples" / "kafka_totals.py"


@pytest.mark.spark
def test_orders_are_added_up(broker, tmp_path):
    for topic in ("orders", "totals"):
        broker.topic(topic)
    send(broker, "orders", ["ann,12.50", "bob,1", "ann,0.25", "bob,2"])
    settings = {"execution.checkpointing.interval": "1s", "execution.checkpointing.dir": tmp_path.as_uri()}
    command = [sys.executable, "-m", "flintstream.cli", "run", "-p", "1"]
    command += [f"-D{key}={value}" for key, value in settings.items()]
    command += [str(EXAMPLE), "--servers", broker.servers, "--until-now"]
    done = subprocess.run(  # noqa: S603 - our own program
        command,
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert [value for _, _, value in broker.records("totals")] == [b"ann,12.50", b"bob,1.00", b"ann,12.75", b"bob,3.00"]
    assert committed(broker, "totals", "orders") == 4
