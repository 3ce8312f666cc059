"""The unit of systemd."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.coordinator.client import LAST_SECONDS

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "flintstream@.service"


@pytest.fixture
def unit():
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read(UNIT)
    return parser


def test_the_command_is_one_that_the_program_understands(unit):
    program, command, *options, script = shlex.split(unit["Service"]["ExecStart"])
    assert (Path(program).name, command, script) == ("flintstream", "run", "/opt/jobs/%i.py")
    result = CliRunner().invoke(main, [command, *options, "/nowhere/job.py"])
    assert "the script /nowhere/job.py does not exist" in result.output


def test_a_stopped_job_has_the_time_that_it_takes(unit):
    service = unit["Service"]
    assert int(service["TimeoutStopSec"]) > LAST_SECONDS
    assert (service["KillMode"], service["Restart"], service["SuccessExitStatus"]) == ("mixed", "on-failure", "143")
    assert unit["Unit"]["StartLimitBurst"] == "5"


def test_the_comment_names_the_file_of_the_unit():
    assert re.findall(r"cp (\S+)", UNIT.read_text()) == [f"deploy/systemd/{UNIT.name}"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path):
    program = tmp_path / "flintstream"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copy = tmp_path / "flintstream@orders.service"
    copy.write_text(UNIT.read_text().replace("/opt/flintstream/bin/flintstream", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert (done.returncode, done.stderr) == (0, "")
