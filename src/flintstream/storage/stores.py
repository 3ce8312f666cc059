"""The choice of a file store for a path or URI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.storage.local import LocalFileStore
from flintstream.storage.location import Location
from flintstream.storage.memory import MemoryFileStore

if TYPE_CHECKING:
    import os

    from flintstream.storage.file_store import FileStore

__all__ = ["file_store"]


def file_store(place: str | os.PathLike[str] | Location) -> FileStore:
    """Return the store for a directory: a local path, ``file:``, ``memory://`` or a URI that fsspec supports.

    Raises:
        MissingDependencyError: The client of the file system is not installed.
        PlanError: No client supports the URI.

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
    from flintstream.storage.remote import FsspecFileStore

    return FsspecFileStore(str(location))
