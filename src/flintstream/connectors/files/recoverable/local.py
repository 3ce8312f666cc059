"""Part files on this machine or on a mounted file system."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from flintstream.connectors.files.recoverable import PreparedFile, bucket_path, check_within, gone
from flintstream.storage.local import AppendedFile, complete, cut, sync_entries, too_short

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from flintstream.connectors.files.recoverable import OpenFile, RecoverableStream

_log = logging.getLogger(__name__)


class LocalRecoverableWriter:
    """Writes to a local or mounted directory. Files are appended to, truncated and renamed."""

    def __init__(self, base: str) -> None:
        """Take the directory, which need not exist."""
        self.base = base
        self._touched: set[str] = set()

    def directory(self, bucket: str) -> str:
        """Create the directory of a bucket and return it."""
        directory = os.path.normpath(f"{self.base}/{bucket_path(bucket, self.base)}")
        os.makedirs(directory, exist_ok=True)  # noqa: PTH103
        self._touched.add(directory)
        return directory

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""
        return os.path.exists(path)  # noqa: PTH110 - called for every file

    def recover(self, known: OpenFile) -> RecoverableStream:
        """Open a file to append to."""
        return _LocalStream(known)

    def contains(self, path: str) -> bool:
        """Return whether a file is in the directory, after resolving links."""
        return Path(path).resolve().is_relative_to(Path(self.base).resolve())

    def check(self, known: OpenFile) -> None:
        """Truncate a file to its recorded length."""
        check_within(known.path, self.base, within=self.contains(known.path))
        try:
            cut(known.path, known.length)
        except FileNotFoundError:
            raise gone(known) from None

    def create(self, path: str) -> BinaryIO:
        """Start a file."""
        return Path(path).open("wb")

    def complete(self, file: BinaryIO) -> int:
        """Close a file and sync it to disk."""
        length = file.tell()
        complete(file)
        return length

    def abandon(self, file: BinaryIO) -> None:
        """Close a file."""
        file.close()

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open a file, truncated to its recorded length."""
        cut(prepared.path, prepared.length)
        return Path(prepared.path).open("rb")

    def sync(self) -> None:
        """Sync to disk the entries of the directories, and those of their parents up to the base path."""
        found = set()
        top = Path(self.base).parent
        for directory in self._touched:
            path = Path(directory)
            found |= {path, *(above for above in path.parents if above == top or top in above.parents)}
        for path in found:
            sync_entries(path)
        self._touched.clear()

    def take_back(self, known: OpenFile) -> None:
        """Hide a file again.

        It may have its name from another job that started from a savepoint, or from a commit without a checkpoint.
        """
        if not Path(known.path).exists() and Path(known.target).exists():
            _log.warning("hiding %s until a checkpoint contains it: the job restarts from before its end", known.target)
            Path(known.target).rename(known.path)

    def finish(self, prepared: Iterable[PreparedFile]) -> None:
        """Rename files."""
        files = list(prepared)
        for file in files:
            _rename(file)
        for directory in {Path(file.target).parent for file in files}:
            sync_entries(directory)
        self.remove(path for file in files for path in file.leftovers)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files."""
        for path in paths:
            Path(path).unlink(missing_ok=True)

    def remove_leftovers(self, is_leftover: Callable[[str], bool], known: Collection[str] = ()) -> None:
        """Remove hidden files."""
        for directory, _, files in os.walk(self.base):
            for name in files:
                path = f"{directory}/{name}"
                if name.startswith(".") and path not in known and is_leftover(name):
                    Path(path).unlink(missing_ok=True)


def _rename(prepared: PreparedFile) -> None:
    path, target = Path(prepared.path), Path(prepared.target)
    try:
        size = path.stat().st_size
        if size < prepared.length:
            raise too_short(prepared.path, size, prepared.length)
        # Jobs that start from the same savepoint finish the same files, perhaps at the same time.
        if target.exists() and path.exists():
            raise FileExistsError(f"cannot rename {path} to {target}: a different file has that name")
        if size > prepared.length:
            os.truncate(path, prepared.length)
        path.rename(target)
    except FileNotFoundError:
        if not target.exists():  # it may have been finished earlier and removed since
            _log.warning("neither %s nor %s exists any more", path, target)


class _LocalStream(AppendedFile):
    def __init__(self, known: OpenFile) -> None:
        super().__init__(known.path, known.length)
        self._target = known.target

    def save(self) -> None:
        self.flush()

    def seal(self) -> PreparedFile:
        self.flush()
        self.sync()
        self.close()
        return PreparedFile(self.path, self._target, self.length)

    def read(self) -> BinaryIO:
        self.flush()
        self.close()
        return cast("BinaryIO", Path(self.path).open("rb"))

    def parts(self) -> tuple[str, ...]:
        return (self.path,)
