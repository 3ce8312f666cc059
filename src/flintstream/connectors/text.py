r"""Reads lines of text from a byte range of a file, a chunk at a time, and goes on after any line.

Lines end as they do for Java's ``BufferedReader``, which Flink reads text with: at ``\n``, ``\r`` or ``\r\n``. Bytes
that are malformed in the charset become U+FFFD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.connectors.byte_streams import is_line_safe, open_bytes
from flintstream.connectors.source import SourceReader, SourceSplit

if TYPE_CHECKING:
    from collections.abc import Generator

    from flintstream.connectors.byte_streams import ByteStream
    from flintstream.connectors.source import Fetch

CHUNK = 1 << 17
MOST_FILES_KEPT_OPEN = 8


@dataclass
class FileSplit(SourceSplit):
    """The lines of a file that start in ``[start, end)``, and how many of them were read.

    Offsets count bytes of the file or, where it is decompressed or brought to UTF-8, of what comes out of that.
    """

    path: str
    start: int = 0
    end: int | None = None
    """None: up to the end of the file."""
    position: int | None = None
    """Where a line starts before which everything was read; None: nothing was read yet."""
    skip: int = 0
    """Lines after ``position`` that were read too."""


def line_start(buffer: bytes, at_least: int, *, final: bool) -> int:
    r"""Return the first index from ``at_least`` (1 or more) on where a line starts, or -1 if that cannot be told yet.

    >>> (
    ...     line_start(b"ab\ncd", 1, final=False),
    ...     line_start(b"ab\ncd", 3, final=False),
    ...     line_start(b"ab\r\n", 3, final=False),
    ... )
    (3, 3, 4)
    >>> line_start(b"ab\r", 1, final=False), line_start(b"ab\r", 1, final=True)
    (-1, 3)
    """
    newline = buffer.find(b"\n", at_least - 1)
    carriage_return = buffer.find(b"\r", at_least - 1, newline if newline >= 0 else len(buffer))
    if carriage_return < 0 or carriage_return + 1 == newline:
        return newline + 1 if newline >= 0 else -1
    if carriage_return + 1 == len(buffer) and not final:
        return -1  # the other half of \r\n may follow
    return carriage_return + 1


def last_line_start(buffer: bytes) -> int:
    r"""Return an index up to which the buffer holds complete lines: the last one, unless lone \r follow the last \n.

    >>> last_line_start(b"ab\ncd"), last_line_start(b"ab"), last_line_start(b"a\rb\r")
    (3, 0, 2)
    """
    newline = buffer.rfind(b"\n")
    return newline + 1 if newline >= 0 else buffer.rfind(b"\r", 0, len(buffer) - 1) + 1


class LineBlocks:
    """Cuts a stream into blocks of complete lines."""

    def __init__(self, stream: ByteStream, split: FileSplit, chunk: int = CHUNK) -> None:
        """Take the stream, which nothing was read from, and go to where the split stands."""
        self._stream = stream
        self._end = split.end
        self._chunk = chunk
        self._buffer = b""
        self.position = split.start if split.position is None else split.position
        """Where the next block starts."""
        if split.position is not None or split.start == 0:
            stream.seek(self.position)
        else:
            self._find_first_line()

    def _find_first_line(self) -> None:
        """The line that runs across the start belongs to the split before this one."""
        self.position -= 1
        self._stream.seek(self.position)
        start, size = -1, 4096
        while start < 0:
            data = self._stream.read(size)
            self._buffer += data
            start = line_start(self._buffer, 1, final=not data) if data else len(self._buffer)
            size *= 2
        self.position += start
        self._buffer = self._buffer[start:]

    def next(self) -> bytes:
        """Return the next block; the last line of the file may lack its line end. Empty: there is none."""
        size = self._chunk
        while self._end is None or self.position < self._end:
            data = self._stream.read(size)
            self._buffer += data
            final = not data
            cut = len(self._buffer) if final else last_line_start(self._buffer)
            if self._end is not None and len(self._buffer) >= self._end - self.position:
                start = line_start(self._buffer, self._end - self.position, final=final)
                if start >= 0:
                    cut = start
            if cut or final:
                block, self._buffer = self._buffer[:cut], self._buffer[cut:]
                self.position += cut
                return block
            size *= 2  # a long line: reading it in equal pieces would copy its beginning again and again
        return b""

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def split_lines(text: str) -> list[str]:
    r"""Cut text into lines; the last one may lack its line end.

    >>> split_lines("a\r\n\nb\x0bc\rd")
    ['a', '', 'b\x0bc', 'd']
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class _OpenFile:
    """A file that is being read, and the lines of its current block that were not handed out yet."""

    def __init__(self, blocks: LineBlocks) -> None:
        self.blocks = blocks
        self.block_start = blocks.position
        self.lines: list[str] = []
        self.done = 0


class TextLineReader(SourceReader):
    """Reads the lines of file splits."""

    def __init__(self, charset: str = "UTF-8", chunk: int = CHUNK) -> None:
        """Take the charset of the files and how many bytes to read at once."""
        self._charset = charset
        self._encoding = charset if is_line_safe(charset) else "utf-8"
        self._chunk = chunk
        self._open_files: dict[tuple[str, int | None, int], _OpenFile] = {}

    def read(self, split: FileSplit, fetch: Fetch) -> Generator[list[str], None, bool]:
        """Yield the split's lines."""
        file = self._open(split)
        try:
            while self._fill(file):
                batch = file.lines[file.done : file.done + max(1, fetch.size)]
                file.done += len(batch)
                if file.done < len(file.lines):
                    split.position, split.skip = file.block_start, file.done
                else:
                    split.position, split.skip = file.blocks.position, 0
                yield batch
        except GeneratorExit:
            self._keep(split, file)
            raise
        except BaseException:
            file.blocks.close()
            raise
        file.blocks.close()
        return True

    def _fill(self, file: _OpenFile) -> bool:
        """Make sure that there are lines to hand out, unless the split is used up."""
        while file.done >= len(file.lines):
            left = file.done - len(file.lines)  # to skip: the last time, blocks may have been cut elsewhere
            block = file.blocks.next()
            if not block:
                return False
            file.block_start = file.blocks.position - len(block)
            file.lines = split_lines(block.decode(self._encoding, "replace"))
            file.done = left
        return True

    def _open(self, split: FileSplit) -> _OpenFile:
        """Go on with the open file if this reader left it there: decompressing it all again would take long."""
        kept = self._open_files.pop((split.path, split.position, split.skip), None)
        if kept is not None:
            return kept
        file = _OpenFile(LineBlocks(open_bytes(split.path, self._charset), split, self._chunk))
        file.done = split.skip
        return file

    def _keep(self, split: FileSplit, file: _OpenFile) -> None:
        key = (split.path, split.position, split.skip)
        stale = self._open_files.pop(key, None)
        if stale is not None:
            stale.blocks.close()
        self._open_files[key] = file
        if len(self._open_files) > MOST_FILES_KEPT_OPEN:
            self._open_files.pop(next(iter(self._open_files))).blocks.close()

    def close(self) -> None:
        """Close what is still open."""
        for file in self._open_files.values():
            file.blocks.close()
        self._open_files.clear()
