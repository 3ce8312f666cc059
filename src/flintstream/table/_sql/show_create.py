"""The statement that declares a table, as ``SHOW CREATE TABLE`` shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import hide_secrets
from flintstream.table._catalog.declared import kind_of
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._catalog.declared import Declared, DeclaredTable, MaterializedTable, View
    from flintstream.table._expressions.expr import Column

_LONG = (
    (r"(?<!`)\bSTRING\b(?!`)", "VARCHAR(2147483647)"),
    (r"(?<!`)\bBYTES\b(?!`)", "VARBINARY(2147483647)"),
    (r"\bTIMESTAMP_LTZ\((\d)\)", r"TIMESTAMP(\1) WITH LOCAL TIME ZONE"),
)
"""Short names of types, and those that the statement has."""


def show_create(path: Sequence[str], table: DeclaredTable, columns: Sequence[Column]) -> str:
    """Return the text of ``CREATE TABLE``, with the secrets among its options hidden.

    Args:
        path: The full name.
        table: The declaration.
        columns: Its columns with their types.
    """
    options = sorted(f"{_text(key)} = {_text(value)}" for key, value in hide_secrets(table.options).items())
    lines = [*declaration(path, table, columns), *(["WITH (", _indent(options), ")"] if options else [])]
    return "\n".join([*lines, ""])


def show_create_materialized(path: Sequence[str], table: MaterializedTable, columns: Sequence[Column]) -> str:
    """Return the text of ``CREATE MATERIALIZED TABLE``, with the query as it was written.

    Args:
        path: The full name.
        table: The declaration.
        columns: Its columns with their types.
    """
    options = sorted(f"{_text(key)} = {_text(value)}" for key, value in hide_secrets(table.options).items())
    lines = [*declaration(path, table, columns), *(["WITH (", _indent(options), ")"] if options else [])]
    lines += ["START_MODE = FROM_BEGINNING", f"FRESHNESS = {table.freshness}", f"REFRESH_MODE = {table.refresh_mode}"]
    return "\n".join([*lines, f"AS {table.text}", ""])


def declaration(path: Sequence[str], table: DeclaredTable, columns: Sequence[Column]) -> list[str]:
    """Return the lines of ``CREATE TABLE`` up to its options."""
    types = {column.name: column.type for column in columns}
    parts = [_column(column, types[column.name]) for column in table.columns]
    if table.watermark is not None:
        parts.append(f"WATERMARK FOR `{table.watermark[0]}` AS {table.watermark_text}")
    if table.primary_key:
        name = table.key_name or f"PK_{'_'.join(table.primary_key)}"
        parts.append(f"CONSTRAINT `{name}` PRIMARY KEY ({_names(table.primary_key)}) NOT ENFORCED")
    lines = [f"CREATE {kind_of(table).upper()} {'.'.join(f'`{item}`' for item in path)} (", _indent(parts), ")"]
    if table.comment:
        lines.append(f"COMMENT {_text(table.comment)}")
    if table.buckets:
        lines.append(f"DISTRIBUTED {table.buckets}")
    if table.partitions:
        lines.append(f"PARTITIONED BY ({_names(table.partitions)})")
    return lines


def show_create_view(path: Sequence[str], view: View, columns: Sequence[Column], *, temporary: bool) -> str:
    """Return the text of ``CREATE VIEW``, with the query as it was written.

    Args:
        path: The full name.
        view: The declaration.
        columns: Its columns.
        temporary: Whether it is not in a catalog.
    """
    kind = "TEMPORARY VIEW" if temporary else "VIEW"
    comment = f"COMMENT {_text(view.comment)}\n" if view.comment else ""
    names = _indent(f"`{column.name}`" for column in columns)
    return f"CREATE {kind} {'.'.join(f'`{item}`' for item in path)} (\n{names}\n)\n{comment}AS {view.text}\n"


def _column(declared: Declared, kind: DataType) -> str:
    comment = "" if declared.comment is None else f" COMMENT {_text(declared.comment)}"
    if declared.expression is not None:
        return f"`{declared.name}` {declared.extras}{comment}"
    name = long_name(kind)
    extras = "" if declared.extras is None else f" {declared.extras}"
    return f"`{declared.name}` {name}{extras}{comment}"


def long_name(kind: DataType) -> str:
    """Return the name of a type as statements that are shown have it.

    >>> from flintstream.table import DataTypes
    >>> long_name(DataTypes.STRING())
    'VARCHAR(2147483647)'
    """
    name = sql_name(kind)
    for short, full in _LONG:
        name = re.sub(short, full, name)
    return name


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _indent(parts: Iterable[str]) -> str:
    return ",\n".join(f"  {part}" for part in parts)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
