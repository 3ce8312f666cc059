"""What all tests of the command line need."""

from __future__ import annotations

from textwrap import dedent

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.compat import pyflink


@pytest.fixture(autouse=True)
def no_jvm_starts_early(monkeypatch):
    """Programs that these tests run in their own process have no use for it."""
    monkeypatch.setattr("flintstream.engine.spark.session.begin", lambda *_: None)


@pytest.fixture(autouse=True)
def lists_wait_for_slow_machines(monkeypatch):
    monkeypatch.setattr("flintstream.coordinator.asking.ALL_SECONDS", 30.0)


@pytest.fixture
def check(tmp_path):
    """Return the exit code and lines of a check of a program."""
    there = pyflink.is_installed()

    def run(text, *options):
        program = tmp_path / "job.py"
        program.write_text(dedent(text))
        done = CliRunner().invoke(main, ["check", *options, str(program)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code, done.output.replace(f"{program}:", "").splitlines()

    yield run
    if not there:
        pyflink.uninstall()
