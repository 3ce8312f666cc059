"""``'connector' = 'blackhole'``: drops all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.discarding import DiscardingSink
from flintstream.table._connectors.contract import CHANGES, Records, SinkConnector, TableSink

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable


class BlackHole(SinkConnector):
    """Takes everything, and keeps nothing."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        return TableSink(DiscardingSink(), Records.ANY, CHANGES, any_changes=True)
