"""Models described in Python instead of DDL; mirrors ``pyflink.table.model_descriptor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flintstream.table._catalog.columns import quote_text

if TYPE_CHECKING:
    from flintstream.common.config_options import ConfigOption
    from flintstream.table.schema import Schema

__all__ = ["ModelDescriptor"]

_T = TypeVar("_T")


class ModelDescriptor:
    """The columns that a model takes and returns, and the options of its provider: what ``CREATE MODEL`` declares.

    >>> from flintstream.table import DataTypes, Schema
    >>> text = Schema.new_builder().column("text", DataTypes.STRING()).build()
    >>> label = Schema.new_builder().column("label", DataTypes.STRING()).build()
    >>> builder = ModelDescriptor.for_provider("openai").input_schema(text).output_schema(label)
    >>> model = builder.option("task", "classification").comment("labels").build()
    >>> model.get_options(), model.get_input_schema() == text, model.get_output_schema() == label, model.get_comment()
    ({'provider': 'openai', 'task': 'classification'}, True, True, 'labels')
    """

    def __init__(
        self, input_schema: Schema | None, output_schema: Schema | None, options: dict[str, str], comment: str | None
    ) -> None:
        """Hold the parts; programs call :meth:`for_provider`."""
        self._input_schema, self._output_schema = input_schema, output_schema
        self._options, self._comment = options, comment

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        """Return a builder for a model of a provider."""
        return ModelDescriptor.Builder().option("provider", provider)

    def get_options(self) -> dict[str, str]:
        """Return the options by key."""
        return dict(self._options)

    def get_input_schema(self) -> Schema | None:
        """Return the columns that the model takes, if they are declared."""
        return self._input_schema

    def get_output_schema(self) -> Schema | None:
        """Return the columns that the model returns, if they are declared."""
        return self._output_schema

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self._comment

    def __eq__(self, other: object) -> bool:
        """Return whether all parts are the same."""
        return isinstance(other, ModelDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Return the hash of the options."""
        return hash(tuple(sorted(self._options.items())))

    def __str__(self) -> str:
        """Return the model as DDL."""
        comment = f"COMMENT {quote_text(self._comment)}\n" if self._comment else ""
        options = ",\n".join(f"  {quote_text(key)} = {quote_text(value)}" for key, value in self._options.items())
        heads = f"INPUT {self._input_schema or '()'}\nOUTPUT {self._output_schema or '()'}\n"
        return f"{heads}{comment}WITH (\n{options}\n)"

    __repr__ = __str__

    class Builder:
        """Collects the parts of a model.

        >>> ModelDescriptor.Builder().option("provider", "openai").build().get_options()
        {'provider': 'openai'}
        """

        def __init__(self) -> None:
            """Begin without options."""
            self._input_schema: Schema | None = None
            self._output_schema: Schema | None = None
            self._options: dict[str, str] = {}
            self._comment: str | None = None

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model takes."""
            self._input_schema = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model returns."""
            self._output_schema = output_schema
            return self

        def option(self, key: str | ConfigOption[_T], value: object) -> ModelDescriptor.Builder:
            """Set an option of the provider."""
            self._options[key if isinstance(key, str) else key.key] = str(value)
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            """Set the comment."""
            self._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            """Return the description."""
            return ModelDescriptor(self._input_schema, self._output_schema, dict(self._options), self._comment)
