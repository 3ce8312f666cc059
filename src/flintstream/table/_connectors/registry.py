"""The connectors of tables by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from flintstream.errors import MissingDependencyError
from flintstream.table._connectors.contract import SinkConnector, SourceConnector
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.contract import ConnectorTable, TableConnector, TableSink, TableSource

GROUP = "flintstream.table.connectors"
"""The group of entry points by which a package adds connectors."""
BUILT_IN = {
    name: EntryPoint(name, f"flintstream.table._connectors.{place}", GROUP)
    for name, place in {
        "blackhole": "outputs:BlackHole",
        "datagen": "datagen:Datagen",
        "delta": "lakes.delta:Delta",
        "dynamodb": "aws.dynamodb:DynamoDb",
        "elasticsearch-6": "elasticsearch:Elasticsearch6",
        "elasticsearch-7": "elasticsearch:Elasticsearch",
        "elasticsearch-8": "elasticsearch:Elasticsearch",
        "faker": "faker:Faker",
        "filesystem": "filesystem:FileSystem",
        "firehose": "aws:Firehose",
        "iceberg": "lakes.iceberg:Iceberg",
        "jdbc": "jdbc.tables:Jdbc",
        "kafka": "kafka.tables:Kafka",
        "kinesis": "aws:Kinesis",
        "kinesis-legacy": "aws:Kinesis",
        "mongodb": "mongodb:MongoDb",
        "opensearch": "elasticsearch:Elasticsearch",
        "opensearch-2": "elasticsearch:Elasticsearch",
        "print": "outputs:Print",
        "upsert-kafka": "kafka.upserts:UpsertKafka",
    }.items()
}
EXTRAS = {"iceberg": "iceberg"}
"""The extras of connectors whose modules import other packages."""
_registered: dict[str, type[TableConnector]] = {}


def register(name: str, connector: type[TableConnector]) -> None:
    """Add a connector, for all tables of this process whose option ``connector`` has a name.

    A package does the same, also for programs that do not import it and for ``flintstream check``, with an entry point
    of the group ``flintstream.table.connectors``.

    Raises:
        TypeError: It is not a subclass of :class:`SourceConnector` or :class:`SinkConnector`.
        ValueError: A built-in connector has this name.

    >>> register("print", SinkConnector)
    Traceback (most recent call last):
    ValueError: there is a built-in connector 'print': use another name
    """
    if not (isinstance(connector, type) and issubclass(connector, (SourceConnector, SinkConnector))):
        raise TypeError(f"register() takes a subclass of SourceConnector or SinkConnector, but got {connector!r}")
    if name in BUILT_IN:
        raise ValueError(f"there is a built-in connector '{name}': use another name")
    _registered[name] = connector


def find(table: str, name: str | None) -> TableConnector:
    """Return the connector of a table by its name.

    Raises:
        SqlError: The table names none, or one that is unknown.
    """
    if name is None:
        raise SqlError(f"table '{table}' has no option 'connector', so it cannot be read or written")
    found = _registered.get(name) or BUILT_IN.get(name)
    if found is None:
        installed = {entry.name: entry for entry in entry_points(group=GROUP)}
        found = installed.get(name)
        if found is None:
            known = sorted({*BUILT_IN, *_registered, *installed})
            hint = nearest(name, known) or f"; available: {', '.join(known)}"
            raise SqlError(f"table '{table}': the connector '{name}' is unknown{hint}")
    if not isinstance(found, EntryPoint):
        return found()
    try:
        kind: type[TableConnector] = found.load()
    except ModuleNotFoundError as error:
        if name not in EXTRAS:
            raise
        raise MissingDependencyError(error.name or name, extra=EXTRAS[name], purpose=f"table '{table}'") from None
    return kind()


class WriteOnlyError(SqlError):
    """A table is read whose connector only writes."""


def source_of(table: ConnectorTable) -> TableSource:
    """Return how a table is read.

    Raises:
        WriteOnlyError: It cannot be read.
        SqlError: Its connector or an option is unknown.
    """
    name = table.options.text("connector")
    connector = find(table.name, name)
    if not isinstance(connector, SourceConnector):
        raise WriteOnlyError(f"table '{table.name}': the connector '{name}' only writes: the table cannot be read")
    found = connector.source(table)
    if found.source is not None:
        table.options.integer("scan.parallelism")
    table.options.check()
    return found


def read_metadata(table: ConnectorTable) -> dict[str, DataType]:
    """Return the types that a connector gives the metadata columns of a table that is read, by column.

    Raises:
        SqlError: It has no such metadata.
    """
    name = table.options.text("connector")
    connector = find(table.name, name)
    known = connector.metadata(table) if isinstance(connector, SourceConnector) else {}
    return _check_keys(table, known, f"'{name}' has")


def written_metadata(table: ConnectorTable) -> dict[str, DataType]:
    """Return the types in which a connector takes the metadata columns of a table that is written, by column.

    Raises:
        SqlError: It writes no such metadata.
    """
    name = table.options.text("connector")
    connector = find(table.name, name)
    known = connector.written_metadata(table) if isinstance(connector, SinkConnector) else {}
    return _check_keys(table, known, f"'{name}' writes", ", or declare the column VIRTUAL")


def _check_keys(table: ConnectorTable, known: Mapping[str, DataType], who: str, more: str = "") -> dict[str, DataType]:
    wanted = {column: table.metadata[column] for column in table.names if column in table.metadata}
    for column, key in wanted.items():
        if key not in known:
            raise SqlError(
                f"Invalid metadata key '{key}' in column '{column}' of table '{table.name}': the connector {who} "
                f"{', '.join(sorted(known)) or 'none'}{more}{nearest(key, known)}"
            )
    return {column: known[key] for column, key in wanted.items()}


def sink_of(table: ConnectorTable) -> TableSink:
    """Return how a table is written.

    Raises:
        SqlError: Its connector or an option is unknown, or it cannot be written.
    """
    name = table.options.text("connector")
    connector = find(table.name, name)
    if not isinstance(connector, SinkConnector):
        raise SqlError(f"table '{table.name}': the connector '{name}' only reads: the table cannot be written")
    found = connector.sink(table)
    table.options.check()
    return found
