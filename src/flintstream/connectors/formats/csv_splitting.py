"""Splits CSV messages into the texts of their columns."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from flintstream.connectors.formats.errors import Misfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.connectors.formats.dialect import CsvDialect

_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def splitter(dialect: CsvDialect) -> Callable[[str], list[str]]:
    """Return a function that splits the first row of a text.

    Texts without quotes, escapes and line breaks are split directly, quoted ones by the parser of Python's ``csv``.
    Everything else goes through this module, which also finds the errors.
    """
    delimiter, quote = dialect.delimiter, dialect.quote
    slow = _Splitter(dialect).split
    if dialect.escape is not None or dialect.allow_comments:
        return slow
    lines: list[str] = []
    try:
        parsed = _parser(dialect, lines)
    except (TypeError, ValueError, csv.Error):  # Python's csv does not support these characters
        return slow

    def split(text: str) -> list[str]:
        if "\r" not in text and "\n" not in text:
            if quote is None or quote not in text:
                return text.split(delimiter)
        elif text[0] in "\r\n":
            return slow(text)
        lines.append(text)
        try:
            return next(parsed)
        except (csv.Error, IndexError):  # IndexError: an open quote made it read another line
            return slow(text)

    return split


def _parser(dialect: CsvDialect, lines: list[str]) -> Iterator[list[str]]:
    if dialect.quote is None:
        return csv.reader(iter(lines.pop, None), delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(iter(lines.pop, None), delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)


class _Splitter:
    def __init__(self, dialect: CsvDialect) -> None:
        self._dialect = dialect
        escape = re.escape(dialect.escape) if dialect.escape is not None else None
        ends = f"{re.escape(dialect.delimiter)}\r\n"
        self._plain = re.compile(f"[^{ends}{escape or ''}]*")
        self._quoted = re.compile(f"[^{re.escape(dialect.quote or '')}{escape or ''}]*") if dialect.quote else None
        self._blank = re.compile("[ \t]*")

    def split(self, text: str) -> list[str]:
        """Return the texts of the columns of the first row."""
        position = self._start(text) if self._dialect.allow_comments else 0
        cells: list[str] = []
        while True:
            read = self._read_quoted if self._starts_quoted(text, position) else self._read_plain
            cell, position = read(text, position)
            cells.append(cell)
            if position >= len(text) or text[position] in "\r\n":
                return cells
            position += len(self._dialect.delimiter)

    def _start(self, text: str) -> int:
        """Return the start of the first line that is neither blank nor a comment."""
        position = 0
        for line in text.splitlines(keepends=True):
            content = line.strip()
            if content and not content.startswith("#"):
                return position
            position += len(line)
        raise Misfit("it is empty")

    def _starts_quoted(self, text: str, position: int) -> bool:
        return self._dialect.quote is not None and text.startswith(self._dialect.quote, position)

    def _read_plain(self, text: str, position: int) -> tuple[str, int]:
        return self._collect(text, position, self._plain)

    def _read_quoted(self, text: str, position: int) -> tuple[str, int]:
        quote = self._dialect.quote or ""
        assert self._quoted is not None  # noqa: S101 - only called for quoted cells
        parts = []
        while True:
            part, position = self._collect(text, position + 1, self._quoted)
            parts.append(part)
            if position >= len(text):
                raise Misfit(f"its closing quote {quote} is missing")
            if not text.startswith(quote, position + 1):
                break
            parts.append(quote)
            position += 1
        after = self._blank.match(text, position + 1)
        position = after.end() if after is not None and self._dialect.delimiter not in " \t" else position + 1
        if position < len(text) and text[position] not in self._dialect.delimiter + "\r\n":
            raise Misfit(f"{text[position]!r} follows a closing quote, at character {position}")
        return "".join(parts), position

    def _collect(self, text: str, position: int, plain: re.Pattern[str]) -> tuple[str, int]:
        """Return the text up to the character that ends it, with escapes resolved."""
        parts = []
        while True:
            match = plain.match(text, position)
            assert match is not None  # noqa: S101 - it also matches the empty string
            parts.append(match.group())
            position = match.end()
            if self._dialect.escape is None or not text.startswith(self._dialect.escape, position):
                return "".join(parts), position
            if position + 1 >= len(text):
                raise Misfit("it ends with an escape character")
            parts.append(_ESCAPED.get(text[position + 1], text[position + 1]))
            position += 2
