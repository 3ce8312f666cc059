"""Read CSV files, whose records may span several lines. Reading can continue after any record."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common._text.secrets import shown_path
from flintstream.common.types import _make_row
from flintstream.connectors.files.bad_records import BadRecordHandler, BadRecords
from flintstream.connectors.files.byte_streams import open_bytes
from flintstream.connectors.files.reader import FileReader
from flintstream.connectors.files.text import CHUNK, LONGEST_LINE, LineBlocks
from flintstream.connectors.formats.csv_splitting import record_splitter
from flintstream.connectors.formats.errors import Misfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.connectors.files.reader import FileSplit, OpenFile
    from flintstream.connectors.formats.csv_splitting import CsvDialect

LONGEST_RECORD = 1 << 25
"""Most characters of a record of several lines: beyond, a quote is missing. Flink's parser stops at 20 million."""


class CsvLayout(NamedTuple):
    """The format of CSV files and the conversion of their columns."""

    dialect: CsvDialect
    names: tuple[str, ...]
    columns: tuple[Callable[[list[str]], list[Any]], ...]
    """For each column, the function that converts its texts to values."""
    use_header: bool = False
    strict_headers: bool = False
    skip_first_data_row: bool = False
    any_property_name: str | None = None
    """Whether to ignore fields after the last column."""
    allow_missing: bool = False
    """Whether a record may end before the last column; the texts of the others are then None."""
    trailing: bool = True
    """Whether a record may end with a delimiter."""


class CsvReader(FileReader):
    """Reads splits that are whole files."""

    gives_away = True

    def __init__(self, layout: CsvLayout, bad_records: BadRecords = BadRecords.FAIL, chunk: int = CHUNK) -> None:
        """Take the format, the handling of malformed records, and the number of bytes to read at once."""
        super().__init__()
        self._layout = layout
        self._bad_records = bad_records
        self._chunk = chunk
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        lines = _Lines(LineBlocks(open_bytes(split.path, "UTF-8"), split, self._chunk), split.skip)
        file = _CsvFile(lines, self._layout, BadRecordHandler(self._bad_records, split.path))
        try:
            if split.position is None:
                file.begin(split.path)
        except BaseException:
            lines.close()
            raise
        return file


class _Lines:
    """The lines of a file with their line ends, and their positions."""

    def __init__(self, blocks: LineBlocks, skip: int) -> None:
        self._blocks = blocks
        self._handed_out = -skip
        self._marks = deque([(-skip, blocks.position)])
        """The number of the first line of each block, and its position."""

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._of_blocks())

    def _of_blocks(self) -> Iterator[list[str]]:
        while block := self._blocks.next():
            start = self._blocks.position - len(block)
            text = block.decode("utf-8", "replace")
            lines = list(io.StringIO(text if start else text.removeprefix("\ufeff"), newline=""))
            self._marks.append((self._handed_out, start))
            skip = -self._handed_out  # earlier, blocks may have been cut elsewhere
            self._handed_out += len(lines)
            if skip > 0:
                lines = lines[skip:]
            yield lines

    def place(self, line: int) -> tuple[int, int]:
        """Return the position of a block and the offset of ``line`` after it, in lines. Call with ascending numbers."""
        while len(self._marks) > 1 and self._marks[1][0] <= line:
            self._marks.popleft()
        first, position = self._marks[0]
        return position, line - first

    def close(self) -> None:
        self._blocks.close()


