"""The metrics of a job, collected from the reports of its subtasks."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from flintstream.metrics.reported import Gauged
from flintstream.metrics.subtask import SubtaskMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flintstream.metrics.reported import Reported
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import Report

_log = logging.getLogger(__name__)


class JobMetrics:
    """All metrics of a job, by operator and subtask. One thread adds to them while others may read them."""

    def __init__(self, names: Mapping[int, str]) -> None:
        """Start without metrics. ``names`` has the names of the operators by node id."""
        self._names = names
        self._subtasks: dict[tuple[int, int], dict[str, Reported]] = {}
        self._kept: tuple[int | None, dict[tuple[int, int], dict[str, Reported]]] = (None, {})
        self._warned: set[tuple[int, str]] = set()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, plan: JobPlan) -> JobMetrics:
        """Start without metrics, for the operators of a plan."""
        return cls({node.id: node.name for chain in plan.chains for node in chain.nodes})

    def add(self, report: Report) -> None:
        """Add what a subtask reports of an epoch that counts."""
        with self._lock:
            for told in report.nodes:
                known = self._subtasks.setdefault((told.node, report.subtask), {})
                for name, reported in told.metrics.items():
                    before = known.get(name)
                    if before is None or type(before) is not type(reported):
                        known[name] = reported
                    else:
                        known[name] = before.then(reported)
                    if isinstance(reported, Gauged) and reported.error:
                        self._warn(told.node, report.subtask, name, reported.error)

    def _warn(self, node: int, subtask: int, name: str, error: str) -> None:
        if (node, name) not in self._warned:
            self._warned.add((node, name))
            _log.warning(
                "gauge '%s' of operator '%s' cannot be read in subtask %d: %s",
                name, self._names[node], subtask + 1, error,
            )  # fmt: skip

    def keep(self, checkpoint: int) -> None:
        """Remember the current metrics as those of a checkpoint, in place of those of the previous checkpoint."""
        with self._lock:
            self._kept = (checkpoint, {key: dict(metrics) for key, metrics in self._subtasks.items()})

    def go_back_to(self, checkpoint: int | None) -> None:
        """Go back to the metrics of a checkpoint, or to none, so that repeated work does not count twice."""
        with self._lock:
            number, metrics = self._kept
            known = checkpoint is not None and checkpoint == number
            self._subtasks = {key: dict(values) for key, values in metrics.items()} if known else {}

    def go_on_with(self, plan: JobPlan) -> None:
        """Move what subtasks have counted that another plan does not have to those that it has; drop their gauges."""
        count = {node.id: chain.parallelism for chain in plan.chains for node in chain.nodes}

        def shift(subtasks: dict[tuple[int, int], dict[str, Reported]]) -> dict[tuple[int, int], dict[str, Reported]]:
            found: dict[tuple[int, int], dict[str, Reported]] = {}
            for (node, subtask), metrics in sorted(subtasks.items(), key=lambda entry: entry[0]):
                own = found.setdefault((node, subtask % count[node]), {})
                for name, reported in metrics.items():
                    before = own.get(name)
                    if before is None:
                        own[name] = reported
                    elif type(before) is type(reported) and not isinstance(reported, Gauged):
                        own[name] = before.beside(reported)
            return found

        with self._lock:
            number, kept = self._kept
            self._subtasks, self._kept = shift(self._subtasks), (number, shift(kept))

    def values(self) -> dict[str, dict[str, Any]]:
        """Return the metrics of all subtasks combined, by operator name and metric name.

        Operators with the same name count as one.
        """
        together: dict[str, dict[str, Reported]] = {}
        with self._lock:
            for (node, _), metrics in sorted(self._subtasks.items(), key=lambda entry: entry[0]):
                operator = together.setdefault(self._names[node], {})
                for name, reported in metrics.items():
                    other = operator.get(name)
                    if other is None or type(other) is not type(reported):  # of another operator with the same name
                        operator[name] = reported
                    else:
                        operator[name] = other.beside(reported)
        return {operator: dict(_describe(metrics)) for operator, metrics in together.items()}

    def by_subtask(self) -> list[SubtaskMetrics]:
        """Return the metrics of each subtask of each operator, in the order of the plan."""
        with self._lock:
            return [
                SubtaskMetrics(self._names[node], node, subtask, dict(_describe(metrics, alone=True)))
                for (node, subtask), metrics in sorted(self._subtasks.items(), key=lambda entry: entry[0])
            ]


def _describe(metrics: Mapping[str, Reported], *, alone: bool = False) -> Iterator[tuple[str, object]]:
    for name, reported in metrics.items():
        if alone and isinstance(reported, Gauged):
            yield name, reported.by_subtask[0]
            continue
        for suffix, value in reported.values().items():
            yield name + suffix, value
