"""Catalogs and what they hold; mirrors ``pyflink.table.catalog``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.table._catalog.columns import Column, ComputedColumn, MetadataColumn, PhysicalColumn
from flintstream.table._catalog.identifiers import ObjectIdentifier, ObjectPath
from flintstream.table._catalog.objects import (
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Procedure,
)
from flintstream.table._catalog.resolved_schema import Constraint, ResolvedSchema, UniqueConstraint, WatermarkSpec
from flintstream.table._stored.catalog import Catalog, HiveCatalog, JdbcCatalog
from flintstream.table._stored.models import CatalogModel
from flintstream.table._stored.tables import CatalogBaseTable
from flintstream.table.resolved_expression import ResolvedExpression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._expressions.expr import Column as NodeColumn

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "HiveCatalog",
    "JdbcCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


def resolve_schema(columns: Sequence[NodeColumn], declared: DeclaredTable | None = None) -> ResolvedSchema:
    """Return the schema of the columns of a plan, which may be those of a declared table."""
    given = {} if declared is None else {column.name: column for column in declared.columns}
    found: list[Column] = []
    for column in columns:
        source = given.get(column.name)
        made: Column
        if source is not None and source.expression is not None:
            made = Column.computed(column.name, ResolvedExpression(source.expression, column.type, source.text))
        elif source is not None and source.metadata is not None:
            key = None if source.metadata == column.name else source.metadata
            made = Column.metadata(column.name, column.type, key, source.virtual)
        else:
            made = Column.physical(column.name, column.type)
        found.append(replace(made, _time=column.time, _comment=None if source is None else source.comment))
    schema = ResolvedSchema(found)
    if declared is not None and declared.watermark is not None:
        name, syntax = declared.watermark
        rowtime = schema.get_column(name)
        if rowtime is not None:
            expression = ResolvedExpression(syntax, rowtime.get_data_type().nullable(), declared.watermark_text)
            schema.watermark_specs.append(WatermarkSpec.of(name, expression))
    if declared is not None and declared.primary_key:
        schema.primary_key = UniqueConstraint.primary_key("PK_" + "_".join(declared.primary_key), declared.primary_key)
    return schema


publish(__name__, __all__, globals())
