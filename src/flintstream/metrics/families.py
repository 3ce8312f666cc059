"""Metrics under Flink's names, with type and help: what Prometheus, OTLP and the command line show.

A family is a name with its help and type. Its samples differ in their labels. All types are gauges or summaries, as
with Flink's own reporter for Prometheus: a count goes back when a job restarts, which a counter must not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.errors import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "HELP",
    "JOB",
    "OPERATOR",
    "QUANTILE",
    "TASK",
    "Families",
    "Family",
    "Sample",
    "percentile",
    "prometheus_text",
]

JOB, TASK, OPERATOR = "flink_jobmanager_job", "flink_taskmanager_job_task", "flink_taskmanager_job_task_operator"
"""Flink's scopes: a whole job, a subtask of a chain, an operator in a subtask."""

QUANTILE = "quantile"
"""The label that Prometheus gives to the values of a summary."""

HELP: dict[str, dict[str, str]] = {
    JOB: {
        "numRestarts": "How often the job has restarted",
        "numRescales": "How often the job has continued with another parallelism",
        "uptime": "Time since the job started (ms)",
        "downtime": "Time since the job has been restarting or cancelling (ms)",
        **dict.fromkeys(
            (f"{state}Time" for state in ("created", "initializing", "running", "failing", "cancelling", "restarting")),
            "Time since the job has been in this state; 0 if it is in another one (ms)",
        ),
        "deployingTime": "Time since tasks began to start; 0 if all have run an epoch (ms)",
        "allSubTasksRunningOrFinishedTime": "Time since all tasks have run an epoch (ms)",
        "numEpochs": "Completed epochs",
        "numResidentEpochs": "Completed epochs in tasks that stay from one epoch to the next",
        "epochWorkTimeTotal": "Time of all epochs in which subtasks processed records or state (ms)",
        "epochWaitingTimeTotal": "Time of all epochs in which sources waited for records (ms)",
        "epochEngineTimeTotal": "Time of all epochs that the engine needed beside the work (ms)",
        "lastEpochDuration": "Time that the last epoch took (ms)",
        "lastEpochWorkTime": "Time of the last epoch in which subtasks processed records or state (ms)",
        "lastEpochWaitingTime": "Time of the last epoch in which sources waited for records (ms)",
        "lastEpochEngineTime": "Time of the last epoch that the engine needed beside the work (ms)",
        "epochDuration": "Time that recent epochs took (ms)",
        "numCatchUps": "How often a subtask had to read its state again because it moved to another process",
        "numLostWorkers": "How often a worker process ended in the middle of an epoch",
        "numberOfInProgressCheckpoints": "Checkpoints in progress",
        "numberOfCompletedCheckpoints": "Completed checkpoints",
        "numberOfFailedCheckpoints": "Failed checkpoints",
        "totalNumberOfCheckpoints": "Completed and failed checkpoints, and those in progress",
        "lastCheckpointDuration": "Time that the last completed checkpoint took (ms)",
        "lastCheckpointSize": "Bytes that the last completed checkpoint wrote",
        "lastCheckpointFullSize": "Bytes of the last completed checkpoint, including everything it refers to",
        "lastCheckpointMetadataSize": "Bytes of the metadata of the last completed checkpoint",
        "lastCheckpointProcessedData": "Always 0: checkpoints contain no records in flight",
        "lastCheckpointPersistedData": "Always 0: checkpoints contain no records in flight",
        "lastCheckpointRestoreTimestamp": "When the tasks last started (ms since the epoch)",
        "lastCompletedCheckpointId": "Number of the last completed checkpoint",
        "lastCheckpointCompletedTimestamp": "When the last completed checkpoint was taken (ms since the epoch)",
        "latency": "Time from the start of an epoch until its records have passed all sinks (ms)",
    },
    TASK: {
        "busyTimeMsPerSecond": "Time in which the subtask processed records or state (ms per second)",
        "backPressuredTimeMsPerSecond": "Time in which a source with more to read had to wait (ms per second)",
        "idleTimeMsPerSecond": "Time in which the subtask had nothing to do (ms per second)",
        "engineTimeMsPerSecond": "Time in which the subtask waited for the engine, with more to read (ms per second)",
    },
    OPERATOR: {
        "numRecordsIn": "Records received",
        "numRecordsOut": "Records emitted, including side outputs",
        "numRecordsInPerSecond": "Records received per second, over the last minute",
        "numRecordsOutPerSecond": "Records emitted per second, over the last minute",
        "currentInputWatermark": "Event time of the input (ms)",
        "currentOutputWatermark": "Event time of the output (ms)",
        "watermarkLag": "How far the emitted watermark of a source or watermark strategy is behind the clock (ms)",
        "numLateRecordsDropped": "Late records that a window operator dropped",
        "pendingRecords": "Records that a source has yet to read, such as the lag of a Kafka consumer",
    },
}
"""What the metrics of flintstream itself mean, by scope and name."""

