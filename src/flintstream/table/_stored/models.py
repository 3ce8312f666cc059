"""Models of catalogs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.table.schema import Schema


@dataclass(frozen=True)
class CatalogModel:
    """A model: the columns that it takes and returns, and the options of its provider.

    >>> from flintstream.table import DataTypes, Schema
    >>> schema = Schema.new_builder().column("text", DataTypes.STRING()).build()
    >>> model = CatalogModel.create_model(schema, schema, {"provider": "openai"}, "an embedding")
    >>> model.get_options(), model.get_comment(), model.copy() == model
    ({'provider': 'openai'}, 'an embedding', True)
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

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self.options)

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self.comment

    def copy(self) -> CatalogModel:
        """Return an equal model."""
        return replace(self)
