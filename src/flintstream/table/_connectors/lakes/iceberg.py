"""``'connector' = 'iceberg'``: read and append to tables of Iceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.lakes.iceberg_scan import Extent, IcebergScan, IcebergTable, Start
from flintstream.datastream.connectors.lakes import IcebergSink
from flintstream.errors import PlanError
from flintstream.table._connectors.contract import (
    INSERTIONS,
    UPSERTS,
    Records,
    SinkConnector,
    SourceConnector,
    TableSink,
    TableSource,
)
from flintstream.table._connectors.lakes.properties import catalog_properties
from flintstream.table._connectors.lakes.row_types import row_type_of
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options

_READ = (
    "streaming", "monitor-interval", "starting-strategy", "start-snapshot-id", "start-snapshot-timestamp",
    "end-snapshot-id", "snapshot-id", "as-of-timestamp", "branch", "tag", "scan.parallelism",
)  # fmt: skip
_WITHOUT_EFFECT = {
    "case-sensitive": "columns are found by their numbers",
    "include-column-stats": "plans do not depend on statistics",
    "max-planning-snapshot-count": "all commits since the last look are read",
    "split-file-open-cost": "a split is a file",
    "split-lookback": "a split is a file",
    "split-size": "a split is a file",
}
_OWN = {
    "connector", "catalog-name", "catalog-type", "catalog-database", "catalog-table", "sink.parallelism",
    "upsert-enabled", *_READ,
}  # fmt: skip


class Iceberg(SourceConnector, SinkConnector):
    """Reads a version of a table or a stream of what commits append, and appends rows."""

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        place, options = IcebergTable(_name(table), _catalog(table)), table.options
        scan = IcebergScan(place, table.names, _extent(options), frozenset(table.names))
        return TableSource(scan, Records.ROWS, with_columns=scan.with_columns)

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        for key in _READ:
            options.text(key)
        written = {f"write.{key}": value for key, value in options.starting_with("write.").items()}
        upserts = options.flag("upsert-enabled", default=written.get("write.upsert.enabled") == "true")
        if upserts and not table.primary_key:
            raise SqlError(f"table '{table.name}': upserts need a PRIMARY KEY (...) NOT ENFORCED")
        try:
            made: IcebergSink[object] = IcebergSink(
                _name(table),
                row_type_of(table),
                _catalog(table),
                table.partitions,
                written,
                table.primary_key,
                upsert_insertions=upserts,
                maintenance=_maintenance(options),
            )
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        changes = UPSERTS if table.primary_key else INSERTIONS
        return TableSink(made, Records.ROWS, changes, options.integer("sink.parallelism"), keyed=upserts)


def _name(table: ConnectorTable) -> str:
    options = table.options
    return f"{options.text('catalog-database', 'default_database')}.{options.text('catalog-table', table.name)}"


def _catalog(table: ConnectorTable) -> dict[str, str]:
    options = table.options
    for key, because in _WITHOUT_EFFECT.items():
        options.known(key, because)
    options.integer("sink.parallelism")
    given = options.starting_with("")
    given = {key: text for key, text in given.items() if not key.startswith("write.") and key not in _WITHOUT_EFFECT}
    given = {key: text for key, text in given.items() if key not in _maintenance(options)}
    name = options.text("catalog-name", "default") or "default"
    kind = {"catalog-type": given["catalog-type"]} if "catalog-type" in given else {}
    own = {key: value for key, value in given.items() if key not in _OWN}
    return catalog_properties(f"table '{table.name}'", name, {**kind, **own})


def _maintenance(options: Options) -> dict[str, str]:
    """Return the options that say when small files are merged."""
    found = {f"flink-maintenance.{key}": text for key, text in options.starting_with("flink-maintenance.").items()}
    enabled = options.text("compaction-enabled")
    return found if enabled is None else {**found, "compaction-enabled": enabled}


def _extent(options: Options) -> Extent:
    """Return which rows the options choose.

    Raises:
        SqlError: Some cannot be together, or a strategy is unknown.
    """
    name = options.text("starting-strategy", Start.INCREMENTAL_FROM_LATEST_SNAPSHOT.name) or ""
    if name not in Start.__members__:
        raise SqlError(
            f"table '{options.table}': 'starting-strategy' does not accept '{name}'{nearest(name, Start.__members__)}"
        )
    branch, tag = options.text("branch"), options.text("tag")
    streaming, start = options.flag("streaming"), Start[name]
    first, since = options.integer("start-snapshot-id"), options.integer("start-snapshot-timestamp")
    last, snapshot = options.integer("end-snapshot-id"), options.integer("snapshot-id")
    at = options.integer("as-of-timestamp")
    millis = options.millis("monitor-interval")
    interval = 60_000 if millis is None else millis
    if streaming:
        _refuse(options, {"snapshot-id": snapshot, "as-of-timestamp": at, "end-snapshot-id": last}, "in a stream")
        needed = {Start.INCREMENTAL_FROM_SNAPSHOT_ID: first, Start.INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP: since}
        if start in needed and needed[start] is None:
            raise SqlError(f"table '{options.table}': 'starting-strategy' = '{name}' needs the snapshot or its time")
        return Extent(True, interval, start, first, since, ref=branch or tag)
    if (branch or tag) is not None:
        _refuse(options, {"snapshot-id": snapshot, "as-of-timestamp": at}, "with a branch or tag")
    if first is not None:
        _refuse(options, {"snapshot-id": snapshot, "as-of-timestamp": at}, "with 'start-snapshot-id'")
        return Extent(snapshot=last, after=first, ref=branch or tag)
    return Extent(snapshot=snapshot, time_ms=at, ref=branch or tag)


def _refuse(options: Options, given: dict[str, int | None], where: str) -> None:
    for key, value in given.items():
        if value is not None:
            raise SqlError(f"table '{options.table}': the option '{key}' cannot be set {where}")
