"""Schemas of messages that are separated values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from flintstream.connectors.formats.csv_reading import CsvReader, check_columns
from flintstream.connectors.formats.csv_writing import CsvWriter
from flintstream.connectors.formats.dialect import CsvDialect, one_character
from flintstream.datastream._settings import check_bool
from flintstream.datastream.formats._schemas import RowDeserializationSchema, RowSerializationSchema, checked_row_type
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import RowTypeInfo, TypeInformation

LINE_DELIMITERS = ("\n", "\r", "\r\n", "")


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a text, got {value!r}")
    return value


class _DialectBuilder:
    """The settings that reading and writing have in common."""

    def __init__(self) -> None:
        self._dialect = CsvDialect()

    def _spell(self, **changes: Any) -> Self:
        self._dialect = replace(self._dialect, **changes)
        return self

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        """Set what is between the elements of arrays and the fields of rows in a column; ``;`` by default."""
        return self._spell(array_delimiter=_text(delimiter, "the delimiter of elements"))

    def set_quote_character(self, c: str) -> Self:
        """Set the character around values that contain special characters; a double quote by default."""
        return self._spell(quote=one_character(c, "the quote character"))


class CsvRowDeserializationSchema(RowDeserializationSchema):
    r"""Reads the first line of a message as a row.

    >>> from flintstream.common import Types
    >>> words = Types.ROW_NAMED(["word", "counts"], [Types.STRING(), Types.OBJECT_ARRAY(Types.INT())])
    >>> schema = CsvRowDeserializationSchema.Builder(words).set_field_delimiter("|").build()
    >>> schema.deserialize(b'"to be|not"|1;2\n')
    Row(word='to be|not', counts=[1, 2])
    """

    def __init__(self, type_info: RowTypeInfo, dialect: CsvDialect, *, ignore_parse_errors: bool = False) -> None:
        super().__init__(_checked(type_info, type(self).__name__))
        self._dialect = dialect
        self._ignores_errors = ignore_parse_errors

    def _compile(self) -> Callable[[bytes], Any]:
        return CsvReader(type(self).__name__, self._type_info, self._dialect, ignores_errors=self._ignores_errors).read

    class Builder(_DialectBuilder):
        """Makes a :class:`CsvRowDeserializationSchema`.

        Raises:
            TypeError: There is no type.
            PlanError: It is no type of rows, or one of its columns cannot be read from a text.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__()
            self._type_info = _checked(type_info, "CsvRowDeserializationSchema")
            self._ignore_parse_errors = False

        def set_field_delimiter(self, delimiter: str) -> Self:
            """Set what is between columns, one character; ``,`` by default."""
            return self._spell(delimiter=one_character(delimiter, "the delimiter of fields"))

        def set_allow_comments(self, allow_comments: bool) -> Self:
            """Say whether lines that begin with ``#``, and those that are blank, are passed over."""
            return self._spell(allow_comments=check_bool(allow_comments, "allow_comments"))

        def set_escape_character(self, c: str) -> Self:
            """Set the character that has the next one taken as it is; there is none by default."""
            return self._spell(escape=one_character(c, "the escape character"))

        def set_null_literal(self, null_literal: str) -> Self:
            """Set what stands for None; by default nothing does, so that an empty column is an empty text."""
            return self._spell(null_literal=_text(null_literal, "the literal of None"))

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> Self:
            """Say whether a column that cannot be read is None, and a message that cannot be split skipped."""
            self._ignore_parse_errors = check_bool(ignore_parse_errors, "ignore_parse_errors")
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """Return the schema."""
            return CsvRowDeserializationSchema(
                self._type_info, self._dialect, ignore_parse_errors=self._ignore_parse_errors
            )


class CsvRowSerializationSchema(RowSerializationSchema):
    r"""Writes a row as a line, in the same bytes as Flink.

    >>> from flintstream.common import Row, Types
    >>> words = Types.ROW_NAMED(["word", "count"], [Types.STRING(), Types.INT()])
    >>> CsvRowSerializationSchema.Builder(words).set_line_delimiter("").build().serialize(Row("to be", 2))
    b'"to be",2'
    """

    def __init__(self, type_info: RowTypeInfo, dialect: CsvDialect) -> None:
        self._type_info = _checked(type_info, type(self).__name__)
        self._dialect = dialect

    def _compile(self) -> Callable[[Any], bytes]:
        return CsvWriter(type(self).__name__, self._type_info, self._dialect).write

    class Builder(_DialectBuilder):
        """Makes a :class:`CsvRowSerializationSchema`.

        Raises:
            TypeError: There is no type.
            PlanError: It is no type of rows, or one of its columns cannot be written as a text.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__()
            self._type_info = _checked(type_info, "CsvRowSerializationSchema")

        def set_field_delimiter(self, c: str) -> Self:
            """Set what is between columns, one character; ``,`` by default."""
            return self._spell(delimiter=one_character(c, "the delimiter of fields"))

        def set_line_delimiter(self, delimiter: str) -> Self:
            r"""Set what ends the line: ``\n``, which is the default, ``\r``, ``\r\n`` or nothing.

            Raises:
                PlanError: It is another text.
            """
            if delimiter not in LINE_DELIMITERS:
                raise PlanError(f"the delimiter of lines must be '\\n', '\\r', '\\r\\n' or empty, got {delimiter!r}")
            return self._spell(line_delimiter=delimiter)

        def disable_quote_character(self) -> Self:
            """Quote nothing, even what cannot be read again then."""
            return self._spell(quote=None)

        def set_escape_character(self, c: str) -> Self:
            """Set the character that the reader takes for an escape: it is doubled within quotes."""
            return self._spell(escape=one_character(c, "the escape character"))

        def set_null_literal(self, s: str) -> Self:
            """Set what None is written as; nothing by default."""
            return self._spell(null_literal=_text(s, "the literal of None"))

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema."""
            return CsvRowSerializationSchema(self._type_info, self._dialect)


def _checked(type_info: Any, schema: str) -> RowTypeInfo:
    checked = checked_row_type(type_info, schema)
    check_columns(checked, schema)
    return checked
