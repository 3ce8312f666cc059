"""CSV in messages and files, as Flink's tables read and write it.

Without a null literal, no field is NULL: an empty one is an empty text, FALSE, an empty array, or an error of a number.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from functools import partial
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import with_nanoseconds
from flintstream.common.serialization import BulkWriter, BulkWriterFactory
from flintstream.connectors.files.bad_records import BadRecords
from flintstream.connectors.files.csv import CsvLayout, CsvReader
from flintstream.connectors.formats.csv_reading import check_columns
from flintstream.connectors.formats.csv_splitting import one_character, splitter
from flintstream.connectors.formats.csv_writing import CsvWriter
from flintstream.connectors.formats.errors import FormatError, Misfit, reason
from flintstream.connectors.formats.texts import fails
from flintstream.datastream.connectors.file_system import StreamFormat
from flintstream.datastream.formats._csv_files import column_reader, value_reader
from flintstream.datastream.formats.csv import CsvSchema
from flintstream.errors import shorten
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._expressions import helpers
from flintstream.table._expressions.times.helpers import from_instant, to_instant
from flintstream.table._expressions.times.texts import nanoseconds_in, parse_lenient_timestamp
from flintstream.table._types.rules import has_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import BinaryIO

    from flintstream.common._types.conversion import Converter
    from flintstream.common._types.data_types import DataType
    from flintstream.common.typeinfo import RowTypeInfo
    from flintstream.connectors.formats.csv_splitting import CsvDialect
    from flintstream.connectors.source import SourceReader
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

    Field = Callable[["str | None"], Any]

_UNREADABLE = (ValueError, TypeError, ArithmeticError)
_TIME = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,9})?)?", re.ASCII)
OF_SOURCES = ("ignore-parse-errors", "fail-on-missing-columns", "ignore-trailing-unmappable", "empty-string-as-null")
"""Options that only reading has, in the order of :class:`Rules`."""
_TRAILING, _TRIMS = "allow-trailing-comma", "trim-spaces"
OF_READERS = (*OF_SOURCES, _TRAILING, _TRIMS)
_PLAIN_DECIMALS = "write-bigdecimal-in-scientific-notation"


def csv_schema(names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "csv.") -> CsvSchema:
    """Return the columns and the special characters of a table."""
    builder = CsvSchema.builder()
    for name, kind in zip(names, types, strict=True):
        builder._add(name, kind)
    delimiter = options.text(f"{prefix}field-delimiter", ",") or ","
    builder.set_column_separator(one_character(delimiter.replace("\\t", "\t"), "the column separator"))
    if options.flag(f"{prefix}disable-quote-character"):
        builder.disable_quote_char()
    quote, null, escape, within = (
        options.text(f"{prefix}{key}")
        for key in ("quote-character", "null-literal", "escape-character", "array-element-delimiter")
    )
    if quote is not None:
        builder.set_quote_char(one_character(quote, "the quote character"))
    if escape is not None:
        builder.set_escape_char(one_character(escape, "the escape character"))
    if null is not None:
        builder.set_null_value(null)
    if within is not None:
        builder.set_array_element_separator(within)
    if options.flag(f"{prefix}allow-comments"):
        builder.set_allow_comments()
    options.known(
        f"{prefix}{_PLAIN_DECIMALS}", "decimals are written with all digits, and with an exponent only if they are tiny"
    )
    return builder.build()


class Rules(NamedTuple):
    """What becomes of fields that are not as a table declares them."""

    lenient: bool
    """Whether what cannot be read is NULL, and so are missing fields, unless they ``must_be_there``."""
    must_be_there: bool
    extra: bool
    """Whether fields after the last column are ignored."""
    empty_is_null: bool
    trailing: bool = True
    """Whether a line may end with a delimiter."""
    trims: bool = False
    """Whether blanks around values do not count."""

    @classmethod
    def of(cls, options: Options, prefix: str) -> Rules:
        """Read the options of a source."""
        rules = cls(*(options.flag(f"{prefix}{key}") for key in OF_SOURCES))
        trailing = options.flag(f"{prefix}{_TRAILING}", default=True)
        return rules._replace(trailing=trailing, trims=options.flag(f"{prefix}{_TRIMS}"))

    def dialect(self, schema: CsvSchema) -> CsvDialect:
        """Return how lines are split."""
        return replace(schema.dialect, trim_spaces=self.trims)


class _Fields:
    """Reads the fields of a table; ``lenient``: what is missing or cannot be read is NULL."""

    def __init__(self, schema: CsvSchema, rules: Rules) -> None:
        self.separator, self.null, self.lenient = (
            schema.dialect.array_delimiter,
            schema.dialect.null_literal,
            rules.lenient,
        )
        self.empty_is_null = rules.empty_is_null

    def column(self, kind: DataType) -> Callable[[list[str]], list[object]]:
        """Return what reads the texts of a column."""
        if not self.lenient and not self.empty_is_null and not isinstance(kind, (t.ArrayType, t.RowType, t.TimeType)):
            read = column_reader(kind, self.null, self.separator)
            if isinstance(kind, t.DateType):
                return partial(self._lenient_dates, read, self.field(kind))
            if not has_nanoseconds(kind):
                return read
        field = self.field(kind)
        return lambda texts: list(map(field, texts))

    def field(self, kind: DataType) -> Field:
        """Return what reads a text; a missing one is None."""
        if isinstance(kind, t.ArrayType):
            return self._safe(partial(self._array, self.field(kind.element_type)), None)
        if isinstance(kind, t.RowType):
            parts = [self.field(field_kind) for field_kind in kind.field_types()]
            return self._safe(partial(self._row, tuple(kind.names), parts), None)
        if isinstance(kind, t.TimeType):
            return self._safe(_time, self.null)
        if isinstance(kind, t.DateType):
            return self._safe(_date, self.null)
        read = value_reader(kind)
        if has_nanoseconds(kind):
            return self._safe(lambda text: with_nanoseconds(read(text), nanoseconds_in(text)), self.null)
        if isinstance(kind, t.LocalZonedTimestampType):
            return self._safe(lambda text: from_instant(read(text)), self.null)
        return self._safe(read, self.null)

    @staticmethod
    def _lenient_dates(read: Callable[[list[str]], list[object]], field: Field, texts: list[str]) -> list[object]:
        try:
            return read(texts)
        except _UNREADABLE:
            return list(map(field, texts))

    def _safe(self, read: Callable[[str], object], null: str | None) -> Field:
        lenient, empty_is_null = self.lenient, self.empty_is_null

        def field(text: str | None) -> object:
            if text is None or text == null or (empty_is_null and not text):
                return None
            try:
                return read(text)
            except _UNREADABLE:
                if lenient:
                    return None
                raise

        return field

    def _parts(self, text: str) -> list[str]:
        return text.split(self.separator) if self.separator else [text]

    def _array(self, element: Field, text: str) -> list[object]:
        return [element(part) for part in self._parts(text)] if text.strip() else []

    def _row(self, names: tuple[str, ...], fields: Sequence[Field], text: str) -> Any:
        if not text.strip():
            return None
        parts: list[Any] = self._parts(text)
        if len(parts) != len(fields):
            if not self.lenient:
                raise Misfit(f"it has {len(parts)} parts instead of {len(fields)}")
            parts = [*parts[: len(fields)], *[None] * (len(fields) - len(parts))]
        return helpers.named_row(names, [read(part) for read, part in zip(fields, parts, strict=True)])


class CsvFiles(StreamFormat[object]):
    """The records of CSV files. Fields of columns that a query does not ``need`` are not read, and are None."""

    def __init__(
        self, names: Sequence[str], types: Sequence[DataType], options: Options, need: Collection[str] | None = None
    ) -> None:
        self.schema = csv_schema(names, types, options)
        self.rules = Rules.of(options, "csv.")
        self.need = frozenset(names if need is None else need)
        for kind in types:
            _Fields(self.schema, self.rules).column(kind)

    def create_reader(self) -> SourceReader:
        """Return a reader of whole files."""
        fields, rules = _Fields(self.schema, self.rules), self.rules
        columns = [
            fields.column(column.data_type) if column.name in self.need else _ignore_texts
            for column in self.schema.columns
        ]
        names = tuple(column.name for column in self.schema.columns)
        layout = CsvLayout(
            rules.dialect(self.schema),
            names,
            tuple(columns),
            any_property_name="" if rules.extra else None,
            allow_missing=rules.lenient and not rules.must_be_there,
            trailing=rules.trailing,
        )
        return CsvReader(layout, BadRecords.SKIP if rules.lenient else BadRecords.FAIL)


def _time(text: str) -> dt.time:
    if not _TIME.fullmatch(text):
        raise fails(text, "a time like 01:02:03")
    return dt.time.fromisoformat(text[:12])


def _date(text: str) -> dt.date:
    """Read a date; as in Flink, February 30 is in March."""
    if " " in text:
        raise fails(text, "a date like 2020-01-31")
    return parse_lenient_timestamp(text, 0).date()


def _ignore_texts(texts: list[str]) -> list[object]:
    return [None] * len(texts)


class CsvDecoder(Decoder):
    """Reads a line with a field for each column."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        self.types = tuple(types)
        self.schema = csv_schema(names, types, options, prefix)
        self.rules = Rules.of(options, prefix)
        for kind in types:
            _Fields(self.schema, self.rules).field(kind)

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        fields, rules = _Fields(self.schema, self.rules), self.rules
        readers = [fields.field(kind) for kind in self.types]
        lenient, comments, width = rules.lenient, self.schema.dialect.allow_comments, len(readers)
        split = splitter(rules.dialect(self.schema))

        def decode(message: bytes) -> tuple[Any, ...] | None:
            try:
                text = message.decode()
                if comments and text.startswith("#"):
                    return None
                if not text:
                    raise Misfit("it is empty")
                cells: list[Any] = split(text)
                if len(cells) != width:
                    ends = rules.trailing and len(cells) == width + 1 and not cells[-1].strip()
                    if len(cells) > width and (rules.extra or ends):
                        del cells[width:]  # the line ends with a delimiter, or what follows is ignored
                    elif len(cells) > width or not lenient or rules.must_be_there:
                        raise Misfit(f"Row length mismatch. {width} fields expected but was {len(cells)}.")
                    cells += [None] * (width - len(cells))
                return tuple([read(cell) for read, cell in zip(readers, cells, strict=True)])
            except _UNREADABLE as error:
                if lenient:
                    return None
                shown = shorten(message.decode("utf-8", "replace"))
                raise ValueError(f"Failed to deserialize CSV row {shown}: {reason(error)}") from error

        return decode


