"""Formats for CSV files."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common.serialization import BulkWriter, RowDataBulkWriterFactory
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.connectors.files.csv import CsvLayout, CsvReader
from flintstream.connectors.formats import texts
from flintstream.connectors.formats.csv_reading import check_columns, simple_reader
from flintstream.connectors.formats.csv_writing import CsvWriter, quoter
from flintstream.datastream.connectors._file_formats import RecordFormat
from flintstream.datastream.formats._csv_schema import CsvSchema
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader

_PLAIN_NUMBERS = re.compile(r"[0-9.+\-eE,]*").fullmatch
_BITS: dict[type[t.DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}


def _check_schema(schema: CsvSchema, purpose: str) -> RowTypeInfo:
    if not isinstance(schema, CsvSchema):
        raise TypeError(f"{purpose} needs a CsvSchema from CsvSchema.builder(), but got {schema!r}")
    if not schema.columns:
        raise PlanError(f"{purpose} needs a CsvSchema with at least one column")
    type_info: RowTypeInfo = schema.type_info  # type: ignore[assignment]  # the type of a row type
    check_columns(type_info, purpose)
    return type_info


class TableRowTypeInfo(RowTypeInfo):
    """The type of rows that Flink reads from CSV files, which are rows of its tables.

    It equals the row type with the same fields, and only formats its rows differently.
    """

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`.

        >>> from flintstream.common import Row, Types
        >>> TableRowTypeInfo([Types.STRING(), Types.BOOLEAN()], ["name", "ok"]).stringify(Row("ACME", True))
        '+I(ACME,true)'
        """
        if value is None:
            return "null"
        fields = zip(self.get_field_types(), value, strict=True)
        return f"{value.get_row_kind()}({','.join([field_type.stringify(part) for field_type, part in fields])})"

    def to_text(self, value: Any) -> str:
        """See :meth:`TypeInformation.to_text`."""
        return self.stringify(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowTypeInfo):
            return NotImplemented
        return self._signature() == other._signature()

    def __hash__(self) -> int:
        return hash((RowTypeInfo, self._signature()))


class CsvReaderFormat(RecordFormat):
    """Reads rows from CSV files, for ``FileSource.for_record_stream_format``.

    One subtask reads each file, because quoted values may span several lines.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> schema = CsvSchema.builder().add_string_column("word").add_number_column("n").build()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "words.csv").write_text("be,2")
    ...     source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), directory).build()
    ...     rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(rows.execute_and_collect(limit=9))
    [Row(word='be', n=2)]
    """

    def __init__(self, schema: CsvSchema) -> None:
        row_type = _check_schema(schema, "CsvReaderFormat")
        self._type_info = TableRowTypeInfo(row_type.get_field_types(), row_type.get_field_names())
        self._schema = schema

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read rows of a schema.

        Raises:
            TypeError: ``schema`` is not a ``CsvSchema``.
            PlanError: It has no columns, or a column of an unsupported type.
        """
        return CsvReaderFormat(schema)

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the rows."""
        return self._type_info

    def create_reader(self) -> SourceReader:
        """Return a reader for whole files."""
        schema = self._schema
        return CsvReader(
            CsvLayout(
                schema.dialect,
                tuple(column.name for column in schema.columns),
                tuple(
                    column_reader(column.data_type, schema.dialect.null_literal, separator)
                    for column, separator in zip(schema.columns, schema.separators(), strict=True)
                ),
                schema.use_header,
                schema.strict_headers,
                schema.skip_first_data_row,
                schema.any_property_name,
            ),
            self.bad_records,
        )


def column_reader(data_type: t.DataType, null: str | None, separator: str) -> Callable[[list[str]], list[Any]]:
    """Return a function that converts the texts of a column to values."""
    if isinstance(data_type, t.ArrayType):
        elements = column_reader(data_type.element_type, null, "")
        return partial(_arrays, elements, separator)
    if null is None and type(data_type) in _BITS:
        return partial(_integers, _BITS[type(data_type)])
    if null is None and isinstance(data_type, t.DoubleType):
        return _doubles
    value = value_reader(data_type)
    if null is None:
        return list if value is str else lambda column: list(map(value, column))
    return lambda column: [None if text == null else value(text) for text in column]


