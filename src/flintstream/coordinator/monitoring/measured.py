"""All metrics of a job under Flink's names, from what the coordinator knows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from flintstream.coordinator import registry
from flintstream.metrics.families import JOB, OPERATOR, TASK, Families
from flintstream.metrics.subtask import SubtaskMetrics
from flintstream.runtime.operators.base import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.coordinator.client import RunningJob
    from flintstream.coordinator.monitoring.load import Load
    from flintstream.runtime.plan import ChainPlan, JobPlan


WATERMARKS = "Timestamps/Watermarks"
"""The name of an operator that assigns watermarks."""


def flink_id(uid: str) -> str:
    """Return an id of the form that Flink gives to operators: 32 hexadecimal digits.

    >>> flink_id("counts")
    '5734be6acd4b538a4450d2f7de5cdecd'
    """
    return hashlib.blake2b(uid.encode(), digest_size=16).hexdigest()


def vertex_id(chain: ChainPlan) -> str:
    """Return the id of a chain, which is that of its first operator."""
    return flink_id(chain.nodes[0].uid)


def of_job(job: RunningJob) -> dict[str, Any]:
    """Return the metrics of the whole job by name; without those of checkpoints before the first one."""
    coordinator = job.coordinator
    progress, checkpoints = coordinator.tally.progress, coordinator.checkpoints
    values: dict[str, Any] = {
        "numRestarts": progress.restarts,
        "uptime": job.uptime_ms,
        "numEpochs": progress.epochs,
        "numCatchUps": progress.catch_ups,
        "numberOfCompletedCheckpoints": progress.checkpoints,
        "numberOfFailedCheckpoints": checkpoints.failed,
        "totalNumberOfCheckpoints": progress.checkpoints + checkpoints.failed,
    }
    latest = checkpoints.latest
    if latest is not None and progress.checkpoints:
        values["lastCheckpointDuration"] = checkpoints.duration_ms
        values["lastCheckpointSize"] = checkpoints.new_bytes
        values["lastCheckpointFullSize"] = latest.metadata.size()
    return values


def of_tasks(load: Load, now_ms: int) -> dict[tuple[int, int], dict[str, float]]:
    """Return the metrics of the subtasks of ``load.plan``, by chain and subtask."""
    shares = load.shares(now_ms)
    return {
        place: {
            "busyTimeMsPerSecond": round(each.busy, 1),
            "backPressuredTimeMsPerSecond": round(each.back_pressured, 1),
            "idleTimeMsPerSecond": round(each.idle, 1),
        }
        for place, each in sorted(shares.items())
    }


def of_operators(job: RunningJob) -> list[SubtaskMetrics]:
    """Return the metrics of the operators by subtask, with rates and the lag of sources."""
    clock, tally = job.coordinator.lasting.clock, job.coordinator.tally
    rates, wall_ms = tally.load.rates(clock.now_ms()), clock.wall_ms()
    complete = []
    for each in tally.metrics.by_subtask():
        values = dict(each.values)
        received, sent = rates.get((each.operator_id, each.subtask), (0.0, 0.0))
        if "numRecordsIn" in values:
            values["numRecordsInPerSecond"] = round(received, 3)
        if "numRecordsOut" in values:
            values["numRecordsOutPerSecond"] = round(sent, 3)
        watermark = values.get("currentOutputWatermark")
        emits_time = each.operator_id in job.job.sources or each.operator == WATERMARKS
        if emits_time and isinstance(watermark, int) and watermark < MAX_TIMESTAMP:
            values["watermarkLag"] = wall_ms - watermark
        complete.append(SubtaskMetrics(each.operator, each.operator_id, each.subtask, values))
    return complete


def families(job: RunningJob) -> Families:
    """Return all metrics of a job for reporters."""
    plan, found = job.job.plan, Families()
    host = {"host": registry.host(), "job_id": plan.job_id, "job_name": plan.job_name}
    for name, value in of_job(job).items():
        found.add(JOB, name, host, value)
    load = job.coordinator.tally.load
    latency = load.latency()
    if latency:
        found.add_summary(JOB, "latency", host, latency, load.epochs_with_latency, load.latency_sum_ms)
    chains = {chain.id: chain for chain in load.plan.chains}  # not those of a plan that a change is just making
    attempt = str(job.coordinator.tally.progress.restarts)
    for (chain, subtask), values in of_tasks(load, job.coordinator.lasting.clock.now_ms()).items():
        labels = {**host, **_labels(chains[chain], subtask, attempt)}
        for name, value in values.items():
            found.add(TASK, name, labels, value)
    homes = {node.id: (chain, node) for chain in plan.chains for node in chain.nodes}
    for each in of_operators(job):
        chain_plan, node = homes[each.operator_id]
        labels = {
            **host,
            **_labels(chain_plan, each.subtask, attempt),
            "operator_id": flink_id(node.uid),
            "operator_name": node.name,
        }
        for name, value in each.values.items():
            found.add(OPERATOR, name, labels, value)
    return found


def _labels(chain: ChainPlan, subtask: int, attempt: str) -> Mapping[str, str]:
    return {
        "task_id": vertex_id(chain),
        "task_name": chain.name,
        "task_attempt_num": attempt,
        "subtask_index": str(subtask),
    }


def described_plan(plan: JobPlan) -> dict[str, Any]:
    """Return the chains of a plan as JSON, under Flink's ids, with their operators and where their input comes from."""
    homes = {node.id: chain for chain in plan.chains for node in chain.nodes}
    return {
        "batch": plan.batch,
        "vertices": [
            {
                "id": vertex_id(chain),
                "name": chain.name,
                "parallelism": chain.parallelism,
                "max_parallelism": chain.max_parallelism,
                "superstep": chain.level,
                "operators": [{"id": flink_id(node.uid), "name": node.name, "uid": node.uid} for node in chain.nodes],
                "inputs": [
                    {"id": vertex_id(homes[edge.source]), "ship_strategy": edge.partitioner.name}
                    for edge in chain.inputs
                ],
            }
            for chain in plan.chains
        ],
    }
