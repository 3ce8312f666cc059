"""From declared tables to plans that read them, and to sinks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.options.execution import AUTO_WATERMARK_INTERVAL, RUNTIME_MODE
from flintstream.runtime.operators.print_sink import PrintSink
from flintstream.table._connectors.changes import FORMATS as CHANGE_FORMATS
from flintstream.table._connectors.datagen import datagen
from flintstream.table._connectors.faker import fake_lookup, fake_source
from flintstream.table._connectors.filesystem import file_sink, file_source
from flintstream.table._connectors.jdbc import jdbc_sink, jdbc_source
from flintstream.table._connectors.jdbc_lookup import jdbc_lookup
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.times import ComputedTime, TimeColumn
from flintstream.table._errors import SqlError, nearest, unsupported
from flintstream.table._expressions.codegen import Source as Code
from flintstream.table._operators.upserts import ChangelogNormalize, PositionsOf
from flintstream.table._plan import edges
from flintstream.table._plan.translate import GeneratedOperator, then

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.sink import WriterContext
    from flintstream.connectors.source import Source
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._catalog.catalog import DeclaredTable
    from flintstream.table._expressions.expr import Column
    from flintstream.table._operators.lookups import Lookup
    from flintstream.table._plan.nodes import Opener

SOURCES = ("datagen", "faker", "filesystem", "jdbc", "kafka", "upsert-kafka")
BY_SPLIT = ("datagen", "faker", "kafka")
"""Sources whose splits each have watermarks of their own: a row is not late because another split is further on."""
SINKS = ("blackhole", "filesystem", "jdbc", "kafka", "print", "upsert-kafka")
UPSERTS = ("jdbc", "upsert-kafka")
"""Sinks that keep the newest row of each primary key, and need no row that is replaced."""
PLANNED = {
    "kinesis": "read or write the stream in the program with a source or sink of your own, as in examples/connectors, "
    "and bridge it with from_data_stream() or to_data_stream()",
}
"""Connectors that are refused, and what to do instead."""


class BlackHole(Sink):
    """Drops all records."""

    def create_writer(self, context: WriterContext) -> SinkWriter:  # noqa: ARG002
        """Return a writer that drops records."""
        return _Nothing()


class _Nothing(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Drop a block."""


def _connector(name: str, table: DeclaredTable, known: Sequence[str], what: str) -> str:
    connector = table.options.get("connector")
    if connector is None:
        raise SqlError(f"table '{name}' has no option 'connector': it can neither be read nor written")
    if connector not in known:
        if connector in PLANNED:
            raise unsupported(f"the connector '{connector}' of table '{name}'", None, PLANNED[connector])
        raise SqlError(f"table '{name}': the connector '{connector}' is no {what}{nearest(connector, known)}")
    return connector


def _kafka() -> Any:
    from flintstream.table._connectors import kafka  # noqa: PLC0415 - an extra

    return kafka


def following(delay_ms: int, env: StreamExecutionEnvironment) -> WatermarkStrategy[Any]:
    """Return the watermarks of a time column; the caller sets how to find the time."""
    interval = env._configuration.get(AUTO_WATERMARK_INTERVAL)  # noqa: SLF001 - a layer of this package
    return WatermarkStrategy.for_generator(partial(TimeColumn, delay_ms, interval))


def narrowing(name: str, table: DeclaredTable, physical: Sequence[Column]) -> Callable[[frozenset[int]], Opener] | None:
    """Return what makes an opener of some columns; None if fewer make no difference. Fields of CSV can be wrong."""
    if (table.options.get("connector"), table.options.get("format")) != ("filesystem", "csv"):
        return None
    return lambda need: opener(name, table, physical, [physical[i].name for i in need])


def opener(name: str, table: DeclaredTable, physical: Sequence[Column], need: Sequence[str] | None = None) -> Opener:
    """Return what adds the source of a table to a program; the columns that it does not ``need`` may be None.

    Raises:
        SqlError: Its connector or an option is unknown.
    """
    connector = _connector(name, table, SOURCES, "source")
    options = Options(name, table.options)
    for each in table.columns:
        if each.metadata is not None and connector not in {"kafka", "upsert-kafka"}:
            raise SqlError(f"table '{name}': the connector '{connector}' has no metadata '{each.metadata}'")
    names, types = [each.name for each in physical], [each.type for each in physical]
    source: Source
    if connector in {"kafka", "upsert-kafka"}:
        source = _kafka().kafka_source(physical, table, options)
    elif connector == "jdbc":
        source = jdbc_source(physical, options)
    elif connector == "filesystem":
        source = file_source(names, types, options, table.partitions, need)
    elif connector == "faker":
        source = fake_source(names, types, options)
    else:
        source = datagen(names, types, options)
    options.check()

    def open_source(env: StreamExecutionEnvironment, watermarks: tuple[Code, int] | None = None) -> DataStream:
        strategy: WatermarkStrategy[Any] = WatermarkStrategy.no_watermarks()
        if watermarks is not None:
            code, delay = watermarks
            strategy = following(delay, env)
            strategy.timestamp_assigner = ComputedTime(code)
        stream = env.from_source(source, strategy, f"Source: {name}")
        if has_changes(table):
            return _changes(stream, name, table, [each.name for each in physical])
        if connector != "filesystem":
            return stream  # its records are tuples already
        return then(stream, "Rows", GeneratedOperator(*edges.both(edges.tuples_of(physical))))

    return open_source


