"""The dialects of CSV, and how to split CSV into the texts of its columns."""

from __future__ import annotations

import csv
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.connectors.formats.errors import Misfit
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class CsvDialect:
    """The special characters of a CSV text."""

    delimiter: str = ","
    """Between columns."""
    quote: str | None = '"'
    """Around values that contain special characters; None to quote nothing."""
    escape: str | None = None
    """Makes the next character literal; None for no escape character."""
    null_literal: str | None = None
    """The text that represents None. If None, None is written as an empty string, and no string is read as None."""
    array_delimiter: str = ";"
    """Between the elements of an array, unless the column has its own delimiter."""
    line_delimiter: str = "\n"
    """Written after each row. Reading accepts any line ending."""
    allow_comments: bool = False
    """Whether to skip lines that start with ``#``."""
    trim_spaces: bool = False
    """Whether blanks around values do not count, unless they are in quotes."""


def one_character(value: object, what: str) -> str:
    """Return ``value`` if it is a single character.

    Raises:
        PlanError: It is not.
    """
    if not isinstance(value, str) or len(value) != 1:
        raise PlanError(f"{what} must be a single character, but got {value!r}")
    return value


def first_character(value: object, what: str) -> str:
    """Return the first character of ``value``, as PyFlink does, with a warning if there are more.

    Raises:
        PlanError: There is none.
    """
    if isinstance(value, str) and len(value) > 1:
        warnings.warn(f"{what} must be a single character: only the first one of {value!r} counts", stacklevel=3)
        return value[0]
    return one_character(value, what)


def splitter(dialect: CsvDialect) -> Callable[[str], list[str]]:
    """Return a function that splits the first row of a text.

    Texts without quotes, escapes and line breaks are split directly, quoted ones by the parser of Python's ``csv``.
    Everything else goes through this module, which also finds the errors.
    """
    delimiter, quote = dialect.delimiter, dialect.quote
    slow = _Splitter(dialect).split
    if dialect.escape is not None or dialect.allow_comments or dialect.trim_spaces:
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


def record_splitter(dialect: CsvDialect) -> Callable[[str, Callable[[], str | None]], list[str]]:
    """Return a function that splits the record that begins with a line.

    Its second argument returns the next line while a quote is open, and None at the end. The time is proportional to
    the length of the record, as no line is read twice.
    """
    return _Splitter(dialect).split


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

    def split(self, text: str, more: Callable[[], str | None] = lambda: None) -> list[str]:
        """Return the texts of the columns of the first row. ``more`` returns the next line while a quote is open."""
        cursor = _Cursor(text, more)
        if self._dialect.allow_comments:
            cursor.position = self._start(text)
        cells: list[str] = []
        trims = self._dialect.trim_spaces
        while True:
            if trims:
                self._skip_blanks(cursor)
            if self._starts_quoted(cursor):
                cells.append(self._quoted_cell(cursor))
            else:
                cell = self._collect(cursor, self._plain)
                cells.append(cell.rstrip() if trims else cell)
            if cursor.at_end() or cursor.text[cursor.position] in "\r\n":
                return cells
            cursor.position += len(self._dialect.delimiter)

    def _start(self, text: str) -> int:
        """Return the start of the first line that is neither blank nor a comment."""
        position = 0
        for line in text.splitlines(keepends=True):
            content = line.strip()
            if content and not content.startswith("#"):
                return position
            position += len(line)
        raise Misfit("it is empty")

    def _skip_blanks(self, cursor: _Cursor) -> None:
        blank = self._blank.match(cursor.text, cursor.position)
        if blank is not None and self._dialect.delimiter not in " \t":
            cursor.position = blank.end()

    def _starts_quoted(self, cursor: _Cursor) -> bool:
        return self._dialect.quote is not None and cursor.text.startswith(self._dialect.quote, cursor.position)

    def _quoted_cell(self, cursor: _Cursor) -> str:
        quote = self._dialect.quote or ""
        assert self._quoted is not None  # noqa: S101 - only called for quoted cells
        parts = []
        cursor.position += 1
        while True:
            parts.append(self._collect(cursor, self._quoted))
            if cursor.at_end():
                if not cursor.read_on():
                    raise Misfit(f"its closing quote {quote} is missing")
                continue
            if not cursor.text.startswith(quote, cursor.position + 1):
                break
            parts.append(quote)
            cursor.position += 2
        cursor.position += 1
        self._skip_blanks(cursor)
        if not cursor.at_end() and (character := cursor.text[cursor.position]) not in self._dialect.delimiter + "\r\n":
            raise Misfit(f"{character!r} follows a closing quote, at character {cursor.before + cursor.position}")
        return "".join(parts)

    def _collect(self, cursor: _Cursor, plain: re.Pattern[str]) -> str:
        """Return the text up to the character that ends it, with escapes resolved."""
        parts = []
        text = cursor.text
        while True:
            match = plain.match(text, cursor.position)
            assert match is not None  # noqa: S101 - it also matches the empty string
            parts.append(match.group())
            cursor.position = position = match.end()
            if self._dialect.escape is None or not text.startswith(self._dialect.escape, position):
                return "".join(parts)
            if position + 1 >= len(text):
                raise Misfit("it ends with an escape character")
            parts.append(_ESCAPED.get(text[position + 1], text[position + 1]))
            cursor.position += 2


class _Cursor:
    """A position in a text that may continue with more lines."""

    def __init__(self, text: str, more: Callable[[], str | None]) -> None:
        self.text = text
        self.position = 0
        self.before = 0
        """The characters before the text."""
        self._more = more

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def read_on(self) -> bool:
        """Continue with the next line, if there is one."""
        line = self._more()
        if line is None:
            return False
        self.before += len(self.text)
        self.text, self.position = line, 0
        return True
