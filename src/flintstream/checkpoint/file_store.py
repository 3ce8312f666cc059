"""Where files of checkpoints are kept: a directory, the memory of this process, or any file system that fsspec knows.

A store is a directory tree under a root. Paths are relative to it, with ``/`` between their parts; ``""`` is the root.
Files appear complete or not at all, and what has appeared survives a crash as far as the medium does. Stores travel to
the workers, so they are small and can be pickled.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

__all__ = ["FileStore", "LocalFileStore", "MemoryFileStore", "check_path", "file_store"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # of two letters at least: C: is a drive
_PART = ".part"


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


def file_store(uri: str) -> FileStore:
    """Return the store for a directory: a path of this machine, or ``file:``, ``memory://`` or a URI fsspec knows.

    Raises:
        MissingDependencyError: The client of the file system is not installed.
        PlanError: There is no client for such a URI.

    >>> file_store("file:///data/checkpoints").uri("job/chk-1")
    '/data/checkpoints/job/chk-1'
    >>> file_store("memory://tests/a").uri("b")
    'memory://tests/a/b'
    """
    scheme = _SCHEME.match(uri)
    if scheme is None:
        return LocalFileStore(uri)
    name, rest = scheme[1].lower(), uri[scheme.end() :]
    if name == "file":
        return LocalFileStore(re.sub("^/+", "/", rest.removeprefix("//localhost")))
    if name == "memory":
        space, _, directory = rest.strip("/").partition("/")
        return MemoryFileStore(space, directory)
    from flintstream.checkpoint.fsspec_store import FsspecFileStore  # noqa: PLC0415 - an optional package

    return FsspecFileStore(uri)


def check_path(path: str) -> str:
    """Return a path without slashes at its ends.

    Raises:
        ValueError: It could lead out of the store.

    >>> check_path("a/../../b")
    Traceback (most recent call last):
    ValueError: 'a/../../b' is no path within a store
    """
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        raise ValueError(f"{path!r} is no path within a store")
    return path.rstrip("/")


class LocalFileStore:
    """Keeps files in a directory of this machine, or of one that is mounted."""

    def __init__(self, root: str) -> None:
        """Keep files in ``root``, which need not exist; a relative one is meant from here, wherever the store goes."""
        self.root = os.path.abspath(root)  # noqa: PTH100 - resolve() would replace links

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        with self.create(path) as file:
            file.write(data)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._path(path).read_bytes()

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Return what to write a file into."""
        with self._replacing(path) as temporary, temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return self._path(path).open("rb")

    def put(self, local: str, path: str) -> None:
        """Write the content of a file, or link it."""
        with self._replacing(path) as temporary:
            _link_or_copy(Path(local), temporary, immutable=local.endswith(".sst"))
            _sync(temporary)

    def get(self, path: str, local: str) -> None:
        """Copy a file, or link it."""
        _link_or_copy(self._path(path), Path(local), immutable=local.endswith(".sst"))

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._path(path).is_file()

    def size(self, path: str) -> int:
        """Return the bytes that a file has."""
        return self._path(path).stat().st_size

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._path(path).unlink(missing_ok=True)

    def delete_tree(self, path: str) -> None:
        """Delete a directory."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._path(path))

    def list(self, path: str) -> list[str]:
        """Return the names of all files below a directory; what was never completed is not among them."""
        top = self._path(path)
        found = (Path(directory, name) for directory, _, names in os.walk(top) for name in names)
        return sorted(
            file.relative_to(top).as_posix()
            for file in found
            if not (file.name.startswith(".") and file.name.endswith(_PART))
        )

    def uri(self, path: str) -> str:
        """Return the path."""
        return str(self._path(path))

    def child(self, path: str) -> FileStore:
        """Return the store of a directory."""
        return LocalFileStore(self.uri(path))

    def _path(self, path: str) -> Path:
        return Path(self.root, check_path(path))

    @contextlib.contextmanager
    def _replacing(self, path: str) -> Iterator[Path]:
        """Return the path of a file that takes the other's place when all went well, and is gone if not."""
        target = self._path(path)
        _make_directory(target.parent)
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}{_PART}")
        try:
            yield temporary
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync(target.parent)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.root!r})"


def _make_directory(directory: Path) -> None:
    """Make a directory and what is missing above it, durably."""
    missing = []
    while not directory.is_dir():
        missing.append(directory)
        directory = directory.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        _sync(path.parent)


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows cannot, and needs not
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _link_or_copy(source: Path, target: Path, *, immutable: bool) -> None:
    if immutable:
        try:
            os.link(source, target)
        except FileNotFoundError:
            raise
        except OSError:  # another device, or a file system without links
            pass
        else:
            return
    shutil.copyfile(source, target)


_spaces: dict[str, dict[str, bytes]] = {}


@dataclass(frozen=True)
class MemoryFileStore:
    """Keeps files in the memory of this process; copies of the store in it lead to the same files, others to none."""

    name: str
    """Stores of one name share their files."""
    root: str = ""

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        self._files()[self._key(path)] = bytes(data)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        try:
            return self._files()[self._key(path)]
        except KeyError:
            raise FileNotFoundError(self.uri(path)) from None

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Return what to write a file into."""
        key = self._key(path)
        with io.BytesIO() as file:
            yield file
            self._files()[key] = file.getvalue()

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return io.BytesIO(self.read(path))

    def put(self, local: str, path: str) -> None:
        """Write the content of a file."""
        self.write(path, Path(local).read_bytes())

    def get(self, path: str, local: str) -> None:
        """Copy a file to this machine."""
        Path(local).write_bytes(self.read(path))

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._key(path) in self._files()

    def size(self, path: str) -> int:
        """Return the bytes that a file has."""
        return len(self.read(path))

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._files().pop(self._key(path), None)

    def delete_tree(self, path: str) -> None:
        """Delete a directory."""
        for name in self.list(path):
            self.delete(f"{path}/{name}" if path else name)

    def list(self, path: str) -> list[str]:
        """Return the names of all files below a directory."""
        key = self._key(path)
        prefix = f"{key}/" if key else ""
        return sorted(name[len(prefix) :] for name in list(self._files()) if name.startswith(prefix))

    def uri(self, path: str) -> str:
        """Return the place as a URI."""
        return "memory://" + "/".join(filter(None, (self.name, self._key(path))))

    def child(self, path: str) -> FileStore:
        """Return the store of a directory."""
        return MemoryFileStore(self.name, self._key(path))

    def _files(self) -> dict[str, bytes]:
        return _spaces.setdefault(self.name, {})

    def _key(self, path: str) -> str:
        return "/".join(filter(None, (self.root, check_path(path))))
