"""Directories of databases, and the removal of those that killed workers left behind."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows, where abandoned directories stay
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "flintstream-rocksdb-"

_LOCK = "lock"
"""A file that is locked while its directory is in use. (RocksDB's own locks are free while it replaces a database.)"""

_opened = itertools.count(os.getpid())
_tidied: set[Path] = set()
_held: dict[str, int] = {}
"""Directory -> the file descriptor that holds its lock."""


def new_directory(directories: Sequence[str] = ()) -> str:
    """Create a directory for a database in each of ``directories`` in turn, or in the one for temporary files.

    :func:`remove_directory` removes it.
    """
    place = Path(directories[next(_opened) % len(directories)] if directories else tempfile.gettempdir())
    place.mkdir(parents=True, exist_ok=True)
    if place not in _tidied:
        _tidied.add(place)
        remove_abandoned(place)
    # It gets its name when it is locked, so that no other process takes it for abandoned.
    unlocked = tempfile.mkdtemp(prefix="flintstream-new-", dir=place)
    held = _lock(Path(unlocked, _LOCK))
    directory = str(place / f"{PREFIX}{os.getpid()}-{Path(unlocked).name.rpartition('-')[2]}")
    os.rename(unlocked, directory)  # noqa: PTH104
    if held is not None:
        _held[directory] = held
    return directory


def remove_directory(directory: str) -> None:
    """Remove a directory of :func:`new_directory`."""
    shutil.rmtree(directory, ignore_errors=True)
    held = _held.pop(directory, None)
    if held is not None:
        os.close(held)


def remove_abandoned(place: Path) -> None:
    """Remove databases of processes that are gone, as workers that were killed could not remove theirs."""
    if fcntl is None:
        return
    for directory in filter(_is_ours, place.glob(f"{PREFIX}*")):
        lock = directory / _LOCK
        if lock.exists():
            held = _lock(lock)
            if held is not None:
                shutil.rmtree(directory, ignore_errors=True)
                os.close(held)
        # A release without lock files made it. A lock of this process would be lost, as it belongs to the process.
        elif not directory.name.startswith(f"{PREFIX}{os.getpid()}-") and _is_abandoned(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _lock(path: Path) -> int | None:
    """Lock a file, which is created if necessary; return its descriptor, None if another process holds the lock."""
    if fcntl is None:
        return None
    try:
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:  # another process has just removed the directory
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def _is_ours(directory: Path) -> bool:
    """Return whether a path is a directory of this user, and not a link that another user has put there."""
    try:
        status = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _is_abandoned(directory: Path) -> bool:
    """Return whether no process holds the locks of the databases in a directory. A new one may have no lock yet."""
    locks = list(directory.glob("*/LOCK"))
    for lock in locks:
        try:
            with lock.open("rb+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return bool(locks)
