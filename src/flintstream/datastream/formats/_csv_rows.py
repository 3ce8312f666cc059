"""Schemas for CSV messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.connectors.formats.csv_reading import CsvReader, check_columns
from flintstream.connectors.formats.csv_splitting import CsvDialect, first_character
from flintstream.connectors.formats.csv_writing import CsvWriter
from flintstream.datastream._settings import check_bool, check_text
from flintstream.datastream.formats._schemas import RowDeserializationSchema, RowSerializationSchema, checked_row_type
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.common.typeinfo import RowTypeInfo, TypeInformation

LINE_DELIMITERS = ("\n", "\r", "\r\n", "")


class _DialectBuilder:
    """Settings shared by reading and writing."""

    def __init__(self) -> None:
        self._dialect = CsvDialect()

    def _spell(self, **changes: Any) -> Self:
        self._dialect = replace(self._dialect, **changes)
        return self

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        """Set the separator of array elements and nested fields within a column; ``;`` by default."""
        return self._spell(array_delimiter=check_text(delimiter, "the element delimiter"))

    def set_quote_character(self, c: str) -> Self:
        """Set the character around values with special characters; a double quote by default."""
        return self._spell(quote=first_character(c, "the quote character"))


class CsvRowDeserializationSchema(RowDeserializationSchema):
    r"""Reads the first line of a message as a row.

    >>> from flintstream.common import Types
    >>> words = Types.ROW_NAMED(["word", "counts"], [Types.STRING(), Types.OBJECT_ARRAY(Types.INT())])
    >>> schema = CsvRowDeserializationSchema.Builder(words).set_field_delimiter("|").build()
    >>> schema.deserialize(b'"to be|not"|1;2\n')
    Row(word='to be|not', counts=[1, 2])
    """

    def __init__(self, type_info: RowTypeInfo, dialect: CsvDialect, *, ignore_parse_errors: bool = False) -> None:
        super().__init__(_check_row_type(type_info, type(self).__name__))
        self._dialect = dialect
        self._ignores_errors = ignore_parse_errors

    def _compile(self) -> Callable[[bytes], Any]:
        return CsvReader(type(self).__name__, self._type_info, self._dialect, ignores_errors=self._ignores_errors).read

    class Builder(_DialectBuilder):
        """Builds a :class:`CsvRowDeserializationSchema`.

        Raises:
            TypeError: ``type_info`` is None.
            PlanError: It is not a row type, or a column has an unsupported type.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__()
            self._type_info = _check_row_type(type_info, "CsvRowDeserializationSchema")
            self._ignore_parse_errors = False

        def set_field_delimiter(self, delimiter: str) -> Self:
            """Set the separator of columns, a single character; ``,`` by default."""
            return self._spell(delimiter=first_character(delimiter, "the field delimiter"))

        def set_allow_comments(self, allow_comments: bool) -> Self:
            """Set whether to skip blank lines and lines that start with ``#``."""
            return self._spell(allow_comments=check_bool(allow_comments, "allow_comments"))

        def set_escape_character(self, c: str) -> Self:
            """Set the character that makes the next one literal; none by default."""
            return self._spell(escape=first_character(c, "the escape character"))

        def set_null_literal(self, null_literal: str) -> Self:
            """Set the string that represents None. By default there is none: an empty column is an empty string."""
            return self._spell(null_literal=check_text(null_literal, "the null literal"))

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> Self:
            """Set whether to read an invalid column as None, and to skip a message that cannot be split."""
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
        self._type_info = _check_row_type(type_info, type(self).__name__)
        self._dialect = dialect

    def _compile(self) -> Callable[[Any], bytes]:
        return CsvWriter(type(self).__name__, self._type_info, self._dialect).write

    class Builder(_DialectBuilder):
        """Builds a :class:`CsvRowSerializationSchema`.

        Raises:
            TypeError: ``type_info`` is None.
            PlanError: It is not a row type, or a column has an unsupported type.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__()
            self._type_info = _check_row_type(type_info, "CsvRowSerializationSchema")

        def set_field_delimiter(self, c: str) -> Self:
            """Set the separator of columns, a single character; ``,`` by default."""
            return self._spell(delimiter=first_character(c, "the field delimiter"))

        def set_line_delimiter(self, delimiter: str) -> Self:
            r"""Set the end of a line: ``\n`` (the default), ``\r``, ``\r\n`` or nothing.

            Raises:
                PlanError: It is any other text.
            """
            if delimiter not in LINE_DELIMITERS:
                raise PlanError(f"the line delimiter must be '\\n', '\\r', '\\r\\n' or empty, but got {delimiter!r}")
            return self._spell(line_delimiter=delimiter)

        def disable_quote_character(self) -> Self:
            """Never quote, even if the result cannot be read back."""
            return self._spell(quote=None)

        def set_escape_character(self, c: str) -> Self:
            """Set the escape character of the reader; it is doubled within quotes."""
            return self._spell(escape=first_character(c, "the escape character"))

        def set_null_literal(self, s: str | None) -> Self:
            """Set the text for None; empty by default."""
            return self._spell(null_literal=None if s is None else check_text(s, "the null literal"))

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema."""
            return CsvRowSerializationSchema(self._type_info, self._dialect)


def _check_row_type(type_info: Any, schema: str) -> RowTypeInfo:
    checked = checked_row_type(type_info, schema)
    check_columns(checked, schema)
    return checked
