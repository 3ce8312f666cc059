"""Descriptors of tables for readers and writers, from their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._checks import require_bool, require_int, require_text, texts_of
from flintstream.dataframe.datatype import DataType
from flintstream.table.schema import Schema
from flintstream.table.table_descriptor import TableDescriptor

if TYPE_CHECKING:
    from collections.abc import Mapping


def text_of_bool(value: object, name: str) -> str | None:
    """Return an option that is true or false; None if it is not set.

    Raises:
        TypeError: It is neither.
    """
    if value is None:
        return None
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool or None")
    return str(require_bool(value, name)).lower()


def text_of_parallelism(value: object) -> str | None:
    """Return an option that is a whole number; None if it is not set.

    Raises:
        TypeError: It is none.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("sink_parallelism must be an int or None")
    return str(require_int(value, "sink_parallelism"))


def check_options(options: object, name: str = "options") -> dict[str, str]:
    """Return options, which are texts.

    Raises:
        TypeError: A key or value is not a text.
        ValueError: A key is empty, or that of the connector.
    """
    if not isinstance(options, dict):
        raise TypeError(f"{name} must be a dict of string keys and values")
    for key, value in options.items():
        if not isinstance(key, str):
            raise TypeError("option keys must be strings")
        require_text(key, "option keys")
        if key == "connector":
            raise ValueError("connector must be specified with the connector argument, not in options")
        if not isinstance(value, str):
            raise TypeError(f"option {key!r} must have a string value")
    return dict(options)


def merge(options: dict[str, str], more: Mapping[str, str | None]) -> None:
    """Add options that are set.

    Raises:
        ValueError: One has another value already.
    """
    for key, value in more.items():
        if value is not None:
            if not isinstance(value, str):
                raise TypeError(f"option {key!r} must have a string value")
            if options.setdefault(key, value) != value:
                raise ValueError(f"conflicting values for option {key!r}")


def add_prefix(options: object, prefix: str) -> dict[str, str]:
    """Return options of a format with its prefix, which they may have already.

    Raises:
        ValueError: An option is there with and without it.
    """
    found: dict[str, str] = {}
    for key, value in check_options({} if options is None else options).items():
        name = key if key.startswith(prefix) else prefix + key
        if name in found:
            raise ValueError(f"duplicate format option: {name!r}")
        found[name] = value
    return found


def file_options(
    path: object,
    kind: str,
    connector: Mapping[str, str | None],
    of_format: Mapping[str, str | None],
    connector_options: object,
    format_options: object,
) -> dict[str, str]:
    """Return the options of a table of files.

    Raises:
        TypeError: An option is not a text.
        ValueError: Options conflict, or one is reserved.
    """
    found = {"path": require_text(path, "path"), "format": kind}
    extra = {} if connector_options is None else check_options(connector_options)
    for key in extra:
        if key in found:
            raise ValueError(f"{key!r} must not be specified in connector_options")
        if key.startswith(f"{kind}."):
            raise ValueError(f"format option {key!r} must be specified in format_options")
    merge(found, extra)
    merge(found, connector)
    formats = add_prefix(format_options, f"{kind}.")
    merge(formats, {f"{kind}.{key}": value for key, value in of_format.items()})
    merge(found, formats)
    return found


def source_schema(schema: object, computed: object, watermark: object) -> Schema:
    """Return the schema of a source.

    Raises:
        TypeError: A name, type or expression has another type.
        ValueError: One is empty.
    """
    if not isinstance(schema, dict):
        raise TypeError("schema must be a dict of column names and DataType values")
    if not schema:
        raise ValueError("schema must not be empty")
    builder = Schema.new_builder()
    for name, kind in schema.items():
        if not isinstance(name, str):
            raise TypeError("schema column names must be strings")
        if not name:
            raise ValueError("schema column names must not be empty")
        if not isinstance(kind, DataType):
            raise TypeError(f"schema column {name!r} must use a DataType value")
        builder.column(name, kind._to_table_data_type())
    for name, expression in computed_columns(computed).items():
        builder.column_by_expression(name, expression)
    marks = check_watermark(watermark)
    if marks is not None:
        builder.watermark(*marks)
    return builder.build()


def computed_columns(computed: object) -> dict[str, str]:
    """Return computed columns, which are SQL.

    Raises:
        TypeError: One is not a text.
        ValueError: One is empty.
    """
    if computed is None:
        return {}
    if not isinstance(computed, dict):
        raise TypeError("computed_columns must be a dict of string keys and values")
    for name, expression in computed.items():
        if not isinstance(name, str):
            raise TypeError("computed column names must be strings")
        if not name:
            raise ValueError("computed column names must not be empty")
        if not isinstance(expression, str):
            raise TypeError(f"computed column {name!r} must use a string expression")
        if not expression:
            raise ValueError(f"computed column {name!r} expression must not be empty")
    return dict(computed)


def check_watermark(watermark: object) -> tuple[str, str] | None:
    """Return the column of event time and its watermark, as SQL; None if there is none.

    Raises:
        TypeError: It is not a pair of texts.
        ValueError: One is empty.
    """
    if watermark is None:
        return None
    if not isinstance(watermark, tuple) or len(watermark) != 2:
        raise TypeError("watermark must be a tuple of (column, expression)")
    column, expression = watermark
    if not isinstance(column, str) or not isinstance(expression, str):
        raise TypeError("watermark column and expression must be strings")
    if not column or not expression:
        raise ValueError("watermark column and expression must not be empty")
    return column, expression


def descriptor_of(
    connector: object, options: object, schema: Schema | None = None, partition_by: object = None
) -> TableDescriptor:
    """Return the descriptor of a table.

    Raises:
        TypeError: An argument has another type.
        ValueError: One is empty, or a partition key is there twice.
    """
    keys = texts_of(partition_by, "partition_by") or []
    builder = TableDescriptor.for_connector(require_text(connector, "connector"))
    known = check_options(options)
    if not all(keys):
        raise ValueError("partition_by column names must not be empty")
    if len(set(keys)) != len(keys):
        raise ValueError("partition_by column names must not be duplicated")
    if schema is not None:
        builder.schema(schema)
    if keys:
        builder.partitioned_by(*keys)
    for key, value in known.items():
        builder.option(key, value)
    return builder.build()
