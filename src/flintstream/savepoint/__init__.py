"""Read, edit and create savepoints without running their job.

:class:`Savepoint` reads a savepoint or checkpoint. :class:`SavepointWriter` creates a new one from it or from scratch.
"""

from __future__ import annotations

from flintstream.savepoint.entries import OperatorSummary, OperatorValue, StateEntry, StateSummary, Timer
from flintstream.savepoint.reader import Savepoint
from flintstream.savepoint.writer import SavepointWriter

__all__ = ["OperatorSummary", "OperatorValue", "Savepoint", "SavepointWriter", "StateEntry", "StateSummary", "Timer"]
