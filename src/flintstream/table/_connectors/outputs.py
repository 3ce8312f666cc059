"""``'connector' = 'print'`` and ``'connector' = 'blackhole'``: rows that are shown, or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.discarding import DiscardingSink
from flintstream.runtime.operators.print_sink import PrintSink
from flintstream.table._connectors.contract import CHANGES, Records, SinkConnector, TableSink

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable


class BlackHole(SinkConnector):
    """Takes everything, and keeps nothing."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        return TableSink(DiscardingSink(), Records.ANY, CHANGES, any_changes=True)


class Print(SinkConnector):
    """Shows all changes, each with its kind."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        sink = PrintSink(options.text("print-identifier"), to_stderr=options.flag("standard-error"))
        return TableSink(sink, Records.TEXTS, CHANGES, options.integer("sink.parallelism"), any_changes=True)
