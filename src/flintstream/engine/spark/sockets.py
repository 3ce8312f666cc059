"""Private directories for Unix domain sockets, which Spark and its Python workers use without a secret.

A user who can enter the directory of such a socket can connect to it if the umask lets the group write. Only the owner
can enter the directories that this module makes.
"""

from __future__ import annotations

import atexit
import fcntl
import itertools
import os
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["LONGEST", "PREFIX", "is_private", "new_socket_path", "private_directory", "sweep"]

LONGEST = 61
"""Maximum length of the directory's path: the path of a socket has at most 104 characters, of which Spark needs 43."""

PREFIX = "flintstream-s-"

_LOCK = "owner"
"""A file that the owner of a directory keeps locked: what a killed process leaves can be recognized and removed."""

_LENGTH_OF_NAME = len(PREFIX) + 9

_locks: list[int] = []
"""Open files: a lock ends with its file."""

_made: set[str] = set()

_finding = threading.Lock()
_of_process: dict[int, str | None] = {}
"""Process id -> its directory for sockets that come and go."""

_numbers = itertools.count()


def private_directory() -> str | None:
    """Make a directory for sockets that is removed when this process ends; None if no place is suitable.

    The places are, in this order: the temporary directory, ``XDG_RUNTIME_DIR``, ``/tmp``. On YARN, the first one lies
    within the directory of a container, and its path is too long for a socket.
    """
    for given in (tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"):  # noqa: S108 - made by mkdtemp
        parent = os.path.realpath(given) if given else ""
        if not parent or len(parent) + _LENGTH_OF_NAME > LONGEST or not _keeps_names(parent):
            continue
        sweep(parent)
        with suppress(OSError):
            directory = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
            if not _is_ours(directory):  # a file system without modes, or a default ACL
                Path(directory).rmdir()
                continue
            lock = os.open(f"{directory}/new", os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(f"{directory}/new", f"{directory}/{_LOCK}")  # noqa: PTH104 - from now on, sweep() finds it locked
            _locks.append(lock)
            _made.add(directory)
            atexit.register(_remove, directory, os.getpid())
            return directory
    return None


def new_socket_path() -> str | None:
    """Return a new path for a socket in a private directory of this process; None if no place is suitable."""
    with _finding:
        if os.getpid() not in _of_process:
            _of_process.clear()  # that of the process from which this one was forked
            _of_process[os.getpid()] = private_directory()
        directory = _of_process[os.getpid()]
    return None if directory is None else f"{directory}/{next(_numbers)}"


def is_private(directory: str) -> bool:
    """Tell whether :func:`private_directory` made a directory in this process."""
    return directory in _made


def sweep(parent: str) -> None:
    """Remove the directories of processes that have been killed."""
    with suppress(OSError):
        for directory in Path(parent).glob(f"{PREFIX}*"):
            with suppress(OSError):
                if not _is_ours(directory):
                    continue
                lock = os.open(directory / _LOCK, os.O_RDWR)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(directory, ignore_errors=True)
                finally:
                    os.close(lock)


def _is_ours(directory: str | Path) -> bool:
    """Tell whether a path is a directory, not a link to one, that no other user can enter."""
    status = os.lstat(directory)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _keeps_names(parent: str) -> bool:
    """Tell whether no other user can replace a directory in this one by another that has its name."""
    path = Path(parent)
    for place in (path, *path.parents[:-1]):  # the top directory is the administrator's
        try:
            status = place.stat()
        except OSError:
            return False
        open_to_others = stat.S_IMODE(status.st_mode) & 0o022 and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in {0, os.geteuid()} or open_to_others:
            return False
    return True


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked
        shutil.rmtree(directory, ignore_errors=True)
