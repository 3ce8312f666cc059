"""``'connector' = 'delta'``: read and append to tables of Delta Lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.files.arrow_schema import arrow_schema
from flintstream.connectors.lakes.delta_log import DeltaLog
from flintstream.connectors.lakes.delta_scan import DeltaExtent, DeltaScan
from flintstream.datastream.connectors.lakes import DeltaSink
from flintstream.datastream.connectors.lakes._delta_source import millis_of, version_of
from flintstream.errors import PlanError
from flintstream.storage.location import Location
from flintstream.table._connectors.contract import Records, SinkConnector, SourceConnector, TableSink, TableSource
from flintstream.table._connectors.lakes.row_types import row_type_of
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options

_OF_VERSIONS = ("versionAsOf", "timestampAsOf")
_OF_STREAMS = (
    "startingVersion", "startingTimestamp", "updateCheckIntervalMillis", "updateCheckDelayMillis", "ignoreDeletes",
    "ignoreChanges",
)  # fmt: skip

OF_A_QUERY = frozenset({"mode", *_OF_VERSIONS, *_OF_STREAMS})
"""The options that choose what a query reads."""


class Delta(SourceConnector, SinkConnector):
    """Reads a version or a stream of what versions add, and appends rows."""

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        options = table.options
        options.starting_with("delta.")
        options.of_sinks("sink.parallelism")
        try:
            place = Location.parse(options.required("table-path"), "'table-path'").uri
            schema = arrow_schema(row_type_of(table), "'connector' = 'delta'")
            extent = _extent(options)
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        log = DeltaLog(place, options.starting_with("storage."))
        scan = DeltaScan(log, schema, extent, frozenset(table.names))
        return TableSource(scan, Records.ROWS, with_columns=scan.with_columns)

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        options.of_sources("mode", "scan.parallelism", *_OF_VERSIONS, *_OF_STREAMS)
        try:
            made: DeltaSink[object] = DeltaSink(
                options.required("table-path"),
                row_type_of(table),
                table.partitions,
                options.starting_with("storage."),
                {f"delta.{key}": value for key, value in options.starting_with("delta.").items()},
            )
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        return TableSink(made, Records.ROWS, parallelism=options.integer("sink.parallelism"))


def _extent(options: Options) -> DeltaExtent:
    """Return which rows the options choose.

    Raises:
        SqlError: Some cannot be together, or one is wrong.
        PlanError: A version or a time is wrong.
    """
    mode = options.text("mode", "batch") or ""
    if mode.lower() not in {"batch", "streaming"}:
        raise SqlError(f"table '{options.table}': 'mode' must be batch or streaming, got '{mode}'")
    streaming = mode.lower() == "streaming"
    options.known("updateCheckDelayMillis", "a stream looks for versions at once")
    deletes, changes = options.flag("ignoreDeletes"), options.flag("ignoreChanges")
    interval = options.integer("updateCheckIntervalMillis", 5_000) or 5_000
    for key in _OF_VERSIONS if streaming else _OF_STREAMS:
        if options.has(key):
            raise SqlError(f"table '{options.table}': the option '{key}' cannot be set with 'mode' = '{mode}'")
    by_version, by_time = ("startingVersion", "startingTimestamp") if streaming else _OF_VERSIONS
    version, time = options.text(by_version), options.text(by_time)
    for key in (*_OF_VERSIONS, *_OF_STREAMS):
        options.text(key)
    if version is not None and time is not None:
        raise SqlError(f"table '{options.table}': set either '{by_version}' or '{by_time}'")
    number = None if version is None else version_of(version, f"'{by_version}'")
    if number is not None and number < 0 and not streaming:
        raise SqlError(f"table '{options.table}': '{by_version}' must be a number, got '{version}'")
    at = None if time is None else millis_of(time, f"'{by_time}'")
    return DeltaExtent(streaming, interval, number, at, deletes, changes)
