"""Models of catalogs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flintstream.table._catalog.models import DeclaredModel, ModelColumn
from flintstream.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping


def declare_model(
    inputs: Schema | None, outputs: Schema | None, options: Mapping[str, str], comment: str | None
) -> DeclaredModel:
    """Return what a catalog keeps of a model."""
    return DeclaredModel(_columns(inputs), _columns(outputs), dict(options), comment)


def _columns(schema: Schema | None) -> tuple[ModelColumn, ...]:
    declared = () if schema is None else schema._columns
    return tuple(ModelColumn(item.name, item.type, item.comment) for item in declared if item.type is not None)


def _schema(columns: tuple[ModelColumn, ...]) -> Schema:
    builder = Schema.new_builder()
    for column in columns:
        builder.column(column.name, column.type)
    return builder.build()


@dataclass(frozen=True)
class CatalogModel:
    """A model: the columns that it takes and returns, and the options of its provider.

    >>> from flintstream.table import DataTypes, Schema
    >>> schema = Schema.new_builder().column("text", DataTypes.STRING()).build()
    >>> model = CatalogModel.create_model(schema, schema, {"provider": "openai"}, "an embedding")
    >>> model.get_options(), model.get_comment(), model.copy() == model
    ({'provider': 'openai'}, 'an embedding', True)
    >>> CatalogModel.of(model.entry) == model
    True
    """

    input_schema: Schema
    output_schema: Schema
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_model(
        input_schema: Schema, output_schema: Schema, options: dict[str, str] | None = None, comment: str | None = None
    ) -> CatalogModel:
        """Return a model, to be given to ``Catalog.create_model``."""
        return CatalogModel(input_schema, output_schema, dict(options or {}), comment)

    @staticmethod
    def of(model: DeclaredModel) -> CatalogModel:
        """Return the model that a catalog keeps."""
        inputs, outputs = map(_schema, (model.inputs, model.outputs))
        return CatalogModel(inputs, outputs, dict(model.options), model.comment)

    @property
    def entry(self) -> DeclaredModel:
        """What a catalog keeps of the model."""
        return declare_model(self.input_schema, self.output_schema, self.options, self.comment)

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self.options)

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self.comment

    def copy(self) -> CatalogModel:
        """Return an equal model."""
        return replace(self)
