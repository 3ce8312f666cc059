"""Temporary directories that end with the process that made them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

__all__ = ["remove_here", "temporary_directory"]


def temporary_directory(prefix: str) -> str:
    """Make a directory that only this user can enter. It is removed when this process ends."""
    directory = tempfile.mkdtemp(prefix=prefix)
    atexit.register(remove_here, directory, os.getpid())
    return directory


def remove_here(directory: str, owner: int) -> None:
    """Remove a directory, unless this process is a fork of its owner: forks inherit the functions that run at exit."""
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
