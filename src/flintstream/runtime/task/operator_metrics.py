"""How many records an operator takes in and sends on, and how far its event time is.

Nothing is counted per record: inputs and the ends of edges add up the sizes of blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.metrics.reported import Counted, Gauged
from flintstream.runtime.operators.base import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.metrics.reported import Reported
    from flintstream.runtime.operators.watermarks import Valve

RECORDS_IN = "numRecordsIn"
RECORDS_OUT = "numRecordsOut"
INPUT_WATERMARK = "currentInputWatermark"


class Counting(Protocol):
    """The end of an edge."""

    records: int
    """How many records went along it since it is there."""


class OperatorMetrics:
    """What one operator in one subtask reports, in Flink's words, besides what its function measures."""

    def __init__(self, outputs: Iterable[Counting], valve: Valve | None) -> None:
        """Watch one end of each of the operator's outputs, main and side, and its input's event time if it has one."""
        self._outputs = tuple(outputs)
        self._valve = valve
        self._sent = 0
        self._known = False

    def take(self, received: int) -> dict[str, Reported]:
        """Return what has changed since the last time; ``received`` records came in since then."""
        report: dict[str, Reported] = {}
        if received or not self._known:
            report[RECORDS_IN] = Counted(received)
        if self._outputs:
            sent = sum(output.records for output in self._outputs)
            if sent > self._sent or not self._known:
                report[RECORDS_OUT] = Counted(sent - self._sent)
            self._sent = sent
        if self._valve is not None and self._valve.combined > MIN_TIMESTAMP:
            report[INPUT_WATERMARK] = Gauged([self._valve.combined])
        self._known = True
        return report
