"""The help of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import flintstream
from flintstream.cli import COMMANDS, main


def test_every_command_has_its_whole_summary():
    output = CliRunner().invoke(main, ["--help"], terminal_width=80).output.partition("Commands:")[2]
    assert "..." not in output
    text = " ".join(output.split())
    assert "savepoint Take a savepoint of a job, which continues." in text
    assert all(f"\n  {name}" in output for name in COMMANDS)


@pytest.mark.parametrize(("wrong", "right"), [("lst", "list"), ("savepiont", "savepoint"), ("cofnig", "config")])
def test_an_unknown_command_is_corrected(wrong, right):
    result = CliRunner().invoke(main, [wrong])
    assert result.exit_code == 2
    assert f"No such command '{wrong}'. Did you mean '{right}'?" in result.output


def test_a_command_like_no_other_is_only_refused():
    assert "Did you mean" not in CliRunner().invoke(main, ["xyzzy"]).output


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_commands_and_options(shell):
    environment = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])}
    command = [sys.executable, "-c", "from flintstream.cli import main; main(prog_name='flintstream')"]

    def answer(**more):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**environment, **more})  # noqa: S603
        return done.stdout

    assert "_FLINTSTREAM_COMPLETE=" in answer(_FLINTSTREAM_COMPLETE=f"{shell}_source")
    words = {"COMP_WORDS": "flintstream sav", "COMP_CWORD": "sav" if shell == "fish" else "1"}
    assert "savepoint" in answer(_FLINTSTREAM_COMPLETE=f"{shell}_complete", **words)
