"""Directories that hold what only their user may write: entries of jobs, logs, records, the cache."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_private", "make_private"]

MODE = 0o700


def make_private(directory: Path) -> None:
    """Make a directory, and those above it that are missing, for this user alone, whatever the umask is.

    A directory that exists keeps its mode: it may be shared for reading on purpose, and what is put there has modes of
    its own.

    Raises:
        PermissionError: It exists, and another user can write to it. The message has the remedy.
        OSError: It cannot be made.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     make_private(directory := Path(parent, "flintstream", "jobs"))
    ...     oct(directory.stat().st_mode & 0o777), oct(directory.parent.stat().st_mode & 0o777)
    ('0o700', '0o700')
    """
    missing = [place for place in (directory, *directory.parents) if not os.path.lexists(place)]
    for place in reversed(missing):
        try:
            place.mkdir(mode=MODE)
        except FileExistsError:  # another process has made it just now
            continue
        place.chmod(MODE)  # the umask may have taken bits
    status = directory.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{directory} is a file, not a directory")
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{directory} belongs to another user: use a directory that you own")
    if not is_private(status):
        raise PermissionError(f"other users may write to {directory}: run 'chmod go-w' on it or use another directory")


def is_private(status: os.stat_result) -> bool:
    """Return whether a file or directory belongs to this user, and no other user can write to it."""
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022
