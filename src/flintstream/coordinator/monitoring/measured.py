"""All metrics of a job under Flink's names, from what the coordinator knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.coordinator import registry
from flintstream.coordinator.vertices import flink_id, shown_chain, shown_names, vertex_id
from flintstream.metrics.families import JOB, OPERATOR, TASK, Families
from flintstream.metrics.subtask import SubtaskMetrics
from flintstream.runtime.times import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.coordinator.monitoring.load import Load
    from flintstream.coordinator.monitoring.observed import ObservedJob
    from flintstream.runtime.plan import ChainPlan


WATERMARKS = "Timestamps/Watermarks"
"""The name of an operator that assigns watermarks."""


def of_job(job: ObservedJob) -> dict[str, object]:
    """Return the metrics of the whole job by name; without those of checkpoints before the first one."""
    coordinator = job.coordinator
    progress, checkpoints = coordinator.statistics.progress, coordinator.checkpoints
    values: dict[str, object] = {
        "numRestarts": progress.restarts,
        "numRescales": progress.rescales,
        "uptime": job.uptime_ms,
        **coordinator.phases.times(coordinator.clock.now_ms(), ended=job.result.done()),
        "numEpochs": progress.epochs,
        **coordinator.statistics.epochs.metrics(),
        "numCatchUps": progress.catch_ups,
        "numLostWorkers": coordinator.statistics.losses.count,
        "numberOfInProgressCheckpoints": int(checkpoints.in_progress),
        "numberOfCompletedCheckpoints": progress.checkpoints,
        "numberOfFailedCheckpoints": checkpoints.failed,
        "totalNumberOfCheckpoints": progress.checkpoints + checkpoints.failed + checkpoints.in_progress,
    }
    if coordinator.phases.restored_ms is not None:
        values["lastCheckpointRestoreTimestamp"] = coordinator.phases.restored_ms
    latest = checkpoints.latest
    if latest is not None and progress.checkpoints:
        values["lastCheckpointDuration"] = checkpoints.duration_ms
        values["lastCheckpointSize"] = checkpoints.new_bytes
        values["lastCheckpointFullSize"] = latest.metadata.size()
        values["lastCheckpointMetadataSize"] = latest.metadata_bytes
        values["lastCheckpointProcessedData"] = values["lastCheckpointPersistedData"] = 0  # of unaligned ones alone
        values["lastCheckpointExternalPath"] = latest.where
        values["lastCompletedCheckpointId"] = latest.metadata.number
        values["lastCheckpointCompletedTimestamp"] = latest.metadata.created_ms
    return values


def of_tasks(load: Load, now_ms: int) -> dict[tuple[int, int], dict[str, float]]:
    """Return the metrics of the subtasks of ``load.plan``, by chain and subtask."""
    shares = load.shares(now_ms)
    return {
        place: {
            "busyTimeMsPerSecond": round(item.busy, 1),
            "backPressuredTimeMsPerSecond": round(item.back_pressured, 1),
            "idleTimeMsPerSecond": round(item.idle, 1),
            "engineTimeMsPerSecond": round(item.engine, 1),
        }
        for place, item in sorted(shares.items())
    }


def names_of(job: ObservedJob) -> dict[int, str]:
    """Return the shown names of operators, by node."""
    return shown_names(job.coordinator.statistics.load.plan, job.job.sources, job.job.sinks)


def of_operators(job: ObservedJob) -> list[SubtaskMetrics]:
    """Return the metrics of the operators by subtask, under their shown names, with rates and the lag of sources."""
    names = names_of(job)
    clock, statistics = job.coordinator.clock, job.coordinator.statistics
    rates, wall_ms = statistics.load.rates(clock.now_ms()), clock.wall_ms()
    complete = []
    for item in statistics.metrics.by_subtask():
        values = dict(item.values)
        received, sent = rates.get((item.operator_id, item.subtask), (0.0, 0.0))
        if "numRecordsIn" in values:
            values["numRecordsInPerSecond"] = round(received, 3)
        if "numRecordsOut" in values:
            values["numRecordsOutPerSecond"] = round(sent, 3)
        watermark = values.get("currentOutputWatermark")
        emits_time = item.operator_id in job.job.sources or item.operator == WATERMARKS
        if emits_time and isinstance(watermark, int) and watermark < MAX_TIMESTAMP:
            values["watermarkLag"] = wall_ms - watermark
        complete.append(
            SubtaskMetrics(names.get(item.operator_id, item.operator), item.operator_id, item.subtask, values)
        )
    return complete


def families(job: ObservedJob) -> Families:
    """Return all metrics of a job for reporters."""
    plan, found, names = job.job.plan, Families(), names_of(job)
    host = {"host": registry.host(), "job_id": plan.job_id, "job_name": plan.job_name}
    for name, value in of_job(job).items():
        found.add(JOB, name, host, value)
    load = job.coordinator.statistics.load
    latency = load.latency()
    if latency:
        found.add_summary(JOB, "latency", host, latency, load.epochs_with_latency, load.latency_sum_ms)
    durations, count, total_ms = job.coordinator.statistics.epochs.durations()
    if durations:
        found.add_summary(JOB, "epochDuration", host, durations, count, total_ms)
    chains = {chain.id: chain for chain in load.plan.chains}  # not those of a plan that a change is just making
    attempt = str(job.coordinator.statistics.progress.restarts)
    for (chain, subtask), values in of_tasks(load, job.coordinator.clock.now_ms()).items():
        labels = {**host, **_labels(chains[chain], names, subtask, attempt)}
        for name, value in values.items():
            found.add(TASK, name, labels, value)
    places = {node.id: (chain, node) for chain in plan.chains for node in chain.nodes}
    for operator in of_operators(job):
        chain_plan, node = places[operator.operator_id]
        labels = {
            **host,
            **_labels(chain_plan, names, operator.subtask, attempt),
            "operator_id": flink_id(node.uid),
            "operator_name": operator.operator,
        }
        for name, value in operator.values.items():
            found.add(OPERATOR, name, labels, value)
    return found


def _labels(chain: ChainPlan, names: Mapping[int, str], subtask: int, attempt: str) -> Mapping[str, str]:
    return {
        "task_id": vertex_id(chain),
        "task_name": shown_chain(chain, names),
        "task_attempt_num": attempt,
        "subtask_index": str(subtask),
    }
