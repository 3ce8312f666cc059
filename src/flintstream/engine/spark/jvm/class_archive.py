"""The archive of Spark's classes. A JVM that maps it needs a third less time to the first result.

A JVM writes the archive when it ends, which is after the process that started it. It writes to a temporary file, and
the next start puts that in place. There is one archive per java and pyspark, in the user's cache directory
(``XDG_CACHE_HOME``).
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import time
from pathlib import Path

from flintstream.engine.spark.versions import spark_home, version
from flintstream.storage.private import is_private, make_private

__all__ = ["ClassArchive"]

SETTLED_SECONDS = 10
"""A temporary file is complete if it has not changed for this long."""

UNUSED_SECONDS = 30 * 86_400
"""Archives of other versions are removed after this long without a start that used them."""

_QUIET = ("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")

_log = logging.getLogger(__name__)

_refused: set[Path] = set()
"""Cache directories that this process has warned about."""


class ClassArchive:
    """The archive of one java and pyspark."""

    def __init__(self, path: Path) -> None:
        """Put the archive at ``path``, in an existing directory."""
        self.path = path
        self._new = path.with_name(f"{path.name}.new")

    @classmethod
    def of(cls, java: str) -> ClassArchive | None:
        """Return the archive for a java; None if there is no directory that only this user can write to."""
        try:
            directory = _private_directory()
            if directory is None:
                return None
            parts = [java, str(os.stat(java).st_mtime_ns), str(spark_home() / "__init__.py"), version()]  # noqa: PTH116
            key = hashlib.sha1("|".join(parts).encode(), usedforsecurity=False).hexdigest()[:16]
            archive = cls(directory / f"spark-{key}.jsa")
            archive.tidy()
        except (OSError, RuntimeError):  # no home directory, or a read-only one
            return None
        return archive

    @property
    def ready(self) -> bool:
        """Whether there is an archive to start with."""
        return self.path.exists()

    def to_read(self) -> list[str]:
        """Return the options of a JVM that uses the archive."""
        return [*_QUIET, f"-XX:SharedArchiveFile={self.path}"]

    def to_write(self) -> list[str]:
        """Return the options of a JVM that writes an archive when it ends."""
        # One name for all: a JVM that writes replaces the file of another one, and they do not pile up.
        return [*_QUIET, f"-XX:ArchiveClassesAtExit={self._new}"]

    def discard(self) -> None:
        """Delete the archive; running JVMs keep it."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Put an archive in place that a JVM has written, and remove files that no start needs.

        Raises:
            OSError: The directory cannot be read or written.
        """
        if self.path.exists() and not _is_whole(self.path):
            self.path.unlink(missing_ok=True)
        now = time.time()
        # Earlier releases added the id of a process instead of "new".
        for written in (self._new, *self.path.parent.glob(f"{self.path.name}.[0-9]*")):
            with contextlib.suppress(FileNotFoundError):
                if now - written.stat().st_mtime > SETTLED_SECONDS:
                    if self.path.exists() or not _is_whole(written):
                        written.unlink()
                    else:
                        written.replace(self.path)
        with contextlib.suppress(FileNotFoundError):
            os.utime(self.path)
        for other in self.path.parent.glob("spark-*.jsa*"):
            with contextlib.suppress(FileNotFoundError):
                if now - other.stat().st_mtime > UNUSED_SECONDS:
                    other.unlink()


def _is_whole(path: Path) -> bool:
    """Return whether a file has a header, which a JVM writes last."""
    with path.open("rb") as file:
        return any(file.read(4))


def _private_directory() -> Path | None:
    """Return the cache directory, which is created if necessary; None if it belongs to another user or is a link.

    Code that a JVM maps from a file runs without any further check.
    """
    directory = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flintstream"
    if not os.path.lexists(directory):
        make_private(directory)
    status = os.lstat(directory)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        if directory not in _refused:
            _refused.add(directory)
            _log.warning(
                "Spark starts without its archive of classes, because the cache directory %s is a link or belongs to "
                "another user: use a directory that you own, or set XDG_CACHE_HOME", directory,
            )  # fmt: skip
        return None
    if stat.S_IMODE(status.st_mode) & 0o077:  # made by an earlier release, whose mode depended on the umask
        directory.chmod(0o700)
    if not is_private(status):
        _log.warning(
            "the cache directory %s was writable for other users: deleting its contents, which they may have changed",
            directory,
        )
        for archive in directory.glob("spark-*.jsa*"):
            archive.unlink()
    return directory
