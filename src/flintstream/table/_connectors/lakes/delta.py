"""``'connector' = 'delta'``: append to tables of Delta Lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.datastream.connectors.lakes import DeltaSink
from flintstream.errors import PlanError
from flintstream.table._connectors.contract import Records, SinkConnector, TableSink
from flintstream.table._connectors.lakes.row_types import row_type_of
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable


class Delta(SinkConnector):
    """Appends to a table of Delta Lake."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
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
