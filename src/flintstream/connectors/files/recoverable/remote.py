"""Part files in object stores and other file systems that fsspec supports.

Object stores can neither append to a file nor truncate it, and most cannot rename one. An open file is kept in pieces,
the last of them in the state itself. When it is complete, it is written as a whole under a hidden name. To give it its
final name, the store copies it on the server side and removes the hidden one. An object appears only when it is
complete, so readers see all of a file or nothing. Copying again after a failure has no effect.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from flintstream.connectors.files.recoverable import PreparedFile, bucket_path, check_within, gone
from flintstream.errors import shorten
from flintstream.storage.local import too_short
from flintstream.storage.remote import COPYING_STORES, move, reach, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from flintstream.connectors.files.recoverable import OpenFile, RecoverableStream

PIECE_BYTES = 8 << 20
"""Maximum number of buffered bytes per file."""
KEPT_BYTES = 1 << 18
"""Maximum size of a piece that stays in the state at the end of an epoch instead of becoming a file."""
COPIES = 8
"""How many files of an object store get their names at the same time. Each takes three or four requests."""


class RemoteRecoverableWriter:
    """Writes to a directory of a remote file system."""

    def __init__(self, base: str) -> None:
        """Take the URI of the directory."""
        self.base = base
        self._protocol = base.partition(":")[0]

    def directory(self, bucket: str) -> str:
        """Return the URI of a bucket's directory; create it unless the store has no directories."""
        below = bucket_path(bucket, self.base)
        if "::" in below:
            raise ValueError(
                f"the bucket {shorten(bucket)} contains '::', which separates file systems in a URI of fsspec: the "
                "bucket assigner must return another name"
            )
        directory = self.base if below == "." else f"{self.base}/{below}"
        if self._protocol not in COPYING_STORES:
            system, place = reach(directory)
            system.makedirs(place, exist_ok=True)
        return directory

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""
        system, place = reach(path)
        system.invalidate_cache()
        return bool(system.exists(place))

    def contains(self, path: str) -> bool:
        """Return whether a file is in the directory."""
        return path.startswith(f"{self.base}/")

    def recover(self, known: OpenFile) -> RecoverableStream:
        """Start a file, or continue from its pieces."""
        return _RemoteStream(known)

    def check(self, known: OpenFile) -> None:
        """Check that all pieces exist. Pieces never change."""
        check_within(known.path, self.base, within=self.contains(known.path))
        pieces, _ = known.log or ((), b"")
        for path, length in pieces:
            size = size_of(path)
            if size is None:
                raise gone(known)
            if size != length:
                raise too_short(path, size, length)

    def create(self, path: str) -> BinaryIO:
        """Start a file."""
        system, place = reach(path)
        return cast("BinaryIO", system.open(place, "wb"))

    def complete(self, file: BinaryIO) -> int:
        """Upload the rest of a file."""
        length = file.tell()
        file.close()
        return length

    def abandon(self, file: BinaryIO) -> None:
        """Close a file. Its uploaded parts are removed with the other unreferenced files."""
        with contextlib.suppress(Exception):
            file.close()

    def read(self, prepared: PreparedFile) -> BinaryIO:
        """Open a file."""
        size = size_of(prepared.path)
        if size is not None and size != prepared.length:
            raise too_short(prepared.path, size, prepared.length)
        system, place = reach(prepared.path)
        return cast("BinaryIO", system.open(place, "rb"))

    def sync(self) -> None:
        """Do nothing: uploaded files are already durable."""

    def take_back(self, known: OpenFile) -> None:
        """Do nothing: the pieces of an open file are kept."""

    def finish(self, prepared: Iterable[PreparedFile]) -> None:
        """Copy or move files to their final names. Another process may do the same at the same time."""
        files = list(prepared)
        if len(files) < 2 or self._protocol not in COPYING_STORES:  # other clients may not be thread-safe
            for file in files:
                self._finish(file)
            return
        with ThreadPoolExecutor(min(COPIES, len(files))) as threads:
            for _ in threads.map(self._finish, files):
                pass

    def _finish(self, prepared: PreparedFile) -> None:
        size = size_of(prepared.path)
        if size is not None and size != prepared.length:
            raise too_short(prepared.path, size, prepared.length)
        moved = False
        if size is not None:
            with contextlib.suppress(FileNotFoundError):  # another process has moved it
                move(prepared.path, prepared.target)
                moved = True
        if not moved and not self.exists(prepared.target):
            raise FileNotFoundError(f"neither {prepared.path} nor {prepared.target} exists")
        self.remove(prepared.leftovers)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files."""
        for path in paths:
            system, place = reach(path)
            with contextlib.suppress(FileNotFoundError):
                system.rm_file(place)

    def remove_leftovers(self, is_leftover: Callable[[str], bool], known: Collection[str] = ()) -> None:
        """Remove hidden files."""
        system, top = reach(self.base)
        system.invalidate_cache()
        found = system.find(top) if system.exists(top) else []
        for place in found:
            name = place.rpartition("/")[2]
            path = self.base + place.removeprefix(top.rstrip("/"))
            if name.startswith(".") and path not in known and is_leftover(name):
                self.remove([path])


class _RemoteStream:
    def __init__(self, known: OpenFile) -> None:
        self._known = known
        pieces, kept = known.log or ((), b"")
        self._pieces: list[tuple[str, int]] = list(pieces)
        self._buffer = io.BytesIO()
        self._buffer.write(kept)
        self.length = known.length

    def write(self, data: bytes) -> None:
        self._buffer.write(data)
        self.length += len(data)
        if self._buffer.tell() >= PIECE_BYTES:
            self._upload()

    def _new_path(self) -> str:
        # Other attempts may be writing the same file, so each name is used only once.
        return f"{self._known.path}.{uuid.uuid4().hex[:12]}"

    def _upload(self) -> None:
        data = self._buffer.getvalue()
        path = self._new_path()
        system, place = reach(path)
        system.pipe_file(place, data)
        self._pieces.append((path, len(data)))
        self._buffer = io.BytesIO()

    def save(self) -> Any:
        if self._buffer.tell() > KEPT_BYTES:
            self._upload()
        return tuple(self._pieces), self._buffer.getvalue()

    def sync(self) -> None:
        pass  # pieces are uploaded, and the rest is in the state

    def seal(self) -> PreparedFile:
        path = self._new_path()
        system, place = reach(path)
        with system.open(place, "wb") as file:
            self._copy_to(file)
        return PreparedFile(path, self._known.target, self.length, parts=self.parts())

    def _copy_to(self, file: Any) -> None:
        for path, _ in self._pieces:
            system, place = reach(path)
            file.write(system.cat_file(place))
        file.write(self._buffer.getvalue())

    def read(self) -> BinaryIO:
        file = tempfile.SpooledTemporaryFile(PIECE_BYTES)  # noqa: SIM115 - the caller closes it
        self._copy_to(file)
        file.seek(0)
        return cast("BinaryIO", file)

    def parts(self) -> tuple[str, ...]:
        return tuple(path for path, _ in self._pieces)

    def close(self) -> None:
        self._buffer.close()