_OF_THE_PROGRAM = "A metric of the program"


@dataclass(frozen=True)
class Sample:
    """A value and its labels."""

    labels: Mapping[str, str]
    value: float
    suffix: str = ""
    """``_count`` or ``_sum`` of a summary."""


@dataclass
class Family:
    """All samples of a metric."""

    name: str
    help: str
    dotted: str = ""
    """The name as OpenTelemetry writes it, with the dots of Flink's scopes."""
    type: str = "gauge"
    """``gauge`` or ``summary``."""
    samples: list[Sample] = field(default_factory=list)


class Families:
    """Collects samples by name."""

    def __init__(self) -> None:
        """Start without samples."""
        self._by_name: dict[str, Family] = {}

    def add(self, scope: str, name: str, labels: Mapping[str, str], value: object) -> None:
        """Add a value; omit what is not a number.

        >>> families = Families()
        >>> families.add(OPERATOR, "parser.bad", {"job_name": "words"}, 3)
        >>> families.add(OPERATOR, "last.line", {"job_name": "words"}, "a line")
        >>> [(family.name, family.help) for family in families]
        [('flink_taskmanager_job_task_operator_parser_bad', 'A metric of the program')]
        """
        if isinstance(value, int | float):
            self._family(scope, name, "gauge").samples.append(Sample(_encodable(labels), _finite(value)))

    def add_summary(
        self,
        scope: str,
        name: str,
        labels: Mapping[str, str],
        quantiles: Mapping[float, float],
        count: int,
        total: float,
    ) -> None:
        """Add a distribution."""
        samples, labels = self._family(scope, name, "summary").samples, _encodable(labels)
        for share, value in quantiles.items():
            samples.append(Sample({**labels, QUANTILE: str(share)}, value))
        samples.append(Sample(labels, count, "_count"))
        samples.append(Sample(labels, total, "_sum"))

    def _family(self, scope: str, name: str, kind: str) -> Family:
        full = f"{scope}_{re.sub(r'[^a-zA-Z0-9_]', '_', name)}"
        known = self._by_name.get(full)
        if known is None:
            known = self._by_name[full] = Family(
                full, HELP[scope].get(name, _OF_THE_PROGRAM), f"{scope.replace('_', '.')}.{encodable(name)}", kind
            )
        return known

    def __iter__(self) -> Iterator[Family]:
        return iter(sorted(self._by_name.values(), key=lambda family: family.name))


def _encodable(labels: Mapping[str, str]) -> Mapping[str, str]:
    return {label: encodable(value) for label, value in labels.items()}


def _finite(value: float) -> float:
    """Return a number that every protocol can send: a large integer becomes a float, or infinity."""
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value + 0
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return the value that ``share`` of the ordered values do not exceed.

    >>> percentile([1, 2, 3, 4], 0.5), percentile([1, 2, 3, 4], 0.99)
    (2, 4)
    """
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def prometheus_text(families: Iterable[Family]) -> str:
    r"""Return families in the text format of Prometheus.

    >>> families = Families()
    >>> families.add(JOB, "numRestarts", {"job_name": 'the "words"'}, 2)
    >>> print(prometheus_text(families), end="")
    # HELP flink_jobmanager_job_numRestarts How often the job has restarted
    # TYPE flink_jobmanager_job_numRestarts gauge
    flink_jobmanager_job_numRestarts{job_name="the \"words\""} 2
    """
    lines = []
    for family in families:
        lines.append(f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.type}\n")
        for sample in family.samples:
            told = ",".join(f'{label}="{_escape(value)}"' for label, value in sample.labels.items())
            lines.append(f"{family.name}{sample.suffix}{{{told}}} {_number(sample.value)}\n")
    return "".join(lines)


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(str(value), str(value))
