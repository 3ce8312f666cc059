"""Stores for the keyed state of a subtask between epochs, so that any worker can run the next epoch."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from flintstream.checkpoint.metadata import StatePiece
from flintstream.options.rocksdb import TRANSFER_THREADS
from flintstream.storage.local import LocalFileStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from flintstream.runtime.protocol import StateHandle
    from flintstream.storage.file_store import FileStore


NATIVE = "-native"
"""End of the names of blobs that have files of a backend beside them."""


class StateLog(Protocol):
    """Named blobs, written once."""

    durable: bool = False
    """Whether blobs outlive the job, so that checkpoints can refer to them."""
    copies_files: bool = False
    """Whether a backend's files are copied into the log, rather than written there."""

    def write(self, name: str, data: bytes) -> None:
        """Store a blob, which is complete when this returns."""

    def read(self, name: str) -> bytes:
        """Return a blob."""

    def storing(self, name: str) -> AbstractContextManager[str]:
        """Yield a directory to write a backend's files to. On exit they are in the log, beside the blob ``name``."""

    def open_files(self, name: str) -> AbstractContextManager[str]:
        """Yield a directory with the files beside a blob, for reading only."""

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return a checkpoint's reference to a blob.

        Raises:
            TypeError: The log is not durable.
        """
        raise TypeError(f"{handle.name} is not durable")

    def delete(self, name: str) -> None:
        """Delete a blob and its files, if they exist."""


class MemoryStateLog(StateLog):
    """Keeps blobs in this process, for the inline engine."""

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

    def storing(self, name: str) -> AbstractContextManager[str]:
        """Yield a new directory for files, which :meth:`close` removes."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="flintstream-state-")
        return self.open_files(name)

    def open_files(self, name: str) -> AbstractContextManager[str]:
        """Yield the directory of the files."""
        return contextlib.nullcontext(self._path(name))

    def _path(self, name: str) -> str:
        assert self._directory is not None  # noqa: S101 - files were stored
        return os.path.join(self._directory, name)  # noqa: PTH118 - as below

    def delete(self, name: str) -> None:
        """Delete a blob and its files."""
        self.blobs.pop(name, None)
        if self._directory is not None:
            shutil.rmtree(self._path(name), ignore_errors=True)

    def close(self) -> None:
        """Remove all files."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


class DirectoryStateLog(StateLog):
    """Keeps blobs as files in a directory that all workers can reach."""

    def __init__(self, path: str) -> None:
        """Use the existing directory ``path``."""
        self.path = path

    def write(self, name: str, data: bytes) -> None:
        """Store a blob; it is written to a temporary file first, so that readers never see half of it.

        Raises:
            FileNotFoundError: The directory does not exist on this machine.
        """
        target = os.path.join(self.path, name)  # noqa: PTH118 - hot path of every epoch
        part = f"{target}.{os.getpid()}.part"
        try:
            file = open(part, "wb")  # noqa: PTH123, SIM115 - closed below
        except FileNotFoundError:
            raise FileNotFoundError(
                f"there is no directory {self.path} on this worker: set 'flintstream.state.dir' or "
                "'execution.checkpointing.dir' to a location that all workers reach"
            ) from None
        try:
            with file:
                file.write(data)
            os.replace(part, target)  # noqa: PTH105
        except BaseException as error:
            if isinstance(error, OSError):
                error.filename = error.filename or target
            os.unlink(part)  # noqa: PTH108 - on a full disk, half a blob must not take the room of the next one
            raise

    def read(self, name: str) -> bytes:
        """Return a blob."""
        with open(os.path.join(self.path, name), "rb") as file:  # noqa: PTH118, PTH123
            return file.read()

    def storing(self, name: str) -> AbstractContextManager[str]:
        """Yield a new directory of the log."""
        return self.open_files(name)

    def open_files(self, name: str) -> AbstractContextManager[str]:
        """Yield the directory of the files."""
        return contextlib.nullcontext(self._files(name))

    def _files(self, name: str) -> str:
        return os.path.join(self.path, f"{name}.files")  # noqa: PTH118

    def delete(self, name: str) -> None:
        """Delete a blob and its files."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, name))  # noqa: PTH108, PTH118
        if name.endswith(NATIVE):
            shutil.rmtree(self._files(name), ignore_errors=True)


class StoreStateLog(StateLog):
    """Keeps blobs in a file store, for workers that share no directory."""

    copies_files = True

    def __init__(self, store: FileStore) -> None:
        """Keep blobs in the top directory of ``store``."""
        self.store = store

    def write(self, name: str, data: bytes) -> None:
        """Store a blob."""
        self.store.write(name, data)

    def read(self, name: str) -> bytes:
        """Return a blob."""
        return self.store.read(name)

    @contextlib.contextmanager
    def storing(self, name: str) -> Iterator[str]:
        """Yield a temporary directory, whose files are uploaded on exit."""
        with tempfile.TemporaryDirectory(prefix="flintstream-upload-") as directory:
            yield directory
            files = [path for path in Path(directory).rglob("*") if path.is_file()]
            self._transfer(lambda path: self.store.put(str(path), self._file(name, path.relative_to(directory))), files)

    @contextlib.contextmanager
    def open_files(self, name: str) -> Iterator[str]:
        """Yield a temporary directory with downloaded files."""
        with tempfile.TemporaryDirectory(prefix="flintstream-restore-") as directory:
            files = [Path(directory, path) for path in self.store.list(f"{name}.files")]
            for parent in {path.parent for path in files}:
                parent.mkdir(parents=True, exist_ok=True)
            self._transfer(lambda path: self.store.get(self._file(name, path.relative_to(directory)), str(path)), files)
            yield directory

    @staticmethod
    def _file(name: str, path: Path) -> str:
        return f"{name}.files/{path.as_posix()}"

    @staticmethod
    def _transfer(copy: Callable[[Path], None], files: Sequence[Path]) -> None:
        with ThreadPoolExecutor(TRANSFER_THREADS.default) as pool:
            list(pool.map(copy, files))

    def delete(self, name: str) -> None:
        """Delete a blob and its files."""
        self.store.delete(name)
        if name.endswith(NATIVE):
            self.store.delete_tree(f"{name}.files")


def log_in(store: FileStore) -> StateLog:
    """Return a log in a directory, which this creates if it is on this machine or mounted there."""
    if not isinstance(store, LocalFileStore):
        return StoreStateLog(store)
    os.makedirs(store.root, exist_ok=True)  # noqa: PTH103
    return DirectoryStateLog(store.root)  # without flushes to disk: nothing reads the log after a crash


class DurableStateLog(StateLog):
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

    def storing(self, name: str) -> AbstractContextManager[str]:
        """Raise TypeError, because a changelog has the same format for every backend."""
        raise TypeError(f"{name}: a changelog does not store backend files")

    def open_files(self, name: str) -> AbstractContextManager[str]:
        """Raise TypeError, because a changelog has the same format for every backend."""
        raise TypeError(f"{name}: a changelog does not store backend files")

    def piece(self, handle: StateHandle) -> StatePiece:
        """Return a checkpoint's reference to a blob."""
        return StatePiece(self.path(handle.name), handle.size, handle.checksum, operators=handle.operators)

    def delete(self, name: str) -> None:
        """Delete a blob."""
        self.store.delete(self.path(name))
