"""Durable files on this machine: created, replaced, renamed and appended to.

Checkpoints and sinks rely on two guarantees. A file is on disk before it gets its name, and its directory entry is on
disk before anything refers to it.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from flintstream.storage.paths import check_path, is_partial, partial_name
from flintstream.storage.regular import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.storage.file_store import FileStore

__all__ = ["AppendedFile", "LocalFileStore", "again_if_deleted", "complete", "cut", "sync", "sync_entries", "too_short"]

FLUSH_BYTES = 1 << 20
Result = TypeVar("Result")


def again_if_deleted(write: Callable[[], Result]) -> Result:
    """Call ``write``, and once more if a directory was deleted while it wrote.

    A job whose checkpoints are deleted takes new ones. An error here would send it back to those that are gone.

    >>> again_if_deleted(lambda: "written")
    'written'
    """
    try:
        return write()
    except FileNotFoundError:
        return write()


class LocalFileStore:
    """A store in a directory of this machine, mounted file systems included."""

    def __init__(self, root: str) -> None:
        """Keep files in ``root``, which need not exist; a relative path is resolved here, not on the workers."""
        self.root = os.path.abspath(root)  # noqa: PTH100 - resolve() would replace links

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""

        def write() -> None:
            with self.create(path) as file:
                file.write(data)

        again_if_deleted(write)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with open_regular(self._path(path)) as file:
            return file.read()

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Return a context manager to write a file."""
        with self._replacing(path) as temporary, temporary.open("wb") as file:
            yield file
            complete(file)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return io.BufferedReader(open_regular(self._path(path)))

    def put(self, local: str, path: str) -> None:
        """Store the content of a local file, or hard-link it."""

        def put() -> None:
            with self._replacing(path) as temporary:
                _link_or_copy(Path(local), temporary, immutable=local.endswith(".sst"))
                sync(temporary)

        again_if_deleted(put)

    def get(self, path: str, local: str) -> None:
        """Copy a file, or hard-link it."""
        _link_or_copy(self._path(path), Path(local), immutable=local.endswith(".sst"))

    def exists(self, path: str) -> bool:
        """Tell whether the file exists."""
        return self._path(path).is_file()

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        return self._path(path).stat().st_size

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._path(path).unlink(missing_ok=True)

    def delete_tree(self, path: str) -> None:
        """Delete a directory."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._path(path))

    def list(self, path: str) -> list[str]:
        """Return the names of all complete files below a directory."""
        top = os.fspath(self._path(path))
        start = len(top.rstrip(os.sep)) + 1
        found = []
        for directory, _, names in os.walk(top):  # without a Path for each file: every checkpoint lists its directory
            inside = directory[start:].replace(os.sep, "/")
            found += [f"{inside}/{name}" if inside else name for name in names if not is_partial(name)]
        return sorted(found)

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
        """Yield a temporary path whose file replaces ``path`` on success and is deleted on an error."""
        target = self._path(path)
        _make_directory(target.parent)
        temporary = target.with_name(partial_name(target.name))
        try:
            yield temporary
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync(target.parent)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.root!r})"


def _make_directory(directory: Path) -> None:
    """Create a directory and its missing parents, durably."""
    missing = []
    while not directory.is_dir():
        missing.append(directory)
        directory = directory.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync(path.parent)


def sync(path: Path) -> None:
    """Flush the content of a file, or the entries of a directory, to disk.

    Raises:
        FileNotFoundError: The path does not exist.
    """
    if os.name == "nt" and path.is_dir():  # Windows cannot sync directories, and need not
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


def sync_entries(directory: Path) -> None:
    """Flush the entries of a directory to disk if the directory still exists."""
    with contextlib.suppress(FileNotFoundError):  # its files were complete before a restart and have since been removed
        sync(directory)


def complete(file: BinaryIO) -> None:
    """Flush a fully written file to disk and close it."""
    file.flush()
    os.fsync(file.fileno())
    file.close()


def cut(path: str, length: int) -> None:
    """Truncate a file to ``length`` bytes.

    Raises:
        FileNotFoundError: The file does not exist.
        OSError: The file has fewer bytes.
    """
    size = os.stat(path).st_size  # noqa: PTH116 - called for every file
    if size < length:
        raise too_short(path, size, length)
    if size > length:
        os.truncate(path, length)


def too_short(path: str, size: int, length: int) -> OSError:
    """Return the error for a file that has lost written bytes."""
    return OSError(f"{path} has {size} bytes, but {length} had been written to it")


class AppendedFile:
    """A local file that grows over several epochs and whose exact length is known.

    The file is opened for appending, so bytes that a lost attempt still writes show as a surplus.
    """

    def __init__(self, path: str, length: int = 0) -> None:
        """Open a file that has ``length`` bytes, or create it."""
        self.path = path
        self.length = length
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, data: bytes) -> None:
        """Append ``data``; up to 1 MiB is buffered in memory."""
        self._buffered.append(data)
        self._buffered_bytes += len(data)
        self.length += len(data)
        if self._buffered_bytes >= FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        data = memoryview(b"".join(self._buffered))
        while data:
            data = data[os.write(self._descriptor, data) :]
        self._buffered.clear()
        self._buffered_bytes = 0

    def flush(self) -> None:
        """Write the buffered bytes.

        Raises:
            OSError: The file does not have the expected length, because something else writes to it.
        """
        self._flush()
        size = os.fstat(self._descriptor).st_size
        if size != self.length:
            raise OSError(f"{self.path} has {size} bytes but {self.length} were written: something else writes to it")

    def sync(self) -> None:
        """Flush all written bytes to disk."""
        self._flush()
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file and discard buffered bytes."""
        os.close(self._descriptor)