class _CsvFile:
    def __init__(self, lines: _Lines, layout: CsvLayout, handler: BadRecordHandler) -> None:
        self._lines = lines
        self._layout = layout
        self._handler = handler
        self._line = 0
        self._record: list[str] = []
        """The lines of the current record so far."""
        self._split = record_splitter(replace(layout.dialect, allow_comments=False))
        self._source = iter(lines)
        self._read_on()
        self.position: int | None
        self.position, self.skip = lines.place(0)

    def _read_on(self) -> None:
        self._texts = self._count_lines(self._source)
        dialect = self._layout.dialect
        self._reader = None if dialect.escape or dialect.trim_spaces else fast_reader(self._texts, dialect)

    def _count_lines(self, lines: Iterator[str]) -> Iterator[str]:
        comments = self._layout.dialect.allow_comments
        record = self._record
        length = 0
        for line in lines:
            self._line += 1
            if record:
                length = len(line) + (length if len(record) > 1 else len(record[0]))
                if length > LONGEST_RECORD:
                    self._read_on()  # this generator ends with the error
                    raise Misfit(f"it has more than {LONGEST_RECORD} characters: is a closing quote missing?")
            elif comments and (not (text := line.lstrip(" \t")).strip() or text.startswith("#")):
                continue
            record.append(line)
            yield line

    def _next(self) -> list[str] | None:
        """Return the fields of the next record; None at the end.

        Raises:
            Misfit: The record is malformed.
        """
        self._record.clear()
        if self._reader is not None:
            try:
                return next(self._reader, None)
            except csv.Error:
                lines = chain(list(self._record), self._texts)
        else:
            lines = chain((), self._texts)
        quotes = 0

        def take() -> str | None:
            nonlocal quotes
            line = next(lines, None)
            quotes += 0 if line is None else self._quotes(line)
            return line

        text = take()
        if text is None:
            return None
        try:
            return self._split(text, take)
        except Misfit:
            while quotes % 2 and take() is not None:
                pass  # up to the line that seems to close the last quote
            raise

    def _quotes(self, line: str) -> int:
        escape, quote = self._layout.dialect.escape, self._layout.dialect.quote
        if escape is not None:
            line = re.sub(f"{re.escape(escape)}.", "", line, flags=re.DOTALL)
        return 0 if quote is None else line.count(quote)

    def begin(self, path: str) -> None:
        """Skip everything before the first record.

        Raises:
            BadRecordError: The header is wrong.
        """
        layout = self._layout
        if layout.use_header:
            header = self._next()
            if layout.strict_headers and header is not None and tuple(header) != layout.names:
                wrong = Misfit(f"the header of {shown_path(path)} must be {','.join(layout.names)}")
                BadRecordHandler(BadRecords.FAIL, path).handle(0, 0, layout.dialect.delimiter.join(header), wrong)
        if layout.skip_first_data_row:
            self._next()
        self.position, self.skip = self._lines.place(self._line)

    def next(self, size: int) -> list[Any] | None:
        rows: list[list[str]] = []
        starts: list[int] = []
        bad: tuple[int, Exception] | None = None
        while len(rows) < size:
            start = self._line
            try:
                row = self._next()
            except Misfit as error:
                bad = start, error
                break
            if row is None:
                break
            rows.append(row or [""])
            starts.append(start)
        if not rows and bad is None:
            return None
        records = self._records(rows, starts)
        if bad is not None:
            position, lines = self._lines.place(bad[0])
            records += self._handler.handle(position, lines, "".join(self._record).rstrip("\r\n"), bad[1])
        self.position, self.skip = self._lines.place(self._line)
        return records

    def _records(self, rows: list[list[str]], starts: list[int]) -> list[Any]:
        try:
            return self._convert(rows)
        except (ValueError, ArithmeticError):
            pass
        records: list[Any] = []
        for row, start in zip(rows, starts, strict=True):
            try:
                records += self._convert([row])
            except (ValueError, ArithmeticError) as error:
                position, lines = self._lines.place(start)
                records += self._handler.handle(position, lines, self._layout.dialect.delimiter.join(row), error)
        return records

    def _convert(self, rows: list[list[str]]) -> list[Any]:
        names = self._layout.names
        for row in rows:
            if len(row) != len(names):
                self._fit(row)
        columns = zip(*rows, strict=True) if rows else iter(())
        converted = [
            _column(convert, name, list(texts))
            for convert, name, texts in zip(self._layout.columns, names, columns, strict=False)
        ]
        return [_make_row(names, list(values)) for values in zip(*converted, strict=True)]

    def _fit(self, row: list[str]) -> None:
        """Cut ignored fields after the last column, and add those that may be missing.

        Raises:
            Misfit: There are too few fields, or too many.
        """
        wanted = len(self._layout.names)
        if self._layout.allow_missing and len(row) < wanted:
            row += [None] * (wanted - len(row))  # type: ignore[list-item]
            return
        surplus = row[wanted:]
        ends = surplus == [""] and self._layout.trailing
        if len(row) < wanted or not (ends or self._layout.any_property_name is not None):
            raise Misfit(f"found {len(row)} fields, but the schema has {wanted} columns")
        del row[wanted:]

    def close(self) -> None:
        self._lines.close()


def _column(convert: Callable[[list[str]], list[Any]], name: str, texts: list[str]) -> list[Any]:
    try:
        return convert(texts)
    except Misfit as error:
        raise error.within(name) from None
    except (ValueError, ArithmeticError) as error:
        raise Misfit(str(error), name) from None


def fast_reader(lines: Iterator[str], dialect: CsvDialect) -> Any:
    """Return a reader of :mod:`csv` that raises an error where Flink's result would differ."""
    options: dict[str, Any] = {"delimiter": dialect.delimiter, "doublequote": True, "strict": True}
    if dialect.quote is None:
        options["quoting"] = csv.QUOTE_NONE
    else:
        options["quotechar"] = dialect.quote
    return csv.reader(lines, **options)
