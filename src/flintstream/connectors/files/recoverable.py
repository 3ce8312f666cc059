"""What a file sink needs of a file system, and what its state holds of part files.

A part file is *open* while it is written, perhaps over several epochs, *prepared* when it is complete, and visible when
it is committed. Whoever opens the files of an earlier epoch or process recovers them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


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
    """What the writer of the file system needs to go on."""


class RecoverableStream(Protocol):
    """A part file that is appended to, and that another process can go on with."""

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


class RecoverableWriter(Protocol):
    """Writes part files below a directory, recovers them after a failure, and commits them."""

    base: str

    def directory(self, bucket: str) -> str:
        """Return the directory of a bucket, which exists then."""

    def exists(self, path: str) -> bool:
        """Tell whether there is a file."""

    def recover(self, known: OpenFile) -> RecoverableStream:
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


def gone(known: OpenFile) -> FileNotFoundError:
    """Return the error for a file that is not there any more."""
    return FileNotFoundError(
        f"{known.path} is gone, which this job had begun to write (as {known.target}); it was removed, "
        "or the job was started from a checkpoint that is older than its last one"
    )


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
