"""``flintstream run`` in a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

import flintstream

pytestmark = [pytest.mark.spark]

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1]), "TERM": "xterm"}
COMMAND = [sys.executable, "-m", "flintstream.cli", "run"]

LOGGING = """
import logging
import time
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment({"flintstream.epoch.max-duration": "300 ms"})

def slow(n):
    time.sleep(0.05)
    logging.info("%s", "long " * 1000 + str(n))
    return n

env.set_parallelism(2)
env.from_collection(list(range(20))).rebalance().map(slow).name("slow").key_by(lambda n: n % 2).sum().print()
env.execute("talkative")
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "job.py"
        path.write_text(text)
        return str(path)

    return write


def test_lines_of_workers_and_of_the_program_are_whole_and_above_the_line_of_progress(script):
    terminal = pexpect.spawn(
        COMMAND[0], [*COMMAND[1:], script(LOGGING)], env=ENVIRONMENT, dimensions=(24, 120), encoding="utf-8"
    )
    terminal.expect(pexpect.EOF, timeout=500)  # Spark starts slowly on a busy machine
    seen = terminal.before
    terminal.close()
    assert terminal.exitstatus == 0, seen
    assert seen.startswith("\r\x1b[2K\x1b[2mstarting Spark ...")
    assert re.search(r"\x1b\[2mepoch \d+  in \d+  out \d+  watermark", seen)
    shown = re.sub(r"\r\x1b\[2K(\x1b\[2m.*?\x1b\[0m)?", "", seen)  # without the line of progress
    lines = [line for line in shown.splitlines() if line.strip()]
    logged = [line for line in lines if "long" in line]
    assert len(logged) == 20
    place = re.compile(r"\d{4}-\d\d-\d\d .* INFO    root \[talkative, slow [12]/2, epoch \d+\] (long ){1000}\d+")
    assert [line for line in logged if not place.fullmatch(line)] == []
    assert len([line for line in lines if re.fullmatch(r"[12]> \d+", line)]) == 20


def test_the_level_and_the_file_of_the_command_hold_in_workers(script, tmp_path):
    log = tmp_path / "log"
    done = subprocess.run(  # noqa: S603 - our own program
        [*COMMAND, "--log-level", "info", "--log-file", str(log), script(LOGGING)],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    assert done.stderr == ""
    lines = log.read_text().splitlines()
    assert len([line for line in lines if "[talkative, slow" in line and line.count("long") == 1000]) == 20
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ +\S+ ", line) for line in lines)


INLINE = """
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
stream = env.from_collection([1, 2]).map(lambda n: n).name("double")
"""


@pytest.mark.parametrize(
    ("end", "note"),
    [
        (
            "stream.print()",
            "note: the program has not executed its steps up to 'Print to Std. Out': call env.execute()\n",
        ),
        ("env.execute('counts')", "note: the job 'counts' has no sink: its results were discarded\n"),
        ("stream.print(); env.execute()", ""),
        ("list(stream.execute_and_collect())", ""),
        ("raise SystemExit(3)", ""),
    ],
)
def test_a_program_is_told_what_it_may_have_forgotten(script, end, note):
    done = subprocess.run(  # noqa: S603 - our own program
        [*COMMAND, script(f"{INLINE}{end}\n")], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert done.stderr == note
