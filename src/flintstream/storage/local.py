"""The durable store of this machine: files that are created, replaced, renamed and appended to.

Checkpoints and sinks count on its promises. A file is on disk before it gets its name, and so is the entry of its
directory before anything refers to it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from flintstream.storage.paths import check_path, is_partial, partial_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

__all__ = ["AppendedFile", "LocalFileStore", "complete", "cut", "sync", "sync_entries", "too_short"]

FLUSH_BYTES = 1 << 20


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
            complete(file)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return self._path(path).open("rb")

    def put(self, local: str, path: str) -> None:
        """Write the content of a file, or link it."""
        with self._replacing(path) as temporary:
            _link_or_copy(Path(local), temporary, immutable=local.endswith(".sst"))
            sync(temporary)

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
        return sorted(file.relative_to(top).as_posix() for file in found if not is_partial(file.name))

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
    """Make a directory and what is missing above it, durably."""
    missing = []
    while not directory.is_dir():
        missing.append(directory)
        directory = directory.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync(path.parent)


def sync(path: Path) -> None:
    """Bring the content of a file, or the entries of a directory, to disk.

    Raises:
        FileNotFoundError: It does not exist.
    """
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


def sync_entries(directory: Path) -> None:
    """Bring the entries of a directory to disk, if the directory still exists."""
    with contextlib.suppress(FileNotFoundError):  # its files were complete before a restart, and are gone since
        sync(directory)


def complete(file: BinaryIO) -> None:
    """Bring a file that was written as a whole to disk, and close it."""
    file.flush()
    os.fsync(file.fileno())
    file.close()


def cut(path: str, length: int) -> None:
    """Take away what a file has beyond ``length`` bytes.

    Raises:
        FileNotFoundError: It does not exist.
        OSError: It has fewer bytes.
    """
    size = os.stat(path).st_size  # noqa: PTH116 - called for every file
    if size < length:
        raise too_short(path, size, length)
    if size > length:
        os.truncate(path, length)


def too_short(path: str, size: int, length: int) -> OSError:
    """Return the error for a file that has lost bytes that were written to it."""
    return OSError(f"{path} has {size} bytes, but {length} had been written to it")


class AppendedFile:
    """A file of this machine that grows over several epochs, and whose length is known exactly.

    It is opened for appending, so that the bytes that a lost attempt may still write show as a surplus.
    """

    def __init__(self, path: str, length: int = 0) -> None:
        """Open a file that has ``length`` bytes, or begin one."""
        self.path = path
        self.length = length
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, data: bytes) -> None:
        """Append; up to 1 MiB waits in memory."""
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
        """Write what waits in memory.

        Raises:
            OSError: The file has another length than expected: something else writes to it.
        """
        self._flush()
        size = os.fstat(self._descriptor).st_size
        if size != self.length:
            raise OSError(
                f"{self.path} has {size} bytes where {self.length} were written: something else writes to it too"
            )

    def sync(self) -> None:
        """Bring everything that was written to disk."""
        self._flush()
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file; what waits in memory is lost."""
        os.close(self._descriptor)
