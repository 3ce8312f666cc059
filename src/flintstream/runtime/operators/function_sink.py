"""The sink that wraps a user's :class:`~flintstream.datastream.functions.SinkFunction`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.sink import WriterContext


class SinkFunctionContext:
    """The context passed to ``invoke`` with each record."""

    __slots__ = ("_timestamp", "_watermark")

    def __init__(self) -> None:
        """Start without a timestamp or watermark."""
        self._timestamp: int | None = None
        self._watermark = MIN_TIMESTAMP

    def timestamp(self) -> int | None:
        """Return the record's timestamp in ms, or None if it has none."""
        return self._timestamp

    def current_watermark(self) -> int:
        """Return the current watermark in ms."""
        return self._watermark

    def current_processing_time(self) -> int:
        """Return the worker's time in ms since the epoch."""
        return wall_clock()


class FunctionSink(Sink):
    """A sink that calls the user's function for every record: at-least-once, because nothing is committed."""

    def __init__(self, function: Any) -> None:
        """Take the user's function."""
        self.function = function

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that wraps the function."""
        return _FunctionWriter(self.function, context)


class _FunctionWriter(SinkWriter):
    def __init__(self, function: Any, context: WriterContext) -> None:
        self.function = function
        self.context = SinkFunctionContext()
        function.open(context.runtime_context)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        invoke, context = self.function.invoke, self.context
        for i, value in enumerate(values):
            context._timestamp = None if timestamps is None else timestamps[i]
            invoke(value, context)

    def on_watermark(self, timestamp: int) -> None:
        self.context._watermark = timestamp

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        self.function.flush()
        return ()

    def close(self) -> None:
        self.function.close()
