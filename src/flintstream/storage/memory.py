"""The file store in the memory of this process."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from flintstream.storage.paths import check_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

__all__ = ["MemoryFileStore"]

_spaces: dict[str, dict[str, bytes]] = {}


@dataclass(frozen=True)
class MemoryFileStore:
    """A store in the memory of this process; copies in this process share files, copies in other processes do not."""

    name: str
    """The name of the store; stores with the same name share their files."""
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
        """Return a context manager to write a file."""
        key = self._key(path)
        with io.BytesIO() as file:
            yield file
            self._files()[key] = file.getvalue()

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return io.BytesIO(self.read(path))

    def put(self, local: str, path: str) -> None:
        """Store the content of a local file."""
        self.write(path, Path(local).read_bytes())

    def get(self, path: str, local: str) -> None:
        """Copy a file to this machine."""
        Path(local).write_bytes(self.read(path))

    def exists(self, path: str) -> bool:
        """Tell whether the file exists."""
        return self._key(path) in self._files()

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
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
        """Return the URI of a path."""
        return "memory://" + "/".join(filter(None, (self.name, self._key(path))))

    def child(self, path: str) -> FileStore:
        """Return the store of a directory."""
        return MemoryFileStore(self.name, self._key(path))

    def _files(self) -> dict[str, bytes]:
        return _spaces.setdefault(self.name, {})

    def _key(self, path: str) -> str:
        return "/".join(filter(None, (self.root, check_path(path))))
