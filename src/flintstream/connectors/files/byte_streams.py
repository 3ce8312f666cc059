"""Files as streams of bytes: plain, decompressed by suffix, or transcoded to UTF-8."""

from __future__ import annotations

import bz2
import codecs
import importlib
import lzma
import zlib
from typing import IO, TYPE_CHECKING, Any, Protocol

from flintstream.errors import optional_module
from flintstream.storage.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Callable

RAW_CHUNK = 1 << 16


class ByteStream(Protocol):
    """The interface of an open file that readers need."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end."""

    def seek(self, offset: int, /) -> object:
        """Go to a byte offset; called at most once, before the first read."""

    def close(self) -> None:
        """Close the file."""


def _zstd() -> Any:
    try:
        return importlib.import_module("compression.zstd").ZstdDecompressor()  # part of Python 3.14
    except ImportError:
        pass
    library = optional_module("zstandard", extra="zstd", purpose="reading .zst files")
    return library.ZstdDecompressor().decompressobj()


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.decompressobj(31),
    ".gzip": lambda: zlib.decompressobj(31),
    ".deflate": zlib.decompressobj,
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lzma.LZMADecompressor,
    ".zst": _zstd,
}


def compression_of(path: str) -> str | None:
    """Return the suffix that names the compression of a file, or None.

    >>> compression_of("logs/a.csv.gz"), compression_of("a.csv")
    ('.gz', None)
    """
    return next((suffix for suffix in _DECOMPRESSORS if path.endswith(suffix)), None)


class _ForwardStream:
    """Transforms the chunks of a stream into a forward-only stream."""

    def __init__(self, below: ByteStream) -> None:
        self._below = below
        self._ready = b""

    def _more(self) -> bytes | None:
        """Return the next chunk, which may be empty, or None at the end."""
        raise NotImplementedError

    def read(self, size: int, /) -> bytes:
        parts = [self._ready]
        length = len(self._ready)
        while length < size:
            chunk = self._more()
            if chunk is None:
                break
            parts.append(chunk)
            length += len(chunk)
        data = b"".join(parts)
        self._ready = data[size:]
        return data[:size]

    def seek(self, offset: int, /) -> object:
        while offset > 0:
            skipped = len(self.read(min(offset, 1 << 20)))
            if not skipped:
                break
            offset -= skipped
        return None

    def close(self) -> None:
        self._below.close()


class _Decompressed(_ForwardStream):
    """Decompresses one or several concatenated streams."""

    def __init__(self, file: IO[bytes], path: str, suffix: str) -> None:
        super().__init__(file)
        self._path = path
        self._new = _DECOMPRESSORS[suffix]
        self._current: Any = None
        self._left = b""

    def _more(self) -> bytes | None:
        data = self._left or self._below.read(RAW_CHUNK)
        self._left = b""
        if self._current is None:
            data = data.lstrip(b"\0") or self._below.read(RAW_CHUNK)  # gzip and xz allow padding between streams
            if not data:
                return None
            self._current = self._new()
        elif not data:
            raise EOFError(f"{self._path} ends in the middle of its compressed data")
        try:
            chunk: bytes = self._current.decompress(data)
        except Exception as error:
            raise OSError(f"cannot decompress {self._path}: {error}") from error
        if self._current.eof:
            self._left = self._current.unused_data
            self._current = None
        return chunk


class _Utf8(_ForwardStream):
    """Transcodes text to UTF-8, in which a newline is always a single byte that occurs in no other character."""

    def __init__(self, below: ByteStream, charset: str) -> None:
        super().__init__(below)
        self._charset = charset
        self._decoder: codecs.IncrementalDecoder | None = None
        self._ended = False

    def _more(self) -> bytes | None:
        if self._ended:
            return None
        data = self._below.read(RAW_CHUNK)
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(_byte_order(self._charset, data))("replace")
        self._ended = not data
        return self._decoder.decode(data, final=self._ended).encode()


def _byte_order(charset: str, beginning: bytes) -> str:
    """Return the charset with a byte order. Without a mark Java reads UTF-16 and UTF-32 big-endian, Python natively."""
    name = codecs.lookup(charset).name
    marks = {
        "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
        "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    }
    return f"{name}-be" if name in marks and not beginning.startswith(marks[name]) else charset


def is_line_safe(charset: str) -> bool:
    """Return whether a newline in this charset is a single byte that occurs in no other character."""
    name = codecs.lookup(charset).name
    return "\r\n".encode(name) == b"\r\n" and name not in {"utf-7", "hz"}


def open_bytes(path: str, charset: str) -> ByteStream:
    """Open a file, decompressed by its suffix, and transcoded to UTF-8 unless the charset is line safe.

    Raises:
        MissingDependencyError: The decompressor is not installed.
        OSError: The file cannot be read.
    """
    file = open_file(path)
    suffix = compression_of(path)
    stream: ByteStream = file if suffix is None else _Decompressed(file, path, suffix)
    return stream if is_line_safe(charset) else _Utf8(stream, charset)
