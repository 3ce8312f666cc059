"""A process without the compiled modules, to compare with."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from flintstream.compiled import PURE_PYTHON


@pytest.fixture(scope="session")
def in_python():
    """Return a function that runs a scenario without the compiled modules."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, PURE_PYTHON: "1", "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
    command = [sys.executable, "-m", "tests.compiled.scenarios"]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to, answers = process.stdin, process.stdout

        def run(name, arguments):
            to.write(pickle.dumps((name, arguments)).hex() + "\n")
            to.flush()
            return pickle.loads(bytes.fromhex(answers.readline()))

        yield run
        to.close()
