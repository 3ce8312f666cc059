"""Schemas of CSV files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flintstream.common._types.data_types import ArrayType, BooleanType, DataTypes, NumericType, to_type_info
from flintstream.connectors.formats.csv_splitting import CsvDialect, first_character
from flintstream.datastream._settings import check_bool, check_text
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common._types.data_types import DataType, RowType
    from flintstream.common.typeinfo import TypeInformation


@dataclass(frozen=True)
class CsvColumn:
    """A column: its name, its type, and its array separator; empty for the schema's separator.

    >>> column = CsvSchema.builder().add_array_column("words", ":").build().columns[0]
    >>> column.name, column.separator, column.kind
    ('words', ':', 'ARRAY')
    """

    name: str
    data_type: DataType
    separator: str = ""

    @property
    def kind(self) -> str:
        """The kind of the column, as it appears in the text of a schema."""
        if isinstance(self.data_type, ArrayType):
            return "ARRAY"
        if isinstance(self.data_type, NumericType):
            return "NUMBER"
        return "BOOLEAN" if isinstance(self.data_type, BooleanType) else "STRING"


@dataclass(frozen=True)
class _Settings:
    columns: tuple[CsvColumn, ...] = ()
    dialect: CsvDialect = field(default_factory=CsvDialect)
    use_header: bool = False
    skip_first_data_row: bool = False
    strict_headers: bool = False
    any_property_name: str | None = None


class CsvSchema:
    """The columns of a CSV file and its dialect.

    >>> CsvSchema.builder().add_number_column("id").add_string_column("name").set_use_header().build()
    [CsvSchema: columns=["id"/NUMBER,"name"/STRING], header? true, skipFirst? false, comments? false,
    any-properties? N/A]

    >>> schema = CsvSchema.builder().add_string_column("word").add_array_column("days").set_use_header().build()
    >>> schema.size(), [column.name for column in schema.columns], schema.separators()
    (2, ['word', 'days'], [';', ';'])
    >>> schema.use_header, schema.strict_headers, schema.skip_first_data_row, schema.any_property_name
    (True, False, False, None)
    >>> schema.row_type
    RowType(RowField(word, VarCharType(2147483647, true), ...),RowField(days, ArrayType(VarCharType(2147483647,
    true), true), ...))
    >>> schema.type_info
    RowTypeInfo(word: String, days: ObjectArrayTypeInfo<String>)
    >>> schema.dialect.quote
    '"'
    """

    def __init__(self, settings: Any) -> None:
        if not isinstance(settings, _Settings):
            raise TypeError("create a CsvSchema with CsvSchema.builder()")
        self._settings = settings

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Return a builder for a schema without columns."""
        return CsvSchemaBuilder()

    @property
    def columns(self) -> tuple[CsvColumn, ...]:
        """The columns."""
        return self._settings.columns

    @property
    def dialect(self) -> CsvDialect:
        """The special characters."""
        return self._settings.dialect

    @property
    def use_header(self) -> bool:
        """Whether the first line names the columns."""
        return self._settings.use_header

    @property
    def skip_first_data_row(self) -> bool:
        """Whether to skip the first line, or the first after the header."""
        return self._settings.skip_first_data_row

    @property
    def strict_headers(self) -> bool:
        """Whether the header must name exactly these columns in this order."""
        return self._settings.strict_headers

    @property
    def any_property_name(self) -> str | None:
        """The name for values beyond the last column."""
        return self._settings.any_property_name

    @property
    def row_type(self) -> RowType:
        """The columns as a table type."""
        return DataTypes.ROW([DataTypes.FIELD(column.name, column.data_type) for column in self.columns])

    @property
    def type_info(self) -> TypeInformation:
        """The type of the rows in a stream."""
        return to_type_info(self.row_type)

    def separators(self) -> list[str]:
        """Return the array separator of each column."""
        return [column.separator or self.dialect.array_delimiter for column in self.columns]

    def size(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return self.size()

    def __repr__(self) -> str:
        columns = ",".join(f'"{column.name}"/{column.kind}' for column in self.columns)
        flags = (
            ("header", self.use_header),
            ("skipFirst", self.skip_first_data_row),
            ("comments", self.dialect.allow_comments),
        )
        texts = ", ".join(f"{name}? {str(value).lower()}" for name, value in flags)
        return f"[CsvSchema: columns=[{columns}], {texts}, any-properties? {self.any_property_name or 'N/A'}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CsvSchema) and self._settings == other._settings

    def __hash__(self) -> int:
        return hash(self._settings)


class CsvSchemaBuilder:
    """Builds a :class:`CsvSchema`. Add columns in the order of the file.

    >>> builder = CsvSchema.builder().add_string_column("city").add_number_column("sum", DataTypes.DOUBLE())
    >>> builder.add_boolean_column("paid").add_array_column("items", "|").size()
    4
    >>> builder.remove_array_element_separator(3).set_array_element_separator("+").build().separators()
    ['+', '+', '+', '+']
    >>> CsvSchema.builder().add_columns_from(builder.build()).size(), builder.clear_columns().size()
    (4, 0)

    The dialect, and the lines to skip:

    >>> schema = (
    ...     CsvSchema.builder()
    ...     .add_string_column("city")
    ...     .add_string_column("note")
    ...     .set_column_separator(";")
    ...     .set_quote_char("'")
    ...     .set_escape_char("/")
    ...     .set_null_value("-")
    ...     .set_line_separator("|")
    ...     .set_use_header()
    ...     .set_strict_headers()
    ...     .set_skip_first_data_row()
    ...     .set_allow_comments()
    ...     .set_any_property_name("more")
    ...     .build()
    ... )
    >>> schema.dialect
    CsvDialect(delimiter=';', quote="'", escape='/', null_literal='-', array_delimiter=';', line_delimiter='|',
    allow_comments=True, trim_spaces=False)
    >>> schema.use_header, schema.strict_headers, schema.skip_first_data_row, schema.any_property_name
    (True, True, True, 'more')
    >>> CsvSchema.builder().add_string_column("city").disable_quote_char().disable_escape_char().build().dialect.quote
    >>> CsvSchema.builder().add_array_column("items").disable_array_element_separator().size()
    1
    """

    def __init__(self) -> None:
        self._settings = _Settings()

    def _change(self, **changes: Any) -> Self:
        self._settings = replace(self._settings, **changes)
        return self

    def _spell(self, **changes: Any) -> Self:
        return self._change(dialect=replace(self._settings.dialect, **changes))

    def _add(self, name: str, data_type: DataType, separator: str = "") -> Self:
        check_text(name, "a column name")
        return self._change(columns=(*self._settings.columns, CsvColumn(name, data_type, separator)))

    def build(self) -> CsvSchema:
        """Return the schema.

        Raises:
            PlanError: Several columns have the same name.
        """
        names = [column.name for column in self._settings.columns]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise PlanError(f"the column names of a CsvSchema must be unique, but these repeat: {sorted(twice)}")
        return CsvSchema(self._settings)

    def add_array_column(self, name: str, separator: str = ";", element_type: DataType | None = None) -> Self:
        """Add an array column with ``separator`` between elements of ``element_type``, strings by default."""
        return self._add(
            name, DataTypes.ARRAY(element_type or DataTypes.STRING()), check_text(separator, "the separator")
        )

    def add_boolean_column(self, name: str) -> Self:
        """Add a boolean column."""
        return self._add(name, DataTypes.BOOLEAN())

    def add_number_column(self, name: str, number_type: NumericType | None = None) -> Self:
        """Add a column of numbers of ``number_type``, ``BIGINT`` by default."""
        chosen = number_type or DataTypes.BIGINT()
        if not isinstance(chosen, NumericType):
            raise TypeError(f"column '{name}' must have a numeric type, such as DataTypes.INT(), but got {chosen!r}")
        return self._add(name, chosen)

    def add_string_column(self, name: str) -> Self:
        """Add a string column."""
        return self._add(name, DataTypes.STRING())

    def add_columns_from(self, schema: CsvSchema) -> Self:
        """Add the columns of another schema."""
        return self._change(columns=self._settings.columns + schema.columns)

    def clear_columns(self) -> Self:
        """Remove all columns."""
        return self._change(columns=())

    def set_allow_comments(self, allow: bool = True) -> Self:
        """Set whether to skip lines that start with ``#``."""
        return self._spell(allow_comments=check_bool(allow, "allow"))

    def set_any_property_name(self, name: str) -> Self:
        """Name the values beyond the last column."""
        return self._change(any_property_name=check_text(name, "the name"))

    def disable_array_element_separator(self) -> Self:
        """Use no separator for array columns without their own separator."""
        return self._spell(array_delimiter="")

    def remove_array_element_separator(self, index: int) -> Self:
        """Remove the separator of the column at ``index``, which then uses the schema's."""
        columns = list(self._settings.columns)
        columns[index] = replace(columns[index], separator="")
        return self._change(columns=tuple(columns))

    def set_array_element_separator(self, separator: str) -> Self:
        """Set the separator for array columns without their own separator; ``;`` by default."""
        return self._spell(array_delimiter=check_text(separator, "the separator"))

    def set_column_separator(self, char: str) -> Self:
        """Set the separator of columns, a single character; ``,`` by default."""
        return self._spell(delimiter=first_character(char, "the column separator"))

    def disable_escape_char(self) -> Self:
        """Use no escape character, which is the default."""
        return self._spell(escape=None)

    def set_escape_char(self, char: str) -> Self:
        """Set the character that makes the next one literal."""
        return self._spell(escape=first_character(char, "the escape character"))

    def set_line_separator(self, separator: str) -> Self:
        r"""Set the line ending for writing, ``\n`` by default. Reading accepts ``\n``, ``\r`` and ``\r\n``."""
        return self._spell(line_delimiter=check_text(separator, "the line separator"))

    def set_null_value(self, null_value: str) -> Self:
        """Set the string that represents None. By default, None is written as an empty string, and never read."""
        return self._spell(null_literal=check_text(null_value, "the null literal"))

    def disable_quote_char(self) -> Self:
        """Never quote."""
        return self._spell(quote=None)

    def set_quote_char(self, char: str) -> Self:
        """Set the character around values with special characters; a double quote by default."""
        return self._spell(quote=first_character(char, "the quote character"))

    def set_skip_first_data_row(self, skip: bool = True) -> Self:
        """Set whether to skip the first line, or the first after the header."""
        return self._change(skip_first_data_row=check_bool(skip, "skip"))

    def set_strict_headers(self, strict: bool = True) -> Self:
        """Set whether the header must name exactly these columns in this order."""
        return self._change(strict_headers=check_bool(strict, "strict"))

    def set_use_header(self, use: bool = True) -> Self:
        """Set whether the first line names the columns."""
        return self._change(use_header=check_bool(use, "use"))

    def size(self) -> int:
        """Return the number of columns so far."""
        return len(self._settings.columns)

    def __len__(self) -> int:
        return self.size()
