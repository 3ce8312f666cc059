"""Reading of local and remote files. Paths are ``str()`` of a :class:`~flintstream.storage.location.Location`."""

from __future__ import annotations

import io
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from flintstream.common._text.secrets import shown_path, without_secrets
from flintstream.errors import FlintstreamError
from flintstream.storage.location import Location
from flintstream.storage.regular import open_regular
from flintstream.storage.remote import check_client, reach

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

__all__ = ["details_of", "exists", "find", "is_local", "open_file", "reachable"]


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
    return bool(_discreetly(path, lambda: system.exists(place)))


def open_file(path: str) -> BinaryIO:
    """Open a file for reading; the file is seekable, and the caller closes it.

    Raises:
        OSError: The file cannot be read.
    """
    if is_local(path):
        return open_regular(path)
    system, place = reach(path)
    file = _discreetly(path, lambda: system.open(place, "rb"))
    return cast("BinaryIO", file if shown_path(path) == path else _DiscreetFile(path, file))


def details_of(path: str) -> tuple[int, int]:
    """Return how many bytes a file has, and when it was changed (ms since the epoch; 0 if the server does not tell).

    Raises:
        OSError: The file does not exist.
    """
    if is_local(path):
        found = Path(path).stat()
        return found.st_size, found.st_mtime_ns // 1_000_000
    system, place = reach(path)
    details = _discreetly(path, partial(system.info, place))
    modified = details.get("mtime") or details.get("LastModified") or details.get("updated") or 0
    seconds = modified.timestamp() if isinstance(modified, datetime) else float(modified)
    return int(details.get("size") or 0), int(seconds * 1000)


def find(uri: str) -> Iterator[tuple[str, int]]:
    """Yield the remote files below ``uri``, sorted: the rest of the URI after ``uri``, and the size in bytes.

    Raises:
        OSError: A web server no longer gives the file or directory.
    """
    system, place = reach(uri)
    system.invalidate_cache()  # other processes write as well
    top = place.rstrip("/")
    found: dict[str, Any] = _discreetly(uri, lambda: system.find(place, detail=True))
    if not found and uri.startswith(("http://", "https://")):  # fsspec takes a refusal for an empty directory
        _discreetly(uri, lambda: system.info(place))
    for name, details in sorted(found.items()):
        if details.get("type") == "directory":  # s3fs gives the directory itself if its first file is new
            continue
        size = details.get("size")
        if size is None:  # listings of web servers have no sizes
            size = _discreetly(uri, partial(system.info, name)).get("size")
        if size is None:
            raise FlintstreamError(f"cannot read {shown_path(uri)}: the server does not report the size of the file")
        yield name.removeprefix(top), int(size)


class _DiscreetFile(io.RawIOBase):
    """A file whose errors do not show the access token in its path."""

    def __init__(self, path: str, file: Any) -> None:
        self._path = path
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        data = _discreetly(self._path, lambda: self._file.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, position: int, whence: int = 0) -> int:
        return int(_discreetly(self._path, lambda: self._file.seek(position, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


def _discreetly(path: str, act: Callable[[], Any]) -> Any:
    """Return the result of an action. If the path has a password or token, errors of the client may contain it."""
    try:
        return act()
    except Exception as error:
        if shown_path(path) == path:
            raise
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        told = kind(without_secrets(f"{type(error).__name__}: {error}"))
    raise told  # not within the handler: the cause of an error is shown as well
