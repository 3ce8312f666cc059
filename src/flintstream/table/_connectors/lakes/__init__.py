"""``'connector' = 'delta'`` and ``'connector' = 'iceberg'``: append to tables of Delta Lake and Iceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types.data_types import RowField, RowType
from flintstream.datastream.connectors.lakes import DeltaSink, IcebergSink
from flintstream.errors import PlanError
from flintstream.table._connectors.contract import Records, SinkConnector, TableSink
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable

_CATALOGS = {"dynamodb": "dynamodb", "glue": "glue", "hive": "hive", "jdbc": "sql", "rest": "rest", "sql": "sql"}
"""The types of catalogs as Iceberg's tables for Flink name them, and as pyiceberg does."""
_OWN = ("connector", "catalog-name", "catalog-type", "catalog-database", "catalog-table", "sink.parallelism")


def _row_type(table: ConnectorTable) -> RowType:
    return RowType([RowField(column.name, column.type) for column in table.columns])


class Delta(SinkConnector):
    """Appends to a table of Delta Lake."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        try:
            made: DeltaSink[object] = DeltaSink(
                options.required("table-path"),
                _row_type(table),
                table.partitions,
                options.starting_with("storage."),
                {f"delta.{key}": value for key, value in options.starting_with("delta.").items()},
            )
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        return TableSink(made, Records.ROWS, parallelism=options.integer("sink.parallelism"))


class Iceberg(SinkConnector):
    """Appends to a table of Iceberg."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        name = f"{options.text('catalog-database', 'default_database')}.{options.text('catalog-table', table.name)}"
        kind = options.required("catalog-type")
        if kind not in _CATALOGS:
            raise SqlError(
                f"table '{table.name}': 'catalog-type' must be one of {', '.join(_CATALOGS)}, got '{kind}': pyiceberg "
                "has no other catalogs"
            )
        written = {f"write.{key}": value for key, value in options.starting_with("write.").items()}
        given = {key: value for key, value in options.starting_with("").items() if key not in {*_OWN, *written}}
        if "uri" in given:
            given["uri"] = given["uri"].removeprefix("jdbc:")
        catalog = {"name": options.text("catalog-name", "default") or "default", "type": _CATALOGS[kind], **given}
        try:
            made: IcebergSink[object] = IcebergSink(name, _row_type(table), catalog, table.partitions, written)
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        return TableSink(made, Records.ROWS, parallelism=options.integer("sink.parallelism"))
