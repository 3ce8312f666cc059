"""Where files are read from: this machine, what is mounted on it, and file systems that fsspec reaches."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from flintstream.checkpoint.fsspec_store import FsspecFileStore
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def is_remote(path: str) -> bool:
    """Tell whether an absolute path is one of another file system.

    >>> is_remote("s3://bucket/key"), is_remote("/data/in")
    (True, False)
    """
    return _SCHEME.match(path) is not None


def absolute_path(path: str | os.PathLike[str]) -> str:
    """Return an absolute path of this machine, given with or without ``file://``, or the URI of another file system.

    >>> absolute_path("file:///data/in"), absolute_path("file:/data/in"), absolute_path("/data/in/")
    ('/data/in', '/data/in', '/data/in')
    >>> absolute_path("memory://bucket/in/")
    'memory://bucket/in'

    Raises:
        TypeError: The path is neither a str nor a path object.
        PlanError: It is empty, or there is no such file system.
        MissingDependencyError: The client of the file system is not installed.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a path must be a str, not {path!r}")
    text = os.fspath(path)
    if not text:
        raise PlanError("the path is empty")
    scheme = _SCHEME.match(text)
    if scheme is not None:
        if scheme[1] != "file":
            return FsspecFileStore(text).root
        text = text[scheme.end() :]
        if text.startswith("//"):
            host, slash, rest = text[2:].partition("/")
            if host not in {"", "localhost"} or not slash:
                raise PlanError(f"cannot use {path}: write file:/// and an absolute path")
            text = "/" + rest
    return os.path.abspath(text)  # noqa: PTH100 - Path.absolute keeps '..'


def local_path(path: str | os.PathLike[str]) -> str:
    """Return :func:`absolute_path` of a place that must be on this machine or mounted.

    Raises:
        PlanError: It is of another file system.
    """
    scheme = _SCHEME.match(os.fspath(path)) if isinstance(path, str | os.PathLike) else None
    if scheme is not None and scheme[1] != "file":
        raise PlanError(f"cannot use {path}: this works with local and mounted file systems only (file://)")
    return absolute_path(path)


def existing_path(path: str | os.PathLike[str]) -> str:
    """Return :func:`absolute_path` of something that exists.

    Raises:
        FileNotFoundError: It does not.
    """
    found = absolute_path(path)
    if is_remote(found):
        system, place = reach(found)
        system.invalidate_cache()
        exists = system.exists(place)
    else:
        exists = Path(found).exists()
    if not exists:
        raise FileNotFoundError(f"the input path {found} does not exist (given as {os.fspath(path)!r})")
    return found


def reach(uri: str) -> tuple[Any, str]:
    """Return the file system of fsspec that a URI is of, and the path in it."""
    import fsspec  # noqa: PLC0415 - an optional package

    system, place = fsspec.core.url_to_fs(uri)
    return system, place


def open_file(path: str) -> BinaryIO:
    """Open a file for reading; it can seek, and is to be closed.

    Raises:
        OSError: It cannot be read.
    """
    if is_remote(path):
        system, place = reach(path)
        return cast("BinaryIO", system.open(place, "rb"))
    return cast("BinaryIO", open(path, "rb", buffering=0))  # noqa: PTH123 - the caller closes it


def is_hidden(path: str) -> bool:
    """Tell whether Flink's file source passes over a file or directory of this name.

    >>> is_hidden("/data/_SUCCESS"), is_hidden("/data/.part.inprogress"), is_hidden("/_data/part")
    (True, True, False)
    """
    return os.path.basename(path).startswith((".", "_"))  # noqa: PTH119 - called for every file


def list_files(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield path and size of all files under the paths, by name; what vanishes meanwhile is left out.

    A path that is hidden itself is passed over like any other, as in Flink.
    """
    for path in paths:
        if is_hidden(path):
            continue
        if is_remote(path):
            yield from _list_remote(path)
            continue
        try:
            if Path(path).is_dir():
                yield from list_files(sorted(entry.path for entry in os.scandir(path)))
            else:
                yield path, os.stat(path).st_size  # noqa: PTH116 - called for every file
        except FileNotFoundError:
            continue


def _list_remote(uri: str) -> Iterator[tuple[str, int]]:
    system, place = reach(uri)
    system.invalidate_cache()  # others write, too
    top = place.rstrip("/")
    for name, details in sorted(system.find(place, detail=True).items()):
        below = name.removeprefix(top)
        if not any(map(is_hidden, below.split("/"))):
            yield uri + below, int(details["size"])
