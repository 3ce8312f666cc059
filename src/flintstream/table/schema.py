"""Schemas of tables; mirrors ``pyflink.table.schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._catalog.catalog import Declared, DeclaredTable
from flintstream.table._expressions.sql_text import sql_text
from flintstream.table._sql.dialect import Tokens, parsed_expression
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._types.reader import data_type_of
from flintstream.table._types.rules import sql_name
from flintstream.table.expression import Expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
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
        key: Sequence[str],
    ) -> None:
        """Hold the parts; programs call :meth:`new_builder`."""
        self._columns = tuple(columns)
        self._texts = tuple(texts)
        self._watermark = watermark
        self._key = tuple(key)

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder without columns."""
        return Schema.Builder()

    def __repr__(self) -> str:
        """Return the columns as Flink shows them."""
        return "(\n  " + ",\n  ".join(self._texts) + "\n)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        """Return whether the columns are the same."""
        return isinstance(other, Schema) and self._texts == other._texts

    def __hash__(self) -> int:
        """Return the hash of the columns."""
        return hash(self._texts)

    def _declared(self, options: dict[str, str] | None = None, **more: Any) -> DeclaredTable:
        watermark = "" if self._watermark is None else sql_text(self._watermark[1]) or ""
        return DeclaredTable(self._columns, options or {}, self._watermark, self._key, watermark_text=watermark, **more)

    class Builder:
        """Collects the parts of a schema."""

        def __init__(self) -> None:
            """Begin without columns."""
            self._columns: list[Declared] = []
            self._texts: list[str] = []
            self._watermark: tuple[str, Syntax] | None = None
            self._key: tuple[str, ...] = ()

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add all of another schema."""
            self._columns += unresolved_schema._columns
            self._texts += unresolved_schema._texts
            self._watermark = unresolved_schema._watermark or self._watermark
            self._key = unresolved_schema._key or self._key
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
            self._texts.append(f"`{column_name}` {sql_name(kind)}")
            return self

        def column_by_expression(self, column_name: str, expr: Expression | str) -> Schema.Builder:
            """Add a column that an expression on other columns computes: SQL text, or an expression."""
            syntax = _syntax(expr)
            self._columns.append(Declared(column_name, None, syntax, text=sql_text(syntax) or str(expr)))
            self._texts.append(f"`{column_name}` AS [{expr}]")
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
            self._texts.append(f"`{column_name}` METADATA{source}{' VIRTUAL' if is_virtual else ''}")
            return self

        def watermark(self, column_name: str, watermark_expr: Expression | str) -> Schema.Builder:
            """Declare event time and its watermark: ``ts - INTERVAL '5' SECOND``, or ``SOURCE_WATERMARK()``."""
            self._watermark = (column_name, _syntax(watermark_expr))
            self._texts.append(f"WATERMARK FOR `{column_name}` AS [{watermark_expr}]")
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare the key, which connectors use for updates and do not check."""
            return self.primary_key_named("", *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Declare the key with a name."""
            self._key = column_names
            self._texts.append(
                f"CONSTRAINT PRIMARY KEY ({', '.join(f'`{column_name}`' for column_name in column_names)}) NOT ENFORCED"
            )
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._columns, self._texts, self._watermark, self._key)


def _syntax(given: Expression | str) -> Syntax:
    return given._syntax if isinstance(given, Expression) else syntax_of_text(given)


def syntax_of_text(given: str) -> Syntax:
    """Return an expression of SQL.

    Raises:
        SqlError: It is none.
    """
    parsed = parsed_expression(given, Tokens(given).all)
    return ExpressionReader(parsed).read(parsed.tree.expressions[0])
