"""Files as streams of bytes: plain, decompressed by suffix, or transcoded to UTF-8."""

from __future__ import annotations

import bz2
import codecs
import importlib
import lzma
import zlib
from typing import IO, TYPE_CHECKING, Any, Protocol

from flintstream.common._text.secrets import shown_path
from flintstream.errors import optional_module
from flintstream.storage.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Callable

RAW_CHUNK = 1 << 16
RAW_DEFLATE = "raw deflate"
"""The compression of ``.deflate`` without its header and checksum."""
_DEFLATE_RATIO = 1032
"""The most bytes that one byte can stand for."""
LARGEST_CHUNK = 1 << 20
"""Most bytes to decompress at once, because a small file may contain very many."""
XZ_MEMORY = 1 << 28
"""Most bytes of memory to decompress a .xz file; its header demands it. The strongest preset needs 65 MB."""
ZSTD_CHUNK = 1 << 7
"""Compressed bytes to pass to zstandard at once, which cannot limit its output: 4 of them may contain 128 kB."""


class ByteStream(Protocol):
    """The interface of an open file that readers need."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end."""

    def seek(self, offset: int, /) -> object:
        """Go to a byte offset; called at most once, before the first read."""

    def close(self) -> None:
        """Close the file."""


class Decompressor(Protocol):
    """Decompresses one stream, a limited number of bytes at a time."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Add compressed data, and return the next bytes, at most ``max_length`` of them."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def unused_data(self) -> bytes:
        """The data after its end."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing can be returned without more data."""


class _Zlib:
    """A decompressor of zlib with the interface of the others."""

    def __init__(self, wbits: int) -> None:
        self._own = zlib.decompressobj(wbits)

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._own.decompress(self._own.unconsumed_tail + data, max_length)

    @property
    def eof(self) -> bool:
        return self._own.eof

    @property
    def unused_data(self) -> bytes:
        return self._own.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._own.unconsumed_tail


class _Zstandard:
    """A decompressor of the package zstandard with the interface of the others."""

    def __init__(self, library: Any) -> None:
        self._own = library.ZstdDecompressor().decompressobj()
        self._data = b""
        self._at = 0

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        if data:
            self._data, self._at = self._data[self._at :] + data, 0
        start, self._at = self._at, min(self._at + ZSTD_CHUNK, len(self._data))
        decompressed: bytes = self._own.decompress(self._data[start : self._at])
        return decompressed

    @property
    def eof(self) -> bool:
        return bool(self._own.eof)

    @property
    def unused_data(self) -> bytes:
        unused: bytes = self._own.unused_data + self._data[self._at :]
        return unused

    @property
    def needs_input(self) -> bool:
        return self._at >= len(self._data)


def _zstd() -> Any:
    try:
        return importlib.import_module("compression.zstd").ZstdDecompressor()  # part of Python 3.14
    except ImportError:
        pass
    return _Zstandard(optional_module("zstandard", extra="zstd", purpose="reading .zst files"))


_GZIP_HEADER = 10
_GZIP_MAGIC = b"\x1f\x8b\x08"
_DECOMPRESSORS: dict[str, Callable[[], Decompressor]] = {
    ".gz": lambda: _Zlib(31),
    ".gzip": lambda: _Zlib(31),
    ".deflate": lambda: _Zlib(15),
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY),
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
        self._current: Decompressor | None = None
        self._left = b""
        self._first = True
        self._ignores_rest = suffix in {".gz", ".gzip"}

    def _more(self) -> bytes | None:
        data = b""
        if self._current is None or self._current.needs_input:
            data = self._left or self._below.read(RAW_CHUNK)
            self._left = b""
        if self._current is None:
            data = data.lstrip(b"\0") or self._below.read(RAW_CHUNK)  # gzip and xz allow padding between streams
            if data and self._ignores_rest and not self._first:
                data += self._below.read(max(0, _GZIP_HEADER - len(data)))
                if len(data) < _GZIP_HEADER or not data.startswith(_GZIP_MAGIC):
                    return None  # as in gzip and Java, other bytes behind the last member mean nothing
            if not data:
                return None
            self._first = False
            self._current = self._new()
        wanted = self._current.needs_input
        try:
            chunk = self._current.decompress(data, LARGEST_CHUNK)
        except Exception as error:
            raise OSError(f"cannot decompress {shown_path(self._path)}: {error}") from error
        if wanted and not data and not chunk and not self._current.eof:
            raise EOFError(f"{shown_path(self._path)} ends in the middle of its compressed data")
        if self._current.eof:
            self._left = self._current.unused_data
            self._current = None
        return chunk


def decompressed_size(stream: IO[bytes], size: int, kind: str, limit: int) -> int:
    """Return how many bytes the next ``size`` bytes of a file have after decompression, or a number beyond ``limit``.

    Args:
        stream: the file.
        size: the compressed size in bytes.
        kind: a suffix, or :data:`RAW_DEFLATE`.
        limit: where to stop.

    A stream that is damaged or does not end has the size of its good part.
    """
    if kind == RAW_DEFLATE and size * _DEFLATE_RATIO <= limit:
        return size  # too short to be dangerous
    current, found = _Zlib(-15) if kind == RAW_DEFLATE else _DECOMPRESSORS[kind](), 0
    while found <= limit and not current.eof:
        wanted = current.needs_input
        data = stream.read(min(size, RAW_CHUNK)) if wanted else b""
        size -= len(data)
        try:
            chunk = current.decompress(data, LARGEST_CHUNK)
        except Exception:  # noqa: BLE001 - the reader of the data reports it
            break
        found += len(chunk)
        if wanted and not data and not chunk:
            break
    return found


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
