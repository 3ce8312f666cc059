"""Handling of malformed records in files."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common._text.secrets import shown_path
from flintstream.connectors.files.byte_streams import is_line_safe, open_bytes
from flintstream.connectors.formats.errors import reason
from flintstream.errors import FlintstreamError, shorten

if TYPE_CHECKING:
    from flintstream.connectors.files.byte_streams import ByteStream


class BadRecords(enum.Enum):
    """What to do with malformed records.

    >>> BadRecords.SKIP.name
    'SKIP'
    """

    FAIL = "fail"
    """The job fails. The message names file and line."""
    SKIP = "skip"
    """Malformed records are skipped."""
    KEEP = "keep"
    """Malformed records are emitted among the others, as a :class:`BadRecord`."""


@dataclass(frozen=True)
class BadRecord:
    """A malformed record.

    >>> BadRecord("orders.csv", 17, "7;pear", "2 fields instead of 3").line
    17
    """

    path: str
    line: int
    """The line on which it begins, counted from 1."""
    text: str
    error: str

    def __str__(self) -> str:
        """Return the record and its error on one line."""
        return f"{shown_path(self.path)}, line {self.line}: {self.error}: {shorten(self.text)}"


class BadRecordError(FlintstreamError, ValueError):
    """A record in a file is malformed.

    >>> raise BadRecordError("orders.csv, line 17: 2 fields instead of 3")
    Traceback (most recent call last):
    flintstream.connectors.files.bad_records.BadRecordError: orders.csv, line 17: 2 fields instead of 3
    """


class BadRecordHandler:
    """Handles the malformed records of one file."""

    def __init__(self, what: BadRecords, path: str, charset: str = "UTF-8") -> None:
        """Take the action and the file."""
        self._what = what
        self._path = path
        self._charset = charset

    def handle(self, position: int | None, lines: int, text: str, error: Exception) -> list[Any]:
        """Return the replacement for a record, ``lines`` after ``position``, that raised ``error``.

        Raises:
            BadRecordError: Malformed records fail the job.
        """
        if self._what is BadRecords.SKIP:
            return []
        line = lines_before(self._path, self._charset, position or 0) + lines + 1
        bad = BadRecord(self._path, line, text, reason(error))
        if self._what is BadRecords.KEEP:
            return [bad]
        raise BadRecordError(str(bad)) from error


def lines_before(path: str, charset: str, offset: int) -> int:
    """Return the number of lines before an offset at which a line begins. Reads the file up to the offset."""
    stream: ByteStream = open_bytes(path, charset)
    encoding = charset if is_line_safe(charset) else "utf-8"
    count, left, after_return = 0, offset, False
    try:
        while left > 0 and (data := stream.read(min(left, 1 << 20))):
            left -= len(data)
            text = data.decode(encoding, "replace")
            count += text.count("\n") + text.count("\r") - text.count("\r\n")
            count -= after_return and text.startswith("\n")
            after_return = text.endswith("\r")
    finally:
        stream.close()
    return count
