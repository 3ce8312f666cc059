"""Stores for the keyed state of a subtask between epochs, so that any worker can run the next epoch."""

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
    """Whether blobs outlive the job, so that checkpoints can refer to them."""

    def write(self, name: str, data: bytes) -> None:
        """Store a blob, which is complete when this returns."""

    def read(self, name: str) -> bytes:
        """Return a blob."""

    def directory(self, name: str) -> str:
        """Return the directory for a backend's files that belong to a blob; it may not exist yet."""

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return a checkpoint's reference to a blob; only durable logs support this."""

    def delete(self, name: str) -> None:
        """Delete a blob and its directory, if they exist."""


class MemoryStateLog:
    """Keeps blobs in this process, for the inline engine."""

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
        """Return the directory for files that belong to a blob; :meth:`close` removes it."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="flintstream-state-")
        return os.path.join(self._directory, f"{name}.files")  # noqa: PTH118 - as below

    def piece(self, handle: StateHandle) -> StatePiece:
        """Raise TypeError, because the blobs do not outlive the job."""
        raise TypeError(f"{handle.name} is not durable")

    def delete(self, name: str) -> None:
        """Delete a blob and its directory."""
        self.blobs.pop(name, None)
        if self._directory is not None:
            shutil.rmtree(self.directory(name), ignore_errors=True)

    def close(self) -> None:
        """Remove all files."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


class DirectoryStateLog:
    """Keeps blobs as files in a directory that all workers can reach."""

    durable = False

    def __init__(self, path: str) -> None:
        """Use the existing directory ``path``."""
        self.path = path

    def write(self, name: str, data: bytes) -> None:
        """Store a blob; it is written to a temporary file first, so that readers never see half of it."""
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
        """Return the directory for files that belong to a blob."""
        return os.path.join(self.path, f"{name}.files")  # noqa: PTH118

    def piece(self, handle: StateHandle) -> StatePiece:
        """Raise TypeError, because the blobs do not outlive the job."""
        raise TypeError(f"{handle.name} is not durable")

    def delete(self, name: str) -> None:
        """Delete a blob and its directory."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, name))  # noqa: PTH108, PTH118
        shutil.rmtree(self.directory(name), ignore_errors=True)


class DurableStateLog:
    """The changelog, which keeps blobs in checkpoint storage. Each is durable once its epoch is acknowledged."""

    durable = True

    def __init__(self, store: FileStore, directory: str) -> None:
        """Keep blobs in ``directory`` of the store."""
        self.store = store
        self.place = directory

    def path(self, name: str) -> str:
        """Return the path of a blob in the store."""
        return f"{self.place}/{name}"

    def write(self, name: str, data: bytes) -> None:
        """Store a blob."""
        self.store.write(self.path(name), data)

    def read(self, name: str) -> bytes:
        """Return a blob."""
        return self.store.read(self.path(name))

    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a blob piece by piece; it exists once the context exits without an error."""
        return self.store.create(self.path(name))

    def open(self, name: str) -> BinaryIO:
        """Read a blob piece by piece."""
        return self.store.open(self.path(name))

    def uri(self, name: str) -> str:
        """Return the URI of a blob, for messages."""
        return self.store.uri(self.path(name))

    def directory(self, name: str) -> str:
        """Raise TypeError, because a changelog has the same format for every backend."""
        raise TypeError(f"{name}: a changelog does not store backend files")

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return a checkpoint's reference to a blob."""
        return StatePiece(self.path(handle.name), handle.size, handle.checksum, operators=handle.operators)

    def delete(self, name: str) -> None:
        """Delete a blob."""
        self.store.delete(self.path(name))