class CsvEncoder(Encoder):
    """Writes a line with a field for each column, in the same bytes as Flink."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        self.schema = csv_schema(names, types, options, prefix)
        options.of_sources(*(f"{prefix}{key}" for key in OF_READERS))
        check_columns(self._type, options.place)

    @property
    def _type(self) -> RowTypeInfo:
        return self.schema.type_info  # type: ignore[return-value]  # the type of a row type

    def encode(self) -> Encode:
        """Return the function that writes a row."""
        line = line_writer(self.schema, range(self.schema.size()), end="")

        def encode(row: Sequence[object]) -> bytes:
            try:
                return line(row).encode(errors="replace")
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                raise FormatError.writing("csv", row, error) from error

        return encode


def line_writer(
    schema: CsvSchema, positions: Sequence[int], *, end: str | None = None
) -> Callable[[Sequence[object]], str]:
    """Return the function that writes values of a row of a plan, at the positions of the columns, as a line."""
    dialect = schema.dialect if end is None else replace(schema.dialect, line_delimiter=end)
    type_info: RowTypeInfo = schema.type_info  # type: ignore[assignment]  # the type of a row type
    kinds = [column.data_type for column in schema.columns]
    moments = {i: convert for i, kind in enumerate(kinds) if (convert := _instants(kind)) is not None}
    return CsvWriter("csv", type_info, dialect, schema.separators()).line_of(positions, moments)


def _instants(kind: DataType) -> Converter | None:
    """Return what makes an ``Instant`` of each point in time of a value; None if it has none."""
    if isinstance(kind, t.LocalZonedTimestampType):
        return to_instant
    if isinstance(kind, t.ArrayType):
        element = _instants(kind.element_type)
        return None if element is None else lambda items: None if items is None else list(map(element, items))
    if not isinstance(kind, t.RowType):
        return None
    parts = [_instants(part) or _same for part in kind.field_types()]
    if all(part is _same for part in parts):
        return None
    return lambda row: None if row is None else [part(value) for part, value in zip(parts, row, strict=True)]


def _same(value: object) -> object:
    return value


class CsvLines(BulkWriterFactory["Sequence[object]"]):
    """Writes columns of rows of a plan to files of lines."""

    can_be_concatenated = True

    def __init__(self, schema: CsvSchema, positions: Sequence[int]) -> None:
        """Take the columns and where they are in a row.

        Raises:
            PlanError: A column has a type that CSV does not have.
        """
        self.schema, self.positions = schema, tuple(positions)
        check_columns(schema.type_info, "CSV")  # type: ignore[arg-type]  # the type of a row type

    def create(self, stream: BinaryIO) -> BulkWriter[Sequence[object]]:
        """Return a writer for a new file."""
        return _Lines(stream, line_writer(self.schema, self.positions))


class _Lines(BulkWriter["Sequence[object]"]):
    def __init__(self, stream: BinaryIO, line: Callable[[Sequence[object]], str]) -> None:
        self.stream, self.line = stream, line

    def add_element(self, element: Sequence[object]) -> None:
        self.add_elements([element])

    def add_elements(self, elements: Sequence[Sequence[object]]) -> None:
        cursor = iter(elements)
        try:
            text = "".join(map(self.line, cursor))
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            failed = elements[len(elements) - length_hint(cursor) - 1]
            raise FormatError.writing("csv", failed, error) from error
        self.stream.write(text.encode(errors="replace"))

    def flush(self) -> None:
        self.stream.flush()

    def finish(self) -> None:
        self.flush()
