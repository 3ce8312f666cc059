"""A sink that keeps nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.sink import Sink, SinkWriter

if TYPE_CHECKING:
    from flintstream.connectors.sink import WriterContext


class DiscardingSink(Sink):
    """Takes everything, and keeps nothing.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection([1, 2]).sink_to(DiscardingSink())
    >>> _ = env.execute()
    """

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that drops records."""
        return _Nothing()


class _Nothing(SinkWriter):
    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Drop a block."""
