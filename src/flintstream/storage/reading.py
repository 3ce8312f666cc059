"""Reading of local and remote files. Paths are ``str()`` of a :class:`~flintstream.storage.location.Location`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from flintstream.storage.location import Location
from flintstream.storage.remote import check_client, reach

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["exists", "find", "is_local", "open_file", "reachable"]


def reachable(given: str | os.PathLike[str], what: str = "the path") -> str:
    """Return the absolute path or URI of a file or directory, and check that the client is installed.

    Raises:
        TypeError: ``given`` is neither a str nor a path object.
        PlanError: ``given`` is not a path or URI, or its scheme names no known file system.
        MissingDependencyError: The client of the file system is not installed.

    >>> reachable("file:/data/in"), reachable("memory://bucket/in/")
    ('/data/in', 'memory://bucket/in')
    """
    location = Location.parse(given, what)
    if not location.is_local:
        check_client(location)
    return str(location)


def is_local(path: str) -> bool:
    """Tell whether a path is on this machine or mounted there.

    >>> is_local("/data/in"), is_local("s3://bucket/in")
    (True, False)
    """
    return path.startswith("/")


def exists(path: str) -> bool:
    """Tell whether a file or directory exists."""
    if is_local(path):
        return Path(path).exists()
    system, place = reach(path)
    system.invalidate_cache()  # other processes write as well
    return bool(system.exists(place))


def open_file(path: str) -> BinaryIO:
    """Open a file for reading; the file is seekable, and the caller closes it.

    Raises:
        OSError: The file cannot be read.
    """
    if is_local(path):
        return cast("BinaryIO", open(path, "rb", buffering=0))  # noqa: PTH123 - the caller closes it
    system, place = reach(path)
    return cast("BinaryIO", system.open(place, "rb"))


def find(uri: str) -> Iterator[tuple[str, int]]:
    """Yield the remote files below ``uri``, sorted: the rest of the URI after ``uri``, and the size in bytes."""
    system, place = reach(uri)
    system.invalidate_cache()  # other processes write as well
    top = place.rstrip("/")
    for name, details in sorted(system.find(place, detail=True).items()):
        yield name.removeprefix(top), int(details["size"])