def has_changes(table: DeclaredTable) -> bool:
    """Return whether a source has changes of rows, not only insertions."""
    given = (table.options.get("format"), table.options.get("value.format"))
    connector = table.options.get("connector")
    return connector == "upsert-kafka" or (connector == "kafka" and bool({*given} & {*CHANGE_FORMATS}))


def _changes(stream: DataStream, name: str, table: DeclaredTable, names: Sequence[str]) -> DataStream:
    """Return the changes of a source as tuples with their kind."""
    env = stream.get_execution_environment()
    if env._configuration.get(RUNTIME_MODE) == "BATCH":  # noqa: SLF001 - a layer of this package
        raise unsupported(f"table '{name}' with changes in BATCH mode", None, "use STREAMING mode")
    if table.options.get("connector") == "upsert-kafka":
        keys = PositionsOf([names.index(each) for each in table.primary_key])
        return stream.key_by(keys).process(ChangelogNormalize()).name("ChangelogNormalize")
    codes = (
        Code("def run(records, append):\n    for r in records:\n        for row in r: append(row)", {}, ()),
        Code(
            "def run(records, append, stamp):\n    for r, t in records:\n        for row in r:\n"
            "            append(row)\n            stamp(t)",
            {},
            (),
        ),
    )
    return then(stream, "Changes", GeneratedOperator(*codes))


def lookups(name: str, table: DeclaredTable, physical: Sequence[Column]) -> Callable[[Sequence[int]], Lookup] | None:
    """Return what makes a lookup by the columns at some positions; None if the connector finds no rows by key."""
    connector, options = table.options.get("connector"), Options(name, table.options)
    if connector == "jdbc":
        return partial(jdbc_lookup, physical, options)
    if connector == "faker":
        return partial(fake_lookup, [each.name for each in physical], [each.type for each in physical], options)
    return None


def write(stream: DataStream, name: str, table: DeclaredTable, columns: Sequence[Column], *, changelog: bool) -> None:
    """Add the sink of a table to a program; ``stream`` has tuples.

    Raises:
        SqlError: Its connector or an option is unknown, or it does not take changes.
    """
    connector = _connector(name, table, SINKS, "sink")
    options = Options(name, table.options)
    where = ""
    if connector == "print":
        identifier = options.text("print-identifier")
        sink: Sink = PrintSink(identifier, to_stderr=options.flag("standard-error"))
        code = edges.texts_of(columns, changelog=changelog)
        parallelism = options.integer("sink.parallelism")
    elif connector == "blackhole":
        sink, code, parallelism = BlackHole(), "None", None
    elif connector == "upsert-kafka":
        sink, parallelism = _kafka().upsert_sink(columns, table, options), options.integer("sink.parallelism")
        code, where = ("r", "r[-1] != 1") if changelog else ("r + (0,)", "")  # the new row replaces the old one
    elif connector == "jdbc":
        sink, parallelism = jdbc_sink(columns, table, options, changelog=changelog), options.integer("sink.parallelism")
        code, where = edges.rows_of(columns, changelog=changelog), "r[-1] != 1" if changelog else ""
    elif connector == "kafka" and has_changes(table):
        sink, parallelism = _kafka().kafka_sink(columns, options), options.integer("sink.parallelism")
        code = "r" if changelog else "r + (0,)"
    elif changelog:
        raise SqlError(
            f"Table sink '{name}' doesn't support consuming update and delete changes: the connector '{connector}' "
            "only takes insertions"
        )
    elif connector == "kafka":
        sink, code, parallelism = _kafka().kafka_sink(columns, options), "r", options.integer("sink.parallelism")
    else:
        sink = file_sink([each.name for each in columns], [each.type for each in columns], options, table.partitions)
        code, parallelism = edges.rows_of(columns, changelog=False), options.integer("sink.parallelism")
    options.check()
    records = stream if connector == "blackhole" else then(stream, "Rows", GeneratedOperator(*edges.both(code, where)))
    end = records.sink_to(sink).name(f"Sink: {name}")
    if parallelism is None:
        end._transformation.follows_input = True  # type: ignore[attr-defined] # noqa: SLF001 - it keeps the order
        return
    end.set_parallelism(parallelism)
    if changelog:
        records.set_parallelism(parallelism)
