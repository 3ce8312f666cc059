"""What DataFrames need of tables beside the Table API: their environments, and tables of rows with event time."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.errors import PlanError
from flintstream.table._analyzer.grouping import aggregates_in
from flintstream.table._analyzer.windows import add_windows
from flintstream.table._catalog.declared import View, check_names
from flintstream.table._executor import path_of
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table._expressions.resolver import resolve_condition
from flintstream.table._functions.series import array_of
from flintstream.table._plan.joins import ANTI, SEMI, join_tables
from flintstream.table._session import arrow_tables
from flintstream.table._session.arrow_rows import from_arrow_type, rows_of_arrow
from flintstream.table._session.elements import table_of_elements
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import syntax_of
from flintstream.table.schema import Schema
from flintstream.table.table import Table
from flintstream.table.table_environment import TableEnvironment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from flintstream.connectors.files.arrow_values import ArrowBatch
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.datastream._streams.collect import CloseableIterator
    from flintstream.table.expression import Expression
    from flintstream.table.statement_set import StatementSet
    from flintstream.table.table_result import CloseableIterator as Results

__all__ = [
    "aggregates",
    "array_of",
    "batches_of",
    "environment_of",
    "exact_rows_of",
    "extended_table",
    "has_temporary_function",
    "is_query",
    "keep_matches",
    "rows_of_arrow",
    "sql_functions",
    "stream_environment_of",
    "table_of_arrow",
    "table_of_rows",
    "type_of_arrow",
    "with_windows",
    "zone_of",
]


def environment_of(owned: Table | StatementSet) -> TableEnvironment:
    """Return the environment of a table or statement set.

    Raises:
        TypeError: It has none.
    """
    found = owned._executor.environment
    if not isinstance(found, TableEnvironment):
        raise TypeError(f"{owned!r} belongs to no table environment")
    return found


def zone_of(t_env: TableEnvironment) -> str:
    """Return the time zone of a session."""
    return t_env._session.zone


def table_of_rows(
    t_env: TableEnvironment, rows: Sequence[tuple[object, ...]], kind: t.RowType, schema: Schema | None = None
) -> Table:
    """Return a table of rows, with the watermark and computed columns of a schema."""
    session = t_env._session
    node = table_of_elements(rows, kind, session.zone)
    if schema is None:
        return Table(node, t_env._executor)
    declared = schema._declare()
    return Table(session.completed("from_elements", declared, node, kind.names), t_env._executor, declared)


def stream_environment_of(t_env: TableEnvironment) -> StreamExecutionEnvironment:
    """Return the environment of streams in which the tables of an environment run."""
    return t_env._executor.env


def table_of_arrow(t_env: TableEnvironment, table: pa.Table, kind: t.RowType) -> Table:
    """Return a table with the rows of one of Arrow."""
    return Table(arrow_tables.table_of_arrow(table, kind, t_env._session.zone), t_env._executor)


def batches_of(table: Table) -> CloseableIterator[ArrowBatch] | None:
    """Run a job that computes the rows of a table in batches of Arrow; None if they have to be rows."""
    return table._executor.execute_in_batches(table._node)


def exact_rows_of(table: Table) -> Results:
    """Run a job that computes the rows of a table, whose timestamps keep their nanoseconds."""
    return table.execute()._iterate(precise=True)


def has_temporary_function(t_env: TableEnvironment, name: str) -> bool:
    """Return whether a program has declared a function of this name for itself."""
    return name.lower() in {item.lower() for item in t_env.list_user_defined_functions()}


def keep_matches(left: Table, right: Table, predicate: Expression, *, without: bool) -> Table:
    """Return the rows of a table with a partner in another one, or those without.

    Raises:
        SqlError: A column is in both tables, or unknown.
    """
    session = environment_of(left)._session
    scope = session.scope((*left._node.columns, *right._node.columns))
    condition = resolve_condition(syntax_of(predicate), scope, "join", None)
    joined = join_tables(session.settings, left._node, right._node, ANTI if without else SEMI, condition)
    return Table(joined, left._executor)


def with_windows(
    table: Table, kind: q.WindowKind, column: Expression, sizes: Sequence[Expression], partition: Sequence[Expression]
) -> Table:
    """Return the rows of a table with the columns of their windows.

    Raises:
        SqlError: The column is not a time attribute, or a size is wrong.
        TypeError: A key is an expression that has to be a column.
    """
    call = q.Window(
        None,
        kind=kind,
        table=s.Query(None),
        column=_name(column, "on"),
        sizes=tuple(("", syntax_of(size)) for size in sizes),
        partition=tuple(_name(key, "partition_by") for key in partition),
    )
    return Table(add_windows(table._node, call, zone_of(environment_of(table))), table._executor)


def _name(column: Expression, argument: str) -> str:
    syntax = syntax_of(column)
    if not isinstance(syntax, s.Name) or len(syntax.parts) != 1:
        raise TypeError(f"{argument} must be a column, but got {column}: add it with with_column() first")
    return syntax.parts[0]


def aggregates(expression: Expression) -> bool:
    """Return whether an expression aggregates rows."""
    return bool(aggregates_in(syntax_of(expression)))


def is_query(text: str) -> bool:
    """Return whether a statement is a query; one that cannot be read may be.

    >>> is_query("(SELECT 1)"), is_query("/* a */ VALUES (1)"), is_query("EXPLAIN SELECT 1"), is_query("")
    (True, True, False, True)
    """
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).strip(" \n\t\r(;")
    return not bare or bare.split()[0].upper() in {"SELECT", "VALUES", "WITH", "TABLE"}


def type_of_arrow(names: Sequence[str], schema: pa.Schema) -> t.RowType:
    """Return the type of rows of Arrow, with other names.

    Raises:
        TypeError: A column has a type that tables lack.
    """
    fields = zip(names, schema, strict=True)
    return t.RowType([t.RowField(name, from_arrow_type(field.type, field.nullable)) for name, field in fields])


def extended_table(
    t_env: TableEnvironment, path: str, computed: Mapping[str, str], watermark: tuple[str, str] | None
) -> Table:
    """Return a declared table with more computed columns, or another watermark.

    Raises:
        SqlError: The table does not exist, or an expression is wrong.
        PlanError: It is a view, or has no connector.
    """
    catalog = t_env._session.catalog
    name = catalog.path(path_of(path))
    known = catalog.find(name)
    if isinstance(known, View):
        raise PlanError(f"{'.'.join(name)} is a view, computed columns and watermarks can only be added to tables")
    if "connector" not in known.options:
        raise PlanError(f"{'.'.join(name)} does not declare a 'connector' option, so no query can read it")
    builder = Schema.new_builder()
    for column, expression in computed.items():
        builder.column_by_expression(column, expression)
    if watermark is not None:
        builder.watermark(*watermark)
    more = builder.build()._declare()
    columns = (*known.columns, *more.columns)
    check_names([column.name for column in columns])
    made = replace(known, columns=columns)
    if watermark is not None:
        made = replace(made, watermark=more.watermark, watermark_text=more.watermark_text)
    return t_env._declared_table(catalog.add_unnamed(made))


def sql_functions(environment: TableEnvironment) -> list[str]:
    """Return the names of functions as statements write them, in capital letters: built-in ones and the program's."""
    names = {*filter(str.isidentifier, FUNCTIONS), *map(str.upper, environment.list_user_defined_functions())}
    return sorted(names)
