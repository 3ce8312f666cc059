"""From queries to sinks, and what comes between: checks of NOT NULL, and the order of the changes of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.datastream._streams.steps import transformation_of
from flintstream.options.tables import KEYED_SHUFFLE, LENGTHS, MATERIALIZE, NESTED_NOT_NULL, NOT_NULL, REQUIRE_CONFLICT
from flintstream.table._connectors.contract import INSERTIONS, UPSERTS, Records
from flintstream.table._connectors.registry import sink_of
from flintstream.table._errors import ModeError, SqlError
from flintstream.table._expressions.codegen import Source
from flintstream.table._logical.nodes import Calc, Scan
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.lengths import OF_LENGTH, FitRow, LengthCheck
from flintstream.table._operators.rows import key_at
from flintstream.table._operators.upserts import (
    LastUpdates,
    NestedNullCheck,
    NullCheck,
    SinkConflicts,
    SinkMaterializer,
)
from flintstream.table._plan import edges
from flintstream.table._plan.changelogs.determinism import check_determinism
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.over import Rank
from flintstream.table._plan.sets import SetOperation
from flintstream.table._plan.translate import (
    add_operator,
    calls_functions_in_batches,
    stream_of_batches,
    translate,
)
from flintstream.table._plan.upsert_keys import upsert_keys
from flintstream.table._session.sources import connector_table
from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.connectors.sink import Sink
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.datastream.data_stream import DataStreamSink
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._connectors.contract import ConnectorTable, TableSink
    from flintstream.table._expressions.expr import Column
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings
    from flintstream.table._session.inserts import ConflictStrategy, Insert


def write(
    env: StreamExecutionEnvironment,
    settings: PlannerSettings,
    query: Node,
    ready: Node,
    name: str,
    table: DeclaredTable,
    columns: Sequence[Column],
    insert: Insert,
) -> None:
    """Add the sink of a table to the program.

    Args:
        env: The program.
        settings: Those of the session.
        query: What is written.
        ready: The same in the types of the sink.
        name: The name of the table.
        table: Its declaration.
        columns: Those that the sink takes.
        insert: What becomes of rows with other keys and the same primary key, and of those that are there.

    Raises:
        SqlError: The connector or an option is unknown, the connector does not take changes, or ON CONFLICT has to
            say what becomes of rows with the same primary key.
    """
    seen, changelog = connector_table(name, table, columns), ready.changelog
    made, conflict = sink_of(seen), insert.conflict
    if table.buckets:
        raise SqlError(
            f"Table '{name}' is distributed into buckets, which the connector '{seen.options.text('connector')}' does "
            "not support: leave DISTRIBUTED out"
        )
    sink = _sink_to_overwrite(made, name, settings) if insert.overwrite else made.sink
    if changelog and made.changes == INSERTIONS:
        raise SqlError(
            f"Table sink '{name}' doesn't support consuming update and delete changes: the connector "
            f"'{seen.options.text('connector')}' only takes insertions"
        )
    if changelog and made.changes == UPSERTS and not table.primary_key:
        raise SqlError(
            f"table '{name}': please declare primary key for sink table when query contains update/delete record: "
            "PRIMARY KEY (...) NOT ENFORCED"
        )
    plan = narrow(ready)
    check_determinism(settings, plan, [seen.names.index(item) for item in seen.primary_key])
    if made.batches is not None and not insert.overwrite and _stays_in_batches(env, settings, query, plan, seen):
        end = stream_of_batches(plan, env, stored=True).sink_to(made.batches()).name(f"Sink: {name}")
        _set_parallelism(end, made)
        return
    stream = _without_nulls(settings, translate(plan, env), query, seen)
    stream = _of_right_length(settings, stream, seen)
    if table.primary_key and not settings.batch and (made.changes == UPSERTS or made.any_changes):
        if not changelog and _is_distinct(ready) and not _is_in_order(ready, seen):
            stream, changelog = add_operator(stream, "Changes", GeneratedOperator(*edges.both("r + (0,)"))), True
        if changelog:
            stream = _in_order(settings, stream, ready, seen, made.parallelism, conflict)
            if made.changes == UPSERTS and not _pairs_updates(ready):
                key = [seen.names.index(name) for name in seen.primary_key]
                stream = add_operator(stream, "LastUpdates", LastUpdates(key))
        elif conflict is not None and not _is_distinct(ready):
            raise SqlError(
                f"table '{name}': ON CONFLICT clause is only allowed for upsert sinks, and this one only gets "
                "insertions: remove the clause"
            )
    if made.keyed and not changelog:
        key = [seen.names.index(name) for name in seen.primary_key]
        stream = stream.key_by(key_at(key))
    records = stream
    if made.records is not Records.ANY:
        replaced = "r[-1] != 1" if changelog and made.changes == UPSERTS else ""
        records = add_operator(
            stream, "Rows", GeneratedOperator(*edges.both(_record(made, columns, changelog), replaced))
        )
    end = records.sink_to(sink).name(f"Sink: {name}")
    _set_parallelism(end, made)
    if changelog and made.parallelism is not None:
        records.set_parallelism(made.parallelism)


def _set_parallelism(end: DataStreamSink, made: TableSink) -> None:
    if made.parallelism is None:
        transformation_of(end).follows_input = True  # type: ignore[attr-defined]
    else:
        end.set_parallelism(made.parallelism)


def _stays_in_batches(
    env: StreamExecutionEnvironment, settings: PlannerSettings, query: Node, plan: Node, table: ConnectorTable
) -> bool:
    """Return whether a sink can take batches: functions made the rows in batches, and none of them is checked."""
    if table.primary_key or not calls_functions_in_batches(plan, env):
        return False
    lengths = settings.value(LENGTHS) != "IGNORE" and any(isinstance(kind, OF_LENGTH) for kind in table.types)
    nested = settings.value(NESTED_NOT_NULL) != "IGNORE" and any(
        isinstance(kind, (t.ArrayType, t.MapType, t.RowType)) for kind in table.types
    )
    return not (lengths or nested or _strict_columns(query, table))


def _strict_columns(query: Node, table: ConnectorTable) -> list[int]:
    """Return the columns of a sink that are NOT NULL or keys, where the query may have NULL."""
    return [
        i
        for i, (own, wanted) in enumerate(zip(query.columns, table.columns, strict=True))
        if is_nullable(own.type) and (not is_nullable(wanted.type) or wanted.name in table.primary_key)
    ]


def _sink_to_overwrite(made: TableSink, name: str, settings: PlannerSettings) -> Sink:
    """Return the sink that replaces what a table has.

    Raises:
        SqlError: There is none, or the job is a stream.
    """
    if made.overwriting is None:
        raise SqlError(f"INSERT OVERWRITE requires that the connector of table '{name}' supports it: only files do")
    if not settings.batch:
        raise ModeError(f"INSERT OVERWRITE of table '{name}': Streaming mode not support overwrite, use BATCH")
    return made.overwriting()


def _record(made: TableSink, columns: Sequence[Column], changelog: bool) -> str:
    """Return the code that makes a record for a sink of a tuple."""
    if made.records is Records.TEXTS:
        return edges.texts_of(columns, changelog=changelog)
    if made.records is Records.ROWS:
        return edges.rows_of(columns, changelog=changelog)
    return "r" if changelog or made.changes == INSERTIONS else "r + (0,)"


def _without_nulls(settings: PlannerSettings, stream: DataStream, query: Node, table: ConnectorTable) -> DataStream:
    """Return the rows of a query that a sink takes.

    A row with None in a column that is NOT NULL fails the job, or is left out, as an option says.
    """
    strict = _strict_columns(query, table)
    drops = settings.value(NOT_NULL) == "DROP"
    if strict:
        condition = " or ".join(f"r[{i}] is None" for i in strict)
        stream = _refuse(stream, condition, {"refuse": NullCheck(table.name, table.names, strict)}, drops=drops)
    within = settings.value(NESTED_NOT_NULL)
    if within == "IGNORE":
        return stream
    if within == "ROWS_AND_COLLECTIONS" and settings.value(LENGTHS) == "TRIM_PAD":
        raise SqlError(
            f"'{LENGTHS.key}' = 'TRIM_PAD' is not supported if '{NESTED_NOT_NULL.key}' = 'ROWS_AND_COLLECTIONS' checks "
            "types nested in collections"
        )
    nested = NestedNullCheck(table.name, table.columns, collections=within == "ROWS_AND_COLLECTIONS")
    if not nested.columns:
        return stream
    return _refuse(stream, "has_nulls(r)", {"refuse": nested, "has_nulls": nested.has_nulls}, drops=drops)


def _refuse(stream: DataStream, condition: str, known: dict[str, object], *, drops: bool) -> DataStream:
    """Return the rows without those of which a condition holds, or that call the function ``refuse`` for them."""
    codes = []
    for stamped in (False, True):
        lines = [
            "def run(records, append, stamp):" if stamped else "def run(records, append):",
            "    for r, t in records:" if stamped else "    for r in records:",
            f"        if {condition}: {'continue' if drops else 'refuse(r)'}",
            "        append(r)",
            *(["        stamp(t)"] if stamped else []),
        ]
        codes.append(Source("\n".join(lines), known, ()))
    return add_operator(stream, "ConstraintEnforcer", GeneratedOperator(*codes))


def _of_right_length(settings: PlannerSettings, stream: DataStream, table: ConnectorTable) -> DataStream:
    """Return rows whose texts and bytes have the lengths of their columns, if an option asks for it."""
    mode = settings.value(LENGTHS)
    columns = [(i, column) for i, column in enumerate(table.columns) if isinstance(column.type, OF_LENGTH)]
    if mode == "IGNORE" or not columns:
        return stream
    fits = {i: LengthCheck(table.name, column, fails=mode == "ERROR") for i, column in columns}
    return add_operator(
        stream, "ConstraintEnforcer", GeneratedOperator(*edges.both("fit(r)", known={"fit": FitRow(fits)}))
    )


def _in_order(
    settings: PlannerSettings,
    stream: DataStream,
    node: Node,
    table: ConnectorTable,
    parallelism: int | None,
    conflict: ConflictStrategy | None,
) -> DataStream:
    """Return the changes of a query for a sink that keeps the newest row of each primary key.

    If the query's changes come in order by other columns, all rows of a key are kept in state.

    Raises:
        SqlError: They do, and ON CONFLICT does not say what becomes of rows with the same primary key.
    """
    key = [table.names.index(name) for name in table.primary_key]
    of_key = key_at(key)
    mode = settings.value(MATERIALIZE)
    if mode == "NONE" or (mode == "AUTO" and _is_in_order(node, table)):
        shuffle = settings.value(KEYED_SHUFFLE)
        return stream.key_by(of_key) if shuffle == "FORCE" or (shuffle == "AUTO" and parallelism) else stream
    required = mode == "AUTO" and settings.value(REQUIRE_CONFLICT)
    if required and conflict is None and not _keeps_first(node):
        raise SqlError(
            f"The query has an upsert key that differs from the primary key of the sink table '{table.name}', "
            f"[{', '.join(table.primary_key)}], so several of its rows may have the same primary key. Add ON CONFLICT "
            "DO DEDUPLICATE (keeps the latest record, and all records of a key in state), ON CONFLICT DO NOTHING "
            f"(keeps the first record) or ON CONFLICT DO ERROR to the INSERT, or set '{REQUIRE_CONFLICT.key}' = 'false'"
        )
    function: SinkMaterializer | SinkConflicts = SinkMaterializer(settings.state_ttl_ms)
    if conflict in {"ERROR", "NOTHING"}:
        _check_watermarks(node, table.name, conflict)
        function = SinkConflicts(table.name, dict(zip(table.primary_key, key, strict=True)), fails=conflict == "ERROR")
    made = stream.key_by(of_key).process(function).name("SinkMaterializer")
    return made if parallelism is None else made.set_parallelism(parallelism)


def _pairs_updates(node: Node) -> bool:
    """Return whether each row before an update is followed by the one after it.

    Filters, joins and table functions may drop the row after an update, and keep the one before it.
    """
    if isinstance(node, Calc):
        return node.condition is None and _pairs_updates(node.input)
    return isinstance(node, (Grouped, Scan))


def _is_in_order(node: Node, table: ConnectorTable) -> bool:
    """Return whether the changes of a primary key come in order."""
    key = {table.names.index(name) for name in table.primary_key}
    return any(upsert_key <= key for upsert_key in upsert_keys(node))


def _is_distinct(node: Node) -> bool:
    """Return whether rows are distinct ones of others, which Flink takes for changes."""
    if isinstance(node, SetOperation) or (isinstance(node, Grouped) and node.window is None):
        return True
    return any(map(_is_distinct, node.inputs))


def _keeps_first(node: Node) -> bool:
    """Return whether rows are the first ones by time, of which Flink needs no changes."""
    while isinstance(node, Calc):
        node = node.input
    if not isinstance(node, Rank) or not node.first == node.last == 1:
        return False
    first = node.order[0]
    return node.input.columns[first.index].time == "ROWTIME" and not first.descending


def _check_watermarks(node: Node, table: str, conflict: str) -> None:
    missing = sorted(set(_without_watermarks(node)))
    if missing:
        raise SqlError(
            f"table '{table}': ON CONFLICT DO {conflict} requires all source tables to define watermarks, at which "
            f"changes are final, but these do not: {', '.join(missing)}. Add WATERMARK FOR ... to them, or use "
            "ON CONFLICT DO DEDUPLICATE"
        )


def _without_watermarks(node: Node) -> Iterator[str]:
    if any(column.time == "ROWTIME" for column in node.columns):
        return
    if isinstance(node, Scan):
        yield node.name
    for below in node.inputs:
        yield from _without_watermarks(below)
