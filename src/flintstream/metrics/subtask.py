"""Metrics of a job for its user: by operator and subtask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SubtaskMetrics"]


@dataclass(frozen=True)
class SubtaskMetrics:
    """The reported metrics of one subtask of one operator."""

    operator: str
    """The operator's name."""
    operator_id: int
    """Its id in the execution plan: several operators may have the same name."""
    subtask: int
    """The index of the subtask, from 0."""
    values: Mapping[str, Any]
    """Values by full name, such as ``numRecordsIn`` or ``my_group.my_meter.rate``; None for a gauge that raises."""
