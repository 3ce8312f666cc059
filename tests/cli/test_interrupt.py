"""Ctrl-C stops a job that runs on Spark, and leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_for

PROGRAM = """
import sys
from pyflink.common import Duration, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

env = StreamExecutionEnvironment.get_execution_environment()
lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), sys.argv[1])
source = lines.monitor_continuously(Duration.of_millis(100)).build()
env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").map(lambda line: line.upper()).print()
env.execute()
"""


def children(pid: int) -> list[int]:
    """Return the processes below ``pid``."""
    found = []
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found += [int(directory.name), *children(int(directory.name))]
    return found


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which processes are left")
def test_ctrl_c_stops_an_endless_job_on_spark(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(PROGRAM, encoding="utf-8")
    watched = tmp_path / "in"
    watched.mkdir()
    (watched / "first.txt").write_text("hello\n", encoding="utf-8")
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", "-p", "1", str(script), str(watched)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "HELLO\n"
    (watched / "second.txt").write_text("again\n", encoding="utf-8")
    assert process.stdout.readline() == "AGAIN\n"
    below = children(process.pid)
    assert below
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (130, "interrupted\n")
    wait_for(lambda: [pid for pid in below if Path(f"/proc/{pid}").exists()], until=[].__eq__)
