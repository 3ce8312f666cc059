"""The interface of file systems for file sinks, and the state of part files.

A part file is *open* while it is being written, perhaps over several epochs, *prepared* when it is complete, and
visible once it is committed. Opening a file of an earlier epoch or process recovers it.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from flintstream.checkpoint.registry import record
from flintstream.errors import CheckpointError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

LONGEST_NAME = 255
"""Most bytes of the name of a directory or file, as on all common file systems."""


@record
@dataclass(frozen=True)
class PreparedFile:
    """A complete part file that waits for its final name. Data beyond ``length`` is ignored."""

    path: str
    target: str
    length: int
    spool: str = ""
    """A file that is obsolete once this file has its name."""
    parts: tuple[str, ...] = ()
    """More files of this kind."""

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Return all files that are obsolete once this file has its name."""
        return (self.spool, *self.parts) if self.spool else self.parts


@record
@dataclass(frozen=True)
class OpenFile:
    """A part file that stays open in the next epoch."""

    bucket: str
    path: str
    target: str
    length: int
    created: int
    updated: int
    log: Any = None
    """State from which the file system's writer continues."""


class RecoverableStream(Protocol):
    """A part file to append to. Another process can continue it."""

    length: int
    """Number of bytes written, including buffered ones."""

    def write(self, data: bytes) -> None:
        """Append."""

    def save(self) -> Any:
        """Flush, and return the state with which another process can continue: the ``log`` of an :class:`OpenFile`."""

    def sync(self) -> None:
        """Sync to disk all data that :meth:`save` refers to."""

    def seal(self) -> PreparedFile:
        """Complete the file, close it, and sync it to disk."""

    def read(self) -> BinaryIO:
        """Close the file and open it for reading."""

    def parts(self) -> tuple[str, ...]:
        """Return the paths of all files that hold the log."""

    def close(self) -> None:
        """Close the file; buffered data is lost."""


class RecoverableWriter(Protocol):
    """Writes part files below a directory, recovers them after a failure, and commits them."""

    base: str

    def directory(self, bucket: str) -> str:
        """Create the directory of a bucket and return it."""

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""

    def recover(self, known: OpenFile) -> RecoverableStream:
        """Start a file, or continue an existing one."""

    def contains(self, path: str) -> bool:
        """Return whether a file is in the directory."""

    def check(self, known: OpenFile) -> None:
        """Check that a file can be continued, and cut data that no state refers to.

        Raises:
            FileNotFoundError: The file does not exist any more.
            OSError: The file is too short.
            CheckpointError: The file is in another directory.
        """

    def create(self, path: str) -> BinaryIO:
        """Start a file that is written as a whole."""

    def complete(self, file: BinaryIO) -> int:
        """Close the file, sync it to disk, and return its length."""

    def abandon(self, file: BinaryIO) -> None:
        """Close an incomplete file for good."""

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open the valid part of a complete file.

        Raises:
            OSError: The file does not exist any more, or is too short.
        """

    def sync(self) -> None:
        """Sync to disk the directory entries of the files started since the last call."""

    def take_back(self, known: OpenFile) -> None:
        """Hide a file again that was still open at the job's last checkpoint."""

    def finish(self, prepared: Iterable[PreparedFile]) -> None:
        """Give files their final names. Files that already have them are left alone.

        Raises:
            OSError: A file is too short, or another file has its name.
        """

    def remove(self, paths: Iterable[str]) -> None:
        """Remove the files that exist."""

    def remove_leftovers(self, is_leftover: Callable[[str], bool], known: Collection[str] = ()) -> None:
        """Remove hidden files with matching names, except the known ones."""


def gone(known: OpenFile) -> FileNotFoundError:
    """Return the error for a file that does not exist any more."""
    return FileNotFoundError(
        f"{known.path} (later {known.target}), which this job was writing, does not exist any more: it was removed, "
        "or the job was started from a checkpoint that is older than its last one"
    )


def bucket_path(bucket: str, base: str) -> str:
    """Return the normalized path of a bucket below ``base``, ``.`` for ``base`` itself.

    Raises:
        TypeError: The bucket is not a string.
        ValueError: The bucket is not below ``base``, or is not a valid name. It may come from a record, so this is a
            security check.

    >>> bucket_path("2026/a/../b", "/out"), bucket_path("", "/out")
    ('2026/b', '.')
    >>> bucket_path("../../etc", "/out")
    Traceback (most recent call last):
    ValueError: the bucket '../../etc' is not below /out: the bucket assigner must return a path below it
    """
    if not isinstance(bucket, str):
        raise TypeError(f"the bucket assigner must return a string, but it returned {shorten(bucket)}")
    path = posixpath.normpath(bucket.lstrip("/"))
    if path.split("/")[0] == ".." or "\0" in path:
        raise ValueError(
            f"the bucket {shorten(bucket)} is not below {base}: the bucket assigner must return a path below it"
        )
    try:
        longest = max(len(part.encode()) for part in path.split("/"))
    except UnicodeEncodeError:
        raise ValueError(f"the bucket {shorten(bucket)} is not valid text: it contains an unpaired surrogate") from None
    if longest > LONGEST_NAME:
        raise ValueError(
            f"the bucket {shorten(bucket)} has a name of {longest} bytes: file systems allow {LONGEST_NAME} at most"
        )
    return path


def check_within(path: str, base: str, *, within: bool) -> None:
    """Check that a file is in the sink's directory.

    Raises:
        CheckpointError: The file is in another directory.
    """
    if not within:
        raise CheckpointError(
            f"{path} is still open in this checkpoint, but the sink now writes to {base}: "
            "start with the old directory, or from a savepoint, which contains no open files"
        )
