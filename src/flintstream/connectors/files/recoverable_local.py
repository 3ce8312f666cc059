"""Part files of this machine, or of a file system that is mounted."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from flintstream.connectors.files.recoverable import PreparedFile, check_within, gone
from flintstream.storage.local import AppendedFile, complete, cut, sync_entries, too_short

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from flintstream.connectors.files.recoverable import OpenFile, RecoverableStream

_log = logging.getLogger(__name__)


class LocalRecoverableWriter:
    """Writes to a directory of this machine, or one that is mounted: files are appended to, cut, and renamed."""

    def __init__(self, base: str) -> None:
        """Take the directory, which need not exist."""
        self.base = base
        self._touched: set[str] = set()

    def directory(self, bucket: str) -> str:
        """Make the directory of a bucket."""
        directory = os.path.normpath(f"{self.base}/{bucket}")
        os.makedirs(directory, exist_ok=True)  # noqa: PTH103
        self._touched.add(directory)
        return directory

    def exists(self, path: str) -> bool:
        """Tell whether there is a file."""
        return os.path.exists(path)  # noqa: PTH110 - called for every file

    def recover(self, known: OpenFile) -> RecoverableStream:
        """Open a file to append to."""
        return _LocalStream(known)

    def contains(self, path: str) -> bool:
        """Tell whether a file is in the directory, whatever links lead there."""
        return Path(path).resolve().is_relative_to(Path(self.base).resolve())

    def check(self, known: OpenFile) -> None:
        """Cut a file to the length that counts."""
        check_within(known.path, self.base, within=self.contains(known.path))
        try:
            cut(known.path, known.length)
        except FileNotFoundError:
            raise gone(known) from None

    def create(self, path: str) -> BinaryIO:
        """Begin a file."""
        return Path(path).open("wb")

    def complete(self, file: BinaryIO) -> int:
        """Close a file and bring it to disk."""
        length = file.tell()
        complete(file)
        return length

    def abandon(self, file: BinaryIO) -> None:
        """Close a file."""
        file.close()

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open a file, cut to what counts."""
        cut(prepared.path, prepared.length)
        return Path(prepared.path).open("rb")

    def sync(self) -> None:
        """Bring the entries of directories to disk, and their own in those above, as far as that of the base path."""
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

        It can have got its name from another job that started from a savepoint, or without waiting for a checkpoint.
        """
        if not Path(known.path).exists() and Path(known.target).exists():
            _log.warning(
                "%s is hidden until a checkpoint counts on it: the job goes back to before its end", known.target
            )
            Path(known.target).rename(known.path)

    def finish(self, prepared: Iterable[PreparedFile]) -> None:
        """Rename files."""
        files = list(prepared)
        for each in files:
            _rename(each)
        for directory in {Path(each.target).parent for each in files}:
            sync_entries(directory)
        self.remove(path for each in files for path in each.leftovers)

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
        # Jobs that start from one savepoint finish the same files, perhaps at the same time.
        if target.exists() and path.exists():
            raise FileExistsError(f"{path} is complete, but there is a file {target} that it is not")
        if size > prepared.length:
            os.truncate(path, prepared.length)
        path.rename(target)
    except FileNotFoundError:
        if not target.exists():  # finished before, and taken away by somebody since?
            _log.warning("neither %s nor %s is there any more", path, target)


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
