"""From declared tables to plans that read them, and their watermarks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.source import Boundedness
from flintstream.options.execution import AUTO_WATERMARK_INTERVAL, RUNTIME_MODE
from flintstream.options.tables import DUPLICATE_CHANGES
from flintstream.table._connectors.contract import INSERTIONS, UPSERTS, ConnectorTable, Records
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.registry import read_metadata, source_of
from flintstream.table._connectors.times import ComputedTime
from flintstream.table._errors import SqlError, unsupported
from flintstream.table._expressions.expr import Column
from flintstream.table._logical.nodes import Scan
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.rows import key_at
from flintstream.table._operators.upserts import ChangelogNormalize
from flintstream.table._plan import edges
from flintstream.table._plan.translate import add_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.source import Source
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._connectors.contract import TableSource
    from flintstream.table._connectors.times import Watermarks
    from flintstream.table._expressions.codegen import Source as Code
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Opener


def strategy_of(watermarks: Watermarks, env: StreamExecutionEnvironment) -> WatermarkStrategy[tuple[object, ...]]:
    """Return the strategy of a table's watermarks; the caller sets how to find the time."""
    return watermarks.strategy(env._configuration.get(AUTO_WATERMARK_INTERVAL))


def connector_table(name: str, table: DeclaredTable, columns: Sequence[Column]) -> ConnectorTable:
    """Return a table as its connector sees it."""
    metadata = {column.name: column.metadata for column in table.columns if column.metadata is not None}
    return ConnectorTable(name, columns, Options(name, table.options), table.primary_key, table.partitions, metadata)


def physical_table(name: str, table: DeclaredTable) -> ConnectorTable:
    """Return a table as its connector reads it: metadata of other types than declared have those of the connector."""
    declared = [Column(column.name, column.type) for column in table.columns if column.type is not None]
    seen = connector_table(name, table, declared)
    if not seen.metadata:
        return seen
    types = {column: kind.nullable() for column, kind in read_metadata(seen).items()}
    differs = [types.get(column.name, column.type.nullable()) != column.type.nullable() for column in declared]
    columns = [replace(c, type=types[c.name]) if d else c for c, d in zip(declared, differs, strict=True)]
    return replace(seen, columns=columns)


def scan(name: str, table: DeclaredTable) -> tuple[Scan, bool]:
    """Return the plan that reads a table, and whether each split of its source can have watermarks of its own.

    Raises:
        SqlError: Its connector or an option is unknown.
    """
    seen = physical_table(name, table)
    found = source_of(seen)
    changes = found.changes != INSERTIONS
    if found.changes == UPSERTS and not table.primary_key:
        raise SqlError(
            f"table '{name}': the connector reads the newest row of each key, so the table needs a PRIMARY KEY "
            "(...) NOT ENFORCED"
        )
    by_split = found.source is not None and found.source.watermarks_per_split
    return _node(found, seen), by_split and found.records is Records.TUPLES and not changes


def _node(found: TableSource, seen: ConnectorTable) -> Scan:
    """Return the plan that reads a table."""
    changes = found.changes != INSERTIONS
    fewer = None if found.with_columns is None else partial(_narrow, found.with_columns, found, seen)
    opened = partial(_open_scan, found.source, found, seen)
    batches = None if found.batches is None or changes else partial(_in_batches, found, seen)
    ends = found.source is not None and found.source.get_boundedness() is Boundedness.BOUNDED
    filtered = None if found.with_condition is None or changes else partial(_filter, found.with_condition, seen)
    return Scan(
        tuple(seen.columns),
        seen.name,
        opened,
        changes,
        found.lookup,
        (),
        fewer,
        batches=batches,
        filtered=filtered,
        ends=ends,
    )


def _filter(
    with_condition: Callable[[Expr], TableSource | None], table: ConnectorTable, condition: Expr
) -> Scan | None:
    found = with_condition(condition)
    return None if found is None else _node(found, table)


def _narrow(
    with_columns: Callable[[frozenset[str]], Source], found: TableSource, table: ConnectorTable, need: frozenset[int]
) -> Opener:
    return partial(_open_scan, with_columns(frozenset(table.names[i] for i in need)), found, table)


def _in_batches(found: TableSource, table: ConnectorTable, positions: tuple[int, ...], size: int) -> Opener:
    """Return what opens columns as batches of Arrow."""
    return partial(_open_batches, found, table, [table.names[i] for i in positions], size)


def _open_batches(
    found: TableSource, table: ConnectorTable, names: Sequence[str], size: int, env: StreamExecutionEnvironment
) -> DataStream:
    if found.batches is None:
        raise TypeError(f"table '{table.name}' has no batches")
    return _open_scan(found.batches(names, size), replace(found, records=Records.TUPLES), table, env)


def _open_scan(
    source: Source | None,
    found: TableSource,
    table: ConnectorTable,
    env: StreamExecutionEnvironment,
    watermarks: tuple[Code, Watermarks] | None = None,
) -> DataStream:
    """Add a source to a program, with watermarks that follow the time that some code computes."""
    if source is None:
        raise SqlError(
            f"table '{table.name}' can only be read by key: JOIN {table.name} FOR SYSTEM_TIME AS OF a processing time"
        )
    if found.check is not None:
        found.check()
    strategy: WatermarkStrategy[tuple[object, ...]] = WatermarkStrategy.no_watermarks()
    if watermarks is not None:
        code, made = watermarks
        strategy = strategy_of(made, env)
        strategy.timestamp_assigner = ComputedTime(code)
    stream = env.from_source(source, strategy, f"Source: {table.name}")
    parallelism = table.options.integer("scan.parallelism")
    if parallelism is not None:
        stream.set_parallelism(parallelism)
    changes = found.changes != INSERTIONS
    if changes and env._configuration.get(RUNTIME_MODE) == "BATCH":
        raise unsupported(f"table '{table.name}' with changes in BATCH mode", None, "use STREAMING mode")
    if found.records is Records.ROWS:
        kind = edges.KIND if changes else ""
        stream = add_operator(stream, "Rows", GeneratedOperator(*edges.both(edges.tuples_of(table.columns, kind))))
    elif found.records is Records.LISTS:
        stream = add_operator(stream, "Changes", GeneratedOperator(*edges.each_of_lists()))
    repeated = changes and env._configuration.get(DUPLICATE_CHANGES)
    if found.changes != UPSERTS and not repeated:
        return stream
    if not table.primary_key:
        raise SqlError(f"'{DUPLICATE_CHANGES.key}' needs a PRIMARY KEY (...) NOT ENFORCED of table '{table.name}'")
    key = key_at([table.names.index(name) for name in table.primary_key])
    return stream.key_by(key).process(ChangelogNormalize()).name("ChangelogNormalize")
