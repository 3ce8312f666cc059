"""Metrics of a job for its user: by operator and subtask, as objects and in Prometheus text format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["SubtaskMetrics", "prometheus_text"]


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


def prometheus_text(job_name: str, metrics: Iterable[SubtaskMetrics]) -> str:
    r"""Return metrics in the Prometheus text format; omits values that are not numbers.

    >>> print(prometheus_text("words", [SubtaskMetrics("Map", 2, 0, {"bad.lines": 3})]), end="")
    # TYPE flintstream_operator_bad_lines untyped
    flintstream_operator_bad_lines{job="words",operator="Map",operator_id="2",subtask="0"} 3
    """
    families: dict[str, list[str]] = {}
    for each in metrics:
        labels = {"job": job_name, "operator": each.operator, "operator_id": each.operator_id, "subtask": each.subtask}
        told = ",".join(f'{label}="{_escaped(str(value))}"' for label, value in labels.items())
        for name, value in each.values.items():
            if isinstance(value, int | float):
                family = "flintstream_operator_" + re.sub(r"[^a-zA-Z0-9_]", "_", name)
                families.setdefault(family, []).append(f"{family}{{{told}}} {value + 0}\n")
    return "".join(f"# TYPE {family} untyped\n{''.join(lines)}" for family, lines in sorted(families.items()))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
