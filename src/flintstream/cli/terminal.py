"""One line at the bottom of a terminal, and the streams that write above it."""

from __future__ import annotations

import os
import shutil
import threading
from typing import Any, TextIO

__all__ = ["StatusLine", "Stream"]

_CLEAR = "\r\x1b[2K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class StatusLine:
    """A line that is always the last one. What else goes to the terminal must go through :class:`Stream`."""

    def __init__(self, terminal: TextIO) -> None:
        """Write to a terminal."""
        self._terminal = terminal
        self._text = ""
        self._shown = False
        self._in_line = False
        """Whether something else has written a part of a line."""
        self._lock = threading.RLock()
        self._owner = os.getpid()

    def show(self, text: str) -> None:
        """Show a text, as much of it as fits, in place of the last one."""
        with self._lock:
            self._text = text
            self._draw()

    def close(self) -> None:
        """Remove the line for good."""
        with self._lock:
            self._text = ""
            self._hide()

    def write(self, stream: TextIO, text: str) -> int:
        """Write a text to another stream of the same terminal, above the line."""
        if os.getpid() != self._owner:  # a fork: the lock may be held by a thread that is not there
            return stream.write(text)
        with self._lock:
            self._hide()
            count = stream.write(text)
            if text:
                self._in_line = not text.endswith("\n")
            if self._text and not self._in_line:
                stream.flush()
                self._draw()
            return count

    def clear(self) -> None:
        """Remove the line until something is written."""
        if os.getpid() == self._owner:
            with self._lock:
                self._hide()

    def _draw(self) -> None:
        if self._in_line or not self._text:
            return
        width = shutil.get_terminal_size().columns
        self._terminal.write(f"{_CLEAR}{_DIM}{self._text[: max(width - 1, 0)]}{_PLAIN}")
        self._terminal.flush()
        self._shown = True

    def _hide(self) -> None:
        if self._shown:
            self._terminal.write(_CLEAR)
            self._terminal.flush()
            self._shown = False


class Stream:
    """Standard output or standard error, above a line of status."""

    def __init__(self, stream: TextIO, line: StatusLine) -> None:
        """Write to ``stream``."""
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        """Write a text."""
        return self._line.write(self._stream, text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        """The binary stream below, for what writes bytes."""
        self._line.clear()
        return self._stream.buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)
