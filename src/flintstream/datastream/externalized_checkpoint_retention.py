"""Retention of checkpoints when their job is cancelled."""

from __future__ import annotations

from enum import Enum

__all__ = ["ExternalizedCheckpointRetention"]


class ExternalizedCheckpointRetention(Enum):
    """Whether the last checkpoint of a job outlives it.

    The key is ``execution.checkpointing.externalized-checkpoint-retention``.

    >>> [member.name for member in ExternalizedCheckpointRetention]
    ['DELETE_ON_CANCELLATION', 'RETAIN_ON_CANCELLATION', 'NO_EXTERNALIZED_CHECKPOINTS']
    """

    DELETE_ON_CANCELLATION = 0
    """Cancelling the job deletes its checkpoints. They are kept if the job fails."""

    RETAIN_ON_CANCELLATION = 1
    """Cancelling the job keeps its last checkpoint for a later start. The user deletes it."""

    NO_EXTERNALIZED_CHECKPOINTS = 2
    """Checkpoints are deleted with the job, however it ends. This is the default."""
