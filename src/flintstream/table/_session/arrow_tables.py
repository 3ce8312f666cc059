"""Tables of Arrow as tables of a program, in batches where their types allow it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.connectors.files.arrow_values import ArrowBatch
from flintstream.errors import optional_module
from flintstream.table._functions.series import arrow_schema
from flintstream.table._logical.nodes import Scan
from flintstream.table._plan.columnar.types import all_fit
from flintstream.table._session.arrow_rows import local_times, rows_of_arrow
from flintstream.table._session.elements import table_of_elements
from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    import pyarrow as pa

    from flintstream.common._types import data_types as t
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._logical.nodes import Node, Opener


def table_of_arrow(table: pa.Table, kind: t.RowType, zone: str) -> Node:
    """Return the table of a program with the rows of one of Arrow.

    Its rows are made when a job needs them. Where batches do, it needs none.
    """
    fitted = _fit(local_times(table, zone), kind)
    if fitted is None:
        return table_of_elements(rows_of_arrow(table, zone), kind, zone)
    columns = table_of_elements((), kind, zone).columns
    opened = partial(_open_rows, fitted, kind, zone)
    return Scan(columns, "from_elements", opened, batches=partial(_in_batches, fitted))


def _fit(table: pa.Table, kind: t.RowType) -> pa.Table | None:
    """Return a table in the types of a program's one; None if its rows have to be made one by one."""
    types = kind.field_types()
    if not types or not all_fit(types):
        return None
    if any(column.null_count and not is_nullable(of) for column, of in zip(table.columns, types, strict=True)):
        return None
    wanted = arrow_schema(kind.names, types)
    arrow = optional_module("pyarrow", extra="dataframes", purpose="from_arrow()")
    try:
        return table.rename_columns(kind.names).cast(wanted)
    except (arrow.ArrowException, ValueError):
        return None


def _open_rows(table: pa.Table, kind: t.RowType, zone: str, env: StreamExecutionEnvironment) -> DataStream:
    return table_of_elements(rows_of_arrow(table, zone), kind, zone).open(env)


def _in_batches(table: pa.Table, positions: tuple[int, ...], size: int) -> Opener:
    return partial(_open_batches, table.select(list(positions)), size)


def _open_batches(table: pa.Table, size: int, env: StreamExecutionEnvironment) -> DataStream:
    chunks = max((column.num_chunks for column in table.columns), default=0)
    whole = table.combine_chunks() if chunks * size > 2 * len(table) else table
    return env.from_collection([ArrowBatch(batch) for batch in whole.to_batches(max_chunksize=size)])
