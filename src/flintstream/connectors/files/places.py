"""Where part files are written: how they are begun, gone on with, and given their names."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

FLUSH_BYTES = 1 << 20

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedFile:
    """A complete part file that waits for its final name; what lies beyond ``length`` does not count."""

    path: str
    target: str
    length: int
    spool: str = ""
    """A file that is of no use once this one has its name."""
    parts: tuple[str, ...] = ()
    """More of them."""

    @property
    def leftovers(self) -> tuple[str, ...]:
        """All files that are of no use once this one has its name."""
        return (self.spool, *self.parts) if self.spool else self.parts


@dataclass(frozen=True)
class OpenFile:
    """A part file that goes on in the next epoch."""

    bucket: str
    path: str
    target: str
    length: int
    created: int
    updated: int
    log: Any = None
    """What the place needs to go on."""


class Log(Protocol):
    """A file that is appended to."""

    length: int
    """What was written, be it buffered or not."""

    def write(self, data: bytes) -> None:
        """Append."""

    def save(self) -> Any:
        """Flush, and return what another process needs to go on: the ``log`` of an :class:`OpenFile`."""

    def sync(self) -> None:
        """Bring to disk what :meth:`save` counts on."""

    def seal(self) -> PreparedFile:
        """Complete and close the file, and bring it to disk."""

    def read(self) -> BinaryIO:
        """Close the file and open it for reading."""

    def parts(self) -> tuple[str, ...]:
        """Return the paths of all files that the log is kept in."""

    def close(self) -> None:
        """Close the file; what is buffered is lost."""


class Place(Protocol):
    """A directory that part files are written to."""

    base: str

    def directory(self, bucket: str) -> str:
        """Return the directory of a bucket, which exists then."""

    def exists(self, path: str) -> bool:
        """Tell whether there is a file."""

    def open_log(self, known: OpenFile) -> Log:
        """Begin a file, or go on with one."""

    def contains(self, path: str) -> bool:
        """Tell whether a file is in the directory."""

    def check(self, known: OpenFile) -> None:
        """See that a file can be gone on with, and take away what does not count.

        Raises:
            FileNotFoundError: It is gone.
            OSError: It is too short.
            CheckpointError: It is in another directory.
        """

    def create(self, path: str) -> BinaryIO:
        """Begin a file that is written as a whole."""

    def complete(self, file: BinaryIO) -> int:
        """Close it, bring it to disk, and return its length."""

    def abandon(self, file: BinaryIO) -> None:
        """Close it: it will not be complete."""

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open what counts of a complete file.

        Raises:
            OSError: It is gone, or too short.
        """

    def sync(self) -> None:
        """Bring to disk that there are the files begun since the last time."""

    def take_back(self, known: OpenFile) -> None:
        """Hide a file again that this job was still writing at its last checkpoint."""

    def finish(self, prepared: Iterable[PreparedFile]) -> None:
        """Give files their names; those that have them already are left alone.

        Raises:
            OSError: A file is too short, or its name belongs to another one.
        """

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files, as far as they exist."""

    def remove_leftovers(self, is_leftover: Callable[[str], bool], known: Collection[str] = ()) -> None:
        """Remove the hidden files of such names, other than the known ones."""


class LocalPlace:
    """A directory of this machine, or one that is mounted: files are appended to, cut, and renamed."""

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

    def open_log(self, known: OpenFile) -> Log:
        """Open a file to append to."""
        return _LocalLog(known)

    def contains(self, path: str) -> bool:
        """Tell whether a file is in the directory, whatever links lead there."""
        return Path(path).resolve().is_relative_to(Path(self.base).resolve())

    def check(self, known: OpenFile) -> None:
        """Cut a file to the length that counts."""
        check_within(known.path, self.base, within=self.contains(known.path))
        try:
            size = Path(known.path).stat().st_size
        except FileNotFoundError:
            raise gone(known) from None
        if size < known.length:
            raise too_short(known.path, size, known.length)
        os.truncate(known.path, known.length)

    def create(self, path: str) -> BinaryIO:
        """Begin a file."""
        return Path(path).open("wb")

    def complete(self, file: BinaryIO) -> int:
        """Close a file and bring it to disk."""
        file.flush()
        os.fsync(file.fileno())
        length = file.tell()
        file.close()
        return length

    def abandon(self, file: BinaryIO) -> None:
        """Close a file."""
        file.close()

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open a file, cut to what counts."""
        file = Path(prepared.path).open("rb")  # noqa: SIM115 - the caller closes it
        size = os.fstat(file.fileno()).st_size
        if size < prepared.length:
            file.close()
            raise too_short(prepared.path, size, prepared.length)
        if size > prepared.length:
            os.truncate(prepared.path, prepared.length)
        return file

    def sync(self) -> None:
        """Bring the entries of directories to disk, and their own in those above, as far as that of the base path."""
        found = set()
        top = Path(self.base).parent
        for directory in self._touched:
            path = Path(directory)
            found |= {path, *(above for above in path.parents if above == top or top in above.parents)}
        for path in found:
            _sync_directory(path)
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
            _sync_directory(directory)
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


def gone(known: OpenFile) -> FileNotFoundError:
    """Return the error for a file that is not there any more."""
    return FileNotFoundError(
        f"{known.path} is gone, which this job had begun to write (as {known.target}); it was removed, "
        "or the job was started from a checkpoint that is older than its last one"
    )


def too_short(path: str, size: int, length: int) -> OSError:
    """Return the error for a file that has lost something."""
    return OSError(f"{path} has {size} bytes, but {length} had been written to it")


def check_within(path: str, base: str, *, within: bool) -> None:
    """See that a file is in the sink's directory.

    Raises:
        CheckpointError: It is not.
    """
    if not within:
        raise CheckpointError(
            f"{path} is still being written in this checkpoint, but the sink now writes to {base}: "
            "start from it with the old directory, or from a savepoint, which has no such files"
        )


def _sync_directory(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # what was in it was finished before a restart, and taken away since
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _LocalLog:
    def __init__(self, known: OpenFile) -> None:
        self._known = known
        self.length = known.length
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0
        # Appending, so that what a lost attempt may still write is seen as surplus.
        self._descriptor = os.open(known.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, data: bytes) -> None:
        self._buffered.append(data)
        self._buffered_bytes += len(data)
        self.length += len(data)
        if self._buffered_bytes >= FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        data = memoryview(b"".join(self._buffered))
        while data:
            data = data[os.write(self._descriptor, data) :]
        self._buffered.clear()
        self._buffered_bytes = 0

    def save(self) -> None:
        self._flush()
        size = os.fstat(self._descriptor).st_size
        if size != self.length:
            raise OSError(
                f"{self._known.path} has {size} bytes where {self.length} were written: something else writes to it too"
            )

    def sync(self) -> None:
        self._flush()
        os.fsync(self._descriptor)

    def seal(self) -> PreparedFile:
        self.save()
        self.sync()
        self.close()
        return PreparedFile(self._known.path, self._known.target, self.length)

    def read(self) -> BinaryIO:
        self.save()
        self.close()
        return cast("BinaryIO", Path(self._known.path).open("rb"))

    def parts(self) -> tuple[str, ...]:
        return (self._known.path,)

    def close(self) -> None:
        os.close(self._descriptor)
