r"""Read lines of text from a byte range of a file, chunk by chunk. Reading can continue after any line.

Lines end at ``\n``, ``\r`` or ``\r\n``, as in Java's ``BufferedReader``, which Flink uses. Bytes that are malformed in
the charset become U+FFFD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._text.secrets import shown_path
from flintstream.connectors.files.byte_streams import is_line_safe, open_bytes
from flintstream.connectors.files.reader import FileReader, FileSplit
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from flintstream.connectors.files.byte_streams import ByteStream
    from flintstream.connectors.files.reader import OpenFile

__all__ = ["FileSplit", "LineBlocks", "LineFile", "TextLineReader", "last_line_start", "line_start", "split_lines"]

CHUNK = 1 << 17
LONGEST_LINE = 1 << 27
"""Most bytes of a line. A longer one would take several times as much memory, and is hardly text."""


def line_start(buffer: bytes, at_least: int, *, final: bool) -> int:
    r"""Return the first index from ``at_least`` (1 or more) at which a line starts, or -1 if it is not known yet.

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
    r"""Return an index up to which the buffer holds complete lines: the last one unless lone \r follow the last \n.

    >>> last_line_start(b"ab\ncd"), last_line_start(b"ab"), last_line_start(b"a\rb\r")
    (3, 0, 2)
    """
    newline = buffer.rfind(b"\n")
    return newline + 1 if newline >= 0 else buffer.rfind(b"\r", 0, len(buffer) - 1) + 1


class LineBlocks:
    """Cuts a stream into blocks of complete lines."""

    def __init__(self, stream: ByteStream, split: FileSplit, chunk: int = CHUNK) -> None:
        """Take an unread stream and go to the position of the split."""
        self._stream = stream
        self._path = split.path
        self._end = split.end
        self._chunk = chunk
        self._buffer = b""
        self.position = split.start if split.position is None else split.position
        """Position of the next block."""
        if split.position is not None or split.start == 0:
            stream.seek(self.position)
        else:
            self._find_first_line()

    def _find_first_line(self) -> None:
        """Skip the line that crosses the start, because it belongs to the previous split."""
        self.position -= 1
        self._stream.seek(self.position)
        start, size = -1, 4096
        while start < 0:
            data = self._stream.read(size)
            self._buffer += data
            start = line_start(self._buffer, 1, final=not data) if data else len(self._buffer)
            self._check_length()
            size *= 2
        self.position += start
        self._buffer = self._buffer[start:]

    def _check_length(self) -> None:
        if len(self._buffer) > LONGEST_LINE:
            raise FlintstreamError(
                f"{shown_path(self._path)}: the line at byte {self.position} has more than {LONGEST_LINE >> 20} MB: "
                "is it text?"
            )

    def next(self) -> bytes:
        """Return the next block; empty at the end. The last line of the file may lack its line end."""
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
            self._check_length()
            size *= 2  # a long line: reading it in equal chunks would copy its beginning repeatedly
        return b""

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def split_lines(text: str) -> list[str]:
    r"""Split text into lines; the last one may lack its line end.

    >>> split_lines("a\r\n\nb\x0bc\rd")
    ['a', '', 'b\x0bc', 'd']
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class LineFile:
    """An open file of lines, and the lines of its current block that have not been returned yet."""

    def __init__(self, blocks: LineBlocks, encoding: str, skip: int = 0) -> None:
        """Take the blocks, their encoding, and the number of lines to skip."""
        self._blocks = blocks
        self._encoding = encoding
        self._block_start = blocks.position
        self._lines: list[str] = []
        self._done = skip
        self.position: int | None = blocks.position
        self.skip = skip

    def next(self, size: int) -> list[str] | None:
        """Return the next lines."""
        if not self._fill():
            return None
        batch = self._lines[self._done : self._done + size]
        self._done += len(batch)
        if self._done < len(self._lines):
            self.position, self.skip = self._block_start, self._done
        else:
            self.position, self.skip = self._blocks.position, 0
        return batch

    def _fill(self) -> bool:
        """Load the next lines, unless the split has been read completely."""
        while self._done >= len(self._lines):
            left = self._done - len(self._lines)  # to skip: earlier, blocks may have been cut elsewhere
            block = self._blocks.next()
            if not block:
                return False
            self._block_start = self._blocks.position - len(block)
            self._lines = split_lines(block.decode(self._encoding, "replace"))
            self._done = left
        return True

    def close(self) -> None:
        """Close the stream."""
        self._blocks.close()


class TextLineReader(FileReader):
    """Reads the lines of file splits."""

    def __init__(self, charset: str = "UTF-8", chunk: int = CHUNK) -> None:
        """Take the charset of the files and the number of bytes to read at once."""
        super().__init__()
        self._charset = charset
        self._encoding = charset if is_line_safe(charset) else "utf-8"
        self._chunk = chunk

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        blocks = LineBlocks(open_bytes(split.path, self._charset), split, self._chunk)
        return LineFile(blocks, self._encoding, split.skip)
