"""Tables described in Python instead of DDL; mirrors ``pyflink.table.table_descriptor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flintstream.table._catalog.columns import quote_name, quote_text
from flintstream.table._errors import SqlError
from flintstream.table._types.java_maps import hash_order

if TYPE_CHECKING:
    from flintstream.common.config_options import ConfigOption
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table.schema import Schema

__all__ = ["FormatDescriptor", "TableDescriptor"]

_T = TypeVar("_T")


def _key(given: str | ConfigOption[_T]) -> str:
    return given if isinstance(given, str) else given.key


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class TableDescriptor:
    """A schema and the options of a connector: what ``CREATE TABLE`` declares.

    >>> from flintstream.table import DataTypes, Schema
    >>> schema = Schema.new_builder().column("id", DataTypes.BIGINT()).build()
    >>> TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", 3).build().get_options()
    {'connector': 'datagen', 'number-of-rows': '3'}

    >>> schema = Schema.new_builder().column("day", DataTypes.DATE()).column("n", DataTypes.BIGINT()).build()
    >>> builder = TableDescriptor.for_connector("filesystem").schema(schema).option("path", "/data").format("json")
    >>> descriptor = builder.partitioned_by("day").comment("sales").build()
    >>> descriptor.get_schema() == schema, descriptor.get_partition_keys(), descriptor.get_comment()
    (True, ['day'], 'sales')
    """

    def __init__(
        self, schema: Schema | None, options: dict[str, str], partitions: list[str], comment: str | None
    ) -> None:
        """Hold the parts; programs call :meth:`for_connector`."""
        self._schema = schema
        self._options = options
        self._partitions = partitions
        self._comment = comment

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder for a table of a connector."""
        return TableDescriptor.Builder().option("connector", connector)

    def get_schema(self) -> Schema | None:
        """Return the schema, if there is one."""
        return self._schema

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self._options)

    def get_partition_keys(self) -> list[str]:
        """Return the columns that divide the table into directories."""
        return list(self._partitions)

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self._comment

    def __eq__(self, other: object) -> bool:
        """Return whether all parts are the same."""
        return isinstance(other, TableDescriptor) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Return the hash of the options."""
        return hash(tuple(sorted(self._options.items())))

    def __str__(self) -> str:
        """Return the table as DDL."""
        comment = f"\nCOMMENT {quote_text(self._comment)}" if self._comment else ""
        partitions = ", ".join(map(quote_name, self._partitions))
        by = f"\nPARTITIONED BY ({partitions})" if partitions else ""
        options = ",\n".join(
            f"  {quote_text(key)} = {quote_text(self._options[key])}" for key in hash_order(self._options)
        )
        return f"{self._schema or ''}{comment}{by}\nWITH (\n{options}\n)"

    __repr__ = __str__

    def _parts(self) -> tuple[object, ...]:
        return self._schema, self._options, self._partitions, self._comment

    def _declare(self, default: Schema | None = None) -> DeclaredTable:
        """Return the declaration; a sink without a schema has that of the rows which it gets."""
        schema = self._schema or default
        if schema is None:
            raise SqlError(
                f"the descriptor of a table for the connector '{self._options.get('connector')}' has no schema: "
                "add schema(Schema.new_builder()...build())"
            )
        return schema._declare(dict(self._options), partitions=tuple(self._partitions), comment=self._comment)

    class Builder:
        """Collects the parts of a table."""

        def __init__(self) -> None:
            """Begin without options."""
            self._schema: Schema | None = None
            self._options: dict[str, str] = {}
            self._partitions: list[str] = []
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the columns, watermark and key."""
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[_T], value: object) -> TableDescriptor.Builder:
            """Set an option: a text, number, truth value, or a value of a ``ConfigOption``."""
            self._options[_key(key)] = _text(value)
            return self

        def format(
            self, format: str | FormatDescriptor, format_option: str | ConfigOption[_T] | None = None
        ) -> TableDescriptor.Builder:
            """Set the format and its options; ``format_option`` is ``value.format``, for example.

            Raises:
                ValueError: The key of the option does not end with ``format``.
            """
            key = "format" if format_option is None else _key(format_option)
            if not key.endswith("format"):
                raise ValueError(f"the key of a format option must end with 'format', but got '{key}'")
            descriptor = FormatDescriptor.for_format(format).build() if isinstance(format, str) else format
            self._options[key] = descriptor.get_format()
            prefix = f"{key.removesuffix('format')}{descriptor.get_format()}."
            self._options.update({prefix + name: value for name, value in descriptor.get_options().items()})
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Divide the table into directories by columns."""
            self._partitions += partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Describe the table."""
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the descriptor."""
            return TableDescriptor(self._schema, dict(self._options), list(self._partitions), self._comment)


class FormatDescriptor:
    """A format and its options.

    >>> FormatDescriptor.for_format("json").option("ignore-parse-errors", True).build().get_options()
    {'ignore-parse-errors': 'true'}

    >>> FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build().get_format()
    'json'
    """

    def __init__(self, format: str, options: dict[str, str]) -> None:
        """Hold the parts; programs call :meth:`for_format`."""
        self._format = format
        self._options = options

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Return a builder for a format by its name: ``json``."""
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        """Return the name."""
        return self._format

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self._options)

    def __eq__(self, other: object) -> bool:
        """Return whether name and options are the same."""
        return isinstance(other, FormatDescriptor) and (self._format, self._options) == (other._format, other._options)

    def __hash__(self) -> int:
        """Return the hash of the name."""
        return hash(self._format)

    def __str__(self) -> str:
        """Return name and options."""
        options = ", ".join(f"{key}={self._options[key]}" for key in hash_order(self._options))
        return f"{self._format}[{{{options}}}]"

    __repr__ = __str__

    class Builder:
        """Collects the options of a format."""

        def __init__(self, format: str) -> None:
            """Begin without options."""
            self._format = format
            self._options: dict[str, str] = {}

        def option(self, key: str | ConfigOption[_T], value: object) -> FormatDescriptor.Builder:
            """Set an option; its key is without the name of the format."""
            self._options[_key(key)] = _text(value)
            return self

        def build(self) -> FormatDescriptor:
            """Return the descriptor."""
            return FormatDescriptor(self._format, dict(self._options))
