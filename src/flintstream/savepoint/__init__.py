"""Read, edit and make savepoints without running the job they belong to.

:class:`Savepoint` reads a savepoint or checkpoint, :class:`SavepointWriter` makes a new one from it or from nothing.
"""

from __future__ import annotations

from flintstream.savepoint.entries import OperatorSummary, OperatorValue, StateEntry, StateSummary, Timer
from flintstream.savepoint.reader import Savepoint
from flintstream.savepoint.writer import SavepointWriter

__all__ = ["OperatorSummary", "OperatorValue", "Savepoint", "SavepointWriter", "StateEntry", "StateSummary", "Timer"]
