"""Upload and download of a backend's state files; files with the same content are stored once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.metadata import NativeFile
from flintstream.errors import CorruptCheckpointError
from flintstream.options.rocksdb import TRANSFER_THREADS
from flintstream.storage.paths import check_path, hashed_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flintstream.checkpoint.metadata import StatePiece
    from flintstream.runtime.protocol import SnapshotRequest
    from flintstream.runtime.state_log.log import StateLog
    from flintstream.state.backend import Change
    from flintstream.state.settings import StateSettings
    from flintstream.storage.file_store import FileStore

_BLOCK_BYTES = 1 << 18


def is_native(state: Any) -> bool:
    """Return whether a backend can write its state as files."""
    return hasattr(state, "write_native")


def write_to_log(log: StateLog, name: str, keyed: Iterable[tuple[str, Any, Any]]) -> int:
    """Put the files of backends beside a blob of a log; return how many bytes were copied.

    ``keyed`` has the uid and the state of each operator.
    """
    with log.storing(name) as directory:
        for uid, state, _ in keyed:
            state.write_native(_place(directory, uid))
        if not log.copies_files:
            return 0
        return sum(path.stat().st_size for path in Path(directory).rglob("*"))


def restore_from_log(log: StateLog, name: str, keyed: Iterable[tuple[str, Any, Any]]) -> None:
    """Replace the state of backends by the files beside a blob of a log."""
    with log.open_files(name) as directory:
        for uid, state, _ in keyed:
            state.restore_native(_place(directory, uid))


def _place(directory: str, uid: str) -> str:
    """Return the directory of an operator's files. A uid may be any text, so it must not be a part of a path."""
    return os.path.join(directory, hashed_name(uid))  # noqa: PTH118


def upload(request: SnapshotRequest, uid: str, state: Any) -> tuple[NativeFile, ...]:
    """Store the files of a backend, except those that an earlier checkpoint stored, and return all of them.

    A backend without any declared state has no files.

    Files are stored under the hash of their content, because two databases may use one name for different files.
    """
    if not state.tables:
        return ()
    with tempfile.TemporaryDirectory(prefix="flintstream-upload-") as parent:
        directory = Path(parent, "files")
        state.write_native(str(directory))

        target = request.store
        if target is None:
            raise TypeError(f"cannot upload the state files of operator '{uid}': the checkpoint has no storage")

        def store(file: Path) -> NativeFile:
            digest = _sha256(file)
            path = f"{request.shared}/{digest}"
            if path not in request.known:
                target.put(str(file), path)
            return NativeFile(f"{uid}/{file.relative_to(directory)}", path, file.stat().st_size, digest)

        files = sorted(file for file in directory.rglob("*") if file.is_file())
        with ThreadPoolExecutor(request.transfer_threads) as pool:
            return tuple(pool.map(store, files))


def files_of(piece: StatePiece, uid: str) -> tuple[NativeFile, ...]:
    """Return the files of an operator in a piece, under the names that its backend gave them."""
    if piece.operators != (uid,):
        return ()
    return tuple(replace(file, name=file.name.removeprefix(f"{uid}/")) for file in piece.native)


def download(
    store: FileStore, files: Sequence[NativeFile], directory: str, transfer_threads: int = TRANSFER_THREADS.default
) -> None:
    """Download the files of one operator, as returned by :func:`files_of`, to a directory.

    Raises:
        CorruptCheckpointError: A file is missing, its content has changed, or its name leads out of the directory.
    """
    for file in files:
        try:
            check_path(file.name)
        except ValueError as error:
            raise CorruptCheckpointError(store.uri(file.path), f"the metadata gives it a bad name: {error}") from None

    def fetch(file: NativeFile) -> None:
        target = Path(directory, file.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            store.get(file.path, str(target))
        except FileNotFoundError:
            raise CorruptCheckpointError(store.uri(file.path), "the file is missing") from None
        if target.stat().st_size != file.size or _sha256(target) != file.sha256:
            raise CorruptCheckpointError(store.uri(file.path), "its content differs from what was stored")

    with ThreadPoolExecutor(transfer_threads) as pool:
        list(pool.map(fetch, files))


@contextmanager
def open_native(
    settings: StateSettings, directory: str, operator: str, *, allow_pickle: bool = True
) -> Iterator[Iterator[Change]]:
    """Read the changes in a backend's files, to restore another backend or to redistribute key groups.

    Raises:
        CorruptCheckpointError: The files are not a state database.
    """
    from flintstream.state.rocksdb.reader import RocksDBFiles

    files = RocksDBFiles(settings, directory, operator)
    try:
        yield files.changes(allow_pickle=allow_pickle)
    finally:
        files.close()


def _sha256(file: Path) -> str:
    with open(os.fspath(file), "rb") as stream:  # noqa: PTH123
        digest = hashlib.sha256()
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
        return digest.hexdigest()
