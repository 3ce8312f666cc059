"""Where the keyed state of a subtask is kept between epochs, so that any worker can go on with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, BinaryIO, Protocol

from flintstream.checkpoint.metadata import StatePiece

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from flintstream.runtime.protocol import StateHandle
    from flintstream.storage.file_store import FileStore


class StateLog(Protocol):
    """Named blobs, written once."""

    durable: bool
    """Whether what is written survives the job, so that checkpoints can refer to it."""

    def write(self, name: str, data: bytes) -> None:
        """Store a blob; it must be complete when this returns."""

    def read(self, name: str) -> bytes:
        """Return a blob."""

    def directory(self, name: str) -> str:
        """Return the directory beside a blob for files of a backend; it may not exist yet."""

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return how a checkpoint refers to a blob, where the log is durable."""

    def delete(self, name: str) -> None:
        """Forget a blob and its directory; they may be gone already."""


class MemoryStateLog:
    """Keeps blobs in this process; for the inline engine."""

    durable = False

    def __init__(self) -> None:
        """Start empty."""
        self.blobs: dict[str, bytes] = {}
        self._directory: str | None = None

    def write(self, name: str, data: bytes) -> None:
        """Store a blob."""
        self.blobs[name] = data

    def read(self, name: str) -> bytes:
        """Return a blob."""
        return self.blobs[name]

    def directory(self, name: str) -> str:
        """Return a place for files; it is gone when the log is closed."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="flintstream-state-")
        return os.path.join(self._directory, f"{name}.files")  # noqa: PTH118 - as below

    def piece(self, handle: StateHandle) -> StatePiece:
        """Refuse: nothing here survives."""
        raise TypeError(f"{handle.name} is not durable")

    def delete(self, name: str) -> None:
        """Forget a blob."""
        self.blobs.pop(name, None)
        if self._directory is not None:
            shutil.rmtree(self.directory(name), ignore_errors=True)

    def close(self) -> None:
        """Remove all files."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


class DirectoryStateLog:
    """Keeps blobs as files of a directory that all workers reach."""

    durable = False

    def __init__(self, path: str) -> None:
        """Use the directory ``path``, which exists."""
        self.path = path

    def write(self, name: str, data: bytes) -> None:
        """Store a blob: written aside first, so that a reader never meets half of it."""
        target = os.path.join(self.path, name)  # noqa: PTH118 - hot path of every epoch
        part = f"{target}.{os.getpid()}.part"
        with open(part, "wb") as file:  # noqa: PTH123
            file.write(data)
        os.replace(part, target)  # noqa: PTH105

    def read(self, name: str) -> bytes:
        """Return a blob."""
        with open(os.path.join(self.path, name), "rb") as file:  # noqa: PTH118, PTH123
            return file.read()

    def directory(self, name: str) -> str:
        """Return the directory beside a blob."""
        return os.path.join(self.path, f"{name}.files")  # noqa: PTH118

    def piece(self, handle: StateHandle) -> StatePiece:
        """Refuse: nothing here survives the job."""
        raise TypeError(f"{handle.name} is not durable")

    def delete(self, name: str) -> None:
        """Forget a blob."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, name))  # noqa: PTH108, PTH118
        shutil.rmtree(self.directory(name), ignore_errors=True)


class DurableStateLog:
    """The changelog: keeps blobs where checkpoints are kept, each one safe when its epoch is acknowledged."""

    durable = True

    def __init__(self, store: FileStore, directory: str) -> None:
        """Keep blobs in ``directory`` of the store."""
        self.store = store
        self.place = directory

    def path(self, name: str) -> str:
        """Return where a blob is in the store."""
        return f"{self.place}/{name}"

    def write(self, name: str, data: bytes) -> None:
        """Store a blob."""
        self.store.write(self.path(name), data)

    def read(self, name: str) -> bytes:
        """Return a blob."""
        return self.store.read(self.path(name))

    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a blob piece by piece; it is there when the context is left without an error."""
        return self.store.create(self.path(name))

    def open(self, name: str) -> BinaryIO:
        """Read a blob piece by piece."""
        return self.store.open(self.path(name))

    def uri(self, name: str) -> str:
        """Return where a blob is, for messages."""
        return self.store.uri(self.path(name))

    def directory(self, name: str) -> str:
        """Refuse: the log has the same form for every backend."""
        raise TypeError(f"{name}: a changelog keeps no files of a backend")

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return how a checkpoint refers to a blob."""
        return StatePiece(self.path(handle.name), handle.size, handle.checksum, operators=handle.operators)

    def delete(self, name: str) -> None:
        """Forget a blob."""
        self.store.delete(self.path(name))
