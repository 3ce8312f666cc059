"""The protocol of a file store.

A store is a directory tree under a root. Paths are relative to the root and use ``/`` as separator; ``""`` is the root.
A file becomes visible only when it is complete, and a visible file survives a crash if the medium does. Stores are sent
to the workers, so they are small and picklable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["FileStore"]


class FileStore(Protocol):
    """The operations of a store. All raise :class:`OSError`, or the client's own error, if the medium fails."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file, replacing any existing one; the file is durable when this returns."""

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: The file does not exist.
        """

    def create(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Return a context manager to write a large file; the file appears on exit, but not after an exception."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; the file is seekable, and the caller closes it.

        Raises:
            FileNotFoundError: The file does not exist.
        """

    def put(self, local: str, path: str) -> None:
        """Store the content of a local file.

        A file whose name ends in ``.sst`` never changes, so a store may keep a hard link to it.
        """

    def get(self, path: str, local: str) -> None:
        """Copy a file to this machine, or hard-link it as in :meth:`put`.

        Raises:
            FileNotFoundError: The file does not exist.
        """

    def exists(self, path: str) -> bool:
        """Tell whether the file exists."""

    def size(self, path: str) -> int:
        """Return the size of a file in bytes.

        Raises:
            FileNotFoundError: The file does not exist.
        """

    def delete(self, path: str) -> None:
        """Delete a file if it exists."""

    def delete_tree(self, path: str) -> None:
        """Delete a directory and its contents if it exists."""

    def list(self, path: str) -> list[str]:
        """Return the sorted names, relative to a directory, of all files below it; empty if it does not exist."""

    def uri(self, path: str) -> str:
        """Return the path or URI as a user would write it."""

    def child(self, path: str) -> FileStore:
        """Return a store rooted at a directory of this one."""
