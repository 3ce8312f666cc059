"""Tables and views of catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._catalog.declared import Declared, DeclaredTable, View
from flintstream.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table.table_schema import TableSchema


class CatalogBaseTable:
    """A table or view of a catalog.

    >>> from flintstream.table import DataTypes, TableSchema
    >>> schema = TableSchema(["id", "day"], [DataTypes.INT(), DataTypes.STRING()])
    >>> table = CatalogBaseTable.create_table(schema, ["day"], {"connector": "blackhole"}, "orders of a day")
    >>> table.get_options(), table.get_comment(), table.get_description(), table.get_detailed_description()
    ({'connector': 'blackhole'}, 'orders of a day', 'orders of a day', None)
    >>> table.copy().get_unresolved_schema()
    (
      `id` INT,
      `day` STRING
    )
    >>> table.entry.partitions
    ('day',)
    >>> view = CatalogBaseTable.create_view("SELECT 1", "SELECT 1", schema, {}, "a constant")
    >>> view.get_comment()
    'a constant'
    """

    def __init__(self, entry: DeclaredTable | View) -> None:
        """Hold a declaration; programs call :meth:`create_table` or :meth:`create_view`."""
        self._entry = entry

    @property
    def entry(self) -> DeclaredTable | View:
        """The declaration."""
        return self._entry

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a table, to be given to :meth:`Catalog.create_table`."""
        pairs = zip(schema.get_field_names(), schema.get_field_data_types(), strict=True)
        columns = tuple(Declared(name, kind) for name, kind in pairs)
        return CatalogBaseTable(
            DeclaredTable(columns, dict(properties or {}), partitions=tuple(partition_keys), comment=comment)
        )

    @staticmethod
    def create_view(
        original_query: str,  # noqa: ARG004 - the expanded one has the full names
        expanded_query: str,
        schema: TableSchema,
        properties: Mapping[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a view, to be given to :meth:`Catalog.create_table`; it is planned where a query reads it."""
        pairs = tuple(zip(schema.get_field_names(), schema.get_field_data_types(), strict=True))
        return CatalogBaseTable(View(None, expanded_query, comment, pairs, dict(properties)))

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self._entry.options)

    def get_unresolved_schema(self) -> Schema:
        """Return the columns, the watermark and the key."""
        builder, entry = Schema.new_builder(), self._entry
        if isinstance(entry, View):
            for name, kind in entry.schema:
                builder.column(name, kind)
            for column in () if (plan := entry.plan) is None else plan.columns:
                builder.column(column.name, column.type)
            return builder.build()
        for declared in entry.columns:
            if declared.expression is not None:
                builder.column_by_expression(declared.name, declared.text)
            elif declared.type is not None and declared.metadata is not None:
                key = None if declared.metadata == declared.name else declared.metadata
                builder.column_by_metadata(declared.name, declared.type, key, declared.virtual)
            elif declared.type is not None:
                in_key = declared.name in entry.primary_key
                builder.column(declared.name, declared.type.not_null() if in_key else declared.type)
        if entry.watermark is not None:
            builder.watermark(entry.watermark[0], entry.watermark_text)
        if entry.primary_key:
            builder.primary_key(*entry.primary_key)
        return builder.build()

    def get_comment(self) -> str:
        """Return the comment, an empty text without one."""
        return self._entry.comment or ""

    def get_description(self) -> str:
        """Return the comment, an empty text without one."""
        return self.get_comment()

    def get_detailed_description(self) -> None:
        """Return None."""

    def copy(self) -> CatalogBaseTable:
        """Return an equal table."""
        return CatalogBaseTable(self._entry)
