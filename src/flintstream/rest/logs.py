"""Log files of the processes of jobs, which they have if they run in the background."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from flintstream.rest.records import RefusedError, records

LONGEST_TEXT = 1 << 24
"""The end of a file that a reply has, in bytes."""


def list_files() -> dict[str, object]:
    """``/jobmanager/logs``: the files, latest first."""
    described = []
    for path in _paths().values():
        with suppress(OSError):
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                described.append((status.st_mtime_ns // 1_000_000, path.name, status.st_size))
    return {
        "logs": [{"name": name, "size": size, "mtime": time} for time, name, size in sorted(described, reverse=True)]
    }


def read_file(name: str) -> str:
    """``/jobmanager/logs/:filename``: the text of one of these files.

    Raises:
        RefusedError: There is none of this name.
    """
    path = _paths().get(name)
    if path is not None:
        with suppress(OSError):
            return _read_end(path)
    raise RefusedError(404, f"Log file {name[:100]} not found")


def _paths() -> dict[str, Path]:
    """Return the files by their names, those of running jobs rather than those of ended ones."""
    found: dict[str, Path] = {}
    for record in records("status"):
        place = record["status"].get("log_file")
        if place:
            found.setdefault(Path(place).name, Path(place))
    return found


def _read_end(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # does not wait for a writer of a pipe in its place
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a file")
        file.seek(max(status.st_size - LONGEST_TEXT, 0))
        return file.read(LONGEST_TEXT).decode("utf-8", "replace")
