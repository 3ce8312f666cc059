"""Reads files wherever they are. Paths are those that :class:`~flintstream.storage.location.Location` gives as text."""

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
    """Return the absolute path or URI of a file or directory, whose file system has its client installed.

    Raises:
        TypeError: It is neither a text nor a path object.
        PlanError: It is no path or URI, or there is no such file system.
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
    """Tell whether there is a file or directory."""
    if is_local(path):
        return Path(path).exists()
    system, place = reach(path)
    system.invalidate_cache()  # others write, too
    return bool(system.exists(place))


def open_file(path: str) -> BinaryIO:
    """Open a file for reading; it can seek, and the caller closes it.

    Raises:
        OSError: It cannot be read.
    """
    if is_local(path):
        return cast("BinaryIO", open(path, "rb", buffering=0))  # noqa: PTH123 - the caller closes it
    system, place = reach(path)
    return cast("BinaryIO", system.open(place, "rb"))


def find(uri: str) -> Iterator[tuple[str, int]]:
    """Yield what the URIs of all files of another file system have after ``uri``, and their sizes, in order."""
    system, place = reach(uri)
    system.invalidate_cache()  # others write, too
    top = place.rstrip("/")
    for name, details in sorted(system.find(place, detail=True).items()):
        yield name.removeprefix(top), int(details["size"])
