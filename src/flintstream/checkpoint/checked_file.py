"""Access to a state file with a check against the size and checksum in the metadata of its checkpoint.

Every part of a state file has its own checksum, so damage is found on reading. An intact file of another subtask or
checkpoint is found only by the checksum of the whole file, which is computed from the parts that are read anyway.
"""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from flintstream.checkpoint.state_file import StateFile
from flintstream.errors import (
    CorruptCheckpointError,
    CorruptDataError,
    FlintstreamError,
    NotEnoughMemoryError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.errors import (
        CheckpointError,
    )

__all__ = ["checked_file", "usable"]

_BLOCK = 1 << 20


@contextmanager
def checked_file(
    stream: BinaryIO, path: str, size: int, checksum: str, *, whole: bool = True, allow_pickle: bool = True
) -> Iterator[StateFile]:
    """Open a state file for reading, and verify at the end of the context that it is the right one.

    The end of the context reads the rest of the file, unless an error of the file itself has ended it.

    Args:
        stream: the file, which must be seekable.
        path: the name of the file in messages.
        size: its expected size in bytes.
        checksum: its expected SHA-256, in hexadecimal.
        whole: False to compare only the size, if other code reads the whole file.
        allow_pickle: as for :class:`~flintstream.checkpoint.state_file.StateFile`.

    Raises:
        CorruptCheckpointError: The file is damaged, or a different one.

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
            raise CorruptCheckpointError(path, "its content differs from what was stored")

    try:
        yield StateFile(cast("BinaryIO", hashing), path, allow_pickle=allow_pickle)
    except (CorruptCheckpointError, OSError):
        raise
    except CorruptDataError as error:
        check()
        raise CorruptCheckpointError(path, str(error)) from error
    except FlintstreamError:
        check()  # state that does not fit the program may come from the wrong file
        raise
    except Exception as error:
        check()
        raise _unusable(path, error) from error
    check()


@contextmanager
def usable(path: str) -> Iterator[None]:
    """Raise an error that names the file if its content is intact, but no state that flintstream writes.

    Raises:
        CorruptCheckpointError: Using the content raised an error other than one of flintstream or of the storage.
    """
    try:
        yield
    except CorruptDataError as error:
        raise CorruptCheckpointError(path, str(error)) from error
    except (FlintstreamError, OSError):
        raise
    except Exception as error:
        raise _unusable(path, error) from error


def _unusable(path: str, error: Exception) -> CheckpointError:
    if isinstance(error, MemoryError):
        return NotEnoughMemoryError()
    return CorruptCheckpointError(path, f"its content cannot be used ({type(error).__name__}: {error})")


class _Hashing:
    """A file that hashes its content while that is read in order."""

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
