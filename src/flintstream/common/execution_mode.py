"""The execution mode of Flink 1's batch programs."""

from __future__ import annotations

from enum import Enum

__all__ = ["ExecutionMode"]


class ExecutionMode(Enum):
    """How a DataSet program exchanges data. Unused; kept so that programs for Flink 1 can import it.

    >>> ExecutionMode["PIPELINED"].name
    'PIPELINED'
    """

    PIPELINED = 0
    PIPELINED_FORCED = 1
    BATCH = 2
    BATCH_FORCED = 3
