"""Schemas of tables; mirrors ``pyflink.table.schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._catalog.columns import ComputedColumn, MetadataColumn, quote_name
from flintstream.table._catalog.declared import Declared, DeclaredTable, check_names
from flintstream.table._catalog.resolved_schema import UniqueConstraint
from flintstream.table._expressions.sql_text import sql_text
from flintstream.table._sql.dialect import Tokens, parsed_expression
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._types.reader import data_type_of
from flintstream.table._types.rules import sql_name
from flintstream.table.expression import Expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._catalog.resolved_schema import ResolvedSchema
    from flintstream.table._syntax.scalar import Syntax

__all__ = ["Schema"]


class Schema:
    """Columns, watermark and key of a table.

    >>> from flintstream.table import DataTypes
    >>> Schema.new_builder().column("id", DataTypes.BIGINT()).column_by_expression("twice", "id * 2").build()
    (
      `id` BIGINT,
      `twice` AS [id * 2]
    )
    """

    def __init__(
        self,
        columns: Sequence[Declared],
        texts: Sequence[str],
        watermark: tuple[str, Syntax] | None,
        watermark_text: tuple[str, str],
        key: Sequence[str],
        key_name: str,
    ) -> None:
        """Hold the parts; programs call :meth:`new_builder`."""
        self._columns = tuple(columns)
        self._texts = tuple(texts)
        self._key_name = key_name
        self._watermark = watermark
        self._watermark_text = watermark_text
        self._key = tuple(key)

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder without columns."""
        return Schema.Builder()

    def __repr__(self) -> str:
        """Return the columns, the watermark and the key as Flink shows them."""
        lines = list(self._texts)
        if self._watermark is not None:
            name, expression = self._watermark_text
            lines.append(f"WATERMARK FOR {quote_name(name)} AS {expression}")
        if self._key:
            lines.append(UniqueConstraint.primary_key(self._key_name, self._key).as_summary_string())
        return "(\n  " + ",\n  ".join(lines) + "\n)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        """Return whether the columns are the same."""
        return isinstance(other, Schema) and str(self) == str(other)

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(str(self))

    def _declare(self, options: dict[str, str] | None = None, **more: Any) -> DeclaredTable:
        check_names([column.name for column in self._columns])
        watermark = "" if self._watermark is None else sql_text(self._watermark[1]) or ""
        return DeclaredTable(self._columns, options or {}, self._watermark, self._key, watermark_text=watermark, **more)

    class Builder:
        """Collects the parts of a schema."""

        def __init__(self) -> None:
            """Begin without columns."""
            self._columns: list[Declared] = []
            self._texts: list[str] = []
            self._watermark: tuple[str, Syntax] | None = None
            self._watermark_text = ("", "")
            self._key: tuple[str, ...] = ()
            self._key_name = ""

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add all of another schema."""
            self._columns += unresolved_schema._columns
            self._texts += unresolved_schema._texts
            if unresolved_schema._watermark is not None:
                self._watermark, self._watermark_text = unresolved_schema._watermark, unresolved_schema._watermark_text
            if unresolved_schema._key:
                self.primary_key_named(unresolved_schema._key_name, *unresolved_schema._key)
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add all of a schema whose types are known."""
            for column in resolved_schema.get_columns():
                if isinstance(column, ComputedColumn):
                    self.column_by_expression(column.get_name(), column.get_expression().as_serializable_string())
                elif isinstance(column, MetadataColumn):
                    key, virtual = column.get_metadata_key(), column.is_virtual()
                    self.column_by_metadata(column.get_name(), column.get_data_type(), key, virtual)
                else:
                    self.column(column.get_name(), column.get_data_type())
            for mark in resolved_schema.get_watermark_specs():
                self.watermark(mark.get_rowtime_attribute(), mark.get_watermark_expression().as_serializable_string())
            key_of_rows = resolved_schema.get_primary_key()
            if key_of_rows is not None:
                self.primary_key_named(key_of_rows.get_name(), *key_of_rows.get_columns())
            return self

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Add the fields of a row type.

            Raises:
                TypeError: It is none.
            """
            fields = getattr(data_type, "fields", None)
            if fields is None:
                raise TypeError(f"from_row_data_type() needs a DataTypes.ROW(...), but got {data_type!r}")
            return self.from_fields([field.name for field in fields], [field.data_type for field in fields])

        def from_fields(self, field_names: Sequence[str], field_data_types: Sequence[DataType | str]) -> Schema.Builder:
            """Add physical columns by name and type."""
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: DataType | str) -> Schema.Builder:
            """Add a physical column."""
            kind = data_type_of(data_type)
            self._columns.append(Declared(column_name, kind))
            self._texts.append(f"{quote_name(column_name)} {_type_text(data_type)}")
            return self

        def column_by_expression(self, column_name: str, expr: Expression | str) -> Schema.Builder:
            """Add a column that an expression on other columns computes: SQL text, or an expression."""
            syntax = _syntax(expr)
            self._columns.append(Declared(column_name, None, syntax, text=sql_text(syntax) or str(expr)))
            self._texts.append(f"{quote_name(column_name)} AS {_expression_text(expr)}")
            return self

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a column that the connector fills; ``rowtime`` of a stream is the timestamp of its records."""
            kind = data_type_of(data_type)
            self._columns.append(Declared(column_name, kind, None, metadata_key or column_name, is_virtual))
            source = "" if metadata_key is None else f" FROM '{metadata_key}'"
            virtual = " VIRTUAL" if is_virtual else ""
            self._texts.append(f"{quote_name(column_name)} {_type_text(data_type)} METADATA{source}{virtual}")
            return self

        def watermark(self, column_name: str, watermark_expr: Expression | str) -> Schema.Builder:
            """Declare event time and its watermark: ``ts - INTERVAL '5' SECOND``, or ``SOURCE_WATERMARK()``."""
            self._watermark = (column_name, _syntax(watermark_expr))
            self._watermark_text = (column_name, _expression_text(watermark_expr))
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare the key, which connectors use for updates and do not check."""
            return self.primary_key_named("PK_" + "_".join(column_names), *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Declare the key with a name.

            Raises:
                ValueError: There is a key already.
            """
            if self._key:
                raise ValueError(
                    f"Multiple primary keys are not supported: the schema has {', '.join(self._key)} already, and got "
                    f"{', '.join(column_names)}"
                )
            self._key, self._key_name = column_names, constraint_name
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._columns, self._texts, self._watermark, self._watermark_text, self._key, self._key_name)


def _type_text(given: DataType | str) -> str:
    return f"[{given}]" if isinstance(given, str) else sql_name(given)


def _expression_text(given: Expression | str) -> str:
    return f"[{given}]" if isinstance(given, str) else str(given)


def _syntax(given: Expression | str) -> Syntax:
    return given._syntax if isinstance(given, Expression) else syntax_of_text(given)


def syntax_of_text(given: str) -> Syntax:
    """Return an expression of SQL.

    Raises:
        SqlError: It is none.
    """
    parsed = parsed_expression(given, Tokens(given).all)
    return ExpressionReader(parsed).read(parsed.tree.expressions[0])
