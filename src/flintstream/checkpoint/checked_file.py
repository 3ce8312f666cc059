"""Opens a state file as the metadata of a checkpoint knows it: no other file in its place is taken for it.

Every part of a state file has a checksum of its own, so what is damaged is found while it is read. A good file of
another subtask or checkpoint is found only by the checksum of the whole, which is computed from what is read anyway.
"""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from flintstream.checkpoint.state_file import StateFile
from flintstream.errors import CorruptCheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["checked_file"]

_BLOCK = 1 << 20


@contextmanager
def checked_file(
    stream: BinaryIO, path: str, size: int, checksum: str, *, whole: bool = True, allow_pickle: bool = True
) -> Iterator[StateFile]:
    """Read a state file; that it is the right one is known for sure when the context is left.

    What was not read until then is read at the end, unless the context is left before its time.

    Args:
        stream: the file, which can seek.
        path: what messages call the file.
        size: bytes that it should have.
        checksum: SHA-256 that it should have, in hexadecimal.
        whole: False compares the size alone, where someone else reads the file whole.
        allow_pickle: as for :class:`~flintstream.checkpoint.state_file.StateFile`.

    Raises:
        CorruptCheckpointError: It is damaged, or another file.

    >>> from flintstream.checkpoint.state_file import to_bytes
    >>> with checked_file(io.BytesIO(to_bytes()), "chk-1/0-0", 99, "..."):
    ...     pass
    Traceback (most recent call last):
    flintstream.errors.CorruptCheckpointError: chk-1/0-0: it has 69 bytes, but 99 were stored
    """
    found = stream.seek(0, io.SEEK_END)
    if found != size:
        raise CorruptCheckpointError(path, f"it has {found} bytes, but {size} were stored")
    hashing = _Hashing(stream)

    def check() -> None:
        if whole and hashing.hexdigest() != checksum:
            raise CorruptCheckpointError(path, "its content is not what was stored")

    try:
        yield StateFile(cast("BinaryIO", hashing), path, allow_pickle=allow_pickle)
    except (CorruptCheckpointError, OSError):
        raise
    except Exception:
        check()  # what does not fit the program may be because it is of another one
        raise
    check()


class _Hashing:
    """A file that hashes what is read of it in order."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._at = 0
        self._hash = hashlib.sha256()
        self._hashed = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = self._stream.seek(offset, whence)
        return self._at

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        end = self._at + len(data)
        if self._at <= self._hashed < end:
            self._hash.update(memoryview(data)[self._hashed - self._at :])
            self._hashed = end
        self._at = end
        return data

    def close(self) -> None:
        self._stream.close()

    def hexdigest(self) -> str:
        self.seek(self._hashed)
        while self.read(_BLOCK):
            pass
        return self._hash.hexdigest()
