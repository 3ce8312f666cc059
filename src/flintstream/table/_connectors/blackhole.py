"""``'connector' = 'blackhole'``: drops all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.table._connectors.contract import CHANGES, Records, SinkConnector, TableSink

if TYPE_CHECKING:
    from flintstream.connectors.sink import WriterContext
    from flintstream.table._connectors.contract import ConnectorTable


class BlackHole(SinkConnector):
    """Takes everything, and keeps nothing."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        return TableSink(_Nowhere(), Records.ANY, CHANGES, any_changes=True)


class _Nowhere(Sink):
    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that drops records."""
        return _Nothing()


class _Nothing(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Drop a block."""
