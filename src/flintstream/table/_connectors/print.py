"""``'connector' = 'print'``: writes rows to standard output, as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.operators.print_sink import PrintSink
from flintstream.table._connectors.contract import CHANGES, Records, SinkConnector, TableSink

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable


class Print(SinkConnector):
    """Shows all changes, each with its kind."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        sink = PrintSink(options.text("print-identifier"), to_stderr=options.flag("standard-error"))
        return TableSink(sink, Records.TEXTS, CHANGES, options.integer("sink.parallelism"), any_changes=True)
