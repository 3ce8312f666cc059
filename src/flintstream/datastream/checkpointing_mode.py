"""Checkpointing modes."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """How often a record counts in state after a failure. The key is ``execution.checkpointing.mode``.

    >>> [mode.name for mode in CheckpointingMode]
    ['EXACTLY_ONCE', 'AT_LEAST_ONCE']
    """

    EXACTLY_ONCE = 0
    """State is the same as without a failure. This is the default."""

    AT_LEAST_ONCE = 1
    """A record that was in flight may count twice."""
