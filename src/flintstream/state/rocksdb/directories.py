"""Directories of databases, and the removal of those that killed workers left behind."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows, where abandoned directories stay
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = "flintstream-rocksdb-"

_opened = itertools.count(os.getpid())
_tidied: set[Path] = set()


def new_directory(directories: Sequence[str] = ()) -> str:
    """Create a directory for a database in each of ``directories`` in turn, or in the one for temporary files."""
    place = Path(directories[next(_opened) % len(directories)] if directories else tempfile.gettempdir())
    place.mkdir(parents=True, exist_ok=True)
    if place not in _tidied:
        _tidied.add(place)
        remove_abandoned(place)
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)


def remove_abandoned(place: Path) -> None:
    """Remove databases of processes that are gone, as workers that were killed could not remove theirs."""
    if fcntl is None:
        return
    for directory in place.glob(f"{_PREFIX}*"):
        # Taking and releasing a lock of this process would drop the lock, and open the database to others.
        if not directory.name.startswith(f"{_PREFIX}{os.getpid()}-") and _is_abandoned(directory):
            shutil.rmtree(directory, ignore_errors=True)


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
