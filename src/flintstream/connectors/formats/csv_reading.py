"""CSV reader for rows of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.basic import BasicType
from flintstream.common._types.parts import basic_type, element_of, is_bytes, is_sequence, time_type
from flintstream.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from flintstream.common.types import _make_row
from flintstream.connectors.formats import texts
from flintstream.connectors.formats.csv_splitting import splitter
from flintstream.connectors.formats.errors import FormatError, Misfit
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.connectors.formats.csv_splitting import CsvDialect

    Reader = Callable[[str], Any]

_BASIC: dict[BasicType, Reader] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: texts.boolean,
    BasicType.BYTE: texts.integer(8),
    BasicType.SHORT: texts.integer(16),
    BasicType.INT: texts.integer(32),
    BasicType.LONG: texts.integer(64),
    BasicType.FLOAT: texts.single,
    BasicType.DOUBLE: texts.double,
    BasicType.BIG_INT: texts.integer(None),
    BasicType.BIG_DEC: texts.decimal,
    BasicType.INSTANT: texts.sql_instant,
}

_LOCAL: dict[LocalTimeTypeInfo.TimeType, Reader] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: texts.sql_date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: texts.sql_time,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: texts.local_timestamp,
}


def simple_reader(type_info: TypeInformation) -> Reader | None:
    """Return a function that reads a value without parts; None if values of this type have parts."""
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC.get(basic_type(type_info))
    if isinstance(type_info, DateTypeInfo):
        return texts.sql_date
    if isinstance(type_info, TimeTypeInfo):
        return texts.sql_time
    if isinstance(type_info, TimestampTypeInfo):
        return texts.sql_timestamp
    if isinstance(type_info, LocalTimeTypeInfo):
        return _LOCAL[time_type(type_info)]
    return texts.base64_bytes if is_bytes(type_info) else None


def check_columns(type_info: RowTypeInfo, schema: str) -> None:
    """Reject types that no CSV column can have.

    Raises:
        PlanError: A column has an unsupported type.
    """
    for name, field_type in zip(type_info.get_field_names(), type_info.get_field_types(), strict=True):
        if isinstance(field_type, RowTypeInfo):
            parts = field_type.get_field_types()
        elif is_sequence(field_type) and not isinstance(field_type, PrimitiveArrayTypeInfo):
            parts = [element_of(field_type)]
        else:
            parts = [field_type]
        odd = next((part for part in parts if simple_reader(part) is None), None)
        if odd is not None:
            raise PlanError(
                f"{schema}: column '{name}' cannot be of type {field_type!r}: use a type without parts, or a row or "
                "array (Types.BASIC_ARRAY, OBJECT_ARRAY, LIST) of such types"
            )


class CsvReader:
    """Reads a message as a row. Create one per schema and process."""

    def __init__(
        self,
        schema: str,
        type_info: RowTypeInfo,
        dialect: CsvDialect,
        *,
        ignores_errors: bool,
        separators: Sequence[str] | None = None,
    ) -> None:
        """Prepare; ``separators`` are the element separators of each column, the dialect's by default."""
        self._schema = schema
        self._ignores_errors = ignores_errors
        self._split = splitter(dialect)
        self._null = dialect.null_literal
        self._names = tuple(type_info.get_field_names())
        between = separators or [dialect.array_delimiter] * len(self._names)
        types = type_info.get_field_types()
        columns = list(zip(self._names, types, between, strict=True))
        self._columns = [self._column(name, field_type, separator) for name, field_type, separator in columns]
        simple = [simple_reader(field_type) if dialect.null_literal is None else None for field_type in types]
        self._quick = [read or column for read, column in zip(simple, self._columns, strict=True)]

    def read(self, message: bytes) -> Row | None:
        """Return the row; None for an unreadable message if errors are ignored.

        Raises:
            FormatError: The message has the wrong number of columns, or a value does not fit its type.
        """
        try:
            return self.read_text(message.decode())
        except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
            if self._ignores_errors:
                return None
            raise FormatError.reading(self._schema, message, error) from None

    def read_text(self, text: str) -> Row:
        """Return the row of the first line of a text."""
        if text[:1] == "\ufeff":
            text = text[1:]
        if not text:
            raise Misfit("it is empty")
        return self.read_cells(self._split(text))

    def read_cells(self, cells: list[str]) -> Row:
        """Return the row with these cells.

        Raises:
            Misfit: The number of cells is wrong, or a cell does not fit its type.
        """
        try:
            return _make_row(self._names, [read(cell) for read, cell in zip(self._quick, cells, strict=True)])
        except (ValueError, TypeError, OverflowError, ArithmeticError):
            pass  # the slow path handles None, and names the column of an error
        if len(cells) != len(self._columns):
            cells = self._adjust(cells)
            if len(cells) < len(self._columns):
                there = [read(cell) for read, cell in zip(self._columns, cells, strict=False)]
                return _make_row(self._names, there + [None] * (len(self._columns) - len(cells)))
        return _make_row(self._names, [read(cell) for read, cell in zip(self._columns, cells, strict=True)])

    def _adjust(self, cells: list[str]) -> list[str]:
        wanted = len(self._columns)
        if len(cells) == wanted + 1 and not cells[-1].strip():
            return cells[:-1]  # the line ends with a delimiter
        if len(cells) > wanted or not self._ignores_errors:
            raise Misfit(f"it has {len(cells)} columns instead of {wanted}")
        return cells

    def _column(self, name: str, type_info: TypeInformation, separator: str) -> Reader:
        simple = simple_reader(type_info)
        if simple is not None:
            return self._part(name, simple, self._null)
        if isinstance(type_info, RowTypeInfo):
            return self._part(name, self._nested_reader(type_info, separator), null=None)
        element = simple_reader(element_of(type_info))
        assert element is not None  # noqa: S101 - check_columns has checked it
        read, check = self._part("[]", element, self._null), type_info.to_internal_type

        def read_list(text: str) -> Any:
            if not text:
                return []
            values = [read(part) for part in (text.split(separator) if separator else [text])]
            return check(values) if None in values else values  # a LIST of numbers cannot contain None

        return self._part(name, read_list, null=None)

    def _part(self, name: str, read: Reader, null: str | None) -> Reader:
        """Return a reader that gives None for ``null``, and for unreadable text if errors are ignored."""
        ignores = self._ignores_errors
        if read is str and null is None:
            return read

        def read_part(text: str) -> Any:
            if text == null:
                return None
            try:
                return read(text)
            except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
                if ignores:
                    return None
                raise (error.within(name) if isinstance(error, Misfit) else Misfit(str(error), name)) from None

        return read_part

    def _nested_reader(self, type_info: RowTypeInfo, separator: str) -> Reader:
        names = tuple(type_info.get_field_names())
        readers = []
        for name, field_type in zip(names, type_info.get_field_types(), strict=True):
            simple = simple_reader(field_type)
            assert simple is not None  # noqa: S101 - check_columns has checked it
            readers.append(self._part(name, simple, self._null))
        ignores = self._ignores_errors

        def read(text: str) -> Row | None:
            if not text:
                return None
            parts = text.split(separator) if separator else [text]
            if len(parts) != len(readers):
                if not ignores:
                    raise Misfit(f"it has {len(parts)} parts instead of {len(readers)}")
                values = [reader(part) for reader, part in zip(readers, parts, strict=False)]
                return _make_row(names, values + [None] * (len(readers) - len(values)))
            return _make_row(names, [reader(part) for reader, part in zip(readers, parts, strict=True)])

        return read
