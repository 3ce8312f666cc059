"""What a failure may do to results."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """How often a record counts in state after a failure; the key is ``execution.checkpointing.mode``."""

    EXACTLY_ONCE = 0
    """State is as if no failure had happened; the default."""

    AT_LEAST_ONCE = 1
    """A record that was in flight may count twice."""
