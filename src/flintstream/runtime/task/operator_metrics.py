"""Built-in metrics of an operator: records in, records out, and event time.

Inputs and outgoing edges add up block sizes, so that nothing is counted per record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.metrics.reported import Counted, Gauged
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.metrics.reported import Reported
    from flintstream.runtime.operators.watermarks import Valve

RECORDS_IN = "numRecordsIn"
RECORDS_OUT = "numRecordsOut"
INPUT_WATERMARK = "currentInputWatermark"
OUTPUT_WATERMARK = "currentOutputWatermark"


class Counting(Protocol):
    """The sending end of an edge."""

    records: int
    """Total number of records sent along the edge."""
    watermark: int
    """The last watermark (ms) sent along the edge."""


class OperatorMetrics:
    """Metrics that one operator in one subtask reports under Flink's names, next to those of its function."""

    def __init__(self, outputs: Iterable[Counting], valve: Valve | None) -> None:
        """Watch one end of each of the operator's outputs, main and side, and its input's event time if it has one."""
        self._outputs = tuple(outputs)
        self._valve = valve
        self._sent = 0
        self._known = False

    def take(self, received: int) -> dict[str, Reported]:
        """Return the metrics that changed since the last call; ``received`` records came in since then."""
        report: dict[str, Reported] = {}
        if received or not self._known:
            report[RECORDS_IN] = Counted(received)
        if self._outputs:
            sent = sum(output.records for output in self._outputs)
            if sent > self._sent or not self._known:
                report[RECORDS_OUT] = Counted(sent - self._sent)
            self._sent = sent
            watermark = max(output.watermark for output in self._outputs)
            if watermark > MIN_TIMESTAMP:
                report[OUTPUT_WATERMARK] = Gauged([watermark])
        if self._valve is not None and self._valve.combined > MIN_TIMESTAMP:
            report[INPUT_WATERMARK] = Gauged([self._valve.combined])
        self._known = True
        return report
