"""Files with the output of jobs that run in the background, and the one that this process writes to.

The directory is ``$FLINTSTREAM_LOGS_DIR``, or else ``flintstream/logs`` below the user's directory for state
(``XDG_STATE_HOME``). Only the user can read the files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
import time
from datetime import datetime
from pathlib import Path

from flintstream.storage.private import is_private, make_private

DIRECTORY = "FLINTSTREAM_LOGS_DIR"
_ERRORS = 2
"""The descriptor of standard error."""


def directory() -> Path:
    """Return the directory of the files. It may not exist yet."""
    given = os.environ.get(DIRECTORY)
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "flintstream" / "logs"


def open_for_output(path: str | None) -> tuple[str, int]:
    """Open a file for the output of a process: the one at ``path``, or a new one in the directory.

    Returns its path, and a descriptor with a lock that shows other processes that it is still written to.

    Raises:
        OSError: The file cannot be opened, or other users may write to the directory.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    if path is None:
        place = directory()
        make_private(place)
        path = str(place / f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}.log")  # noqa: DTZ005 - the user's
        flags |= os.O_EXCL
    path = str(Path(path).absolute())
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o600)  # does not wait for a reader of a pipe in its place
    os.set_blocking(descriptor, True)
    with contextlib.suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return path, descriptor


def delete_older(max_age_ms: int) -> None:
    """Delete files of the directory that were last written to earlier than that, and that no process has open."""
    oldest = time.time() - max_age_ms / 1000
    with contextlib.suppress(OSError):
        if not is_private(directory().stat()):
            return
        for path in directory().glob("*.log"):
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < oldest and _is_closed(path):
                    path.unlink()


def _is_closed(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def own() -> str | None:
    """Return the path of the file that standard error of this process goes to; None if that is not a file."""
    try:
        status = os.fstat(_ERRORS)
        if not stat.S_ISREG(status.st_mode):
            return None
        path = _path_of(_ERRORS)
        return path if os.path.samestat(os.stat(path), status) else None  # noqa: PTH116 - the same call as fstat
    except (OSError, ValueError):  # closed, deleted, or a system without names of open files
        return None


def _path_of(descriptor: int) -> str:
    get_path = getattr(fcntl, "F_GETPATH", None)  # macOS
    if get_path is not None:
        return os.fsdecode(fcntl.fcntl(descriptor, get_path, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - text, not a path