def value_reader(data_type: t.DataType) -> Callable[[str], Any]:
    """Return a function that converts a text to a value without parts."""
    if type(data_type) in _BITS:
        return texts.integer(_BITS[type(data_type)])
    if isinstance(data_type, t.DecimalType):
        return partial(_decimal, data_type.precision, data_type.scale)
    reader = simple_reader(t.to_type_info(data_type))
    if reader is None:
        raise PlanError(f"CSV files do not support columns of type {data_type!r}")
    return reader


def _integers(bits: int, column: list[str]) -> list[int]:
    limit = 1 << (bits - 1)
    try:
        numbers = list(map(int, column))
    except ValueError:
        numbers = []
    if len(numbers) < len(column) or (numbers and (max(numbers) >= limit or min(numbers) < -limit)):
        return list(map(texts.integer(bits), column))  # raises an error that names the value
    return numbers if "_" not in "".join(column) else list(map(texts.integer(bits), column))


def _doubles(column: list[str]) -> list[float]:
    if _PLAIN_NUMBERS(",".join(column)):  # Python and Java parse these alike
        try:
            return list(map(float, column))
        except ValueError:
            pass
    return list(map(texts.double, column))


def _decimal(precision: int, scale: int, text: str) -> Decimal | None:
    """Round to the scale; a number with too many digits becomes None, as in Flink."""
    if text != text.strip():
        raise texts.fails(text, "a decimal number")  # integers may have spaces around them
    try:
        return texts.decimal(text).quantize(Decimal((0, (1,), -scale)), ROUND_HALF_UP, Context(prec=precision))
    except InvalidOperation:
        return None


def _arrays(elements: Callable[[list[str]], list[Any]], separator: str, column: list[str]) -> list[list[Any]]:
    return [elements(text.split(separator) if separator else [text]) if text else [] for text in column]


class CsvBulkWriters:
    """Factory for writers of CSV files, for ``FileSink.for_bulk_format``.

    >>> from io import BytesIO
    >>> schema = CsvSchema.builder().add_string_column("word").add_number_column("n").set_use_header().build()
    >>> file = BytesIO()
    >>> writer = CsvBulkWriters.for_schema(schema).create(file)
    >>> writer.add_element(("be", 2))
    >>> writer.finish()
    >>> file.getvalue().split()
    [b'word,n', b'be,2']
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Write rows (or tuples) of a schema, with a header in each file if the schema has one.

        Raises:
            TypeError: ``schema`` is not a ``CsvSchema``.
            PlanError: It has no columns, or a column of an unsupported type.
        """
        return _CsvRows(schema, _check_schema(schema, "CsvBulkWriters"))


class _CsvRows(RowDataBulkWriterFactory):
    def __init__(self, schema: CsvSchema, type_info: RowTypeInfo) -> None:
        super().__init__(schema.row_type)
        self._schema = schema
        self._type_info = type_info
        self.can_be_concatenated = not schema.use_header

    def create(self, stream: BinaryIO) -> BulkWriter:
        schema = self._schema
        writer = CsvWriter("CsvBulkWriters", self._type_info, schema.dialect, schema.separators())
        if schema.use_header:
            names = map(quoter(schema.dialect), (column.name for column in schema.columns))
            header = schema.dialect.delimiter.join(names)
            stream.write((header + schema.dialect.line_delimiter).encode(errors="replace"))
        return _Writer(stream, writer)


class _Writer(BulkWriter):
    def __init__(self, stream: BinaryIO, writer: CsvWriter) -> None:
        self._stream = stream
        self._write = writer.write

    def add_element(self, element: Any) -> None:
        self._stream.write(self._write(element))

    def add_elements(self, elements: Sequence[Any]) -> None:
        self._stream.write(b"".join(map(self._write, elements)))

    def flush(self) -> None:
        self._stream.flush()

    def finish(self) -> None:
        self._stream.flush()
