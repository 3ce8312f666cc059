"""Commands of flintstream in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import flintstream

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])}
"""The environment of commands that find this checkout."""


def start(directory, environment, *arguments, **options):
    """Start a command in a directory."""
    command = [sys.executable, "-m", "flintstream.cli", *arguments]
    return subprocess.Popen(command, cwd=directory, env=environment, text=True, **options)  # noqa: S603 - our own command
