"""Tables in the columns and changes that a program asks of a stream."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common.types import RowKind, _make_row
from flintstream.datastream._streams.steps import transformation_of
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Column
from flintstream.table._plan.build import for_sink, row_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.types import Row
    from flintstream.datastream import DataStream
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._logical.nodes import Node
    from flintstream.table.changelog_mode import ChangelogMode

SINK = "*anonymous_datastream_sink*"


def as_declared(node: Node, table: DeclaredTable, zone: str, mode: ChangelogMode | None) -> tuple[Node, list[int]]:
    """Return a plan in the columns of a schema, by position, and which of them are in the rows of the stream.

    Without physical columns, those of the plan are taken. A metadata column ``rowtime`` is the time of the records,
    and is not in the rows. Computed columns are left out.

    Raises:
        SqlError: The columns do not fit, a metadata column is not ``rowtime``, or the mode lacks a kind of change.
    """
    if node.changelog and mode is not None and mode._inserts_only:
        raise SqlError(f"Table sink '{SINK}' doesn't support consuming update changes, and the query has some")
    written = [column for column in table.columns if column.type is not None and not column.virtual]
    for column in written:
        if column.metadata not in {None, "rowtime"}:
            raise SqlError(f"Invalid metadata key '{column.metadata}' in column '{column.name}': there is 'rowtime'")
    metadata = {column.name for column in written if column.metadata is not None}
    columns = [Column(column.name, column.type) for column in written if column.type is not None]
    if len(metadata) == len(written):
        columns = [column for column in node.columns if column.name not in metadata] + columns
    ready = for_sink(node, SINK, columns, zone)
    timed = [
        replace(column, name=wanted.name, time="ROWTIME" if wanted.name in metadata else "" if metadata else own.time)
        for column, wanted, own in zip(ready.columns, columns, node.columns, strict=True)
    ]
    kept = [i for i, column in enumerate(columns) if column.name not in metadata]
    return replace(ready, columns=tuple(timed)), kept


def in_mode(rows: DataStream, node: Node, kept: Sequence[int], mode: ChangelogMode | None) -> DataStream:
    """Return a stream of the rows of a plan with some of the columns, and the kinds of changes of a mode."""
    columns, parallelism = [node.columns[i] for i in kept], transformation_of(rows).parallelism
    if len(kept) < len(node.columns):
        rows = rows.map(partial(_pick, tuple(column.name for column in columns), list(kept)))
    if node.changelog and mode is not None and mode._upserts:
        rows = rows.filter(_is_in_upserts)
    transformation_of(rows).parallelism = parallelism  # in more subtasks, changes could overtake each other
    transformation_of(rows).output_type = t.to_type_info(row_type(columns))
    return rows


def _pick(names: tuple[str, ...], kept: list[int], row: Row) -> Row:
    return rename(names, row, [row[i] for i in kept])


def _is_in_upserts(row: Row) -> bool:
    return row.get_row_kind() != RowKind.UPDATE_BEFORE


def first(row: Row) -> object:
    """Return the first value of a row."""
    return row[0]


def rename(names: tuple[str, ...], row: Row, values: list[object] | None = None) -> Row:
    """Return a row with other names, of its values or others, with its kind of change."""
    renamed = _make_row(names, list(row) if values is None else values)
    renamed.set_row_kind(row.get_row_kind())
    return renamed


def retraction(names: tuple[str, ...], row: Row) -> tuple[bool, Row]:
    """Return whether a row is added, and the row."""
    added = row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}
    return added, rename(names, row) if names else row
