"""What a store of files does, and which one a path or URI leads to.

A store is a directory tree under a root. Paths are relative to it, with ``/`` between their parts; ``""`` is the root.
Files appear complete or not at all, and what has appeared survives a crash as far as the medium does. Stores travel to
the workers, so they are small and can be pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

from flintstream.storage.local import LocalFileStore
from flintstream.storage.location import Location
from flintstream.storage.memory import MemoryFileStore

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

__all__ = ["FileStore", "file_store"]


class FileStore(Protocol):
    """The operations; all raise when the medium fails: :class:`OSError`, or what the client of a store has for that."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file, in place of an older one if there is one; it is durable when this returns."""

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: It does not exist.
        """

    def create(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Return what to write a large file into; it appears when the context is left, and not if by an exception."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; it can seek, and is to be closed.

        Raises:
            FileNotFoundError: It does not exist.
        """

    def put(self, local: str, path: str) -> None:
        """Write the content of a file of this machine.

        A file whose name ends in ``.sst`` is never written to again, so that a store may keep a hard link.
        """

    def get(self, path: str, local: str) -> None:
        """Copy a file to this machine; hard links are as in :meth:`put`.

        Raises:
            FileNotFoundError: It does not exist.
        """

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""

    def size(self, path: str) -> int:
        """Return the bytes that a file has.

        Raises:
            FileNotFoundError: It does not exist.
        """

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""

    def delete_tree(self, path: str) -> None:
        """Delete a directory with all that is in it, if it exists."""

    def list(self, path: str) -> list[str]:
        """Return the names of all files below a directory, relative to it and sorted; none if it does not exist."""

    def uri(self, path: str) -> str:
        """Return how a user would write the place."""

    def child(self, path: str) -> FileStore:
        """Return the store whose root is a directory of this one."""


def file_store(place: str | os.PathLike[str] | Location) -> FileStore:
    """Return the store for a directory: a path of this machine, or ``file:``, ``memory://`` or a URI fsspec knows.

    Raises:
        MissingDependencyError: The client of the file system is not installed.
        PlanError: There is no client for such a URI.

    >>> file_store("file:///data/checkpoints").uri("job/chk-1")
    '/data/checkpoints/job/chk-1'
    >>> file_store("memory://tests/a").uri("b")
    'memory://tests/a/b'
    """
    location = place if isinstance(place, Location) else Location.parse(place)
    if location.is_local:
        return LocalFileStore(location.path)
    if location.scheme == "memory":
        space, _, directory = f"{location.authority or ''}{location.path}".strip("/").partition("/")
        return MemoryFileStore(space, directory)
    from flintstream.storage.remote import FsspecFileStore  # noqa: PLC0415 - an optional package

    return FsspecFileStore(str(location))
