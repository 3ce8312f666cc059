"""Where databases go, and what becomes of those that a killed worker left behind."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows: nothing is tidied up there
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = "flintstream-rocksdb-"

_opened = itertools.count(os.getpid())
_tidied: set[Path] = set()


def new_directory(directories: Sequence[str] = ()) -> str:
    """Return a new directory for a database: several places take turns, by default it is one for temporary files."""
    place = Path(directories[next(_opened) % len(directories)] if directories else tempfile.gettempdir())
    place.mkdir(parents=True, exist_ok=True)
    if place not in _tidied:
        _tidied.add(place)
        remove_abandoned(place)
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)


def remove_abandoned(place: Path) -> None:
    """Remove databases of processes that are gone; workers are killed now and then, and tidy up nothing then."""
    if fcntl is None:
        return
    for directory in place.glob(f"{_PREFIX}*"):
        # taking and giving back a lock of this very process would open the database to others
        if not directory.name.startswith(f"{_PREFIX}{os.getpid()}-") and _is_abandoned(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _is_abandoned(directory: Path) -> bool:
    """Tell whether nobody holds the locks of the databases in a directory; a new one may have none yet."""
    locks = list(directory.glob("*/LOCK"))
    for lock in locks:
        try:
            with lock.open("rb+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return bool(locks)
