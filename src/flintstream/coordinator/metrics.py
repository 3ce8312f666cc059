"""Puts together what the subtasks of a job report of their metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flintstream.metrics.reported import Reported
    from flintstream.runtime.protocol import Report


class JobMetrics:
    """All metrics of a job, by operator and subtask."""

    def __init__(self, names: Mapping[int, str]) -> None:
        """Start without metrics; ``names`` are the operators' by node id."""
        self._names = names
        self._subtasks: dict[tuple[int, int], dict[str, Reported]] = {}

    def add(self, report: Report) -> None:
        """Take in what a subtask reports of an epoch that counts."""
        for node, metrics in report.metrics.items():
            known = self._subtasks.setdefault((node, report.subtask), {})
            for name, reported in metrics.items():
                before = known.get(name)
                if before is None or type(before) is not type(reported):
                    known[name] = reported
                else:
                    known[name] = before.then(reported)

    def values(self) -> dict[str, dict[str, Any]]:
        """Return the metrics of all subtasks together, by operator name and metric name.

        Operators of the same name are shown as one.
        """
        together: dict[str, dict[str, Reported]] = {}
        for (node, _), metrics in sorted(self._subtasks.items(), key=lambda entry: entry[0]):
            operator = together.setdefault(self._names[node], {})
            for name, reported in metrics.items():
                other = operator.get(name)
                if other is None or type(other) is not type(reported):  # another operator's, of the same names
                    operator[name] = reported
                else:
                    operator[name] = other.beside(reported)
        return {operator: dict(_shown(metrics)) for operator, metrics in together.items()}


def _shown(metrics: Mapping[str, Reported]) -> Iterator[tuple[str, Any]]:
    for name, reported in metrics.items():
        for suffix, value in reported.values().items():
            yield name + suffix, value
