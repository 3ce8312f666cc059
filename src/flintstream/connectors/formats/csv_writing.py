"""CSV writer for rows of a type, byte for byte like Flink."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import float_text, timestamp_text
from flintstream.common._types.basic import BasicType
from flintstream.common._types.conversion import Scope
from flintstream.common._types.parts import basic_type, element_of, inner_types, time_type
from flintstream.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from flintstream.connectors.formats import texts
from flintstream.connectors.formats.by_position import RowShape
from flintstream.connectors.formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.formats.csv_splitting import CsvDialect

    Writer = Callable[[Any], str]

LONGEST_UNQUOTED = 24
"""Flink quotes longer texts without inspecting them."""

_NUMBERS: dict[BasicType, Writer] = {
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.FLOAT: float_text,
    BasicType.DOUBLE: texts.number_text,
    BasicType.BIG_DEC: texts.decimal_text,
    **dict.fromkeys((BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT), str),
}

_LOCAL: dict[LocalTimeTypeInfo.TimeType, Writer] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: lambda value: str(value.isoformat()),
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: lambda value: f"{value:%H:%M:%S}",
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: texts.sql_timestamp_text,
}


def _number(type_info: TypeInformation) -> Writer | None:
    """Return a function that writes values that are never quoted; None if values may need quotes."""
    return _NUMBERS.get(basic_type(type_info)) if isinstance(type_info, BasicTypeInfo) else None


def _simple(type_info: TypeInformation) -> Writer:
    """Return a function that writes a value without parts, unquoted."""
    number = _number(type_info)
    if number is not None:
        return number
    if isinstance(type_info, BasicTypeInfo):
        return texts.sql_instant_text if basic_type(type_info) is BasicType.INSTANT else str
    if isinstance(type_info, DateTypeInfo):
        return _LOCAL[LocalTimeTypeInfo.TimeType.LOCAL_DATE]
    if isinstance(type_info, TimeTypeInfo):
        return _LOCAL[LocalTimeTypeInfo.TimeType.LOCAL_TIME]
    if isinstance(type_info, TimestampTypeInfo):
        return timestamp_text
    if isinstance(type_info, LocalTimeTypeInfo):
        return _LOCAL[time_type(type_info)]
    return texts.base64_text


def quoter(dialect: CsvDialect) -> Callable[[str], str]:
    """Return a function that quotes a text where Flink does.

    Flink quotes long texts, and those with a character that is not greater than both delimiter and quote.
    """
    quote, escape = dialect.quote, dialect.escape
    if quote is None:
        return lambda text: text
    backslash = "\\"  # Flink considers it only without an escape character
    highest = re.escape(max(dialect.delimiter, quote, "\r"))
    special = re.compile(f"[\\x00-{highest}{re.escape(escape or backslash)}]").search

    def quote_text(text: str) -> str:
        if len(text) <= LONGEST_UNQUOTED and special(text) is None:
            return text
        inner = text.replace(escape, escape + escape) if escape else text
        return f"{quote}{inner.replace(quote, quote + quote)}{quote}"

    return quote_text


class CsvWriter:
    """Writes rows as messages. Create one per schema and process."""

    def __init__(
        self, schema: str, type_info: RowTypeInfo, dialect: CsvDialect, separators: Sequence[str] | None = None
    ) -> None:
        """Prepare; ``separators`` are the element separators of each column, the dialect's by default."""
        self._schema = schema
        self._shape = RowShape(schema, type_info, cuts=False)  # Flink rejects longer rows here
        self._delimiter, self._end = dialect.delimiter, dialect.line_delimiter
        self._null = dialect.null_literal or ""
        self._quoted = quoter(dialect)
        types = type_info.get_field_types()
        between = separators or [dialect.array_delimiter] * len(types)
        self._columns = [self._column(item, separator) for item, separator in zip(types, between, strict=True)]
        self._are_whole = [_number(item) is str for item in types]
        self._are_texts = [_number(item) is None and _simple(item) is str and not inner_types(item) for item in types]

    def write(self, value: Any) -> bytes:
        """Return the message.

        Raises:
            FormatError: The value does not fit the type.
        """
        try:
            if value is None:
                raise TypeError("a row is needed")  # noqa: TRY301 - reported like all others
            return self.line(self._shape(value)).encode(errors="replace")
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise FormatError.writing(self._schema, value, error) from error

    def line(self, row: Any) -> str:
        """Return the line of a row that has the fields of the type."""
        cells = [write(value) for write, value in zip(self._columns, row, strict=True)]
        return self._delimiter.join(cells) + self._end

    def line_of(
        self, positions: Sequence[int], prepare: Mapping[int, Callable[[object], object]]
    ) -> Callable[[Sequence[object]], str]:
        """Return a function that writes the values at some positions, which already are of the types of the columns.

        ``prepare`` has what makes a value of a column, by its number, one that can be written.
        """
        scope = Scope()
        null, delimiter, end = map(scope.add, (self._null, self._delimiter, self._end))
        loads, cells = [], []
        for i, (position, column) in enumerate(zip(positions, self._columns, strict=True)):
            value = f"v[{position}]"
            loads.append(f"    a{i} = {f'{scope.add(prepare[i])}({value})' if i in prepare else value}")
            write = f"{null} if a{i} is None else {scope.add(self._quoted)}(a{i})"
            if not self._are_texts[i]:
                write = f"{null} if a{i} is None else a{i}" if self._are_whole[i] else f"{scope.add(column)}(a{i})"
            cells.append(f"{{{write}}}")
        shown = f"{{{delimiter}}}".join(cells) + f"{{{end}}}"
        lines = ["def convert(v):", *loads, f"    return f'{shown}'"]
        return scope.function("\n".join(lines) + "\n")

    def _column(self, type_info: TypeInformation, separator: str) -> Writer:
        null, quoted = self._null, self._quoted
        number = _number(type_info)
        if number is not None:
            return lambda value: null if value is None else number(value)
        write = self._composite_writer(type_info, separator) or _simple(type_info)
        if write is str:
            return lambda value: null if value is None else quoted(value)
        return lambda value: null if value is None else quoted(write(value))

    def _composite_writer(self, type_info: TypeInformation, separator: str) -> Writer | None:
        null = self._null
        if isinstance(type_info, RowTypeInfo):
            writers = [_simple(part) for part in type_info.get_field_types()]
            return lambda row: separator.join(
                [null if part is None else write(part) for write, part in zip(writers, row, strict=True)]
            )
        if not inner_types(type_info):
            return None
        element = _simple(element_of(type_info))
        return lambda value: separator.join([null if part is None else element(part) for part in value])
